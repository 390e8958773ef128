#pragma once

#include <tollgate/base/problem.hpp>

#include <cstddef>
#include <string>

namespace tollgate {

/// What every store says to one personal token more than there may be.
[[nodiscard]] inline problem too_many_personal_tokens(std::size_t tokens_per_user_max) {
    return invalid("You have " + std::to_string(tokens_per_user_max) + " personal tokens, as many as you may.");
}

/// To one application more.
[[nodiscard]] inline problem too_many_applications(std::size_t applications_per_user_max) {
    return invalid("You have " + std::to_string(applications_per_user_max) + " applications, as many as you may.");
}

/// To a code whose scopes do not fit with those that the user granted before.
[[nodiscard]] inline problem too_many_scopes() {
    return invalid("Together with what you granted this application before, these are more scopes than can be kept.");
}

/// To sending a delivery again whose hook gets nothing.
[[nodiscard]] inline problem hook_is_disabled() {
    return {problem_kind::conflict, "This webhook is disabled. Enable it first.", {}};
}

}  // namespace tollgate
