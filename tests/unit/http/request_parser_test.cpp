#include <tollgate/http/detail/request_parser.hpp>

#include <catch2/catch.hpp>
#include <support/feed_request.hpp>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using http::parse_step;
using tollgate_test::feed_bytewise;
using tollgate_test::feed_whole;

namespace {

std::string get_with(const std::string& lines, const std::string& version = "HTTP/1.1") {
    return "GET / " + version + "\r\nHost: a\r\n" + lines + "\r\n";
}

}  // namespace

TEST_CASE("a request has all parts as sent") {
    std::string bytes = "DELETE /v1/a%2Fb?x=1?y HTTP/1.1\r\nhost: example.com:8080\r\nUser-Agent:wrk \t\r\n"
                        "X-Empty:\r\nAUTHORIZATION:  Basic abc\r\nContent-Length: 2\r\n\r\n{}";
    http::request_parser parser;
    http::request request;
    request.secure = true;
    parser.start();
    REQUIRE(parser.step(bytes, request) == parse_step::complete);
    CHECK(request.method == http::method::delete_);
    CHECK(request.method_name == "DELETE");
    CHECK(request.target.path == "/v1/a%2Fb");
    CHECK(request.target.query == "x=1?y");
    CHECK(request.target.has_query);
    CHECK(request.target.authority == "");
    CHECK(request.authority() == "example.com:8080");
    CHECK(request.version == http::version::http_1_1);
    CHECK(request.body == "{}");
    CHECK(request.secure);
    REQUIRE(request.fields.size() == 5);
    CHECK(request.fields.begin()->name == "host");
    CHECK(request.fields.find(http::field_id::user_agent) == "wrk");
    CHECK(request.fields.find(http::field_id::authorization) == "Basic abc");
    CHECK(request.fields.find("x-EMPTY") == "");
    CHECK(request.fields.count(http::field_id::other) == 1);
    CHECK(request.body.data() == bytes.data() + bytes.size() - 2);
}

TEST_CASE("a higher minor version is processed as HTTP/1.1") {
    for (const char* version : {"HTTP/1.2", "HTTP/1.9"}) {
        CAPTURE(version);
        CHECK(feed_whole(get_with("", version)).version == http::version::http_1_1);
        CHECK(feed_whole(get_with("", version)).keep_alive);
    }
    CHECK(feed_whole(get_with("", "HTTP/1.0")).version == http::version::http_1_0);
}

TEST_CASE("an empty query differs from none") {
    CHECK(feed_whole("GET /a? HTTP/1.1\r\nHost: a\r\n\r\n").has_query);
    CHECK_FALSE(feed_whole("GET /a HTTP/1.1\r\nHost: a\r\n\r\n").has_query);
}

TEST_CASE("the path of an absolute-form target is used, and its host replaces Host") {
    struct row {
        std::string target, path, query, authority;
    };
    const std::vector<row> rows = {
        {"http://b:81/c?d", "/c", "d", "b:81"}, {"HTTP://b", "/", "", "b"}, {"https://b?d", "/", "d", "b"},
        {"http://[::1]:81/", "/", "", "[::1]:81"}, {"http://b//c", "//c", "", "b"},
    };
    for (const auto& [target, path, query, authority] : rows) {
        CAPTURE(target);
        for (const auto& message : {feed_whole("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"),
                                    feed_bytewise("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n")}) {
            CHECK(message.step == parse_step::complete);
            CHECK(message.path == path);
            CHECK(message.query == query);
            CHECK(message.authority == authority);
        }
    }
}

TEST_CASE("one parser and one request parse message after message in the same buffer") {
    std::string bytes =
        get_with("X: 1\r\n") + "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" + get_with("");
    http::request_parser parser;
    http::request request;
    std::size_t at = 0;
    const auto next = [&] {
        parser.start();
        const auto step = parser.step({bytes.data() + at, bytes.size() - at}, request);
        at += parser.consumed();
        return step;
    };
    REQUIRE(next() == parse_step::complete);
    CHECK(request.fields.size() == 2);
    REQUIRE(next() == parse_step::complete);
    CHECK(request.body == "abc");
    CHECK(request.fields.size() == 2);
    REQUIRE(next() == parse_step::complete);
    CHECK(request.body == "");
    CHECK(request.fields.size() == 1);
    CHECK(at == bytes.size());
    REQUIRE(next() == parse_step::needs_more);
}

TEST_CASE("views are updated when the buffer moves between steps") {
    const std::string head = "POST /path?query HTTP/1.1\r\nHost: a\r\nX: some value\r\nContent-Length: 5\r\n\r\n";
    auto first = std::make_unique<std::string>(head + "he");
    http::request_parser parser;
    http::request request;
    parser.start();
    REQUIRE(parser.step(*first, request) == parse_step::head_complete);
    std::string second = *first + "llo";
    first->assign(first->size(), '?');
    first.reset();
    REQUIRE(parser.step(second, request) == parse_step::complete);
    CHECK(request.method_name == "POST");
    CHECK(request.target.path == "/path");
    CHECK(request.target.query == "query");
    CHECK(request.fields.find("x") == "some value");
    CHECK(request.body == "hello");
}

TEST_CASE("keep_alive follows version and Connection") {
    struct row {
        std::string bytes;
        bool keep_alive;
    };
    const std::vector<row> rows = {
        {get_with(""), true},
        {get_with("Connection: close\r\n"), false},
        {get_with("Connection: CLOSE\r\n"), false},
        {get_with("Connection: x, close\r\n"), false},
        {get_with("Connection: close ,x\r\n"), false},
        {get_with("Connection: x\r\nconnection: close\r\n"), false},
        {get_with("Connection: closed\r\n"), true},
        {get_with("Connection: keep-alive\r\n"), true},
        {get_with("Connection: keep-alive, close\r\n"), false},
        {get_with("Connection:\r\n"), true},
        {get_with("X-Connection: close\r\n"), true},
        {get_with("", "HTTP/1.0"), false},
        {get_with("Connection: keep-alive\r\n", "HTTP/1.0"), true},
        {get_with("Connection: Keep-Alive\r\n", "HTTP/1.0"), true},
        {get_with("Connection: keep-alive, close\r\n", "HTTP/1.0"), false},
        {get_with("Connection: x\r\nConnection: y, keep-alive\r\n", "HTTP/1.0"), true},
    };
    for (const auto& [bytes, keep_alive] : rows) {
        CAPTURE(bytes);
        CHECK(feed_whole(bytes).keep_alive == keep_alive);
        CHECK(feed_bytewise(bytes).keep_alive == keep_alive);
    }
}

TEST_CASE("head_complete is returned once, and only if the body is still to come") {
    const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";
    CHECK(feed_whole(head + "hello").heads_complete == 0);
    CHECK(feed_bytewise(head + "hello").heads_complete == 1);
    CHECK(feed_bytewise(get_with("")).heads_complete == 0);

    http::request_parser parser;
    http::request request;
    parser.start();
    std::string bytes = head;
    REQUIRE(parser.step(bytes, request) == parse_step::head_complete);
    CHECK(parser.message_bytes() == head.size() + 5);
    CHECK(request.fields.size() == 2);
    REQUIRE(parser.step(bytes, request) == parse_step::needs_more);
}

TEST_CASE("expects_continue is true only if the client waits") {
    const std::string expects = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n";
    CHECK(feed_bytewise(expects + "Content-Length: 5\r\n\r\nhello").expects_continue);
    CHECK(feed_bytewise(expects + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n").expects_continue);
    CHECK_FALSE(
        feed_bytewise("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello").expects_continue);
    CHECK_FALSE(feed_bytewise("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello").expects_continue);

    const std::string early = expects + "Content-Length: 5\r\n\r\nhello";
    const auto message =
        tollgate_test::feed(early, [&](std::size_t already) { return already == 0 ? early.size() - 2 : std::size_t{1}; });
    CHECK(message.heads_complete == 1);
    CHECK_FALSE(message.expects_continue);
}

TEST_CASE("a body over its bound is reported at once, without its data") {
    const http::parser_settings settings{.body_bytes_max = 10};
    const std::string chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::vector<std::string> too_large = {
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n",
        chunked + "b\r\n",
        chunked + "FFFFFFFFFFFFFFFF\r\n",
        chunked + "a\r\n0123456789\r\n1\r\n",
        chunked + "1;x\r\n0\r\nFFFFFFFFFFFFFFFF\r\n",
    };
    for (const auto& bytes : too_large) {
        CAPTURE(bytes);
        for (const auto& message : {feed_whole(bytes, settings), feed_bytewise(bytes, settings),
                                    feed_whole(bytes + "0123456789x", settings)}) {
            CHECK(message.step == parse_step::complete);
            CHECK(message.body_state == http::body_state::too_large);
            CHECK(message.body == "");
            CHECK_FALSE(message.keep_alive);
        }
        CHECK(feed_bytewise(std::string_view{bytes}.substr(0, bytes.size() - 1), settings).step ==
              parse_step::needs_more);
    }
    for (const std::string& bytes : {std::string{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789"},
                                     chunked + "4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n"}) {
        const auto message = feed_bytewise(bytes, settings);
        CHECK(message.step == parse_step::complete);
        CHECK(message.body_state == http::body_state::complete);
        CHECK(message.body == "0123456789");
        CHECK(message.keep_alive);
    }
}

TEST_CASE("bounds come from the settings and apply with the first byte beyond them") {
    const http::parser_settings settings{.target_bytes_max = 10, .header_bytes_max = 50, .field_count_max = 3};
    const std::string line = "GET / HTTP/1.1\r\n";
    const std::string host = "Host: a\r\n";

    CHECK(feed_whole("GET /123456789", settings).step == parse_step::needs_more);
    CHECK(feed_whole("GET /123456789 HTTP/1.1\r\nHost: a\r\n\r\n", settings).step == parse_step::complete);
    CHECK(feed_whole("GET /123456789a", settings).refused_status == http::status::uri_too_long);

    CHECK(feed_whole(line + host + "X: " + std::string(37, 'a'), settings).step == parse_step::needs_more);
    CHECK(feed_whole(line + host + "X: " + std::string(38, 'a'), settings).refused_status ==
          http::status::header_fields_too_large);
    CHECK(feed_whole(line + host + "X: " + std::string(34, 'a') + "\r\n\r\n", settings).step == parse_step::complete);
    CHECK(feed_whole(line + host + "X: " + std::string(35, 'a') + "\r\n\r\n", settings).refused_status ==
          http::status::header_fields_too_large);

    CHECK(feed_whole(line + host + "X: y\r\nX: y\r\n\r\n", settings).step == parse_step::complete);
    CHECK(feed_whole(line + host + "X: y\r\nX: y\r\nX: y\r\n", settings).refused_status ==
          http::status::header_fields_too_large);

    const http::parser_settings endless{.target_bytes_max = SIZE_MAX,
                                        .header_bytes_max = SIZE_MAX,
                                        .field_count_max = SIZE_MAX,
                                        .body_bytes_max = SIZE_MAX};
    CHECK(feed_whole(get_with("Content-Length: 1\r\n") + "x", endless).step == parse_step::complete);
    std::string many;
    for (std::size_t i = 0; i < http::field_lines::size_max; ++i) many += "X: y\r\n";
    CHECK(feed_whole(get_with(many), endless).refused_status == http::status::header_fields_too_large);
}

TEST_CASE("a refusal is final until the next start") {
    http::request_parser parser;
    http::request request;
    parser.start();
    std::string bad = "GET / HTTP/9.9\r\n";
    std::string good = get_with("");
    REQUIRE(parser.step(bad, request) == parse_step::refused);
    REQUIRE(parser.step(good, request) == parse_step::refused);
    CHECK_FALSE(parser.keep_alive());
    parser.start();
    REQUIRE(parser.step(good, request) == parse_step::complete);
}

TEST_CASE("a message leaves no state for the next one") {
    http::request_parser parser;
    http::request request;
    const auto read = [&](std::string host) {
        std::string bytes = "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
        parser.start();
        return parser.step(bytes, request);
    };
    const std::string long_host(100, 'a');
    CHECK(read("") == parse_step::refused);
    CHECK(read("good") == parse_step::complete);
    CHECK(read("") == parse_step::refused);
    CHECK(read("good") == parse_step::complete);
    CHECK(read("good,") == parse_step::refused);
    CHECK(read("goo") == parse_step::complete);
    CHECK(read(long_host) == parse_step::complete);
    CHECK(read(long_host + "/") == parse_step::refused);
    CHECK(read("") == parse_step::refused);
    CHECK(read("a@good") == parse_step::refused);
}

TEST_CASE("an impossible request is refused with its first wrong byte") {
    CHECK(feed_bytewise("\x16").step == parse_step::refused);
    CHECK(feed_bytewise("\n").step == parse_step::refused);
    CHECK(feed_bytewise("GET  ").step == parse_step::refused);
    CHECK(feed_bytewise("GET /\x7f").step == parse_step::refused);
    CHECK(feed_bytewise("GET / HTTP/2").step == parse_step::refused);
    CHECK(feed_bytewise("GET / HTTP/1.1\r\n ").step == parse_step::refused);
    CHECK(feed_bytewise("GET / HTTP/1.1\r\nHost ").step == parse_step::refused);
    CHECK(feed_bytewise("GET / HTTP/1.1\r\nHost: a\rb").step == parse_step::refused);
}

TEST_CASE("a message of the maximum size fits the bounds") {
    const http::parser_settings settings;
    CHECK(settings.message_bytes_max() >= 2 + 32 + 1 + settings.target_bytes_max + 11 + settings.header_bytes_max +
                                              settings.body_bytes_max + limits::chunk_overhead_bytes_max);
}

TEST_CASE("the sum of huge bounds does not overflow") {
    constexpr auto endless = std::numeric_limits<std::size_t>::max();
    const http::parser_settings settings{
        .target_bytes_max = endless, .header_bytes_max = endless, .body_bytes_max = endless};
    CHECK(settings.message_bytes_max() >= 3 * http::parser_settings::bytes_max);
    CHECK(http::parser_settings{.body_bytes_max = endless}.message_bytes_max() >= http::parser_settings::bytes_max);
}

TEST_CASE("a parser is small, so that many connections can wait") {
    CHECK(sizeof(http::request_parser) <= 320);
}

TEST_CASE("a host may bound a chunked body when it knows the head") {
    const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    struct {
        std::size_t bound;
        const char* chunks;
        http::body_state expected;
    } const rows[] = {
        {10, "a\r\n0123456789\r\n0\r\n\r\n", http::body_state::complete},
        {9, "a\r\n", http::body_state::too_large},
        {9, "9\r\n012345678\r\n1\r\n", http::body_state::too_large},
        {static_cast<std::size_t>(-1), "a\r\n0123456789\r\n0\r\n\r\n", http::body_state::complete},
    };
    http::request_parser parser;
    for (const auto& row : rows) {
        CAPTURE(row.bound, row.chunks);
        http::request request;
        std::string bytes = head;
        parser.start();
        REQUIRE(parser.step(bytes, request) == parse_step::head_complete);
        parser.bound_body(row.bound);
        bytes += row.chunks;
        REQUIRE(parser.step(bytes, request) == parse_step::complete);
        CHECK(request.body_state == row.expected);
        CHECK(parser.keep_alive() == (row.expected == http::body_state::complete));
    }
    // The bound is that of one message.
    std::string next = head + "a\r\n0123456789\r\n0\r\n\r\n";
    http::request request;
    parser.start();
    if (parser.step(next, request) == parse_step::head_complete) REQUIRE(parser.step(next, request) == parse_step::complete);
    CHECK(request.body.size() == 10);
}

TEST_CASE("a target is split in each of its forms", "[http][target]") {
    struct row {
        const char* text;
        const char* path;
        const char* query;
        bool has_query;
        const char* authority;
    };
    for (const row& each : {row{"/a/b", "/a/b", "", false, ""},
                            row{"/a?b=/c?d", "/a", "b=/c?d", true, ""},
                            row{"/a?", "/a", "", true, ""},
                            row{"/a?u=http://x/y", "/a", "u=http://x/y", true, ""},
                            row{"//x/y", "//x/y", "", false, ""},
                            row{"*", "*", "", false, ""},
                            row{"", "", "", false, ""},
                            row{"http://x.test:8080/a?b", "/a", "b", true, "x.test:8080"},
                            row{"HTTPS://[::1]/a", "/a", "", false, "[::1]"},
                            row{"http://x.test", "/", "", false, "x.test"},
                            row{"http://x.test?b", "/", "b", true, "x.test"},
                            row{"a?u=http://x/y", "a", "u=http://x/y", true, ""},
                            row{"a/http://x", "a/http://x", "", false, ""},
                            row{"x.test:443", "x.test:443", "", false, ""}}) {
        CAPTURE(each.text);
        const auto split = http::target::from(each.text);
        CHECK(split.path == each.path);
        CHECK(split.query == each.query);
        CHECK(split.has_query == each.has_query);
        CHECK(split.authority == each.authority);
    }
}
