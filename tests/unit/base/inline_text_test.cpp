#include <tollgate/base/detail/inline_text.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <type_traits>

using namespace tollgate;

TEST_CASE("inline text holds what fits and refuses the rest", "[base][inline_text]") {
    CHECK(tollgate::detail::inline_text<3>::from("")->empty());
    CHECK(tollgate::detail::inline_text<3>::from("abc")->view() == "abc");
    CHECK_FALSE(tollgate::detail::inline_text<3>::from("abcd"));
    const std::string with_nul{"a\0b", 3};
    CHECK(tollgate::detail::inline_text<3>::from(with_nul)->view() == with_nul);
}

TEST_CASE("appending is all or nothing", "[base][inline_text]") {
    auto text = *tollgate::detail::inline_text<4>::from("ab");
    CHECK(text.append("cd"));
    CHECK_FALSE(text.append("e"));
    CHECK(text == "abcd");
    text.clear();
    CHECK(text.empty());
    CHECK(text.append("xy"));
    CHECK(text == "xy");
}

TEST_CASE("inline text is compared and copied by content", "[base][inline_text]") {
    const auto a = *tollgate::detail::inline_text<8>::from("a");
    auto b = *tollgate::detail::inline_text<8>::from("bcd");
    CHECK(a < b);
    CHECK(a != b);
    b = a;
    CHECK(a == b);
    const auto& alias = b;
    b = alias;
    CHECK(b == "a");
}

TEST_CASE("a literal is checked by the compiler", "[base][inline_text]") {
    constexpr tollgate::detail::inline_text<3> euro = "EUR";
    CHECK(euro == "EUR");
    CHECK(euro.view() == "EUR");
    CHECK(tollgate::detail::inline_text<3>{""}.empty());
    CHECK(tollgate::detail::inline_text<3>{"ab"} == "ab");
    static_assert(std::is_convertible_v<const char (&)[4], tollgate::detail::inline_text<3>>);
    static_assert(!std::is_convertible_v<const char (&)[5], tollgate::detail::inline_text<3>>);
}
