#pragma once

#include <concepts>
#include <string_view>

namespace tollgate::inline v0 {

/// Decides whether a User-Agent is accepted. Operators use the User-Agent to contact a client's developer before they
/// block the client.
///
/// Exemplar:
///
///     struct any_agent {
///         bool accepts(std::string_view) const noexcept { return true; }
///     };
template <class A>
concept agent_rule = requires(const A& a, std::string_view user_agent) {
    // `user_agent` is the field value as sent, empty if missing; false is a 403. Called from many threads at once.
    { a.accepts(user_agent) } noexcept -> std::same_as<bool>;
};

}  // namespace tollgate
