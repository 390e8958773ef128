#include <tollgate/limits/detail/redis/window_script.hpp>

#include <support/redis_server.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using redis::reply;
using redis::window_request;
using redis::window_script;

namespace {

const tollgate::detail::bounded_quota ten{{10, seconds{60}}};

reply numbers(std::initializer_list<std::int64_t> values) {
    reply result;
    result.numbers = values;
    return result;
}

}  // namespace

TEST_CASE("the script's name is its SHA-1, as the server computes it") {
    const window_script script{"t:"};
    const auto& server = tollgate_test::redis_server::shared();
    (void)server.run({"SCRIPT", "LOAD", window_script::text()});
    const auto known = server.run({"SCRIPT", "EXISTS", script.name()});
    REQUIRE(known.numbers.size() == 1);
    CHECK(known.numbers[0] == 1);
}

TEST_CASE("a key's name contains the user or the address") {
    const window_script script{"shop:"};
    CHECK(script.key_of(limit_key::of(user_id{42})) == "shop:user:42");
    CHECK(script.key_of(limit_key::of(ip_address::v4(192, 0, 2, 1))) == "shop:address:0000ffffc0000201");
    CHECK(script.key_of(limit_key::of(*ip_address::parse("2001:db8::1"))) == "shop:address:20010db800000000");
}

TEST_CASE("an unexpected reply is rejected") {
    const window_request request{limit_key::of(user_id{1}), ten, true};
    const auto read = [&](const reply& each) { return window_script::read(request, each, 0).outcome; };
    CHECK((read(numbers({1, 6, 1000, 1000})) == redis::outcome::replied));
    CHECK((read(numbers({0, 10, 1000, 2000})) == redis::outcome::replied));
    CHECK((read(numbers({-1, 0, 1000, 1000})) == redis::outcome::wrong_type));
    for (const auto& each : {numbers({}), numbers({1, 2, 3}), numbers({-2, 6, 0, 0}), numbers({2, 6, 0, 0}),
                             numbers({1, 11, 0, 0}), numbers({1, -1, 0, 0}), numbers({1, 1, 2, 1})})
        CHECK((read(each) == redis::outcome::unavailable));
    const window_request query{limit_key::of(user_id{1}), ten};
    CHECK((window_script::read(query, numbers({1, 6, 1000, 1000}), 0).outcome == redis::outcome::unavailable));
}

TEST_CASE("a window is found again, whatever its numbers, and another value is overwritten") {
    const auto& server = tollgate_test::redis_server::shared();
    const auto take = [&](const std::string& key, std::int64_t requests, std::int64_t length) {
        return server.run({"EVAL", window_script::text(), "1", key, std::to_string(requests), std::to_string(length), "1"});
    };
    int count = 0;
    for (const std::int64_t requests : {std::int64_t{2}, std::int64_t{100'000}, std::int64_t{4'294'967'295}})
        for (const std::int64_t length : {std::int64_t{60'000}, std::int64_t{4'294'967'295'000}}) {
            const std::string key = "script:" + std::to_string(++count);
            const auto first = take(key, requests, length);
            const auto second = take(key, requests, length);
            INFO(requests << ' ' << length);
            CHECK(first.numbers[1] == requests - 1);
            CHECK(second.numbers[1] == requests - 2);
            CHECK(second.numbers[2] == first.numbers[2]);
        }
    for (const char* const other : {"", "1 2", "1 2 x", "4e+12 2 60000", "window"}) {
        (void)server.run({"SET", "script:other", other});
        INFO(other);
        CHECK(take("script:other", 10, 60'000).numbers[1] == 9);
        CHECK(take("script:other", 10, 60'000).numbers[1] == 8);
    }
}
