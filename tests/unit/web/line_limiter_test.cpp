#include "../../../examples/reference_server/line_limiter.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

using reference::line_limiter;
using namespace std::chrono_literals;

namespace {

using counts = std::vector<std::pair<std::string, std::uint64_t>>;

counts report(line_limiter& limiter, line_limiter::time_point now) {
    counts reported;
    limiter.report(now, [&](std::string_view kind, std::uint64_t count, std::string_view) { reported.emplace_back(kind, count); });
    return reported;
}

}  // namespace

TEST_CASE("a kind with few failures is named beside many with more, up to the bound", "[reference][line_limiter]") {
    line_limiter limiter{1024};
    const line_limiter::time_point start{100s};
    for (int hook = 0; hook < 1023; ++hook) {
        CHECK(limiter.admit("webhook " + std::to_string(hook), {}, start));
        CHECK_FALSE(limiter.admit("webhook " + std::to_string(hook), {}, start));
    }
    CHECK(limiter.admit("webhook of a quiet tenant", {}, start + 1s));
    CHECK(limiter.admit("one too many", {}, start + 1s));  // as one of the others
    CHECK_FALSE(limiter.admit("another one", {}, start + 1s));
}

TEST_CASE("the first failure of a kind is logged, and then a count for each period", "[reference][line_limiter]") {
    line_limiter limiter;
    const line_limiter::time_point start{100s};
    CHECK(limiter.admit("PostgreSQL", {}, start));
    for (int i = 0; i < 74'012; ++i) CHECK_FALSE(limiter.admit("PostgreSQL", {}, start + 1s));
    CHECK(limiter.admit("Redis", {}, start + 1s));  // another kind has its own line

    CHECK(report(limiter, start + 4999ms).empty());
    CHECK(report(limiter, start + 5s) == counts{{"PostgreSQL", 74'012}});
    CHECK(report(limiter, start + 5s).empty());
    CHECK_FALSE(limiter.admit("PostgreSQL", {}, start + 6s));  // the failures continue
    CHECK(report(limiter, start + 10s) == counts{{"PostgreSQL", 1}});

    // After a period without failures, the next one is logged again.
    CHECK(report(limiter, start + 15s).empty());
    CHECK(limiter.admit("PostgreSQL", {}, start + 16s));
}

TEST_CASE("omitted lines are counted at the end", "[reference][line_limiter]") {
    line_limiter limiter;
    const line_limiter::time_point start{100s};
    CHECK(limiter.admit("a", {}, start));
    CHECK_FALSE(limiter.admit("a", {}, start));
    CHECK(report(limiter, (line_limiter::time_point::max)()) == counts{{"a", 1}});
}

TEST_CASE("the number of kinds is bounded", "[reference][line_limiter]") {
    line_limiter limiter;
    const line_limiter::time_point start{100s};
    for (std::size_t i = 0; i < line_limiter::kinds_max_default; ++i) CHECK(limiter.admit(std::to_string(i), {}, start));
    CHECK(limiter.admit("one more", {}, start));  // the first of all others
    CHECK_FALSE(limiter.admit("and another", {}, start));
    CHECK_FALSE(limiter.admit("0", {}, start));
    CHECK(report(limiter, start + 5s) == counts{{"0", 1}, {"other failures", 1}});
}

TEST_CASE("a count comes with the last text, whose size is bounded", "[reference][line_limiter]") {
    line_limiter limiter;
    const line_limiter::time_point start{100s};
    const auto last = [&](line_limiter::time_point now) {
        std::string text = "nothing was reported";
        limiter.report(now, [&](std::string_view, std::uint64_t, std::string_view of_last) { text = of_last; });
        return text;
    };
    CHECK(limiter.admit("PostgreSQL", "no response", start));
    CHECK_FALSE(limiter.admit("PostgreSQL", "no response", start));
    CHECK_FALSE(limiter.admit("PostgreSQL", "the session is read-only", start));
    CHECK(last(start + 5s) == "the session is read-only");
    CHECK(last(start + 5s) == "nothing was reported");
    CHECK_FALSE(limiter.admit("PostgreSQL", std::string(1 << 20, 'x'), start + 6s));
    CHECK(last(start + 10s) == std::string(line_limiter::text_bytes_max, 'x'));
}

TEST_CASE("failures of one kind differ in details only", "[reference][line_limiter]") {
    using reference::kind_of_failure;
    const auto denied = kind_of_failure("PostgreSQL: permission denied for table accounts (SQLSTATE 42501): SELECT id FROM accounts");
    CHECK(denied == "PostgreSQL: permission denied for table accounts");
    CHECK(kind_of_failure("PostgreSQL: canceling statement due to lock timeout (SQLSTATE 55P03): SELECT 1") != denied);
    CHECK(kind_of_failure("webhook 12 to a.test") == kind_of_failure("webhook 7 to b.test"));
    CHECK(kind_of_failure("SQLite: database is locked: INSERT") == kind_of_failure("SQLite: database is locked: DELETE"));
    CHECK(kind_of_failure("SQLite: disk is full (result code 13): COMMIT") == "SQLite: disk is full");
    CHECK(kind_of_failure("Redis (a.test) 1") == "Redis (a.test) ");
    CHECK(kind_of_failure("Redis at a.test") == "Redis at a.test");
    CHECK(kind_of_failure(std::string(100, 'x')) == std::string(80, 'x'));
    CHECK(kind_of_failure("").empty());
}
