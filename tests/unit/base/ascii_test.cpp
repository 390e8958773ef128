#include <tollgate/base/detail/text.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

TEST_CASE("only ASCII letters have two cases", "[base][ascii]") {
    CHECK(ascii_iequals("Basic", "bASIC"));
    CHECK_FALSE(ascii_iequals("Basic", "Basi"));
    CHECK_FALSE(ascii_iequals("[", "{"));  // 0x5b and 0x7b differ in the bit that tells letters' cases
    CHECK_FALSE(ascii_iequals("\xc4", "\xe4"));
}

TEST_CASE("optional whitespace is trimmed at both ends only", "[base][ascii]") {
    CHECK(trim_ows(" \ta b\t ") == "a b");
    CHECK(trim_ows(" \t ").empty());
    CHECK(trim_ows("\va") == "\va");
}

TEST_CASE("a token consists of the tchar of RFC 9110", "[base][ascii]") {
    std::size_t allowed = 0;
    for (int c = 0; c < 256; ++c) allowed += is_token_char(static_cast<char>(c)) ? 1 : 0;
    CHECK(allowed == 15 + 10 + 52);
    for (char c : std::string_view{"\"(),/:;<=>?@[\\]{} \t\r\n\x7f"}) CHECK_FALSE(is_token_char(c));
}
