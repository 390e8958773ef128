#include <tollgate/http/detail/response_parser.hpp>

#include <catch2/catch.hpp>
#include <support/feed_response.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using http::response_settings;
using http::response_step;
using tollgate_test::feed_response;
using tollgate_test::feed_response_bytewise;
using tollgate_test::feed_response_whole;
using tollgate_test::peer;
using namespace std::string_literals;

namespace {

std::string repeated(std::size_t times, const std::string& text) {
    std::string joined;
    for (std::size_t i = 0; i < times; ++i) joined += text;
    return joined;
}

std::string ok_with(const std::string& lines, const std::string& body = {}) {
    return "HTTP/1.1 200 OK\r\n" + lines + "\r\n" + body;
}
std::string with_length(const std::string& length, const std::string& body = {}) {
    return ok_with("Content-Length: " + length + "\r\n", body);
}
std::string with_coding(const std::string& coding, const std::string& body = "0\r\n\r\n") {
    return ok_with("Transfer-Encoding: " + coding + "\r\n", body);
}
std::string with_chunks(const std::string& chunks) { return with_coding("chunked", chunks); }

struct accepted_case {
    std::string name, bytes;
    unsigned status = 200;
    std::string body = {};
    bool keep_alive = true;
};

const std::vector<accepted_case> accepted_cases = {
    {"length 0", with_length("0")},
    {"a length", with_length("5", "hello"), 200, "hello"},
    {"no reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"},
    {"no reason and no space", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"},
    {"a reason beyond ASCII", "HTTP/1.1 200 \xc3\xa0 la bonne heure\r\nContent-Length: 0\r\n\r\n"},
    {"an unknown status", "HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n", 999},
    {"204", "HTTP/1.1 204 No Content\r\n\r\n", 204},
    {"204 with length 0", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", 204},
    {"204 with the length of a body", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", 204, "", false},
    {"204 with a chunked coding", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", 204, "", false},
    {"304 with the length of the omitted body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304},
    {"a redirect, which is a response", "HTTP/1.1 302 Found\r\nLocation: http://a/\r\nContent-Length: 0\r\n\r\n", 302},
    {"close", ok_with("Content-Length: 0\r\nConnection: close\r\n"), 200, "", false},
    {"close among others", ok_with("Content-Length: 0\r\nconnection: keep-alive, CLOSE\r\n"), 200, "", false},
    {"close in a second line", ok_with("Connection: x\r\nContent-Length: 0\r\nConnection: close\r\n"), 200, "", false},
    {"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", false},
    {"HTTP/1.0 with keep-alive", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nhi", 200, "hi"},
    {"chunks", with_chunks("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"), 200, "hello world"},
    {"only the last chunk", with_chunks("0\r\n\r\n")},
    {"chunk sizes in any case, with zeros", with_chunks("00a\r\n0123456789\r\nA\r\n0123456789\r\n000\r\n\r\n"), 200,
     "01234567890123456789"},
    {"chunk extensions", with_chunks("2;a;b=c ; d = \"e\\\"\\\\;\" ;f\r\nhi\r\n0;x\r\n\r\n"), 200, "hi"},
    {"trailers", with_chunks("2\r\nhi\r\n0\r\nX: y\r\nContent-Length: 7\r\nTransfer-Encoding: gzip\r\n\r\n"), 200, "hi"},
    {"a coding in capitals", ok_with("TRANSFER-ENCODING:Chunked\r\n", "0\r\n\r\n")},
    {"odd but valid fields", ok_with("!#$%&'*+-.^_`|~0aZ:\xff\r\nEmpty:\r\nTabs:\t\ta\tb\t\r\nContent-Length:\t0 \r\n")},
    {"an interim response", "HTTP/1.1 100 Continue\r\n\r\n" + with_length("2", "hi"), 200, "hi"},
    {"several with fields", "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\nContent-Length: 9\r\nConnection: close\r\n\r\n"
                            "HTTP/1.1 102 Processing\r\nTransfer-Encoding: chunked\r\n\r\n" + with_length("2", "hi"), 200, "hi"},
    {"a body that looks like a response", with_length("19", "HTTP/1.1 500 Oh\r\n\r\n"), 200, "HTTP/1.1 500 Oh\r\n\r\n"},
    {"a body of any bytes", with_length("4", "\0\xff\r\n"s), 200, "\0\xff\r\n"s},
};

const std::vector<std::pair<std::string, std::string>> refused_cases = {
    {"TLS", "\x15\x03\x01\x00\x02\x02\x28\n"s},
    {"SSH", "SSH-2.0-OpenSSH_9.2\r\n"},
    {"HTTP/0.9", "<html>hello</html>\n"},
    {"HTTP/2", "HTTP/2 200\r\n\r\n"},
    {"HTTP/1.2", "HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n"},
    {"a lower-case name", "http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
    {"ICY", "ICY 200 OK\r\n\r\n"},
    {"an empty line first", "\r\n" + with_length("0")},
    {"a space first", " HTTP/1.1 200 OK\r\n\r\n"},
    {"two spaces before the status", "HTTP/1.1  200 OK\r\n\r\n"},
    {"a tab before the status", "HTTP/1.1\t200 OK\r\n\r\n"},
    {"no status", "HTTP/1.1 \r\n\r\n"},
    {"a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"},
    {"a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"},
    {"a status with a sign", "HTTP/1.1 +20 OK\r\n\r\n"},
    {"a status that begins with zero", "HTTP/1.1 020 OK\r\n\r\n"},
    {"a status of letters", "HTTP/1.1 2O0 OK\r\n\r\n"},
    {"a tab after the status", "HTTP/1.1 200\tOK\r\n\r\n"},
    {"a control character in the reason", "HTTP/1.1 200 O\x01K\r\n\r\n"},
    {"NUL in the reason", "HTTP/1.1 200 O\0K\r\n\r\n"s},
    {"a bare CR in the reason", "HTTP/1.1 200 O\rK\r\n\r\n"},
    {"a status line ended by LF", "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n"},
    {"101", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"},

    {"a field without a colon", ok_with("Content-Length 0\r\n")},
    {"a field without a name", ok_with(": a\r\n")},
    {"a space before a colon", ok_with("Content-Length : 0\r\n")},
    {"a tab before a colon", ok_with("X\t: 0\r\n")},
    {"a folded line", ok_with("X: a\r\n b\r\nContent-Length: 0\r\n")},
    {"a line folded with a tab", ok_with("X: a\r\n\tb\r\nContent-Length: 0\r\n")},
    {"a space before the first field", ok_with(" X: a\r\n")},
    {"a raw byte in a name", ok_with("X\xff: a\r\n")},
    {"NUL in a value", ok_with("X: a\0b\r\n"s)},
    {"an escape character in a value", ok_with("X: \x1b[0m\r\n")},
    {"DEL in a value", ok_with("X: \x7f\r\n")},
    {"a bare CR in a value", ok_with("X: a\rb\r\n")},
    {"a CR at the end of a value", ok_with("X: a\r\r\n")},
    {"a field line ended by LF", ok_with("X: a\n")},
    {"a section ended by LF", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\n"},

    {"a negative length", with_length("-1")},
    {"a length with a plus", with_length("+5", "hello")},
    {"a hexadecimal length", with_length("0x5", "hello")},
    {"a length with a space", with_length("1 0", "helloworld")},
    {"a length with letters", with_length("5abc", "hello")},
    {"an empty length", with_length("", "hello")},
    {"a list of lengths", with_length("5, 5", "hello")},
    {"a length with zeros", with_length("005", "hello")},
    {"a length over 64 bits", with_length("18446744073709551616")},
    {"two lengths", ok_with("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!")},
    {"two equal lengths", ok_with("Content-Length: 5\r\ncontent-length: 5\r\n", "hello")},
    {"two lengths of a response without a body", "HTTP/1.1 304 A\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"},
    {"coding, then length", ok_with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")},
    {"length, then coding", ok_with("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
    {"a coding on HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {"gzip", with_coding("gzip")},
    {"identity", with_coding("identity")},
    {"gzip, then chunked", with_coding("gzip, chunked")},
    {"chunked, then gzip", with_coding("chunked, gzip")},
    {"chunked twice", with_coding("chunked, chunked")},
    {"two coding lines", ok_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
    {"an empty coding", with_coding("")},
    {"a tab before chunked", with_coding("\tchunked")},
    {"a vertical tab before chunked", with_coding("\vchunked")},

    {"a negative chunk size", with_chunks("-1\r\n\r\n")},
    {"a chunk size with a plus", with_chunks("+5\r\nhello\r\n0\r\n\r\n")},
    {"a chunk size with 0x", with_chunks("0x5\r\nhello\r\n0\r\n\r\n")},
    {"a chunk size after a space", with_chunks(" 5\r\nhello\r\n0\r\n\r\n")},
    {"a chunk size before a space", with_chunks("5 \r\nhello\r\n0\r\n\r\n")},
    {"an empty chunk size", with_chunks("\r\nhello\r\n0\r\n\r\n")},
    {"no chunk size, an extension", with_chunks(";a\r\nhello\r\n0\r\n\r\n")},
    {"chunk size of letters", with_chunks("zz\r\n")},
    {"a chunk size over 64 bits", with_chunks("10000000000000005\r\nhello\r\n0\r\n\r\n")},
    {"a chunk line ended by LF", with_chunks("5\nhello\r\n0\r\n\r\n")},
    {"a chunk that is too short", with_chunks("6\r\nhello\r\n0\r\n\r\n")},
    {"a chunk that is too long", with_chunks("4\r\nhello\r\n0\r\n\r\n")},
    {"a chunk followed by LF", with_chunks("5\r\nhello\n0\r\n\r\n")},
    {"an extension without a name", with_chunks("5;\r\nhello\r\n0\r\n\r\n")},
    {"an extension without its value", with_chunks("5;a=\r\nhello\r\n0\r\n\r\n")},
    {"an extension with an open quote", with_chunks("5;a=\"b\r\nhello\r\n0\r\n\r\n")},
    {"an extension that ends in a backslash", with_chunks("5;a=\"b\\\r\nhello\r\n0\r\n\r\n")},
    {"an extension before a space", with_chunks("5;a \r\nhello\r\n0\r\n\r\n")},
    {"an extension with a bare CR", with_chunks("5;a=\"\r\"\r\nhello\r\n0\r\n\r\n")},
    {"a chunk line that is too long", with_chunks("5;" + repeated(300, "a") + "\r\nhello\r\n0\r\n\r\n")},
    {"a chunk line without an end", with_chunks(repeated(300, "0"))},
    {"too many bytes of framing", with_chunks(repeated(4000, "1\r\na\r\n") + "0\r\n\r\n")},
    {"a trailer that is not a field", with_chunks("0\r\nX\r\n\r\n")},
    {"a trailer ended by LF", with_chunks("0\r\nX: a\n\r\n")},
    {"a folded trailer", with_chunks("0\r\nX: a\r\n b\r\n\r\n")},

    {"a line without an end", repeated(9000, "a")},
    {"a status line that is too long", "HTTP/1.1 200 " + repeated(9000, "a") + "\r\n\r\n"},
    {"a field that is too long", ok_with("X: " + repeated(9000, "a") + "\r\n")},
    {"too many fields", ok_with(repeated(101, "X: a\r\n"))},
    {"too large a section", ok_with(repeated(5, "X: " + repeated(4000, "a") + "\r\n"))},
    {"too many trailers", with_chunks("0\r\n" + repeated(101, "X: a\r\n") + "\r\n")},
    {"interim responses without an end", repeated(1000, "HTTP/1.1 100 Continue\r\n\r\n")},
};

}  // namespace

TEST_CASE("a response is read exactly to its end, whole and byte by byte") {
    for (const auto& each : accepted_cases)
        for (const bool follower : {false, true}) {
            CAPTURE(each.name, follower);
            const std::string bytes = each.bytes + (follower ? "HTTP/1.1 500 Nobody asked\r\n\r\n" : "");
            const auto whole = feed_response_whole(bytes);
            CHECK(whole.step == response_step::complete);
            CHECK(whole.status == each.status);
            CHECK(whole.body == each.body);
            CHECK_FALSE(whole.body_cut);
            CHECK(whole.keep_alive == each.keep_alive);
            CHECK(whole.consumed == each.bytes.size());
            CHECK(feed_response_bytewise(bytes) == whole);
            CHECK(feed_response(bytes, [](std::size_t at) { return at % 7 + 1; }) == whole);
        }
}

TEST_CASE("an incomplete response is not a response") {
    for (const auto& each : accepted_cases)
        for (std::size_t size = 0; size < each.bytes.size(); ++size) {
            CAPTURE(each.name, size);
            const std::string_view part = std::string_view{each.bytes}.substr(0, size);
            const auto response = feed_response_whole(part);
            CHECK(response.step == response_step::needs_more);
            CHECK(response.begun == (size != 0));
            const auto after_close = feed_response_whole(part, peer::closes);
            CHECK(after_close.step == response_step::refused);
            CHECK_FALSE(after_close.refused_reason.empty());
        }
}

TEST_CASE("ambiguous responses are refused, whole and byte by byte") {
    for (const auto& [name, bytes] : refused_cases) {
        CAPTURE(name);
        for (const std::string& input : {bytes, bytes + with_length("0")}) {
            const auto whole = feed_response_whole(input);
            CHECK(whole.step == response_step::refused);
            CHECK_FALSE(whole.refused_reason.empty());
            CHECK(feed_response_bytewise(input) == whole);
            CHECK(feed_response(input, [](std::size_t at) { return at % 5 + 1; }) == whole);
        }
    }
}

TEST_CASE("the status counts if only the rest of the head is malformed or over a bound, whole and byte by byte") {
    const std::string line = "HTTP/1.1 202 Accepted\r\n";
    struct row {
        std::string name, bytes;
        unsigned status;  // 0: none counts
    };
    const std::vector<row> rows = {
        {"a folded line", line + "X: a\r\n b\r\n\r\n", 202},
        {"a field line ended by LF", line + "X: a\n\n", 202},
        {"every line ended by LF", "HTTP/1.1 503 Busy\nRetry-After: 1\n\n", 503},
        {"HTTP/1.0 with LF, without a reason", "HTTP/1.0 200\n\n", 200},
        {"200 fields", line + repeated(200, "X: a\r\n") + "\r\n", 202},
        {"a line of 16 KiB", line + "X: " + repeated(16 * 1024, "a") + "\r\n\r\n", 202},
        {"no field", line + "nothing\r\n", 202},
        {"NUL in a value", line + "X: a\0b\r\n"s, 202},
        {"a length twice", line + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 202},
        {"after an interim response", "HTTP/1.1 100 Continue\r\n\r\n" + line + " X\r\n", 202},
        {"in an interim response", "HTTP/1.1 103 A\r\n X\r\n\r\n" + line, 0},
        {"an interim response with LF", "HTTP/1.1 103 A\n\n" + line, 0},
        {"101 with LF", "HTTP/1.1 101 A\n\n", 0},
        {"a status of two digits with LF", "HTTP/1.1 20 OK\n\n", 0},
        {"another protocol with LF", "SSH-2.0-OpenSSH_9.2\n", 0},
        {"a status line that is too long", "HTTP/1.1 200 " + repeated(9000, "a") + "\r\n", 0},
        {"only LF", "\n", 0},
    };
    for (const auto& [name, bytes, status] : rows) {
        CAPTURE(name);
        for (const std::size_t size : {bytes.size(), std::size_t{1}, std::size_t{7}}) {
            http::response_parser parser;
            parser.start();
            auto step = response_step::needs_more;
            for (std::size_t at = 0; at < bytes.size() && step == response_step::needs_more; at += size)
                step = parser.step(std::string_view{bytes}.substr(at, size));
            CHECK(step == response_step::refused);
            CHECK(parser.head_complete() == (status != 0));
            if (status != 0) CHECK(parser.status() == status);
            CHECK_FALSE(parser.keep_alive());
        }
    }
    http::response_parser parser;
    parser.start();
    CHECK(parser.step(line + "X: a\r\n") == response_step::needs_more);
    CHECK(parser.finish() == response_step::refused);
    CHECK_FALSE(parser.head_complete());  // the head was cut off
}

TEST_CASE("a response without a length ends with its connection") {
    for (const std::string version : {"HTTP/1.1", "HTTP/1.0"}) {
        const std::string bytes = version + " 200 OK\r\nConnection: keep-alive\r\n\r\nhello";
        CHECK(feed_response_whole(bytes).step == response_step::needs_more);
        const auto response = feed_response_whole(bytes, peer::closes);
        CHECK(response.step == response_step::complete);
        CHECK(response.body == "hello");
        CHECK_FALSE(response.keep_alive);
        CHECK_FALSE(response.body_cut);
        CHECK(feed_response_bytewise(bytes, peer::closes).body == "hello");
    }
}

TEST_CASE("the response to HEAD has no body, whatever its fields say") {
    for (const std::string& lines : {"Content-Length: 5\r\n"s, "Transfer-Encoding: chunked\r\n"s, ""s}) {
        const auto response = feed_response_bytewise(ok_with(lines), peer::stays_open, {}, true);
        CHECK(response.step == response_step::complete);
        CHECK(response.keep_alive);
        CHECK(response.body.empty());
    }
    CHECK(feed_response_whole(ok_with("Content-Length: x\r\n"), peer::stays_open, {}, true).step == response_step::refused);
}

TEST_CASE("the beginning of a body is stored, more is read and dropped, and then the body is cut off") {
    const response_settings settings{.kept_bytes_max = 4, .body_bytes_max = 10};
    struct row {
        std::string name, bytes;
        std::string body;
        bool cut, keep_alive;
        peer at_end = peer::stays_open;
    };
    const std::vector<row> rows = {
        {"stored completely", with_length("4", "0123"), "0123", false, true},
        {"one byte more", with_length("5", "01234"), "0123", true, true},
        {"read to its end", with_length("10", "0123456789"), "0123", true, true},
        {"one byte more than that", with_length("11", "0123456789a"), "0123", true, false},
        {"a length of 2^64 - 1", with_length("18446744073709551615", "0123456789"), "0123", true, false},
        {"chunks that are stored completely", with_chunks("2\r\n01\r\n2\r\n23\r\n0\r\n\r\n"), "0123", false, true},
        {"chunks read to their end", with_chunks("5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n"), "0123", true, true},
        {"one byte more in chunks", with_chunks("5\r\n01234\r\n6\r\n56789a\r\n0\r\n\r\n"), "0123", true, false},
        {"a chunk of 2^64 - 1", with_chunks("ffffffffffffffff\r\n0123456789a"), "0123", true, false},
        {"until close, stored completely", ok_with("", "0123"), "0123", false, false, peer::closes},
        {"until close, read to its end", ok_with("", "0123456789"), "0123", true, false, peer::closes},
        {"until close, without a close", ok_with("", "0123456789a"), "0123", true, false, peer::stays_open},
    };
    for (const auto& each : rows) {
        CAPTURE(each.name);
        for (const auto& response : {feed_response_whole(each.bytes, each.at_end, settings),
                                     feed_response_bytewise(each.bytes, each.at_end, settings),
                                     feed_response(each.bytes, [](std::size_t at) { return at % 3 + 1; }, each.at_end, settings)}) {
            CHECK(response.step == response_step::complete);
            CHECK(response.body == each.body);
            CHECK(response.body_cut == each.cut);
            CHECK(response.keep_alive == each.keep_alive);
        }
    }
    const response_settings nothing{.kept_bytes_max = 0, .body_bytes_max = 0};
    CHECK(feed_response_whole(with_length("5", "hello"), peer::stays_open, nothing).body_cut);
    CHECK(feed_response_whole(with_length("5"), peer::stays_open, nothing).step == response_step::complete);
    CHECK(feed_response_whole(with_length("0"), peer::stays_open, nothing).keep_alive);
}

TEST_CASE("Retry-After is returned as sent") {
    const auto retry_after = [](const std::string& lines) { return feed_response_bytewise(ok_with(lines + "Content-Length: 0\r\n")).retry_after; };
    CHECK(retry_after("") == "");
    CHECK(retry_after("Retry-After: 120\r\n") == "120");
    CHECK(retry_after("RETRY-AFTER:\tFri, 31 Dec 1999 23:59:59 GMT \r\n") == "Fri, 31 Dec 1999 23:59:59 GMT");
    CHECK(retry_after("Retry-After: 1\r\nRetry-After: 2\r\n") == "");
    CHECK(retry_after("Retry-After: " + repeated(65, "1") + "\r\n") == "");
    CHECK(feed_response_whole("HTTP/1.1 103 A\r\nRetry-After: 5\r\n\r\n" + with_length("0")).retry_after == "");
}

TEST_CASE("a parser reads response after response on one connection") {
    http::response_parser parser;
    const std::string first = with_chunks("5\r\nhello\r\n0\r\n\r\n");
    const std::string second = "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno";
    for (int round = 0; round < 3; ++round) {
        const std::string bytes = first + second;
        parser.start();
        CHECK_FALSE(parser.begun());
        CHECK_FALSE(parser.head_complete());
        REQUIRE(parser.step(bytes) == response_step::complete);
        CHECK(parser.consumed() == first.size());
        CHECK(parser.body() == "hello");
        CHECK(parser.step("more") == response_step::complete);
        CHECK(parser.consumed() == 0);
        parser.start();
        REQUIRE(parser.step(std::string_view{bytes}.substr(first.size())) == response_step::complete);
        CHECK(parser.status() == 503);
        CHECK(parser.body() == "no");
        CHECK(parser.retry_after() == "7");
        CHECK_FALSE(parser.keep_alive());
        parser.start();
        CHECK(parser.step("no HTTP\r\n") == response_step::refused);
        CHECK(parser.step(first) == response_step::refused);
    }
}
