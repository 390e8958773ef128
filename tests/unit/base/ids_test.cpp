#include <tollgate/base/ids.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <type_traits>
#include <unordered_set>

using tollgate::account_id;
using tollgate::hook_id;

TEST_CASE("an id has exactly one spelling") {
    struct row {
        const char* text;
        std::int64_t value;
    };
    for (const auto& [text, value] :
         {row{"1", 1}, row{"9", 9}, row{"10", 10}, row{"1234567890", 1234567890},
          row{"999999999999999999", 999999999999999999}, row{"9223372036854775807", INT64_MAX}}) {
        CAPTURE(text);
        const auto id = hook_id::parse(text);
        REQUIRE(id);
        CHECK(id->value() == value);
    }
    for (const char* text : {"",
                             "0",
                             "00",
                             "01",
                             "-1",
                             "+1",
                             "1.0",
                             " 1",
                             "1 ",
                             "1e3",
                             "0x1",
                             "1_0",
                             "a",
                             "1a",
                             "9223372036854775808",
                             "9999999999999999999",
                             "18446744073709551617",
                             "10000000000000000000",
                             "12345678901234567890123",
                             "１"}) {
        CAPTURE(text);
        CHECK_FALSE(hook_id::parse(text));
    }
    CHECK_FALSE(hook_id::parse(std::string_view{"1\0", 2}));
}

TEST_CASE("a number from outside is an id only if it is positive") {
    CHECK(hook_id::from(1) == hook_id{1});
    CHECK_FALSE(hook_id::from(0));
    CHECK_FALSE(hook_id::from(-1));
    CHECK_FALSE(hook_id::from(INT64_MIN));
}

TEST_CASE("ids of different kinds are different types") {
    STATIC_REQUIRE_FALSE(std::is_convertible_v<hook_id, account_id>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<hook_id, account_id>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<std::int64_t, hook_id>);
    STATIC_REQUIRE_FALSE(std::is_default_constructible_v<hook_id>);
    STATIC_REQUIRE(sizeof(hook_id) == sizeof(std::int64_t));
}

TEST_CASE("ids are ordered and hashable") {
    CHECK(hook_id{1} < hook_id{2});
    CHECK(hook_id{2} == hook_id{2});
    std::unordered_set<hook_id> known{hook_id{1}, hook_id{2}, hook_id{1}};
    CHECK(known.size() == 2);
    CHECK(known.count(hook_id{2}) == 1);
    CHECK(known.count(hook_id{3}) == 0);
}
