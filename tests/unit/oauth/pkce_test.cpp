#include <tollgate/oauth/detail/pkce.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;

TEST_CASE("a challenge is derived from its verifier as in RFC 7636 appendix B", "[oauth][pkce]") {
    CHECK(oauth::challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

TEST_CASE("verifiers and challenges are checked for their syntax", "[oauth][pkce]") {
    CHECK(oauth::is_code_verifier(std::string(43, 'a')));
    CHECK(oauth::is_code_verifier(std::string(128, '~')));
    CHECK_FALSE(oauth::is_code_verifier(std::string(42, 'a')));
    CHECK_FALSE(oauth::is_code_verifier(std::string(129, 'a')));
    CHECK_FALSE(oauth::is_code_verifier(std::string(43, '+')));

    CHECK(oauth::is_code_challenge("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"));
    CHECK_FALSE(oauth::is_code_challenge("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM="));
    CHECK_FALSE(oauth::is_code_challenge("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c"));
    CHECK_FALSE(oauth::is_code_challenge("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM"));
    CHECK_FALSE(oauth::is_code_challenge(""));
}
