#include <tollgate/monitoring/detail/affected_callers.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate::monitoring;
using namespace std::chrono_literals;

namespace {

affected_caller user(std::int64_t id) { return affected_caller::of(user_id{id}); }
affected_caller client(std::string_view address) { return affected_caller::of(*ip_address::parse(address)); }

/// By kind and name of the caller.
std::map<std::pair<effect, std::string>, std::uint64_t> found_in(affected_callers& table, affected_callers::time_point now) {
    std::map<std::pair<effect, std::string>, std::uint64_t> counts;
    table.each(now, [&](effect kind, const affected_caller& caller, std::uint64_t count) {
        const auto name = caller.user ? std::to_string(caller.user->value()) : network_of(caller.network);
        CHECK(counts.emplace(std::pair{kind, name}, count).second);  // each once
    });
    return counts;
}

}  // namespace

TEST_CASE("a response affects its caller if it failed, was limited or was slow", "[pipeline][affected]") {
    struct {
        unsigned status;
        std::chrono::nanoseconds duration;
        std::optional<effect> expected;
    } const cases[]{
        {200, 1us, std::nullopt},          {204, 250ms, std::nullopt},        {200, 250ms + 1ns, effect::slow},
        {303, 1ms, std::nullopt},          {303, 1s, effect::slow},           {400, 1ms, std::nullopt},
        {401, 1ms, std::nullopt},          {403, 1ms, std::nullopt},          {404, 1ms, std::nullopt},
        {404, 300ms, effect::slow},        {428, 1ms, std::nullopt},          {429, 1ms, effect::limited},
        {429, 300ms, effect::limited},     {431, 1ms, std::nullopt},          {499, 1ms, std::nullopt},
        {500, 1ms, effect::failed},        {503, 10s, effect::failed},        {599, 1ms, effect::failed},
    };
    for (const auto& each : cases) {
        INFO(each.status << " after " << each.duration.count() << " ns");
        CHECK(effect_of(static_cast<http::status>(each.status), each.duration) == each.expected);
    }
}

TEST_CASE("an anonymous caller is a network, a user is not", "[pipeline][affected]") {
    CHECK(client("192.0.2.7") == client("192.0.2.250"));
    CHECK(client("192.0.2.7") == client("::ffff:192.0.2.7"));
    CHECK_FALSE(client("192.0.2.7") == client("192.0.3.7"));
    CHECK(client("2001:db8:1:2::3") == client("2001:db8:1:ffff::"));
    CHECK_FALSE(client("2001:db8:1::") == client("2001:db8:2::"));
    CHECK(user(7) == user(7));
    CHECK_FALSE(user(7) == user(8));
    CHECK_FALSE(user(7) == client("::"));
}

TEST_CASE("the table of callers is bounded and keeps those with the highest counts", "[pipeline][affected]") {
    top_callers table;
    constexpr std::int64_t frequent = 3, rare = 1000, each_frequent = 200;  // more than a sixteenth of all 1600
    for (std::int64_t i = 0; i < rare; ++i) {
        table.add(user(1000 + i));
        for (std::int64_t number = 1; number <= frequent; ++number)
            if (i % (rare / each_frequent) == 0) table.add(user(number));
    }
    std::size_t size = 0;
    table.each([&](const affected_caller& caller, std::uint64_t count) {
        ++size;
        CHECK(count >= 1);
        CHECK(count <= (caller.user->value() <= frequent ? 200U : 1U));  // never too high
    });
    CHECK(size == top_callers::callers_max);
    for (std::int64_t number = 1; number <= frequent; ++number) CHECK(table.count_of(user(number)) > 100);
    CHECK(table.count_of(user(1000)) == 0);
    CHECK(table.count_of(user(1000 + rare - 1)) == 1);
}

TEST_CASE("a caller who was replaced and returns is counted from zero", "[pipeline][affected]") {
    top_callers table;
    for (std::int64_t number = 1; number <= 16; ++number)
        for (std::int64_t i = 0; i < number; ++i) table.add(user(number));
    CHECK(table.count_of(user(1)) == 1);
    table.add(user(17));  // replaces user 1, who has the lowest count
    CHECK(table.count_of(user(1)) == 0);
    CHECK(table.count_of(user(17)) == 1);
    CHECK(table.count_of(user(16)) == 16);
    table.add(user(1));
    table.add(user(1));
    CHECK(table.count_of(user(1)) == 2);
}

TEST_CASE("callers are reported for the current and the previous window", "[pipeline][affected]") {
    affected_callers table;
    const affected_callers::time_point start{std::chrono::hours{1}};
    CHECK(found_in(table, start).empty());
    table.add(effect::failed, user(1), start);
    table.add(effect::failed, user(1), start);
    table.add(effect::slow, user(1), start + 1min);
    table.add(effect::limited, client("192.0.2.7"), start + 4min);
    using counts = std::map<std::pair<effect, std::string>, std::uint64_t>;
    const counts first{{{effect::failed, "1"}, 2}, {{effect::slow, "1"}, 1}, {{effect::limited, "192.0.2.0/24"}, 1}};
    CHECK(found_in(table, start + 5min - 1ns) == first);
    CHECK(found_in(table, start + 5min) == first);
    table.add(effect::failed, user(1), start + 6min);
    table.add(effect::failed, user(2), start + 7min);
    table.add(effect::failed, user(3), start);  // the clock of another thread was read before
    auto both = first;
    both[{effect::failed, "1"}] = 3;
    both[{effect::failed, "2"}] = 1;
    both[{effect::failed, "3"}] = 1;
    CHECK(found_in(table, start + 10min - 1ns) == both);
    // Windows have no gaps between them: reported callers are at most ten minutes old.
    CHECK(found_in(table, start + 10min) ==
          counts{{{effect::failed, "1"}, 1}, {{effect::failed, "2"}, 1}, {{effect::failed, "3"}, 1}});
    CHECK(found_in(table, start + 15min).empty());

    SECTION("after a long time without affected callers") {
        table.add(effect::slow, user(4), start + 16min);
        CHECK(found_in(table, start + 40min).empty());
        table.add(effect::slow, user(5), start + 40min);
        CHECK(found_in(table, start + 44min) == counts{{{effect::slow, "5"}, 1}});
    }
}

TEST_CASE("each kind has its own table", "[pipeline][affected]") {
    affected_callers table;
    const affected_callers::time_point now{std::chrono::hours{1}};
    table.add(effect::failed, user(1), now);
    for (std::int64_t i = 0; i < 1000; ++i) table.add(effect::limited, user(2 + i), now);
    const auto counts = found_in(table, now);
    CHECK(counts.size() == 17);
    CHECK(counts.at({effect::failed, "1"}) == 1);
}

TEST_CASE("threads that add callers at the same time lose no counts", "[pipeline][affected]") {
    affected_callers table;
    const affected_callers::time_point now{std::chrono::hours{1}};
    std::vector<std::thread> running;
    for (std::int64_t number = 1; number <= 8; ++number)
        running.emplace_back([&table, now, number] {
            for (int i = 0; i < 2000; ++i) table.add(effect::failed, user(number), now);
        });
    std::uint64_t total = 0;
    table.each(now, [&](effect, const affected_caller&, std::uint64_t count) { total += count; });
    CHECK(total <= 16000);
    for (auto& each : running) each.join();
    for (std::int64_t number = 1; number <= 8; ++number) CHECK(found_in(table, now).at({effect::failed, std::to_string(number)}) == 2000);
}
