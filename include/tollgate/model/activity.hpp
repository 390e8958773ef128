#pragma once
#ifndef TOLLGATE_MODEL_ACTIVITY_HPP
#define TOLLGATE_MODEL_ACTIVITY_HPP

#include <tollgate/base/ids.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// A kind of action on an account. Each comment says what `activity::subject` contains.
enum class activity_kind : std::uint8_t {
    signed_in,               ///< empty
    token_created,           ///< the personal token's description
    token_renewed,           ///< the personal token's description; the token got a new secret
    token_revoked,           ///< the personal token's description
    application_registered,  ///< the application's name
    client_secret_replaced,  ///< the application's name
    client_secret_removed,   ///< the application's name; the older of two secrets was removed
    application_deleted,     ///< the application's name
    access_granted,          ///< the name of the application that the user authorized
    access_revoked,          ///< the application's name
    hook_created,            ///< the webhook's id
    hook_deleted,            ///< the webhook's id
    hook_secret_replaced,    ///< the webhook's id
    hook_enabled,            ///< the webhook's id
    delivery_resent,         ///< the delivery's id
    application_changed,     ///< the application's name
    hook_changed,            ///< the webhook's id
    hook_tested,             ///< the webhook's id
    deliveries_resent,       ///< the webhook's id
    session_ended,           ///< empty; the user signed out a session that is not the current one
    other_sessions_ended,    ///< empty; the user signed out everywhere else
    password_set,            ///< empty
    access_revoked_after_reuse,  ///< the application's name: it sent a code or refresh token again, perhaps a stolen one
    // Actions of an operator.
    user_added,         ///< the login
    user_disabled,      ///< empty
    user_enabled,       ///< empty
    user_deleted,       ///< empty
    sessions_ended,     ///< empty
    quota_set,          ///< requests a day; empty: the default
    account_added,      ///< the service and the account's id
    event_reported,     ///< the event's name
    application_suspended,  ///< the application's name
    application_resumed,    ///< the application's name
    count_,             ///< the number of kinds, not a kind
};

/// Returns the name under which stores keep the kind, such as `token_created`.
[[nodiscard]] constexpr std::string_view to_text(activity_kind kind) noexcept {
    switch (kind) {  // no default, so that the compiler warns of a kind without a name
        case activity_kind::signed_in: return "signed_in";
        case activity_kind::token_created: return "token_created";
        case activity_kind::token_renewed: return "token_renewed";
        case activity_kind::token_revoked: return "token_revoked";
        case activity_kind::application_registered: return "application_registered";
        case activity_kind::client_secret_replaced: return "client_secret_replaced";
        case activity_kind::client_secret_removed: return "client_secret_removed";
        case activity_kind::application_deleted: return "application_deleted";
        case activity_kind::access_granted: return "access_granted";
        case activity_kind::access_revoked: return "access_revoked";
        case activity_kind::hook_created: return "hook_created";
        case activity_kind::hook_deleted: return "hook_deleted";
        case activity_kind::hook_secret_replaced: return "hook_secret_replaced";
        case activity_kind::hook_enabled: return "hook_enabled";
        case activity_kind::delivery_resent: return "delivery_resent";
        case activity_kind::application_changed: return "application_changed";
        case activity_kind::hook_changed: return "hook_changed";
        case activity_kind::hook_tested: return "hook_tested";
        case activity_kind::deliveries_resent: return "deliveries_resent";
        case activity_kind::session_ended: return "session_ended";
        case activity_kind::other_sessions_ended: return "other_sessions_ended";
        case activity_kind::password_set: return "password_set";
        case activity_kind::access_revoked_after_reuse: return "access_revoked_after_reuse";
        case activity_kind::user_added: return "user_added";
        case activity_kind::user_disabled: return "user_disabled";
        case activity_kind::user_enabled: return "user_enabled";
        case activity_kind::user_deleted: return "user_deleted";
        case activity_kind::sessions_ended: return "sessions_ended";
        case activity_kind::quota_set: return "quota_set";
        case activity_kind::account_added: return "account_added";
        case activity_kind::event_reported: return "event_reported";
        case activity_kind::application_suspended: return "application_suspended";
        case activity_kind::application_resumed: return "application_resumed";
        case activity_kind::count_: break;
    }
    return {};
}

/// Returns the kind with this name, or an empty optional for any other text.
[[nodiscard]] constexpr std::optional<activity_kind> activity_kind_of(std::string_view name) noexcept {
    for (std::uint8_t i = 0; i < static_cast<std::uint8_t>(activity_kind::count_); ++i)
        if (to_text(static_cast<activity_kind>(i)) == name) return static_cast<activity_kind>(i);
    return std::nullopt;
}

/// An entry of an audit log: who did what to an account, and when. It holds no secret.
struct activity {
    activity_kind kind = activity_kind::signed_in;
    user_id user;
    std::string subject;               ///< text in UTF-8, as `activity_kind` describes it
    /// The user's address, behind trusted proxies; for `access_revoked_after_reuse`, the application's address. Empty for an operator.
    std::optional<ip_address> client;
    instant at;
};

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_ACTIVITY_HPP
