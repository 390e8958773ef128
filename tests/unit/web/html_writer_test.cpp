#include <tollgate/web/html_writer.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

using tollgate::html_writer;

TEST_CASE("html_writer writes texts") {
    std::string out = "before ";
    html_writer{out}.add("<h1 id=\"{}\">{}</h1>", std::string_view{"top"}, std::string{"Title"}).add("<p>").add("{}", 7u);
    CHECK(out == "before <h1 id=\"top\">Title</h1><p>7");
}

TEST_CASE("html_writer escapes markup only") {
    struct {
        std::string_view text;
        std::string_view written;
    } const cases[] = {
        {"", ""},
        {"plain text, 100 %", "plain text, 100 %"},
        {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"\" onclick=\"x", "&quot; onclick=&quot;x"},
        {"' onclick='x", "&#39; onclick=&#39;x"},
        {"&amp;", "&amp;amp;"},
        {"{}", "{}"},
        {"h\xc3\xa9", "h\xc3\xa9"},
    };
    for (const auto& each : cases) {
        std::string out;
        html_writer{out}.add("{}|{}", each.text, each.text);
        CHECK(out == std::string{each.written} + "|" + std::string{each.written});
    }
}

TEST_CASE("html_writer replaces control characters, except white space, which HTML does not allow") {
    for (int code = 0; code < 0x80; ++code) {
        if (code >= 0x20 && code != 0x7f) continue;
        CAPTURE(code);
        const std::string character(1, static_cast<char>(code));
        const bool is_kept = character == "\t" || character == "\n" || character == "\f" || character == "\r";
        std::string out;
        html_writer{out}.add("{}", "a" + character + "b");
        CHECK(out == "a" + (is_kept ? character : "\xef\xbf\xbd") + "b");
    }
}

TEST_CASE("html_writer writes integers") {
    std::string out;
    html_writer{out}.add("{} {} {}", std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::int64_t>::min(), 0);
    CHECK(out == "18446744073709551615 -9223372036854775808 0");
}
