#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

/// What every contender with a bare handler returns, so that ratios compare servers and not answers.
namespace benchmark {

inline constexpr std::string_view content_type = "application/json";
inline constexpr std::string_view body = R"({"id":1,"balance":1234.56,"currency":"EUR"})";

/// The whole message of a contender that computes nothing. The Date is a constant of the usual length, so that the
/// fastest possible server does not read a clock.
inline constexpr std::string_view message =
    "HTTP/1.1 200 OK\r\n"
    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
    "Content-Type: application/json\r\n"
    "Content-Length: 43\r\n"
    "\r\n"
    R"({"id":1,"balance":1234.56,"currency":"EUR"})";
static_assert(body.size() == 43);

/// The port, the first argument of every server program: the driver finds a free one, the same way for all contenders.
inline std::uint16_t port_argument(int argc, char** argv) {
    std::uint16_t port = 0;
    const std::string_view text = argc > 1 ? argv[1] : "";
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
    if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) {
        std::fprintf(stderr, "usage: %s PORT [CERTIFICATE KEY]\n", argv[0]);
        std::exit(2);
    }
    return port;
}

}  // namespace benchmark
