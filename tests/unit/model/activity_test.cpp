#include <tollgate/model/activity.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <set>
#include <string>

using namespace tollgate;

TEST_CASE("each kind of activity has its own name and is found by it") {
    std::set<std::string> names;
    for (std::uint8_t i = 0; i < static_cast<std::uint8_t>(activity_kind::count_); ++i) {
        const auto kind = static_cast<activity_kind>(i);
        const std::string name{to_text(kind)};
        INFO(name);
        CHECK(!name.empty());
        CHECK(names.insert(name).second);
        CHECK(activity_kind_of(name) == kind);
    }
    CHECK(to_text(activity_kind::signed_in) == "signed_in");
    CHECK(to_text(activity_kind::event_reported) == "event_reported");
    for (const auto* name : {"", "signed", "Signed_in", "signed_in "}) CHECK_FALSE(activity_kind_of(name));
}
