#pragma once
#ifndef TOLLGATE_POLICY_DEFAULT_POLICIES_IPP
#define TOLLGATE_POLICY_DEFAULT_POLICIES_IPP

#include <tollgate/policy/default_policies.hpp>

namespace tollgate::inline v0 {

TOLLGATE_DECL policies default_policies() {
    return policies{}
        .with_router(segment_router{})
        .with_authenticators(basic_token{}, bearer_token{})
        .with_scope_checker(prefix_scopes{})
        .with_limiter(window_limiter{})
        .with_agent_rule(require_agent{})
        .with_target_rule(public_targets{})
        .with_clock(system_clock{})
        .with_random(system_random{})
        .with_observer(no_observer{})
        .with_format(standard_webhook{});
}

}  // namespace tollgate

#endif  // TOLLGATE_POLICY_DEFAULT_POLICIES_IPP
