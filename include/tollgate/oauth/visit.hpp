#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/domain/caller.hpp>
#include <tollgate/domain/quota.hpp>
#include <tollgate/oauth/places.hpp>

#include <optional>

namespace tollgate::oauth {

/// What was found out about one request to an authorization server so far.
struct visit {
    instant now{};
    ip_address client;  ///< behind trusted proxies, the one they name
    place where = place::nowhere;
    std::optional<verdict> window;  ///< of the client's address, once something was counted against it
    std::optional<caller> who;      ///< the person who is signed in, on a page
};

}  // namespace tollgate::oauth
