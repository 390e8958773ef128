#include <tollgate/pages/detail/activity_page.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

/// Stores the activities it gets.
struct recorder : no_observer {
    std::vector<activity>* activities;
    void on_activity(const activity& entry) const noexcept { activities->push_back(entry); }
};
static_assert(activity_observer<recorder>);
static_assert(!activity_observer<no_observer>);

}  // namespace

TEST_CASE("every kind of activity has a text") {
    const activity_texts texts;
    std::set<std::string> seen;
    for (std::uint8_t i = 0; i < static_cast<std::uint8_t>(activity_kind::count_); ++i) {
        const activity done{static_cast<activity_kind>(i), ann, "the subject", std::nullopt, {}};
        const auto text = pages::describe(done, texts);
        CHECK(!text.empty());
        CHECK(seen.insert(text).second);
    }
    CHECK(pages::describe({activity_kind::token_created, ann, "a <b>", std::nullopt, {}}, texts) == "Created the token a <b>");
    CHECK(pages::describe({activity_kind::quota_set, ann, "7", std::nullopt, {}}, texts) == "Set the rate limit to 7 requests a day");
    CHECK(pages::describe({activity_kind::quota_set, ann, "", std::nullopt, {}}, texts) == "Set the rate limit to the default");
    // The pages show message IDs, so the number of a delivery says nothing.
    CHECK(pages::describe({activity_kind::delivery_resent, ann, "21", std::nullopt, {}}, texts) == "Sent a delivery again");
    CHECK(pages::describe({activity_kind::signed_in, ann, "", std::nullopt, {}}, texts) == "Signed in");
    CHECK(pages::describe({activity_kind::count_, ann, "unknown", std::nullopt, {}}, texts).empty());
}

TEST_CASE("an observer without on_activity is not called") {
    std::vector<activity> activities;
    recorder listening;
    listening.activities = &activities;
    const activity done{activity_kind::token_created, ann, "x", ip_address::v4(192, 0, 2, 1), {}};
    observer_ref{}.on_activity(done);
    CHECK(activities.empty());
    observer_ref{listening}.on_activity(done);
    REQUIRE(activities.size() == 1);
    CHECK(activities.front().subject == "x");
}

TEST_CASE("a directory without an audit log has no page of it") {
    page_shop shop;
    CHECK(to_number(shop.get("/en/user/settings/activity/").status()) == 404);
    CHECK_FALSE(has(shop.get("/en/user/settings/tokens/"), "/settings/activity/"));
}

TEST_CASE("new and removed secrets are distinguished from new tokens") {
    page_shop shop;
    std::vector<activity> activities;
    recorder listening;
    listening.activities = &activities;
    account_pages pages{page_shop_settings(), shop.users, shop.store, shop.sessions,
                        default_policies()
                            .with_clock(fake_clock{&shop.now})
                            .with_random(counting_random{&shop.entropy, &shop.random_works})
                            .with_observer(listening)};
    const auto post_unchanged = [&](const std::string& path, const std::string& body) {
        test_request request{http::method::post, path};
        request.field("Cookie", "who=ann").body(body, "application/x-www-form-urlencoded");
        CHECK(to_number(pages.handle(request.view()).status()) == 303);
    };
    const auto post = [&](const std::string& path, const std::string& body) {
        post_unchanged(path, body + "&form_token=" + page_shop::token_on(shop.get(path)));
    };
    const auto submit = [&](const std::string& path, const std::string& action) {
        post_unchanged(path, page_shop::form_of(shop.get(path), action));
    };
    const std::string tokens = "/en/user/settings/tokens/", applications = "/en/user/settings/applications/";
    post(tokens, "description=backup&scopes=user:balance&days=30");
    submit(tokens, "renew");
    post(applications, "name=Statistics&website=https://statistics.example");
    submit(applications, "new_secret");
    submit(applications, "remove_secret");
    std::vector<std::string> descriptions;
    for (const activity& each : activities) descriptions.push_back(pages::describe(each, {}));
    CHECK(descriptions == std::vector<std::string>{"Created the token backup", "Generated a new secret for the token backup",
                                                   "Registered the application Statistics",
                                                   "Generated a new secret for the application Statistics",
                                                   "Removed the old secret of the application Statistics"});
}
