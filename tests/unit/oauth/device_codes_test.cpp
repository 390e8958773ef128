#include <tollgate/oauth/detail/device_codes.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <string>

using namespace tollgate;

TEST_CASE("a user code has eight letters that are hard to confuse", "[oauth][device]") {
    std::array<std::byte, 8> bytes{};
    CHECK(oauth::make_user_code(bytes) == "BBBB-BBBB");
    bytes[7] = std::byte{19};
    CHECK(oauth::make_user_code(bytes) == "ZBBB-BBBB");
    bytes.fill(std::byte{0xff});
    const auto code = oauth::make_user_code(bytes);
    CHECK(code.size() == 9);
    CHECK(oauth::parse_user_code(code) == code);
    CHECK(oauth::user_code_letters.find_first_of("AEIOUY01") == std::string_view::npos);
}

TEST_CASE("a user code is accepted in any case and with any separators", "[oauth][device]") {
    for (const char* typed :
         {"BCDF-GHJK", "bcdf-ghjk", "BCDFGHJK", " bcdf ghjk ", "b-c-d-f-g-h-j-k", "BCDF\tGHJK--", "BCDF_GHJK", "\"BCDF.GHJK\"",
          "BCDF\xe2\x80\x93GHJK", "BCDF\xe2\x80\x94GHJK", "BCDF\xc2\xa0GHJK", "BCDF\xe2\x88\x92GHJK", "BCDF\xe2\x80\x91GHJK",
          "\xe2\x80\x9e" "BCDF\xc2\xadGHJK\xe2\x80\x9c", "BCDF\xef\xbc\x8dGHJK", "\xef\xbb\xbf" "BCDF\xe3\x80\x80GHJK\n"})
        CHECK(oauth::parse_user_code(typed) == "BCDF-GHJK");
    for (const std::string& typed : {std::string{}, std::string{"BCDF-GHJ"}, std::string{"BCDF-GHJKL"}, std::string{"ABCD-FGHJ"},
                                     std::string{"BCDF-GHJ1"}, std::string{"BCDF-GHJ\xc3\xa9"}, std::string{"BCDF-GHJ\xe2\x80"},
                                     std::string{"BCDF-GHJ\xef\xbc\xab"}, std::string{"BCDF-GHJK\xc2\xb2"},
                                     std::string(64, '-') + "BCDFGHJK"}) {
        CAPTURE(typed);
        CHECK_FALSE(oauth::parse_user_code(typed));
    }
    CHECK(oauth::digest_of_user_code("BCDF-GHJK") != oauth::digest_of_user_code("BCDF-GHJL"));
    CHECK(oauth::digest_of_user_code("BCDF-GHJK") != digest_of("BCDF-GHJK"));
}
