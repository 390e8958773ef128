#include <tollgate/limits/usage_counter.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <thread>
#include <vector>

using namespace tollgate;

namespace {

constexpr instant midnight = from_unix_seconds(1'700'006'400);  // 2023-11-15
constexpr auto hours = [](int count) { return std::chrono::hours{count}; };

caller with_token(std::int64_t token) { return {user_id{1}, {}, credential_kind::personal_token, std::nullopt, std::nullopt, token_id{token}}; }
caller with_application(std::int64_t user, std::int64_t application) {
    return {user_id{user}, {}, credential_kind::access_token, application_id{application}};
}

}  // namespace

TEST_CASE("requests are counted by token, by application, and by application and user") {
    usage_counter counts;
    const instant now = midnight + hours(10);
    counts.record(with_token(7), false, now);
    counts.record(with_token(7), true, now);
    counts.record(with_token(8), false, now);
    counts.record(with_application(1, 7), false, now);
    counts.record(with_application(2, 7), true, now);
    counts.record(with_application(2, 7), true, now);

    CHECK(counts.of(token_id{7}, now) == usage{2, 1});
    CHECK(counts.of(token_id{8}, now) == usage{1, 0});
    CHECK(counts.of(token_id{9}, now) == usage{});
    CHECK(counts.of(application_id{7}, now) == usage{3, 2});
    CHECK(counts.of(application_id{7}, user_id{1}, now) == usage{1, 0});
    CHECK(counts.of(application_id{7}, user_id{2}, now) == usage{2, 2});
    CHECK(counts.of(application_id{8}, now) == usage{});
    CHECK(counts.of(application_id{8}, user_id{1}, now) == usage{});
}

TEST_CASE("a credential without a token is not counted") {
    usage_counter counts;
    counts.record(caller_on_page(user_id{7}), true, midnight);
    CHECK(counts.of(token_id{7}, midnight) == usage{});
    CHECK(counts.of(application_id{7}, midnight) == usage{});
}

TEST_CASE("the counts are those of the day in UTC") {
    usage_counter counts;
    const instant last = midnight + hours(24) - milliseconds{1};
    counts.record(with_token(7), false, midnight - milliseconds{1});
    CHECK(counts.of(token_id{7}, midnight) == usage{});
    counts.record(with_token(7), false, midnight);
    counts.record(with_token(7), true, last);
    CHECK(counts.of(token_id{7}, last) == usage{2, 1});
    CHECK(counts.of(token_id{7}, midnight - hours(1)) == usage{1, 0});
    CHECK(counts.of(token_id{7}, last + milliseconds{1}) == usage{});
}

TEST_CASE("threads count together") {
    usage_counter counts;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&counts] {
            for (int j = 0; j < 1000; ++j) counts.record(with_application(1, 7), j % 2 == 0, midnight);
        });
    for (auto& each : threads) each.join();
    CHECK(counts.of(application_id{7}, midnight) == usage{4000, 2000});
}
