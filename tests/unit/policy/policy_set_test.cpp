#include <tollgate/policy/detail/policy_set.hpp>

#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/policy/default_policies.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <type_traits>

using namespace tollgate;

namespace {

struct stopped_clock {
    instant at{};
    [[nodiscard]] instant now() const noexcept { return at; }
};

struct any_agent {
    [[nodiscard]] bool accepts(std::string_view) const noexcept { return true; }
};

namespace other_program {

struct clock : stopped_clock {
    void operator&() const = delete;
};
/// Has nothing to do with the library.
template <class T>
T& policy(T&) = delete;

}  // namespace other_program

}  // namespace

TEST_CASE("one slot is replaced and the others are kept", "[policy][policy_set]") {
    auto policies = default_policies().with_clock(stopped_clock{from_unix_seconds(7)}).with_agent_rule(any_agent{});
    CHECK(policies.clock.now() == from_unix_seconds(7));
    static_assert(std::is_same_v<decltype(policies.agent_rule), any_agent>);
    static_assert(std::is_same_v<decltype(policies.limiter), window_limiter>);
    static_assert(std::is_same_v<decltype(policies.router), segment_router>);
}

TEST_CASE("a policy behind a reference is shared, not copied", "[policy][policy_set]") {
    stopped_clock shared;
    auto policies = default_policies().with_clock(std::ref(shared));
    shared.at = from_unix_seconds(9);
    CHECK(policy(policies.clock).now() == from_unix_seconds(9));
    CHECK(&policy(policies.clock) == &shared);
    static_assert(std::is_same_v<policy_type<decltype(policies.clock)>, stopped_clock>);
}

TEST_CASE("a constant policy behind a reference is shared by further sets", "[policy][policy_set]") {
    const other_program::clock shared{{from_unix_seconds(9)}};
    const bearer_token authenticator;
    auto policies = default_policies().with_clock(std::ref(shared)).with_authenticators(std::cref(authenticator));
    const auto further = policies.by_reference();
    CHECK(policy(further.clock).now() == from_unix_seconds(9));
    CHECK(std::addressof(policy(further.clock)) == std::addressof(shared));
    CHECK(&policy(std::get<0>(further.authenticators)) == &authenticator);
}

TEST_CASE("every slot can be replaced", "[policy][policy_set]") {
    auto policies = default_policies()
                        .with_router(segment_router{})
                        .with_authenticators(bearer_token{})
                        .with_scope_checker(prefix_scopes{})
                        .with_limiter(unlimited{})
                        .with_agent_rule(require_agent{})
                        .with_target_rule(public_targets{})
                        .with_clock(system_clock{})
                        .with_random(system_random{})
                        .with_observer(no_observer{});
    static_assert(std::is_same_v<decltype(policies.authenticators), std::tuple<bearer_token>>);
    static_assert(std::is_same_v<decltype(policies.limiter), unlimited>);
    CHECK(policies.agent_rule.accepts("x"));
}
