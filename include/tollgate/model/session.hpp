#pragma once

#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/time.hpp>

#include <string>

namespace tollgate::inline v0 {

/// A person who is signed in, as pages see them.
struct session {
    user_id user;
    std::string login;   ///< what to call them on a page
    std::string secret;  ///< known to this session alone; form tokens are made from it, it is never shown
};

/// A session as a store keeps it: found by the SHA-256 of what the cookie holds.
struct stored_session {
    digest cookie_digest;
    user_id user;
    std::string login;
    instant created_at;
    instant last_seen_at;
};

}  // namespace tollgate
