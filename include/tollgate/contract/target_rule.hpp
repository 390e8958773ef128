#pragma once
#ifndef TOLLGATE_CONTRACT_TARGET_RULE_HPP
#define TOLLGATE_CONTRACT_TARGET_RULE_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/http/url.hpp>

#include <concepts>

namespace tollgate::inline v0 {

/// Decides where webhooks may go. Without such a rule, anyone who can create a hook can send requests into the server's
/// private network.
///
/// Thread rule: both functions may be called from many threads at once. Neither blocks or resolves names.
///
/// Exemplar:
///
///     struct partners_only {
///         result<void> check(const http::url& target) const {
///             if (target.host == "hooks.partner.example") return {};
///             return invalid("target_url must be at hooks.partner.example.");
///         }
///         bool allows(const ip_address&) const noexcept { return true; }
///     };
template <class R>
concept target_rule = requires(const R& r, const http::url& target, const ip_address& address) {
    // Checks a URL by its text alone, when a hook is created or changed and before each attempt. A refusal is
    // error_kind::invalid with a message that names `target_url`; pages show it in all languages.
    { r.check(target) } -> std::same_as<result<void>>;
    // Checks a resolved address before each connection, because a name that was allowed may later resolve to a private
    // address.
    { r.allows(address) } noexcept -> std::same_as<bool>;
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_TARGET_RULE_HPP
