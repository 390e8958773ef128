#include <tollgate/http/url.hpp>

#include <catch2/catch.hpp>

#include <string>

using tollgate::http::is_authority;

TEST_CASE("is_authority accepts a host with an optional port") {
    for (const std::string text : {"a", "example.com", "EXAMPLE.com:80", "a:", "a:0", "a:65535", "127.0.0.1",
                                   "127.0.0.1:8080", "[::1]", "[::1]:443", "[::1]:", "[::ffff:1.2.3.4]",
                                   "xn--bcher-kva.example", "a_b", "a%C3%A9", "!$&'()*+;=~", "a.:1"}) {
        CAPTURE(text);
        CHECK(is_authority(text));
    }
}

TEST_CASE("is_authority refuses anything else") {
    for (const std::string text : {"",         ":",       ":80",
                                   "a:80a",    "a:+80",   "a:-1",
                                   "a: 80",    "a:65536", "a:100000",
                                   "a:080000", "a:80:80", "a,b",
                                   "a@b",      "a/",      "a?b",
                                   "a#b",      "a b",     " a",
                                   "a ",       "a\\b",    "a\"b",
                                   "a<b",      "a[b",     "a]",
                                   "[]",       "[",       "[::1",
                                   "[::1]a",   "[::1]:a", "[1.2.3.4]",
                                   "[::g]",    "[:::1]",  "[fe80::1%eth0]",
                                   "[v1.a]",   "::1",     "a%",
                                   "a%4",      "a%zz",    "\xc3\xa9",
                                   "a\tb"}) {
        CAPTURE(text);
        CHECK_FALSE(is_authority(text));
    }
    CHECK_FALSE(is_authority({"a\0b", 3}));
}
