#include <tollgate/limits/detail/redis/recent_refusals.hpp>

#include <catch2/catch.hpp>

#include <cstdint>

using namespace tollgate;
using std::chrono::hours;

namespace {

constexpr std::int64_t boot_time = 5'000;                // of the node
constexpr std::int64_t server_time = 1'700'000'000'000;  // of Redis

const limit_key key = limit_key::of(user_id{1});
const tollgate::detail::bounded_quota sixty{{60, hours{1}}};

/// Adds a refusal in a window that ends after `window_left` milliseconds.
void add_refusal(redis::recent_refusals& refusals, const tollgate::detail::bounded_quota& allowed, std::int64_t window_left) {
    const std::int64_t began_at = server_time + window_left - std::int64_t{allowed.window_seconds} * 1000;
    refusals.add({key, allowed, true}, {false, 0, began_at, server_time}, boot_time);
}

}  // namespace

TEST_CASE("a refusal is remembered for 100 ms, at most until its window ends") {
    struct row {
        std::int64_t window_left, remembered_for;
    };
    const auto [window_left, remembered_for] = GENERATE(row{3'000'000, 100}, row{100, 100}, row{99, 99}, row{1, 1});
    redis::recent_refusals refusals{tollgate::detail::siphash_key{}};
    add_refusal(refusals, sixty, window_left);
    CAPTURE(window_left);
    const auto found = refusals.find(key, sixty, boot_time + remembered_for - 1);
    REQUIRE(found);
    CHECK_FALSE(found->admitted);
    CHECK(found->limit == 60);
    CHECK(found->remaining == 0);
    CHECK(found->resets_at == from_unix_milliseconds(server_time + window_left));
    CHECK_FALSE(refusals.find(key, sixty, boot_time + remembered_for));
}

TEST_CASE("a refusal applies to its key and quota only") {
    redis::recent_refusals refusals{tollgate::detail::siphash_key{}};
    add_refusal(refusals, sixty, 3'000'000);
    CHECK(refusals.find(key, sixty, boot_time));
    for (const quota& other : {quota{61, hours{1}}, quota{59, hours{1}}, quota{60, hours{2}}})
        CHECK_FALSE(refusals.find(key, tollgate::detail::bounded_quota{other}, boot_time));
    for (const limit_key& other : {limit_key::of(user_id{2}), key.in("exports"), limit_key::of(ip_address::v4(0, 0, 0, 1))})
        CHECK_FALSE(refusals.find(other, sixty, boot_time));
}

TEST_CASE("nothing is refused at first, or in a window without a length") {
    redis::recent_refusals refusals{tollgate::detail::siphash_key{}};
    const tollgate::detail::bounded_quota none{{0, seconds{0}}};
    CHECK_FALSE(refusals.find(key, sixty, boot_time));
    CHECK_FALSE(refusals.find(limit_key::of(ip_address{}), none, boot_time));
    add_refusal(refusals, none, 0);
    CHECK_FALSE(refusals.find(key, none, boot_time));
}

TEST_CASE("newer refusals replace older ones, and the memory stays the same") {
    redis::recent_refusals refusals{tollgate::detail::siphash_key{}};
    int remembered = 0;
    constexpr int added = 100'000;
    for (int i = 1; i <= added; ++i)
        refusals.add({limit_key::of(user_id{i}), sixty, true}, {false, 0, server_time, server_time}, boot_time);
    for (int i = 1; i <= added; ++i) remembered += refusals.find(limit_key::of(user_id{i}), sixty, boot_time) ? 1 : 0;
    CHECK(remembered <= 4096);
    CHECK(remembered > 4000);
    CHECK(refusals.find(limit_key::of(user_id{added}), sixty, boot_time));
}
