#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace tollgate;

TEST_CASE("UTF-8 is accepted, and refused if overlong, surrogate, out of range or truncated") {
    for (const char* text : {"", "ascii", "exactly 8", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                             "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
                             "long enough for a word and then \xc3\xa9", "\xe2\x82\xac is a euro, and more",
                             "\xef\xbb\xbf"
                             "byte order mark"}) {
        CAPTURE(text);
        CHECK(tollgate::detail::is_utf8(text));
    }
    for (const char* text : {"\x80",
                             "\xbf",
                             "\xc0\x80",
                             "\xc1\xbf",
                             "\xc2",
                             "\xc2\x7f",
                             "\xc2\xc0",
                             "\xe0\x9f\xbf",
                             "\xe0\xa0",
                             "\xed\xa0\x80",
                             "\xed\xbf\xbf",
                             "\xef\xbf",
                             "\xf0\x8f\xbf\xbf",
                             "\xf0\x90\x80",
                             "\xf4\x90\x80\x80",
                             "\xf5\x80\x80\x80",
                             "\xf8\x88\x80\x80\x80",
                             "\xfe",
                             "\xff",
                             "12345678\xff",
                             "1234567\xff",
                             "\xc3\xa9\xc3",
                             "12345678901234567890\xe2\x82",
                             "\xe9t\xe9"}) {
        CAPTURE(text);
        CHECK_FALSE(tollgate::detail::is_utf8(text));
    }
    CHECK(tollgate::detail::is_utf8(std::string_view{"\0\0\0\0\0\0\0\0\0", 9}));
}

TEST_CASE("a truncated sequence is detected at any position") {
    const std::string text = "aaaaaaa\xc3\xa9" "aaaaaa\xe2\x82\xac" "aaaaa\xf0\x9f\x98\x80";
    const std::vector<std::size_t> whole = {0,  1,  2,  3,  4,  5,  6,  7,  9,  10, 11,
                                            12, 13, 14, 15, 18, 19, 20, 21, 22, 23, 27};
    for (std::size_t size = 0; size <= text.size(); ++size) {
        CAPTURE(size);
        CHECK(tollgate::detail::is_utf8(text.substr(0, size)) == (std::find(whole.begin(), whole.end(), size) != whole.end()));
    }
}

TEST_CASE("characters are counted, not bytes") {
    CHECK(limits::count_characters("") == 0);
    CHECK(limits::count_characters("ascii") == 5);
    CHECK(limits::count_characters("\xc3\xa9t\xc3\xa9") == 3);
    CHECK(limits::count_characters("\xf0\x9f\x94\x91\xf0\x9f\x94\x91") == 2);
    CHECK(limits::count_characters("\xff\xff") == 2);
}
