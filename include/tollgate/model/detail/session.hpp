#pragma once

#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/time.hpp>

#include <string>

namespace tollgate::inline v0 {

/// A signed-in user, as pages see them.
struct session {
    user_id user;
    std::string login;  ///< shown on pages
    std::string secret;  ///< unique to this session; form tokens are made from it, and it is never shown
};

/// A session as a store keeps it: found by the SHA-256 of its cookie.
struct stored_session {
    digest cookie_digest;
    user_id user;
    std::string login;
    instant created_at;
    instant last_seen_at;
};

}  // namespace tollgate
