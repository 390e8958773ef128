#pragma once
#ifndef TOLLGATE_STORE_DETAIL_WIDEN_SCOPES_HPP
#define TOLLGATE_STORE_DETAIL_WIDEN_SCOPES_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/store/store_error.hpp>

#include <optional>
#include <string_view>

namespace tollgate::inline v0::detail {

/// The scopes of a grant with this code, for `create_code` of all stores; `granted` are those before, empty if there is no grant. Those
/// stay in front, in their order. Without a value, no code is created: a scope would have to be added despite `only_if_granted`.
[[nodiscard]] inline result<std::optional<scope_set>> widen_scopes(const std::optional<scope_set>& granted,
                                                                   const new_authorization_code& code) {
    if (code.only_if_granted && !(granted && granted->contains_all(code.scopes))) return std::optional<scope_set>{};
    auto scopes = std::optional{granted.value_or(scope_set{})};
    if (!code.scopes.for_each([&](std::string_view each) { return scopes->add(each); })) return too_many_scopes();
    return scopes;
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_STORE_DETAIL_WIDEN_SCOPES_HPP
