#pragma once
#ifndef TOLLGATE_POLICY_DEFAULT_POLICIES_HPP
#define TOLLGATE_POLICY_DEFAULT_POLICIES_HPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/contract/authenticator.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/contract/scope_checker.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/policy/detail/policy_set.hpp>
#include <tollgate/policy/public_targets.hpp>
#include <tollgate/policy/detail/segment_router.hpp>
#include <tollgate/policy/standard_webhook.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/policy/token_authenticators.hpp>

#include <tuple>

namespace tollgate::inline v0 {

/// Observes nothing.
struct no_observer {
    void on_request(const request_record&) const noexcept {}
    void on_refusal(const refusal_record&) const noexcept {}
    void on_problem(const problem_record&) const noexcept {}
};

static_assert(observer<no_observer>);
static_assert(time_source<system_clock>);
static_assert(random_source<system_random>);

/// A scope covers itself and every scope that begins with it and a colon: `sitesmaker` covers `sitesmaker:read`. The
/// reverse is not true, and no scope covers a scope of another service.
struct prefix_scopes {
    [[nodiscard]] constexpr bool covers(const scope_set& granted, std::string_view required) const noexcept {
        return !granted.for_each([required](std::string_view held) {
            return !(required.starts_with(held) && (required.size() == held.size() || required[held.size()] == ':'));
        });
    }
};

static_assert(scope_checker<prefix_scopes>);

/// Accepts any User-Agent that is not blank.
struct require_agent {
    [[nodiscard]] constexpr bool accepts(std::string_view user_agent) const noexcept { return !trim_ows(user_agent).empty(); }
};

static_assert(agent_rule<require_agent>);

/// A named class, so that `account_api` with default policies has a short type name.
struct default_policy_set
    : policy_set<router_slot<segment_router>, authenticators_slot<std::tuple<basic_token, bearer_token>>,
                 scope_checker_slot<prefix_scopes>, limiter_slot<window_limiter>, agent_rule_slot<require_agent>,
                 target_rule_slot<public_targets>, clock_slot<system_clock>, random_slot<system_random>,
                 observer_slot<no_observer>, format_slot<standard_webhook>> {
    default_policy_set() : policy_set{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}} {}
};

/// The default policies. `with_x` returns them with the policy `x` replaced.
[[nodiscard]] inline default_policy_set default_policies() { return {}; }

}  // namespace tollgate

#endif  // TOLLGATE_POLICY_DEFAULT_POLICIES_HPP
