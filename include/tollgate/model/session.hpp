#pragma once
#ifndef TOLLGATE_MODEL_SESSION_HPP
#define TOLLGATE_MODEL_SESSION_HPP

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
    std::string signed_in_from = {};  ///< the network of the sign-in, such as 203.0.113.0/24; empty if unknown
    std::string user_agent = {};      ///< of the sign-in: visible ASCII, at most `limits::session_user_agent_bytes_max`; may be empty
};

/// A session as its user sees it.
struct listed_session {
    std::string id;  ///< names the session among those of its user; reveals nothing of its cookie
    instant created_at;
    instant last_seen_at;  ///< recorded at a bounded rate, so it may lag
    std::string signed_in_from = {};
    std::string user_agent = {};
    bool is_current = false;  ///< the session of the request
};

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_SESSION_HPP
