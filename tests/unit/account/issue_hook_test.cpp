#include <tollgate/account/issue_hook.hpp>
#include <tollgate/policy/public_targets.hpp>
#include <tollgate/store/memory.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using tollgate_test::counting_random;

namespace {

const account_ref anns_site{*service_name::from("sitesmaker"), account_id{1}};
const instant now = from_unix_seconds(1'700'000'000);

struct bench {
    memory_store store;
    service_catalog services{{"sitesmaker", {"site.created"}}, {"itemplatform", {"item.created"}}};
    std::uint64_t entropy = 0;
    bool works = true;
    counting_random random{&entropy, &works};

    auto issue(std::size_t hooks_per_event_max = 20) {
        return issue_hook(store, services,
                          {.account = anns_site,
                           .event = "site.created",
                           .target_url = "https://a.example",
                           .source = hook_source::manual},
                          now, public_targets{}, random, hooks_per_event_max);
    }
};

}  // namespace

TEST_CASE("a hook is created with its own secret") {
    bench setup;
    const auto first = setup.issue();
    const auto second = setup.issue();
    REQUIRE((first && second));
    CHECK(first->secret.starts_with("whsec_"));
    CHECK(first->secret != second->secret);
    const auto stored = *setup.store.hooks_of(anns_site);
    REQUIRE(stored.size() == 2);
    CHECK(stored.front().id == first->id);
    CHECK(stored.front().source == hook_source::manual);
    CHECK(stored.front().type == "webhook");
    CHECK(stored.front().created_at == now);
}

TEST_CASE("no hook beyond the bound or without random bytes") {
    bench setup;
    CHECK(setup.issue(1));
    const auto too_many = setup.issue(1);
    REQUIRE_FALSE(too_many);
    CHECK(too_many.error().kind == error_kind::invalid);
    setup.works = false;
    const auto nothing = setup.issue();
    REQUIRE_FALSE(nothing);
    CHECK(nothing.error().kind == error_kind::internal);
    CHECK(setup.store.hooks_of(anns_site)->size() == 1);
}

TEST_CASE("no hook for an unknown service, an unknown event or a refused target") {
    bench setup;
    const account_ref unknown_service{*service_name::from("parcel"), account_id{1}};
    const std::string url = "https://a.example/";
    const struct {
        webhook_request request;
        std::string_view message;
    } cases[] = {
        {{unknown_service, "site.created", url}, "service is not a service of this API."},
        {{anns_site, "item.created", url}, "event is not an event of this service."},  // of another service
        {{anns_site, "site.creat", url}, "event is not an event of this service."},
        {{anns_site, "", url}, "event is not an event of this service."},
        {{anns_site, "site.created", "http://169.254.169.254/"}, "target_url must point to a public address."},
        {{anns_site, "site.created", ""}, "target_url is not an absolute http or https URL."},
        {{anns_site, "site.created", url + std::string(2048, 'a')}, "target_url is longer than 2048 bytes."},
        {{anns_site, "item.created", "http://169.254.169.254/"}, "event is not an event of this service."},  // the first error
    };
    for (const auto& each : cases) {
        const auto refused = issue_hook(setup.store, setup.services, each.request, now);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == error_kind::invalid);
        CHECK(refused.error().message == each.message);
    }
    CHECK(setup.store.hooks_of(anns_site)->empty());
    CHECK(issue_hook(setup.store, setup.services, {anns_site, "site.created", "http://127.0.0.1/"}, now,
                     public_targets{.private_allowed = true}));
    CHECK(issue_hook(setup.store, setup.services, {anns_site, "site.created", url}, now));
}

TEST_CASE("a secret is replaced for an existing hook") {
    bench setup;
    const auto issued = setup.issue();
    REQUIRE(issued);
    const auto renewed = renew_hook_secret(setup.store, anns_site, issued->id, now, setup.random);
    REQUIRE((renewed && *renewed));
    CHECK((*renewed)->starts_with("whsec_"));
    CHECK(**renewed != issued->secret);

    const account_ref other{anns_site.service, account_id{2}};
    const auto other_account = renew_hook_secret(setup.store, other, issued->id, now, setup.random);
    REQUIRE(other_account);
    CHECK_FALSE(*other_account);
    setup.works = false;
    CHECK_FALSE(renew_hook_secret(setup.store, anns_site, issued->id, now, setup.random));
}

TEST_CASE("the target of a hook is checked") {
    const public_targets rule;
    CHECK(check_hook_target(rule, "https://a.example/in"));
    for (const std::string& bad :
         {std::string{}, std::string{"a.example"}, std::string{"http://127.0.0.1/"},
          std::string{"https://a.example/#x"}, "https://a.example/" + std::string(2048, 'a')}) {
        const auto refused = check_hook_target(rule, bad);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == error_kind::invalid);
        CHECK(refused.error().message.starts_with("target_url "));
    }
    const struct {
        std::string_view what_to_do;
        std::vector<const char*> targets;
    } rewritten[] = {
        {"percent-encode it.", {"https://a.example/a b", "https://a.example/\xc3\xbc", "https://a.example/\n", "https://a.example/\x7f"}},
        {"xn-- form", {"http://m\xc3\xbcnchen.example/", "http://m\xc3\xbcnchen.example", "http://m\xc3\xbcnchen.example:8080?x"}},
        {"write %25", {"https://a.example/100%", "https://a.example/%4", "https://a.example/%zz?x", "https://a.example/?%"}},
        {"such as {id}", {"https://a.example/{id}", "https://a.example/a|b", "https://a.example/?a|b", "https://a.example/\\",
                          "https://a.example/\"", "https://a.example/<", "https://a.example/>", "https://a.example/^",
                          "https://a.example/`"}},
    };
    for (const auto& [what_to_do, targets] : rewritten)
        for (const char* const bad : targets) {
            CAPTURE(bad);
            const auto refused = check_hook_target(rule, bad);
            REQUIRE_FALSE(refused);
            CHECK(refused.error().kind == error_kind::invalid);
            CHECK(refused.error().message.starts_with("target_url has "));
            CHECK(refused.error().message.find(what_to_do) != std::string::npos);
        }
    for (const char* const good : {"http://xn--mnchen-3ya.example/", "https://a.example/100%25", "https://a.example/%7Bid%7D",
                                   "https://a.example:/x", "https://a.example:", "https://a.example/?a[]=1"})
        CHECK(check_hook_target(rule, good));
    CHECK(check_hook_target(rule, "https:/a.example").error().message == "target_url is not an absolute http or https URL.");
}
