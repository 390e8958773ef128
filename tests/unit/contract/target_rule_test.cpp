#include <tollgate/contract/target_rule.hpp>

#include <tollgate/policy/public_targets.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

namespace {

// The exemplar of the header.
struct partners_only {
    result<void> check(const http::url& target) const {
        if (target.host == "hooks.partner.example") return {};
        return invalid("target_url must be at hooks.partner.example.");
    }
    bool allows(const ip_address&) const noexcept { return true; }
};

struct judges_names_only {
    result<void> check(const http::url&) const { return {}; }
};
struct says_only_yes_or_no : partners_only {
    bool check(const http::url&) const { return true; }
};
struct needs_to_change : partners_only {
    result<void> check(const http::url&) { return {}; }
};

}  // namespace

TEST_CASE("models of target_rule are accepted, and near misses refused") {
    STATIC_REQUIRE(target_rule<public_targets>);
    STATIC_REQUIRE(target_rule<partners_only>);
    STATIC_REQUIRE_FALSE(target_rule<judges_names_only>);
    STATIC_REQUIRE_FALSE(target_rule<says_only_yes_or_no>);
    STATIC_REQUIRE_FALSE(target_rule<needs_to_change>);
}

TEST_CASE("the exemplar accepts partner hosts") {
    CHECK(partners_only{}.check(*http::url::parse("https://hooks.partner.example/x")));
    CHECK_FALSE(partners_only{}.check(*http::url::parse("https://example.com/x")));
}
