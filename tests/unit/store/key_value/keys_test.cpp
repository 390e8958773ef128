#include <tollgate/store/detail/key_value/keys.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using namespace tollgate::key_value_detail;

namespace {

key prefix() { return key{table::due_deliveries}; }

}  // namespace

TEST_CASE("keys sort as what they are made of") {
    const std::uint64_t numbers[] = {0, 1, 255, 256, std::uint64_t{1} << 32, UINT64_MAX - 1, UINT64_MAX};
    const std::int64_t times[] = {INT64_MIN, -1, 0, 1, 1'780'000'000'000, INT64_MAX};
    for (std::size_t i = 1; i < std::size(numbers); ++i) {
        CHECK(std::string_view{prefix().number(numbers[i - 1])} < std::string_view{prefix().number(numbers[i])});
        CHECK(std::string_view{prefix().newest_first(numbers[i - 1])} > std::string_view{prefix().newest_first(numbers[i])});
        CHECK(number_at(prefix().number(numbers[i]), 1) == numbers[i]);
        CHECK(~last_number(prefix().newest_first(numbers[i])) == numbers[i]);
    }
    for (std::size_t i = 1; i < std::size(times); ++i) {
        const instant before = from_unix_milliseconds(times[i - 1]), at = from_unix_milliseconds(times[i]);
        CHECK(std::string_view{prefix().at(before)} < std::string_view{prefix().at(at)});
        CHECK(time_at(prefix().at(at), 1) == at);
    }
}

TEST_CASE("a text inside a key is not the beginning of another one") {
    const std::string long_text(65, 'x');
    const std::string texts[] = {"", "a", "ab", std::string(64, 'x'), long_text, long_text + 'x', std::string(255, '\xff')};
    std::vector<std::string> keys;
    for (const std::string& each : texts) keys.emplace_back(prefix().text(each));
    for (const std::string& one : keys) {
        CHECK(std::count_if(keys.begin(), keys.end(), [&](const std::string& each) { return each.starts_with(one); }) == 1);
        CHECK(one.size() <= limits::store_key_bytes_max);
    }
}

TEST_CASE("the end of a range is behind every key that begins with the prefix, and before every other") {
    const auto is_inside = [](const key& of, std::string_view at) { return std::string_view{of} <= at && at < std::string_view{of.end()}; };
    CHECK(is_inside(prefix(), prefix()));
    CHECK(is_inside(prefix(), prefix().number(UINT64_MAX).number(UINT64_MAX)));
    CHECK_FALSE(is_inside(prefix(), key{table::ready_hooks}));
    const key last = prefix().number(UINT64_MAX);
    CHECK(is_inside(last, key{last}.number(UINT64_MAX)));
    CHECK_FALSE(is_inside(last, prefix().number(UINT64_MAX - 1)));
    CHECK_FALSE(is_inside(prefix().number(1), prefix().number(2)));
}

TEST_CASE("what a damaged key lacks is nothing") {
    CHECK(number_at("1234567", 0) == 0);
    CHECK(last_number("1234567") == 0);
    CHECK(last_digest("too short") == digest{});
    CHECK_FALSE(id_of<user_id>(0));
    CHECK_FALSE(id_of<user_id>(UINT64_MAX));
    CHECK(id_of<user_id>(7) == user_id{7});
}
