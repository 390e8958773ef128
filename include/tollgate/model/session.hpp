#pragma once
#ifndef TOLLGATE_MODEL_SESSION_HPP
#define TOLLGATE_MODEL_SESSION_HPP

#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/time.hpp>

#include <optional>
#include <string>
#include <variant>

namespace tollgate::inline v0 {

/// A signed-in user, in the form that pages receive.
struct session {
    user_id user;
    std::string login;  ///< the login that pages display
    std::string secret;  ///< unique to this session; form tokens are derived from it, and no page contains it
};

/// A session as a store keeps it. The store finds it by the SHA-256 of its cookie.
struct stored_session {
    digest cookie_digest;
    user_id user;
    std::string login;
    instant created_at;
    instant last_seen_at;
    std::string signed_in_from = {};  ///< the network of the sign-in, such as 203.0.113.0/24; empty if unknown
    std::string user_agent = {};      ///< visible ASCII, at most `limits::session_user_agent_bytes_max`; may be empty
};

/// All sessions of a user except one, for instance after a password change.
struct sessions_of_user {
    user_id user;
    std::optional<digest> except{};  ///< the digest of the cookie of the session that stays
};

/// The sessions that a store's `end_sessions` ends: the session with this digest of its cookie, or sessions of a user.
using session_selection = std::variant<digest, sessions_of_user>;

/// A session in the list of its user.
struct listed_session {
    std::string id;  ///< an id that names the session among the sessions of its user, and reveals nothing of its cookie
    instant created_at;
    instant last_seen_at;  ///< recorded at a bounded rate, so it may lag
    std::string signed_in_from = {};
    std::string user_agent = {};
    bool is_current = false;  ///< true for the session of the request
};

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_SESSION_HPP
