#include <tollgate/base/detail/inline_text.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <type_traits>

using namespace tollgate;

TEST_CASE("inline text holds what fits and refuses the rest", "[base][inline_text]") {
    CHECK(inline_text<3>::from("")->empty());
    CHECK(inline_text<3>::from("abc")->view() == "abc");
    CHECK_FALSE(inline_text<3>::from("abcd"));
    const std::string with_nul{"a\0b", 3};
    CHECK(inline_text<3>::from(with_nul)->view() == with_nul);
}

TEST_CASE("appending is all or nothing", "[base][inline_text]") {
    auto text = *inline_text<4>::from("ab");
    CHECK(text.append("cd"));
    CHECK_FALSE(text.append("e"));
    CHECK(text == "abcd");
    text.clear();
    CHECK(text.empty());
    CHECK(text.append("xy"));
    CHECK(text == "xy");
}

TEST_CASE("inline text is compared and copied by content", "[base][inline_text]") {
    const auto a = *inline_text<8>::from("a");
    auto b = *inline_text<8>::from("bcd");
    CHECK(a < b);
    CHECK(a != b);
    b = a;
    CHECK(a == b);
    const auto& alias = b;
    b = alias;
    CHECK(b == "a");
}

TEST_CASE("a literal is checked by the compiler", "[base][inline_text]") {
    constexpr inline_text<3> euro = "EUR";
    CHECK(euro == "EUR");
    CHECK(euro.view() == "EUR");
    CHECK(inline_text<3>{""}.empty());
    CHECK(inline_text<3>{"ab"} == "ab");
    static_assert(std::is_convertible_v<const char (&)[4], inline_text<3>>);
    static_assert(!std::is_convertible_v<const char (&)[5], inline_text<3>>);
}
