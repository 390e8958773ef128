#include <tollgate/base/lookup.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

using tollgate::lookup;
using text_lookup = lookup<std::string>;

TEST_CASE("a lookup is a hit, a miss or unknown", "[base][lookup]") {
    struct {
        text_lookup cached;
        bool hit, miss, unknown;
    } const rows[] = {
        {text_lookup::hit("a"), true, false, false},
        {text_lookup::miss(), false, true, false},
        {text_lookup::unknown(), false, false, true},
        {text_lookup{}, false, false, true},
    };
    for (const auto& row : rows) {
        CHECK(row.cached.is_hit() == row.hit);
        CHECK(row.cached.is_miss() == row.miss);
        CHECK(row.cached.is_unknown() == row.unknown);
    }
    CHECK(*text_lookup::hit("a") == "a");
    CHECK(text_lookup::hit("abc")->size() == 3);
    CHECK(text_lookup::hit("a").found() == std::optional<std::string>{"a"});
    CHECK(text_lookup::miss().found() == std::nullopt);
}

TEST_CASE("lookups are equal by their state and value", "[base][lookup]") {
    const text_lookup all[] = {text_lookup::hit("a"), text_lookup::hit("b"), text_lookup::miss(), text_lookup::unknown()};
    for (const auto& a : all)
        for (const auto& b : all) CHECK((a == b) == (&a == &b));
}

TEST_CASE("the value of a hit can be moved out", "[base][lookup]") {
    auto cached = lookup<std::unique_ptr<int>>::hit(std::make_unique<int>(7));
    const std::optional<std::unique_ptr<int>> taken = std::move(cached).found();
    CHECK(**taken == 7);
    CHECK(**lookup<std::unique_ptr<int>>::hit(std::make_unique<int>(8)) == 8);
}

namespace {

/// Counts how often it was copied or moved.
struct counted_value {
    int copies = 0;
    int moves = 0;

    counted_value() = default;
    counted_value(const counted_value& other) : copies{other.copies + 1}, moves{other.moves} {}
    counted_value(counted_value&& other) noexcept : copies{other.copies}, moves{other.moves + 1} {}
    counted_value& operator=(const counted_value&) = delete;
    counted_value& operator=(counted_value&&) = delete;
};

}  // namespace

TEST_CASE("a hit copies its value once, or moves it once", "[base][lookup]") {
    const counted_value cached;
    const auto copied = lookup<counted_value>::hit(cached);
    CHECK(copied->copies == 1);
    CHECK(copied->moves == 0);
    const auto moved = lookup<counted_value>::hit(counted_value{});
    CHECK(moved->copies == 0);
    CHECK(moved->moves == 1);
}
