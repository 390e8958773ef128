#include <tollgate/policy/default_policies.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

TEST_CASE("a scope covers itself and its parts only", "[policy][scopes]") {
    struct row {
        const char* granted;
        const char* required;
        bool covered;
    };
    const auto each = GENERATE(
        row{"sitesmaker", "sitesmaker:read", true}, row{"sitesmaker", "sitesmaker", true},
        row{"sitesmaker:read", "sitesmaker:read", true}, row{"sitesmaker:read", "sitesmaker", false},
        row{"sitesmaker", "itemplatform:read", false}, row{"sitesmaker", "user:balance", false}, row{"site", "sitesmaker:read", false},
        row{"sitesmaker", "sitesmaker2:read", false}, row{"", "sitesmaker:read", false}, row{"user:balance", "user:balance", true},
        row{"user:balance", "user", false}, row{"itemplatform sitesmaker", "sitesmaker:read", true},
        row{"itemplatform user:balance", "sitesmaker:read", false});
    CHECK(prefix_scopes{}.covers(*scope_set::parse(each.granted), each.required) == each.covered);
}
