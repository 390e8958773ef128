#include <tollgate/pages/detail/activity_page.hpp>

#include <catch2/catch.hpp>

#include "support/page_shop.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace tollgate;
using namespace tollgate::test;

namespace {

/// Keeps what it hears.
struct recorder : no_observer {
    std::vector<activity>* heard;
    void on_activity(const activity& done) const noexcept { heard->push_back(done); }
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
    CHECK(pages::describe({activity_kind::signed_in, ann, "", std::nullopt, {}}, texts) == "Signed in");
    CHECK(pages::describe({activity_kind::count_, ann, "unknown", std::nullopt, {}}, texts).empty());
}

TEST_CASE("an observer without on_activity is told nothing") {
    std::vector<activity> heard;
    recorder listening;
    listening.heard = &heard;
    const activity done{activity_kind::token_created, ann, "x", ip_address::v4(192, 0, 2, 1), {}};
    report_activity(no_observer{}, done);
    CHECK(heard.empty());
    report_activity(listening, done);
    REQUIRE(heard.size() == 1);
    CHECK(heard.front().subject == "x");
}

TEST_CASE("a directory without an audit log has no page of it") {
    page_shop shop;
    CHECK(to_number(shop.get("/en/user/settings/activity/").status()) == 404);
    CHECK_FALSE(has(shop.get("/en/user/settings/tokens/"), "/settings/activity/"));
}
