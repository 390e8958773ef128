#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_RESPONSE_WRITER_HPP
#define TOLLGATE_HTTP_DETAIL_RESPONSE_WRITER_HPP

#include <tollgate/base/time.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <array>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace tollgate::inline v0::http {

/// The properties of the connection and of the request on which the wire format depends.
struct framing {
    std::string_view date;                            ///< IMF-fixdate, 29 bytes; the host formats one a second
    http::version version = http::version::http_1_1;  ///< version of the request
    bool keep_alive = true;                           ///< if false, the host closes the connection after this response
    bool head_only = false;                           ///< the response to HEAD: all fields of GET, no body
};

/// At least as many bytes as `write_response` writes.
[[nodiscard]] inline std::size_t response_bytes_max(const response& sent) noexcept;

/// Writes one response in wire format (RFC 9112 section 4) to `to`, which has space for `response_bytes_max`, and returns its end:
/// status line, `Date`, the response's own fields, `Content-Length` (except for 204 and 304), `Connection` unless it is the
/// version's default, body. The response must not contain `Date`, `Content-Length`, `Connection` or `Transfer-Encoding` itself.
[[nodiscard]] inline char* write_response(const response& sent, const framing& framing, char* to) noexcept;

/// The interim response that makes a waiting client send the body (RFC 9110 section 10.1.1).
inline constexpr std::string_view continue_response = "HTTP/1.1 100 Continue\r\n\r\n";

namespace detail {

/// Status line and the following field name for every status sent: most responses start with one copy.
inline constexpr std::size_t status_head_bytes_max = 64;
inline constexpr std::size_t date_bytes = sizeof(http_date_text);
inline constexpr std::size_t other_lines_bytes_max = 96;  // the end of Date, Content-Length, Connection, the empty line
struct status_head {
    std::array<char, status_head_bytes_max> characters{};
    std::size_t size = 0;

    constexpr void append(std::string_view text) noexcept {
        for (char c : text) characters[size++] = c;
    }
};

constexpr status_head make_status_head(unsigned code) noexcept {
    status_head head;
    head.append("HTTP/1.1 ");
    const char digits[3] = {static_cast<char>('0' + code / 100 % 10), static_cast<char>('0' + code / 10 % 10),
                            static_cast<char>('0' + code % 10)};
    head.append({digits, sizeof digits});
    head.append(" ");
    head.append(to_reason(static_cast<status>(code)));
    head.append("\r\nDate: ");
    return head;
}

/// Precomputed lines for 200 to 204, the most common statuses.
inline constexpr std::array<status_head, 5> successful_heads = {make_status_head(200), make_status_head(201),
                                                                make_status_head(202), make_status_head(203),
                                                                make_status_head(204)};

inline char* put(char* to, std::string_view text) noexcept {
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    return to + text.size();
}
/// A copy of constant size, which takes a few instructions: the bytes behind the head are overwritten.
inline char* put(char* to, const status_head& head) noexcept {
    std::memcpy(to, head.characters.data(), head.characters.size());
    return to + head.size;
}
[[gnu::noinline]] inline char* put_other_head(char* to, unsigned code) noexcept { return put(to, make_status_head(code)); }

}  // namespace detail

inline std::size_t response_bytes_max(const response& sent) noexcept {
    return detail::status_head_bytes_max + detail::date_bytes + detail::other_lines_bytes_max + sent.field_block().size() +
           sent.body().size();
}

inline char* write_response(const response& sent, const framing& framing, char* to) noexcept {
    using namespace std::string_view_literals;
    const unsigned code = to_number(sent.status());
    assert(code >= 200 && code <= 999);
    assert(framing.date.size() == detail::date_bytes);

    if (code - 200 < detail::successful_heads.size()) to = detail::put(to, detail::successful_heads[code - 200]);
    else to = detail::put_other_head(to, code);
    to = detail::put(to, {framing.date.data(), detail::date_bytes});
    to = detail::put(to, "\r\n"sv);
    to = detail::put(to, sent.field_block());

    const bool lengthless = code == 204 || code == 304;  // RFC 9110 section 8.6
    if (!lengthless) {
        to = detail::put(to, "Content-Length: "sv);
        to = std::to_chars(to, to + 20, sent.body().size()).ptr;
        to = detail::put(to, "\r\n"sv);
    }
    if (!framing.keep_alive) to = detail::put(to, "Connection: close\r\n"sv);
    else if (framing.version == version::http_1_0) to = detail::put(to, "Connection: keep-alive\r\n"sv);
    to = detail::put(to, "\r\n"sv);
    return lengthless || framing.head_only ? to : detail::put(to, sent.body());
}

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_DETAIL_RESPONSE_WRITER_HPP
