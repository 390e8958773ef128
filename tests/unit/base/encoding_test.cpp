#include <tollgate/base/detail/encoding.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace tollgate;

namespace {

using pairs = std::vector<std::pair<std::string, std::string>>;

std::string random_bytes(std::mt19937& source, std::size_t size) {
    std::string bytes(size, '\0');
    for (char& each : bytes) each = static_cast<char>(source());
    return bytes;
}

}  // namespace

TEST_CASE("base64 has the vectors of RFC 4648") {
    for (const auto& [bytes, text] : pairs{{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xfb\xff\xfe", "+//+"},
                                           {"Aladdin:open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="}}) {
        CAPTURE(bytes);
        CHECK(tollgate::detail::base64_encode(bytes) == text);
        CHECK(tollgate::detail::base64_decode(text) == bytes);
    }
}

TEST_CASE("base64 that is not the canonical text of its bytes is refused") {
    for (const char* text : {"=",
                             "==",
                             "====",
                             "Z",
                             "Zg",
                             "Zg=",
                             "Zg===",
                             "Zm8",
                             "Zm9v=",
                             "Zm9v====",
                             "Zh==",
                             "Zm9=",
                             "Zm8=Zm8=",
                             "Zg==Zg==",
                             "Zm 9v",
                             "Zm9v\n",
                             "\nZm9v",
                             "Zm9v ",
                             "Zm9\tv",
                             "Zm-v",
                             "Zm_v",
                             "Z=m8",
                             "=Zm8",
                             "Zg=v",
                             "Zm9\x80",
                             "Zm9\xff",
                             "Z\xc3\xa9v",
                             "Zm9v.m9v",
                             "Zm9vZm9vZm9vZm9v!m9v",
                             "Zm9vZm9vZm9vZm9=Zm9v"}) {
        CAPTURE(text);
        CHECK_FALSE(tollgate::detail::base64_decode(text));
    }
    CHECK_FALSE(tollgate::detail::base64_decode(std::string_view{"Zm9\0", 4}));
}

TEST_CASE("a byte outside the alphabet is refused at any position") {
    const std::string good = tollgate::detail::base64_encode(std::string(30, 'x'));
    const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < good.size(); ++i)
        for (int c = 0; c < 256; ++c) {
            auto text = good;
            text[i] = static_cast<char>(c);
            const bool fine = alphabet.find(static_cast<char>(c)) != std::string::npos;
            if (c == '=' && i + 1 == good.size()) continue;  // padding, which depends on the bits before it
            CAPTURE(i, c);
            REQUIRE(tollgate::detail::base64_decode(text).has_value() == fine);
        }
}

TEST_CASE("base64 decodes into exactly the space it needs") {
    std::mt19937 source{7};
    for (std::size_t size = 0; size < 130; ++size) {
        const auto bytes = random_bytes(source, size);
        const auto text = tollgate::detail::base64_encode(bytes);
        REQUIRE(tollgate::detail::base64_decode(text) == bytes);
        for (const std::size_t spare : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
            std::vector<char> out(size + spare);  // of exactly this size, so that a sanitizer detects an overflow by one byte
            REQUIRE(tollgate::detail::base64_decode_into(text, out) == size);
            REQUIRE(std::string(out.data(), size) == bytes);
        }
        if (size > 0) {
            std::vector<char> out(size - 1);
            REQUIRE_FALSE(tollgate::detail::base64_decode_into(text, out));
        }
        REQUIRE(tollgate::detail::base64_decoded_bytes_max(text.size()) >= size);
        REQUIRE(tollgate::detail::base64url_decode(tollgate::detail::base64url_encode(bytes)) == bytes);
    }
}

TEST_CASE("base64url has no padding and its own two characters") {
    for (const auto& [bytes, text] :
         pairs{{"", ""}, {"f", "Zg"}, {"fo", "Zm8"}, {"foo", "Zm9v"}, {"foob", "Zm9vYg"}, {"\xfb\xff\xfe", "-__-"}}) {
        CHECK(tollgate::detail::base64url_encode(bytes) == text);
        CHECK(tollgate::detail::base64url_decode(text) == bytes);
    }
    for (const char* text : {"Z", "Zg==", "Zm8=", "Zh", "Zm9", "+//+", "Zm9vY", "Zm 9", "Zm9v="}) {
        CAPTURE(text);
        CHECK_FALSE(tollgate::detail::base64url_decode(text));
    }
}

TEST_CASE("hexadecimal has two digits per byte") {
    for (const auto& [bytes, text] :
         pairs{{"", ""}, {"foobar", "666f6f626172"}, {std::string("\0\xff\x0f", 3), "00ff0f"}}) {
        CHECK(tollgate::detail::hex_encode(bytes) == text);
        CHECK(tollgate::detail::hex_decode(text) == bytes);
    }
    CHECK(tollgate::detail::hex_decode("FFfF") == "\xff\xff");
    for (const char* text : {"0", "0g", "g0", "0x00", " 00", "00 ", "0\xff"}) CHECK_FALSE(tollgate::detail::hex_decode(text));
}

TEST_CASE("percent-encoding keeps the unreserved characters only") {
    CHECK(tollgate::detail::percent_encode("AZaz09-._~") == "AZaz09-._~");
    CHECK(tollgate::detail::percent_encode(" /?&=+%#\"'()!*,;:@[]\r\n\xc3\xa9") ==
          "%20%2F%3F%26%3D%2B%25%23%22%27%28%29%21%2A%2C%3B%3A%40%5B%5D%0D%0A%C3%A9");
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    CHECK(tollgate::detail::percent_decode(tollgate::detail::percent_encode(all)) == all);
}

TEST_CASE("percent-decoding requires two digits") {
    CHECK(tollgate::detail::percent_decode("") == "");
    CHECK(tollgate::detail::percent_decode("%2f%2F") == "//");
    CHECK(tollgate::detail::percent_decode("a%00b") == std::string("a\0b", 3));
    CHECK(tollgate::detail::percent_decode("%2525") == "%25");
    CHECK(tollgate::detail::percent_decode("a+b") == "a+b");
    CHECK(tollgate::detail::percent_decode("a+b%2B", tollgate::detail::plus_sign::space) == "a b+");
    for (const char* text :
         {"%", "%2", "a%", "a%2", "%%", "%%20", "%zz", "%2z", "%z2", "% 20", "%+1", "%-1", "%0x", "%u0041", "ab%4"}) {
        CAPTURE(text);
        CHECK_FALSE(tollgate::detail::percent_decode(text));
    }
}

TEST_CASE("percent-decoding works in place") {
    std::string text = "a%20b%2Bc+d";
    const auto size = tollgate::detail::percent_decode_into(text, text, tollgate::detail::plus_sign::space);
    REQUIRE(size);
    CHECK(text.substr(0, *size) == "a b+c d");
    std::array<char, 2> small;
    CHECK_FALSE(tollgate::detail::percent_decode_into("%20", small));
    CHECK(tollgate::detail::percent_decode_into("ab", small) == 2);
}
