#include <tollgate/http/detail/response_writer.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tollgate;
using http::framing;
using http::status;

namespace {

constexpr std::string_view date = "Sun, 06 Nov 1994 08:49:37 GMT";

std::string written(status code, const std::string& body, const framing& options) {
    http::response out;
    out.set_status(code);
    out.add("X-A", "1");
    out.body() = body;
    // exactly as large as promised, so that a sanitizer detects an overflow by one byte
    std::vector<char> wire(http::response_bytes_max(out));
    const char* const end = http::write_response(out, options, wire.data());
    REQUIRE(end <= wire.data() + wire.size());
    return {static_cast<const char*>(wire.data()), end};
}

}  // namespace

TEST_CASE("a response is a status line, Date, its fields, its length and its body") {
    CHECK(written(status::ok, "{}", {.date = date}) ==
          "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nX-A: 1\r\nContent-Length: 2\r\n\r\n{}");
    CHECK(written(status::not_found, "", {.date = date}) ==
          "HTTP/1.1 404 Not Found\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n");
    const std::string large(100'000, 'x');
    CHECK(written(status::ok, large, {.date = date}).ends_with("\r\nContent-Length: 100000\r\n\r\n" + large));
}

TEST_CASE("204 and 304 have neither length nor body") {
    CHECK(written(status::no_content, "", {.date = date}) ==
          "HTTP/1.1 204 No Content\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nX-A: 1\r\n\r\n");
    CHECK(written(status::no_content, "never sent", {.date = date}).ends_with("X-A: 1\r\n\r\n"));
    CHECK(written(static_cast<status>(304), "", {.date = date}).ends_with("X-A: 1\r\n\r\n"));
}

TEST_CASE("HEAD gets the length of GET's body and no body") {
    CHECK(
        written(status::ok, "hello", {.date = date, .head_only = true}).ends_with("X-A: 1\r\nContent-Length: 5\r\n\r\n"));
}

TEST_CASE("Connection is written only where it is not the version's default") {
    using http::version;
    const auto ends = [](const framing& options, const std::string& end) {
        return written(status::ok, "", options).ends_with("Content-Length: 0\r\n" + end);
    };
    CHECK(ends({.date = date}, "\r\n"));
    CHECK(ends({.date = date, .keep_alive = false}, "Connection: close\r\n\r\n"));
    CHECK(ends({.date = date, .version = version::http_1_0}, "Connection: keep-alive\r\n\r\n"));
    CHECK(ends({.date = date, .version = version::http_1_0, .keep_alive = false}, "Connection: close\r\n\r\n"));
}

TEST_CASE("every status has a status line, listed or not") {
    for (unsigned code = 200; code < 600; ++code) {
        const std::string wire = written(static_cast<status>(code), "", {.date = date});
        CHECK(wire.starts_with("HTTP/1.1 " + std::to_string(code) + " " +
                               std::string{to_reason(static_cast<status>(code))} + "\r\n"));
    }
}

TEST_CASE("the longest head fits the promised bytes") {
    http::response out;
    out.set_status(status::header_fields_too_large);  // has the longest reason
    std::vector<char> wire(http::response_bytes_max(out));
    const framing options{.date = date, .version = http::version::http_1_0, .keep_alive = true};
    const char* const end = http::write_response(out, options, wire.data());
    CHECK(wire.data() + wire.size() - end >= 20);  // as many as the longest length has digits
}
