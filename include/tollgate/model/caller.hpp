#pragma once

#include <tollgate/base/ids.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/scope.hpp>

#include <cstdint>
#include <optional>

namespace tollgate::inline v0 {

/// What let a caller in.
enum class credential_kind : std::uint8_t {
    personal_token,  ///< their own, over Basic
    access_token,    ///< an application's, over Bearer
    other,           ///< an integrator's own authenticator
};

/// Who is calling, and what they may do.
struct caller {
    user_id user;
    scope_set scopes;
    credential_kind credential = credential_kind::other;
    std::optional<application_id> application;  ///< the one that acts for the user, with an access token
    quota_told user_quota{};                    ///< the user's, where it came with the credential
};

}  // namespace tollgate
