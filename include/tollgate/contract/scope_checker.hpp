#pragma once
#ifndef TOLLGATE_CONTRACT_SCOPE_CHECKER_HPP
#define TOLLGATE_CONTRACT_SCOPE_CHECKER_HPP

#include <tollgate/model/scope.hpp>

#include <concepts>
#include <string_view>

namespace tollgate::inline v0 {

/// Decides whether the granted scopes of a credential cover the scope that a route requires.
///
/// Exemplar:
///
///     struct exact_scopes {
///         bool covers(const scope_set& granted, std::string_view required) const noexcept {
///             return granted.contains(required);
///         }
///     };
template <class C>
concept scope_checker = requires(const C& c, const scope_set& granted, std::string_view required) {
    // `required` is one scope. Called from many threads at once.
    { c.covers(granted, required) } noexcept -> std::same_as<bool>;
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_SCOPE_CHECKER_HPP
