#include <tollgate/base/detail/text.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

using namespace tollgate;

TEST_CASE("only ASCII letters have two cases", "[base][ascii]") {
    CHECK(tollgate::detail::ascii_iequals("Basic", "bASIC"));
    CHECK_FALSE(tollgate::detail::ascii_iequals("Basic", "Basi"));
    CHECK_FALSE(tollgate::detail::ascii_iequals("[", "{"));  // 0x5b and 0x7b differ only in the bit that distinguishes the cases of letters
    CHECK_FALSE(tollgate::detail::ascii_iequals("\xc4", "\xe4"));
}

TEST_CASE("optional whitespace is trimmed at both ends only", "[base][ascii]") {
    CHECK(tollgate::detail::trim_ows(" \ta b\t ") == "a b");
    CHECK(tollgate::detail::trim_ows(" \t ").empty());
    CHECK(tollgate::detail::trim_ows("\va") == "\va");
}

TEST_CASE("a token consists of the tchar of RFC 9110", "[base][ascii]") {
    std::size_t allowed = 0;
    for (int c = 0; c < 256; ++c) allowed += tollgate::detail::is_token_char(static_cast<char>(c)) ? 1 : 0;
    CHECK(allowed == 15 + 10 + 52);
    for (char c : std::string_view{"\"(),/:;<=>?@[\\]{} \t\r\n\x7f"}) CHECK_FALSE(tollgate::detail::is_token_char(c));
}

TEST_CASE("numbers are written in decimal", "[base][ascii]") {
    const auto check = [](std::uint32_t number) {
        char line[1 + tollgate::detail::decimal_digits_max + 1];
        std::fill(std::begin(line), std::end(line), '#');
        const char* const end = tollgate::detail::put_decimal(line + 1, number);
        CHECK(std::string_view{line + 1, static_cast<std::size_t>(end - (line + 1))} == std::to_string(number));
        CHECK((line[0] == '#' && line[sizeof line - 1] == '#'));
    };
    for (std::uint32_t number = 0; number <= 10'100; ++number) check(number);
    for (std::uint32_t power = 10; power <= 1'000'000'000; power *= 10) {
        for (const std::uint32_t number : {power - 1, power, power + 1}) check(number);
        if (power == 1'000'000'000) break;
    }
    check((std::numeric_limits<std::uint32_t>::max)());
}

TEST_CASE("a decimal number has exactly one spelling", "[base][ascii]") {
    struct row {
        const char* text;
        std::uint64_t value;
    };
    for (const auto& [text, value] : {row{"0", 0}, row{"9", 9}, row{"10", 10}, row{"9223372036854775808", 9223372036854775808U},
                                      row{"18446744073709551609", UINT64_MAX - 6}, row{"18446744073709551615", UINT64_MAX}}) {
        CAPTURE(text);
        CHECK(tollgate::detail::parse_decimal(text) == value);
    }
    for (const char* text : {"", "00", "01", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "a", "1a", "18446744073709551616",
                             "18446744073709551619", "18446744073709551620", "99999999999999999999", "100000000000000000000"}) {
        CAPTURE(text);
        CHECK_FALSE(tollgate::detail::parse_decimal(text));
    }
}
