#include <tollgate/policy/policies.hpp>

#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/policy/default_policies.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <functional>
#include <memory>
#include <utility>

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

}  // namespace other_program

constexpr quota once{1, std::chrono::minutes{1}};
const limit_key key = limit_key::of(user_id{1});

/// Finds every path, and counts how often it was built.
struct counting_router {
    int* built;
    void build(std::span<const route_pattern>) { ++*built; }
    [[nodiscard]] route_match find(http::method, std::string_view) const noexcept {
        route_match match;
        match.result = route_match::kind::found;
        return match;
    }
};

struct watcher : no_observer {
    int* seen;
    void on_activity(const activity&) const noexcept { ++*seen; }
};

}  // namespace

TEST_CASE("one policy is replaced and the others are kept", "[policy][policies]") {
    const auto all = default_policies().with_clock(stopped_clock{from_unix_seconds(7)}).with_agent_rule(any_agent{});
    CHECK(all.clock().now() == from_unix_seconds(7));
    CHECK(all.agent_rule().accepts(""));
    REQUIRE(all.authenticators().size() == 2);
    CHECK(all.authenticators()[0].scheme() == "Basic");
    CHECK(all.authenticators()[1].scheme() == "Bearer");
    CHECK_FALSE(default_policies().agent_rule().accepts(""));
}

TEST_CASE("a policy behind a reference is shared, not copied", "[policy][policies]") {
    stopped_clock shared;
    const auto all = default_policies().with_clock(std::ref(shared));
    shared.at = from_unix_seconds(9);
    CHECK(all.clock().now() == from_unix_seconds(9));
    CHECK(all.clock().target() == &shared);
}

TEST_CASE("a constant policy may be referred to", "[policy][policies]") {
    const other_program::clock shared{{from_unix_seconds(9)}};
    const bearer_token authenticator;
    const auto all = default_policies().with_clock(std::ref(shared)).with_authenticators(std::cref(authenticator));
    CHECK(all.clock().now() == from_unix_seconds(9));
    REQUIRE(all.authenticators().size() == 1);
    CHECK(all.authenticators()[0].target() == &authenticator);
}

TEST_CASE("a copy of a set shares its policies", "[policy][policies]") {
    const auto first = default_policies();
    const auto second = first;
    CHECK(first.limiter().take(key, once, from_unix_seconds(1)).admitted);
    CHECK_FALSE(second.limiter().take(key, once, from_unix_seconds(1)).admitted);
    CHECK(default_policies().limiter().take(key, once, from_unix_seconds(1)).admitted);
}

TEST_CASE("a policy is chosen at run time", "[policy][policies]") {
    for (const bool limited : {true, false}) {
        auto all = default_policies();
        if (!limited) all = std::move(all).with_limiter(unlimited{});
        CHECK(all.limiter().take(key, once, from_unix_seconds(1)).admitted);
        CHECK(all.limiter().take(key, once, from_unix_seconds(1)).admitted == !limited);
    }
}

TEST_CASE("each API has a router of its own", "[policy][policies]") {
    int built = 0;
    const auto all = default_policies().with_router(counting_router{&built});
    const std::array patterns{route_pattern{http::method::get, "/x"}};
    const auto first = all.make_router(patterns);
    const auto second = all.make_router(patterns);
    CHECK(built == 2);
    CHECK(first.reference.target() != second.reference.target());
    CHECK(first.reference.find(http::method::get, "/").result == route_match::kind::found);
}

TEST_CASE("without an observer nothing is observed", "[policy][policies]") {
    CHECK_FALSE(default_policies().observer());
    int seen = 0;
    watcher observer;
    observer.seen = &seen;
    const auto all = default_policies().with_observer(observer);
    CHECK(all.observer());
    CHECK_FALSE(all.observer().sees_attempts());
    all.observer().on_activity({activity_kind::signed_in, user_id{1}, "", std::nullopt, {}});
    CHECK(seen == 1);
}

TEST_CASE("every policy can be replaced", "[policy][policies]") {
    const auto all = default_policies()
                         .with_router(segment_router{})
                         .with_authenticators(bearer_token{})
                         .with_scope_checker(prefix_scopes{})
                         .with_limiter(unlimited{})
                         .with_agent_rule(require_agent{})
                         .with_target_rule(public_targets{})
                         .with_clock(system_clock{})
                         .with_random(system_random{})
                         .with_observer(no_observer{})
                         .with_format(standard_webhook{});
    CHECK(all.authenticators().size() == 1);
    CHECK_FALSE(all.limiter().may_block());
    CHECK(all.agent_rule().accepts("x"));
}
