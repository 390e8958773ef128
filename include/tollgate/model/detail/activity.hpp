#pragma once

#include <tollgate/base/ids.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// What was done to an account. The comments say what `activity::subject` is.
enum class activity_kind : std::uint8_t {
    signed_in,               ///< empty
    token_created,           ///< the personal token's description
    token_renewed,           ///< the same; it got a new secret
    token_revoked,           ///< the same
    application_registered,  ///< the application's name
    client_secret_replaced,  ///< the same
    client_secret_removed,   ///< the same; the older one of two
    application_deleted,     ///< the same
    access_granted,          ///< the name of the application that the user authorized
    access_revoked,          ///< the same
    hook_created,            ///< the webhook's id
    hook_deleted,            ///< the same
    hook_secret_replaced,    ///< the same
    hook_enabled,            ///< the same
    delivery_resent,         ///< the delivery's id
    application_changed,     ///< the application's name
    hook_changed,            ///< the webhook's id
    hook_tested,             ///< the same
    deliveries_resent,       ///< the same
    session_ended,           ///< empty; the user signed out a session that is not the current one
    other_sessions_ended,    ///< empty; the user signed out everywhere else
    password_set,            ///< empty
    // What only an operator does.
    user_added,         ///< the login
    user_disabled,      ///< empty
    user_enabled,       ///< empty
    user_deleted,       ///< empty
    sessions_ended,     ///< empty
    quota_set,          ///< requests a day; empty: the default
    account_added,      ///< the service and the account's id
    event_reported,     ///< the event's name
    count_,             ///< how many there are; none of them
};

/// The name under which it is stored: `token_created`.
[[nodiscard]] constexpr std::string_view to_text(activity_kind kind) noexcept {
    constexpr std::array<std::string_view, static_cast<std::size_t>(activity_kind::count_)> names{
        "signed_in", "token_created", "token_renewed", "token_revoked",
        "application_registered", "client_secret_replaced", "client_secret_removed", "application_deleted",
        "access_granted", "access_revoked", "hook_created", "hook_deleted",
        "hook_secret_replaced", "hook_enabled", "delivery_resent", "application_changed",
        "hook_changed", "hook_tested", "deliveries_resent", "session_ended",
        "other_sessions_ended", "password_set", "user_added", "user_disabled",
        "user_enabled", "user_deleted", "sessions_ended", "quota_set",
        "account_added", "event_reported"};
    return kind < activity_kind::count_ ? names[static_cast<std::size_t>(kind)] : std::string_view{};
}

/// Empty for another text.
[[nodiscard]] constexpr std::optional<activity_kind> activity_kind_of(std::string_view name) noexcept {
    for (std::uint8_t i = 0; i < static_cast<std::uint8_t>(activity_kind::count_); ++i)
        if (to_text(static_cast<activity_kind>(i)) == name) return static_cast<activity_kind>(i);
    return std::nullopt;
}

/// Who did what to an account, and when: an entry of an audit log. It holds no secret.
struct activity {
    activity_kind kind = activity_kind::signed_in;
    user_id user;
    std::string subject;               ///< as `activity_kind` says; UTF-8
    std::optional<ip_address> client;  ///< the user's, behind trusted proxies; none: an operator did it
    instant at;
};

}  // namespace tollgate
