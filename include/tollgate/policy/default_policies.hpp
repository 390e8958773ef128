#pragma once
#ifndef TOLLGATE_POLICY_DEFAULT_POLICIES_HPP
#define TOLLGATE_POLICY_DEFAULT_POLICIES_HPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/contract/authenticator.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/scope_checker.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/policy/policies.hpp>
#include <tollgate/policy/public_targets.hpp>
#include <tollgate/policy/segment_router.hpp>
#include <tollgate/policy/standard_webhook.hpp>
#include <tollgate/policy/token_authenticators.hpp>

namespace tollgate::inline v0 {

static_assert(observer<no_observer>);
static_assert(time_source<system_clock>);
static_assert(random_source<system_random>);

/// The default scope checker. A scope covers itself and every scope that begins with it and a colon: `sitesmaker` covers `sitesmaker:read`.
/// The reverse is not true, and no scope covers a scope of another service.
struct prefix_scopes {
    [[nodiscard]] constexpr bool covers(const scope_set& granted, std::string_view required) const noexcept {
        return !granted.for_each([required](std::string_view held) {
            return !(required.starts_with(held) && (required.size() == held.size() || required[held.size()] == ':'));
        });
    }
};

static_assert(scope_checker<prefix_scopes>);

/// The default agent rule, which accepts any User-Agent that is not blank.
struct require_agent {
    [[nodiscard]] constexpr bool accepts(std::string_view user_agent) const noexcept { return !detail::trim_ows(user_agent).empty(); }
};

static_assert(agent_rule<require_agent>);

/// Returns the default policies: `segment_router`, `basic_token` and `bearer_token`, `prefix_scopes`, a `window_limiter`, `require_agent`,
/// `public_targets`, `system_clock`, `system_random`, no observer, and `standard_webhook`. Each call creates a limiter of its own. Throws
/// std::bad_alloc, and std::runtime_error when OpenSSL has no random bytes.
[[nodiscard]] TOLLGATE_DECL policies default_policies();

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/policy/default_policies.ipp>
#endif

#endif  // TOLLGATE_POLICY_DEFAULT_POLICIES_HPP
