#include <tollgate/model/service_catalog.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

TEST_CASE("a catalog knows its services, their events and scopes", "[domain][service_catalog]") {
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

TEST_CASE("a catalog refuses what could not be a path segment or an event", "[domain][service_catalog]") {
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
