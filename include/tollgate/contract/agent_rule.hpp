#pragma once

#include <concepts>
#include <string_view>

namespace tollgate::inline v0 {

/// Decides whether a User-Agent will do. Operators want to know whom to write to before they block a program.
///
/// Exemplar:
///
///     struct any_agent {
///         bool accepts(std::string_view) const noexcept { return true; }
///     };
template <class A>
concept agent_rule = requires(const A& a, std::string_view user_agent) {
    // The field's value as sent, empty when there was none; false is a 403. Called from many threads at once.
    { a.accepts(user_agent) } noexcept -> std::same_as<bool>;
};

}  // namespace tollgate
