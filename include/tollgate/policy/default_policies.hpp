#pragma once

#include <tollgate/policy/basic_token.hpp>
#include <tollgate/policy/bearer_token.hpp>
#include <tollgate/policy/no_observer.hpp>
#include <tollgate/policy/policy_set.hpp>
#include <tollgate/policy/prefix_scopes.hpp>
#include <tollgate/policy/public_targets.hpp>
#include <tollgate/policy/require_agent.hpp>
#include <tollgate/policy/segment_router.hpp>
#include <tollgate/policy/standard_webhook.hpp>
#include <tollgate/policy/system_clock.hpp>
#include <tollgate/policy/system_random.hpp>
#include <tollgate/policy/window_limiter.hpp>

#include <tuple>

namespace tollgate {

/// What the API does when it is not told otherwise. Change a slot with `with_x`.
[[nodiscard]] inline auto default_policies() {
    return policy_set{router_slot<segment_router>{},
                      authenticators_slot<std::tuple<basic_token, bearer_token>>{},
                      scope_checker_slot<prefix_scopes>{},
                      limiter_slot<window_limiter>{},
                      agent_rule_slot<require_agent>{},
                      target_rule_slot<public_targets>{},
                      clock_slot<system_clock>{},
                      random_slot<system_random>{},
                      observer_slot<no_observer>{},
                      format_slot<standard_webhook>{}};
}

}  // namespace tollgate
