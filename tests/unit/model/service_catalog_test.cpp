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

    const auto twice = services.add("twice", {"a", "b", "a"});
    REQUIRE_FALSE(twice);
    CHECK(twice.error().kind == error_kind::invalid);
    CHECK(twice.error().message == "The event 'a' is declared twice.");
    CHECK(services.find("twice") == nullptr);
    CHECK(services.add("twice", {"a", "b", "A"}));
}

TEST_CASE("a catalog made from a list applies the checks of add", "[model][service_catalog]") {
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

TEST_CASE("a service has its own scopes beside read and write", "[model][service_catalog]") {
    service_catalog services;
    REQUIRE(services.add("parcel", {"parcel.sent"}, {{"refund", "Refund parcels"}, {"re-route-2", "Send elsewhere"}}));
    REQUIRE(services.add("shop", {"order.paid"}));
    CHECK(services.find("parcel")->has_event("parcel.sent"));
    CHECK(services.has_scope("parcel:refund"));
    CHECK_FALSE(services.has_scope("shop:refund"));
    CHECK_FALSE(services.has_scope("parcel:refun"));
    CHECK_FALSE(services.has_scope("refund"));
    CHECK(services.scopes() == std::vector<std::string>{"user:balance", "parcel:read", "parcel", "parcel:refund", "parcel:re-route-2",
                                                        "shop:read", "shop"});

    const service_catalog from_list{{"shop", {"order.paid", "order.shipped"}},
                                    {.name = "parcel", .events = {"parcel.sent"}, .scopes = {{"refund", "Refund parcels"}}},
                                    {"letter", {}, {{"refund", "Refund letters"}}},
                                    {"plain"}};
    CHECK(from_list.find("shop")->events == std::vector<std::string>{"order.paid", "order.shipped"});
    CHECK(from_list.find("parcel")->own_scopes.at(0).text == "Refund parcels");
    CHECK(from_list.has_scope("parcel:refund"));
    CHECK(from_list.has_scope("letter:refund"));
}

TEST_CASE("an invalid scope of a service is refused by name", "[model][service_catalog]") {
    struct {
        std::vector<scope_definition> scopes;
        const char* part_of_message;  // null: accepted
    } const rows[] = {
        {{{"refund", "Refund parcels"}}, nullptr},
        {{{std::string(32, 'a'), std::string(200, 't')}}, nullptr},
        {{{"", "text"}}, "'parcel:' is not"},
        {{{"Refund", "text"}}, "'parcel:Refund' is not"},
        {{{"re fund", "text"}}, "is not a service"},
        {{{"re,fund", "text"}}, "is not a service"},
        {{{"a:b", "text"}}, "is not a service"},
        {{{std::string(33, 'a'), "text"}}, "1 to 32"},
        {{{"read", "text"}}, "exists for every service"},
        {{{"refund", ""}}, "needs a text of 1 to 200 bytes"},
        {{{"refund", std::string(201, 't')}}, "needs a text of 1 to 200 bytes"},
        {{{"refund", "R\xc3\xbc" "ckzahlung"}}, nullptr},
        {{{"refund", "Refund\nparcels"}}, "without control or invisible characters"},
        {{{"refund", std::string{"Refund\0", 7}}}, "without control or invisible characters"},
        {{{"refund", "R\xfc" "ck"}}, "without control or invisible characters"},
        {{{"refund", " "}}, "without control or invisible characters"},
        {{{"refund", "a"}, {"refund", "b"}}, "'parcel:refund' is declared twice"},
    };
    for (const auto& row : rows) {
        service_catalog services;
        const auto added = services.add("parcel", {}, row.scopes);
        CAPTURE(row.scopes.front().name);
        REQUIRE(added.has_value() == (row.part_of_message == nullptr));
        CHECK((services.find("parcel") != nullptr) == added.has_value());
        if (added) continue;
        CHECK(added.error().kind == error_kind::invalid);
        CHECK_THAT(added.error().message, Catch::Contains(row.part_of_message));
    }
    CHECK_THROWS_WITH((service_catalog{{.name = "parcel", .scopes = {{"read", "Read"}}}}),
                      "tollgate: The scope 'parcel:read' exists for every service.");
}
