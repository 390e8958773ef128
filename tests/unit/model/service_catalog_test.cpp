#include <tollgate/model/service_catalog.hpp>

#include <catch2/catch.hpp>

#include <stdexcept>

using namespace tollgate;

TEST_CASE("a catalog has services, events and scopes", "[domain][service_catalog]") {
    service_catalog services;
    REQUIRE(services.add("sitesmaker", {"site.created"}));
    REQUIRE(services.add("itemplatform", {}));

    REQUIRE(services.find("sitesmaker") != nullptr);
    CHECK(services.find("sitesmaker")->has_event("site.created"));
    CHECK_FALSE(services.find("sitesmaker")->has_event("site.deleted"));
    CHECK_FALSE(services.find("itemplatform")->has_event("site.created"));
    CHECK(services.find("Sitesmaker") == nullptr);
    CHECK(services.find("") == nullptr);

    CHECK(services.has_scope("sitesmaker"));
    CHECK(services.has_scope("itemplatform:read"));
    CHECK(services.has_scope("user:balance"));
    CHECK_FALSE(services.has_scope("sitesmaker:write"));
    CHECK_FALSE(services.has_scope("user"));
    CHECK(services.scopes() == std::vector<std::string>{"user:balance", "sitesmaker:read", "sitesmaker", "itemplatform:read",
                                                        "itemplatform"});
}

TEST_CASE("invalid names of services and events are refused", "[domain][service_catalog]") {
    service_catalog services;
    REQUIRE(services.add("taken", {}));
    const auto* name = GENERATE("", "user", "testservice", "taken", "Upper", "with_underscore", "a/b", "a b", "{service}", "..",
                                "a-name-of-thirty-three-characters");
    const auto added = services.add(name, {});
    REQUIRE_FALSE(added);
    CHECK(added.error().kind == error_kind::invalid);

    const auto* event = GENERATE("", "site created", "a/b", "\xc3\xa9");
    CHECK_FALSE(services.add("another", {event}));
    CHECK_FALSE(services.add("another", {std::string(129, 'e')}));
    CHECK(services.add("another", {std::string(128, 'e')}));
}

TEST_CASE("a catalog from a list refuses what add refuses", "[model][service_catalog]") {
    const service_catalog services{{"sitesmaker", {"site.created", "site.published"}}, {"itemplatform"}};
    REQUIRE(services.services().size() == 2);
    CHECK(services.find("sitesmaker")->has_event("site.published"));
    CHECK(services.find("itemplatform")->events.empty());
    CHECK(service_catalog{}.services().empty());

    CHECK_THROWS_AS((service_catalog{{"Upper", {}}}), std::invalid_argument);
    CHECK_THROWS_AS((service_catalog{{"twice", {}}, {"twice", {}}}), std::invalid_argument);
    CHECK_THROWS_WITH((service_catalog{{"user", {}}}), "tollgate: The service name 'user' is reserved by the API.");
    CHECK_THROWS_AS((service_catalog{{"shop", {"site created"}}}), std::invalid_argument);
    CHECK_NOTHROW(service_catalog{{"shop", {"site.created"}}});
}
