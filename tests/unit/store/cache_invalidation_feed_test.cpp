#include <tollgate/store/cache_invalidation_feed.hpp>

#include <tollgate/base/digest.hpp>
#include <tollgate/store/detail/row_cache.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <thread>
#include <vector>

using namespace tollgate;

namespace {

using steady = cache_invalidation_feed::steady;

/// The clock that the fixture's changes use.
std::atomic<std::int64_t> clock_milliseconds{0};
steady::time_point fake_now() noexcept { return steady::time_point{milliseconds{clock_milliseconds.load()}}; }
void pass(milliseconds length) { clock_milliseconds += length.count(); }

struct row {
    user_id user;
    std::int64_t number;
};

using query_result = result<std::optional<row>>;

/// Tokens, each of a user and with a number, read through a cache.
struct fixture {
    cache_invalidation_feed changes{{.row_lifetime = seconds{30}, .none_lifetime = milliseconds{500}, .now = &fake_now}};
    row_cache<digest, row, cache_invalidation_feed> cache{changes, 256};
    std::map<std::uint8_t, row> table;
    int queries = 0;

    static constexpr std::array<std::uint8_t, 3> tokens{1, 2, 3};

    fixture() { trust(); }

    void trust(milliseconds length = seconds{3600}) { changes.trust_until(fake_now() + length); }

    static digest key(std::uint8_t token) {
        std::array<std::uint8_t, digest::size_bytes> bytes{};
        bytes[0] = token;
        bytes[1] = static_cast<std::uint8_t>(token * 7);
        return digest::from_bytes(bytes);
    }
    std::optional<row> query(std::uint8_t token) {
        ++queries;
        const auto found = table.find(token);
        return found == table.end() ? std::nullopt : std::optional{found->second};
    }
    /// 0 if there is no row.
    std::int64_t find(std::uint8_t token) {
        const auto found = cache.find(key(token), [&]() -> query_result { return query(token); });
        REQUIRE(found);
        return *found ? (*found)->number : 0;
    }
    int queries_of(std::uint8_t token) {
        const int before = queries;
        find(token);
        return queries - before;
    }
};

}  // namespace

TEST_CASE_METHOD(fixture, "a row is queried once, until a change of its user, of its key or of all rows is received") {
    table = {{1, {user_id{7}, 10}}, {2, {user_id{7}, 20}}, {3, {user_id{8}, 30}}};
    for (const auto each : tokens) CHECK(queries_of(each) == 1);
    for (const auto each : tokens) CHECK(queries_of(each) == 0);

    changes.forget(user_id{7});
    CHECK(queries_of(1) == 1);
    CHECK(queries_of(1) == 0);
    CHECK(queries_of(2) == 1);
    CHECK(queries_of(3) == 0);

    changes.forget_key(cache.hash_of(key(2)));
    CHECK(queries_of(1) == 0);
    CHECK(queries_of(2) == 1);

    changes.forget_all();
    for (const auto each : tokens) CHECK(queries_of(each) == 1);
    for (const auto each : tokens) CHECK(queries_of(each) == 0);
}

TEST_CASE_METHOD(fixture, "without trust no row is returned, and cached rows survive an interruption of trust") {
    table = {{1, {user_id{7}, 10}}};
    changes.trust_no_more();
    CHECK(queries_of(1) == 1);
    CHECK(queries_of(1) == 1);
    trust(milliseconds{900});
    CHECK(queries_of(1) == 1);  // nothing was cached
    CHECK(queries_of(1) == 0);
    pass(milliseconds{899});
    CHECK(queries_of(1) == 0);
    pass(milliseconds{1});
    CHECK(queries_of(1) == 1);
    pass(seconds{5});
    CHECK(queries_of(1) == 1);
    trust(milliseconds{900});  // late, but no change was missed
    CHECK(queries_of(1) == 0);
}

TEST_CASE("a new feed trusts nothing") {
    const cache_invalidation_feed changes;
    CHECK_FALSE(changes.read());
}

TEST_CASE_METHOD(fixture, "a row is cached for its lifetime, counted from before its query, and \"none\" for half a second") {
    table = {{1, {user_id{7}, 10}}};
    CHECK(cache.find(key(1), [&]() -> query_result {
        pass(seconds{10});
        return query(1);
    }));
    pass(seconds{20} - milliseconds{1});
    CHECK(queries_of(1) == 0);
    pass(milliseconds{1});
    CHECK(queries_of(1) == 1);

    CHECK(queries_of(2) == 1);
    pass(milliseconds{499});
    CHECK(queries_of(2) == 0);
    pass(milliseconds{1});
    CHECK(queries_of(2) == 1);
    table.insert_or_assign(2, row{user_id{8}, 20});
    changes.forget_key(cache.hash_of(key(2)));  // made by this node
    CHECK(find(2) == 20);
}

TEST_CASE("rows may be cached until they change") {
    cache_invalidation_feed changes{{.row_lifetime = (milliseconds::max)(), .now = &fake_now}};
    row_cache<digest, row, cache_invalidation_feed> cache{changes, 4};
    changes.trust_until(fake_now() + seconds{3600});
    int queries = 0;
    for (int i = 0; i < 2; ++i) {
        const auto found = cache.find(fixture::key(1), [&]() -> query_result {
            ++queries;
            return std::optional{row{user_id{7}, 10}};
        });
        CHECK((found && *found));
        pass(seconds{60});
    }
    CHECK(queries == 1);
}

TEST_CASE_METHOD(fixture, "a row that was read before a change was received and cached afterwards is never returned") {
    for (int change = 0; change < 3; ++change) {
        CAPTURE(change);
        table.insert_or_assign(1, row{user_id{7}, 10});
        const auto overtaken = cache.find(key(1), [&]() -> query_result {
            auto read = query(1);
            table.at(1).number = 11;
            if (change == 0) changes.forget(user_id{7});
            if (change == 1) changes.forget_all();
            if (change == 2) changes.forget_key(cache.hash_of(key(1)));
            return read;
        });
        REQUIRE(overtaken);
        CHECK((*overtaken)->number == 10);
        CHECK(find(1) == 11);
        changes.forget_all();
    }
    const auto none = cache.find(key(9), [&]() -> query_result {
        table.insert_or_assign(9, row{user_id{7}, 90});
        changes.forget_key(cache.hash_of(key(9)));
        return std::optional<row>{};
    });
    REQUIRE(none);
    CHECK(find(9) == 90);
}

TEST_CASE_METHOD(fixture, "unknown keys evict no row, and unused rows are evicted before used ones") {
    row_cache<user_id, row, cache_invalidation_feed> small{changes, 4};  // one set: three rows and a "none"
    const auto queries_for = [&](std::int64_t user) {
        int count = 0;
        REQUIRE(small.find(user_id{user}, [&]() -> query_result {
            ++count;
            if (user >= 1000) return std::optional<row>{};
            return std::optional{row{user_id{user}, user}};
        }));
        return count;
    };
    for (const int each : {1, 2, 3}) CHECK(queries_for(each) == 1);
    for (std::int64_t made_up = 1000; made_up < 1100; ++made_up) CHECK(queries_for(made_up) == 1);
    for (const int each : {1, 2, 3}) CHECK(queries_for(each) == 0);
    for (std::int64_t passing = 10; passing < 30; ++passing) {
        CHECK(queries_for(passing) == 1);
        CHECK(queries_for(2) <= 1);
        if (passing > 12) CHECK(queries_for(2) == 0);
    }
}

TEST_CASE_METHOD(fixture, "for random sequences of events, no row is returned that is older than allowed") {
    std::mt19937 random{Catch::rngSeed()};
    const auto below = [&](unsigned bound) { return static_cast<std::uint8_t>(random() % bound); };
    // The feed: committed changes are received later, in order; trust lasts for 900 ms after each poll.
    struct change {
        std::int64_t at;
        user_id user;
    };
    struct version {
        std::int64_t until;  // when the next was committed
        std::int64_t number;
    };
    std::vector<change> unheard;
    std::map<std::uint8_t, std::vector<version>> old;
    changes.trust_no_more();
    std::int64_t served_from_cache = 0;
    for (int step = 1; step <= 20'000; ++step) {
        const auto token = static_cast<std::uint8_t>(1 + below(40));
        switch (below(10)) {
            case 0: {  // a change of another node
                auto& stored = table.try_emplace(token, row{user_id{1 + token % 9}, 0}).first->second;
                old[token].push_back({clock_milliseconds, stored.number});
                stored.number = step;
                unheard.push_back({clock_milliseconds, stored.user});
                break;
            }
            case 1: {  // a change of this node
                auto& stored = table.try_emplace(token, row{user_id{1 + token % 9}, 0}).first->second;
                old[token].push_back({-1'000'000, stored.number});
                stored.number = step;
                changes.forget(stored.user);
                changes.forget_key(cache.hash_of(key(token)));
                break;
            }
            case 2:
                if (below(3) == 0) break;  // the feed is delayed
                for (const auto& each : unheard) changes.forget(each.user);
                unheard.clear();
                trust(milliseconds{900 - below(100)});
                break;
            case 3:
                if (below(20) == 0) {  // the feed is interrupted
                    unheard.clear();
                    changes.forget_all();
                }
                break;
            case 4: pass(milliseconds{below(200)}); break;
            default: {
                const int before = queries;
                const auto number = find(token);
                if (queries == before) ++served_from_cache;
                const auto now_there = table.contains(token) ? table.at(token).number : 0;
                if (number == now_there) break;
                // An old row, which was current less than a second ago.
                std::int64_t until = -1'000'000;
                for (const auto& each : old[token])
                    if (each.number == number) until = each.until;
                REQUIRE(clock_milliseconds - until <= 900);
            }
        }
    }
    CHECK(served_from_cache > 1000);
}

TEST_CASE("concurrent readers never get a row that was changed before their query") {
    cache_invalidation_feed changes;
    changes.trust_until(steady::now() + seconds{3600});
    row_cache<user_id, row, cache_invalidation_feed> cache{changes, 64};
    constexpr std::int64_t users = 4, rounds = 20'000;
    struct alignas(64) cell {
        std::atomic<std::int64_t> value{0}, announced{0};
    };
    std::array<cell, users> table;
    std::atomic<bool> done{false};
    std::atomic<int> stale{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&, i] {
            std::int64_t at = i;
            while (!done) {
                auto& entry = table[static_cast<std::size_t>(++at % users)];
                const std::int64_t at_least = entry.announced;
                const auto found = cache.find(user_id{1 + at % users}, [&]() -> query_result {
                    return std::optional{row{user_id{1 + at % users}, entry.value}};
                });
                if (!found || (*found)->number < at_least) ++stale;
            }
        });
    for (int i = 0; i < 2; ++i)
        threads.emplace_back([&, i] {
            for (std::int64_t round = 1; round <= rounds; ++round) {
                const auto user = static_cast<std::size_t>(2 * (round % 2) + i);
                table[user].value = round;
                changes.forget(user_id{1 + static_cast<std::int64_t>(user)});
                table[user].announced = round;
            }
        });
    threads[3].join();
    threads[4].join();
    done = true;
    for (int i = 0; i < 3; ++i) threads[static_cast<std::size_t>(i)].join();
    CHECK(stale == 0);
}
