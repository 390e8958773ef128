#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <cstdint>
#include <optional>

namespace tollgate::inline v0::pipeline {

/// How a request presented itself.
enum class standing : std::uint8_t {
    anonymous,        ///< no credentials
    known,            ///< good ones: there is a caller
    bad_credentials,  ///< some that let nobody in
    ambiguous,        ///< more than one Authorization field: nobody can say which one counts
    undecided,        ///< a store or directory could not be asked
};

/// What the stages have found out about one request so far. Each stage reads what those before it wrote.
struct judgement {
    instant now;
    ip_address client;
    bool agent_accepted = false;
    pipeline::standing standing = standing::anonymous;
    std::optional<caller> who;       ///< set exactly when `standing` is known
    std::optional<quota> own_quota;  ///< the caller's, where it is not the default
    std::optional<error> failure;  ///< set exactly when `standing` is undecided
    verdict window{};                ///< the client's or the caller's, whichever this request is counted against
    route_match route;
    const service* of_service = nullptr;  ///< which `{service}` the path names, if the route has one
};

}  // namespace tollgate::pipeline
