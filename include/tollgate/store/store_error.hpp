#pragma once
#ifndef TOLLGATE_STORE_STORE_ERROR_HPP
#define TOLLGATE_STORE_STORE_ERROR_HPP

#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0 {

/// The exception of the constructors of stores that could not be opened. `what()` is for the operator and names the file or server.
class store_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

namespace detail {

/// `T` if it is a result, otherwise `result<T>`.
template <class T>
using as_result = std::conditional_t<base_detail::is_result<T>, T, result<T>>;

/// Returns the error of a verb that ran out of memory. It has no text if there is no memory for the text either.
[[nodiscard, gnu::noinline]] inline error out_of_resources() noexcept {
    try {
        return unavailable("out of memory or another resource of the process");
    } catch (...) {
        return {error_kind::unavailable, {}, {}};
    }
}

/// Runs a store's verb and turns exceptions of the standard library, usually std::bad_alloc, into an error (unavailable). Verbs leave
/// nothing half done when an exception is thrown. A verb that fails in no other way returns its plain value.
template <class Verb>
[[nodiscard]] as_result<std::invoke_result_t<Verb&>> without_exceptions(Verb&& verb) noexcept {
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Verb&>>) {
            verb();
            return {};
        } else {
            return verb();
        }
    } catch (...) {
        return out_of_resources();
    }
}

/// Returns an opened store, for constructors. Throws store_error.
template <class Store>
[[nodiscard]] Store value_or_throw(result<Store> opened) {
    if (!opened) throw store_error{opened.error().log_text()};
    return *std::move(opened);
}

/// Returns the error of a store without a database for a row that already exists.
[[nodiscard]] inline error conflict() { return {error_kind::conflict, {}, {}}; }

/// Sets the message of a conflict to `message`, which names the existing object. Other errors are returned unchanged.
[[nodiscard]] inline error describe_conflict(error failure, const char* message) {
    if (failure.kind == error_kind::conflict) failure.message = message;
    return failure;
}

}  // namespace detail

// The functions below return errors that all stores report in the same words.

/// Returns the error for a personal token whose username is taken. `failure` is the error of the database; its kind and cause stay.
[[nodiscard]] inline error personal_token_exists(error failure = detail::conflict()) {
    return detail::describe_conflict(std::move(failure), "A personal token of this username exists already.");
}

/// Returns the error for an application whose client_id is taken. `failure` is the error of the database; its kind and cause stay.
[[nodiscard]] inline error application_exists(error failure = detail::conflict()) {
    return detail::describe_conflict(std::move(failure), "An application of this client_id exists already.");
}

/// Returns the error for a webhook whose idempotency key is taken. `failure` is the error of the database; its kind and cause stay.
[[nodiscard]] inline error hook_exists(error failure = detail::conflict()) {
    return detail::describe_conflict(std::move(failure), "A webhook of this idempotency key exists already.");
}

/// Returns the error for an access or refresh token that exists already. `failure` is the error of the database; its kind and cause stay.
[[nodiscard]] inline error token_exists(error failure = detail::conflict()) {
    return detail::describe_conflict(std::move(failure), "This token exists already.");
}

/// Returns the error for a session that exists already. `failure` is the error of the database; its kind and cause stay.
[[nodiscard]] inline error session_exists(error failure = detail::conflict()) {
    return detail::describe_conflict(std::move(failure), "This session exists already.");
}

/// Returns the error for more than the maximum of personal tokens of one user.
[[nodiscard]] inline error too_many_personal_tokens(std::size_t tokens_per_user_max) {
    return invalid("The user has " + std::to_string(tokens_per_user_max) + " personal tokens, which is the maximum.");
}

/// Returns the error for too many access tokens. `retry_at` is the time at which one of them expires.
[[nodiscard]] inline error too_many_access_tokens(instant retry_at) {
    return {error_kind::too_many_requests,
            "The application has " + std::to_string(limits::access_tokens_per_grant_max) +
                " valid access tokens for this user, which is the maximum. Use them until they expire.",
            {}, retry_at};
}

/// Returns the error for more than the maximum of applications of one user.
[[nodiscard]] inline error too_many_applications(std::size_t applications_per_user_max) {
    return invalid("The user has " + std::to_string(applications_per_user_max) + " applications, which is the maximum.");
}

/// Returns the error for more than the maximum of webhooks of one account for one event.
[[nodiscard]] inline error too_many_hooks(std::size_t hooks_per_event_max) {
    return invalid("This account has " + std::to_string(hooks_per_event_max) +
                   " webhooks for this event, which is the maximum.");
}

/// Returns the error for a code whose scopes, together with the scopes granted before, exceed a scope_set.
[[nodiscard]] inline error too_many_scopes() {
    return invalid("Together with the scopes that you already granted to this application, these are too many scopes.");
}

/// Returns the error for a delivery of a disabled hook, which cannot be sent again.
[[nodiscard]] inline error hook_is_disabled() {
    return {error_kind::conflict, "This webhook is disabled. Enable it first.", {}};
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_STORE_ERROR_HPP
