#pragma once

#include <tollgate/base/result.hpp>

#include <cstddef>
#include <string>

namespace tollgate::inline v0 {

/// What every store says to one personal token more than there may be.
[[nodiscard]] inline error too_many_personal_tokens(std::size_t tokens_per_user_max) {
    return invalid("You have " + std::to_string(tokens_per_user_max) + " personal tokens, as many as you may.");
}

/// To one application more.
[[nodiscard]] inline error too_many_applications(std::size_t applications_per_user_max) {
    return invalid("You have " + std::to_string(applications_per_user_max) + " applications, as many as you may.");
}

/// To a code whose scopes do not fit with those that the user granted before.
[[nodiscard]] inline error too_many_scopes() {
    return invalid("Together with what you granted this application before, these are more scopes than can be kept.");
}

/// To sending a delivery again whose hook gets nothing.
[[nodiscard]] inline error hook_is_disabled() {
    return {error_kind::conflict, "This webhook is disabled. Enable it first.", {}};
}

/// What every store says to one hook more than there may be.
[[nodiscard]] inline error too_many_hooks(std::size_t hooks_per_event_max) {
    return invalid("This account has " + std::to_string(hooks_per_event_max) +
                   " webhooks for this event, as many as it may.");
}

}  // namespace tollgate
