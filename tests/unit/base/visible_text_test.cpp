#include <tollgate/base/detail/text.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

using namespace tollgate;

TEST_CASE("a visible line is accepted", "[visible_text]") {
    for (std::string_view text : {"a", " a ", "Acme & Sons", "<b>", "Zo\xc3\xab's caf\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac",
                                  "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80",
                                  "\xc2\xa1", "\xef\xbf\xbd", "\xe2\x9d\xa4\xef\xb8\x8f", "\xe8\x91\x9b\xf3\xa0\x84\x80"}) {
        CAPTURE(text);
        CHECK(tollgate::detail::is_visible_line(text, 100));
    }
}

TEST_CASE("a line with invisible characters is refused", "[visible_text]") {
    using namespace std::string_view_literals;
    for (std::string_view text : {""sv,
                                  " "sv,
                                  "\xc2\xa0"sv,
                                  "\xe3\x80\x80 "sv,
                                  "\xe2\x80\x8d"sv,
                                  "a\tb"sv,
                                  "a\nb"sv,
                                  "a\rb"sv,
                                  "a\0b"sv,
                                  "a\x7f"sv,
                                  "a\xc2\x80"sv,
                                  "a\xc2\x9f"sv,
                                  "\xe2\x80\xaegnp.exe"sv,
                                  "a\xe2\x80\xa8"sv,
                                  "a\xe2\x80\xa9"sv,
                                  "a\xe2\x81\xa6"sv,
                                  "a\xe2\x81\xa9"sv,
                                  "a\xe2\x80\x8b"sv,
                                  "a\xe2\x80\x8e"sv,
                                  "a\xe2\x80\x8f"sv,
                                  "a\xd8\x9c"sv,
                                  "a\xe2\x81\xa0"sv,
                                  "\xef\xbb\xbf"
                                  "a"sv,
                                  "a\xff"sv,
                                  "a\xc3"sv,
                                  "\xed\xa0\x80"sv,
                                  "\xc0\xaf"sv,
                                  "\xe3\x85\xa4"sv,
                                  "\xe1\x85\x9f\xef\xbe\xa0"sv,
                                  "\xe2\xa0\x80"sv,
                                  "\xef\xb8\x8f"sv,
                                  "a\xc2\xad"sv,
                                  "a\xe2\x81\xa3"sv,
                                  "a\xf3\xa0\x81\xa1"sv,
                                  "a\xef\xbf\xbb"sv}) {
        CAPTURE(text);
        CHECK_FALSE(tollgate::detail::is_visible_line(text, 100));
    }
}

TEST_CASE("a visible line is bounded in bytes", "[visible_text]") {
    CHECK(tollgate::detail::is_visible_line(std::string(100, 'a'), 100));
    CHECK_FALSE(tollgate::detail::is_visible_line(std::string(101, 'a'), 100));
    CHECK_FALSE(tollgate::detail::is_visible_line(std::string(99, 'a') + "\xc3\xab", 100));
}

TEST_CASE("untrusted bytes are made readable", "[visible_text]") {
    using namespace std::string_view_literals;
    struct row {
        std::string_view bytes;
        std::string_view reads;
    };
    for (const auto& each : {
             row{"", ""},
             row{"plain <b>text</b>", "plain <b>text</b>"},
             row{"a\nb\r\nc\n\n", "a\nb\nc\n\n"},
             row{"a\rb", "a\\x0db"},
             row{"a\tb", "a\tb"},
             row{"\0\x1b[2J\x7f"sv, "\\x00\\x1b[2J\\x7f"},
             row{"caf\xc3\xa9 \xf0\x9f\x9a\x80", "caf\xc3\xa9 \xf0\x9f\x9a\x80"},
             row{"\xe2\x80\xaegpj", "\\u202egpj"},
             row{"a\xc2\x9b" "2J", "a\\u009b2J"},
             row{"\xf3\xa0\x81\xa1x", "\\ue0061x"},
             row{"\xff\xfe\x61", "\\xff\\xfe\x61"},
             row{"caf\xe9 noir", "caf\\xe9 noir"},
             row{"\xed\xa0\x80!", "\\xed\\xa0\\x80!"},
             row{"\x80\x80", "\\x80\\x80"},
             // Cut in the middle of a letter.
             row{"caf\xc3", "caf"},
             row{"a\xe2\x82", "a"},
             row{"a\xf0\x9f\x9a", "a"},
             row{"a\xf0", "a"},
             row{"a\xe2\x82\xac", "a\xe2\x82\xac"},
         }) {
        CAPTURE(each.bytes);
        CHECK(tollgate::detail::make_readable(each.bytes) == each.reads);
    }
}

TEST_CASE("blanks, punctuation and invisible characters are removed", "[visible_text]") {
    struct row {
        std::string text;
        std::string kept;
    };
    for (const row& each : {row{"", ""}, row{"aB1", "aB1"}, row{" a\t-\r\n_b.!~", "ab"},
                            row{"a\xc2\xa0"
                                "b\xe2\x80\x93"
                                "c\xe2\x80\x94",
                                "abc"},
                            row{"\xe2\x80\x9e"
                                "a\xe2\x80\x9c\xef\xbb\xbf\xe2\x80\x8b\xc2\xad",
                                "a"},
                            row{"a\xe2\x88\x92\xef\xbc\x8d\xe3\x80\x80", "a"},
                            row{"\xc3\xa4\xce\xb1\xc2\xb2\xc2\xaa", "\xc3\xa4\xce\xb1\xc2\xb2\xc2\xaa"},
                            row{"a\xff-\xe2\x80", "a\xff\xe2\x80"}, row{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"}})
        CHECK(tollgate::detail::without_punctuation(each.text) == each.kept);
}
