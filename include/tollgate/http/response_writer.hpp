#pragma once

#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <array>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace tollgate::http {

/// What a response needs to know of its connection and of the request that it answers.
struct framing {
    std::string_view date;                            ///< IMF-fixdate, 29 bytes; the host makes one a second
    http::version version = http::version::http_1_1;  ///< of the request
    bool keep_alive = true;                           ///< false: says that the host closes after this response
    bool head_only = false;                           ///< answers HEAD: all of GET's fields, no body
};

/// Appends one response as it goes on the wire (RFC 9112 section 4): status line, `Date`, the response's own fields,
/// `Content-Length` (not for 204 and 304), `Connection` where the version's default does not say it, body.
/// The response must not hold `Date`, `Content-Length`, `Connection` or `Transfer-Encoding` itself.
/// Nothing is appended when memory runs out; that is thrown as `std::bad_alloc`.
inline void append_response(const response& sent, const framing& how, std::string& out);

/// Appends the interim response that asks a client for the body it holds back (RFC 9110 section 10.1.1).
inline void append_continue(std::string& out) { out.append("HTTP/1.1 100 Continue\r\n\r\n"); }

namespace detail {

/// Status line and the name of the field behind it, of every status that we send: most responses begin with one copy.
inline constexpr std::size_t status_head_bytes_max = 64;
struct status_head {
    std::array<char, status_head_bytes_max> characters{};
    std::size_t size = 0;

    constexpr void append(std::string_view text) noexcept {
        for (char c : text) characters[size++] = c;
    }
};

constexpr status_head make_status_head(unsigned code) noexcept {
    status_head made;
    made.append("HTTP/1.1 ");
    const char digits[3] = {static_cast<char>('0' + code / 100 % 10), static_cast<char>('0' + code / 10 % 10),
                            static_cast<char>('0' + code % 10)};
    made.append({digits, sizeof digits});
    made.append(" ");
    made.append(to_reason(static_cast<status>(code)));
    made.append("\r\nDate: ");
    return made;
}

/// The lines for 200 to 204 stand ready: what a healthy service sends nearly always.
inline constexpr std::array<status_head, 5> successful_heads = {make_status_head(200), make_status_head(201),
                                                                make_status_head(202), make_status_head(203),
                                                                make_status_head(204)};

inline char* put(char* to, std::string_view text) noexcept {
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    return to + text.size();
}

}  // namespace detail

inline void append_response(const response& sent, const framing& how, std::string& out) {
    using namespace std::string_view_literals;
    const unsigned code = to_number(sent.status());
    assert(code >= 200 && code <= 999);

    detail::status_head made;
    const detail::status_head* head = &made;
    if (code - 200 < detail::successful_heads.size()) head = &detail::successful_heads[code - 200];
    else made = detail::make_status_head(code);

    const bool lengthless = code == 204 || code == 304;  // RFC 9110 section 8.6
    const std::string_view fields = sent.field_block();
    const std::string_view body = lengthless || how.head_only ? std::string_view{} : std::string_view{sent.body()};
    const std::string_view connection = !how.keep_alive                       ? "Connection: close\r\n"sv
                                        : how.version == version::http_1_0 ? "Connection: keep-alive\r\n"sv
                                                                            : std::string_view{};
    char length_line[40];
    std::string_view length;
    if (!lengthless) {
        char* end = detail::put(length_line, "Content-Length: ");
        end = std::to_chars(end, length_line + sizeof length_line, sent.body().size()).ptr;
        end = detail::put(end, "\r\n");
        length = {length_line, static_cast<std::size_t>(end - length_line)};
    }

    // Grown by whole pieces into memory reserved once; `append` never writes a byte twice, which `resize` would.
    const std::size_t bytes = head->size + how.date.size() + 2 + fields.size() + length.size() + connection.size() + 2 + body.size();
    if (out.capacity() - out.size() < bytes) out.reserve((std::max)(out.size() + bytes, out.capacity() * 2));
    out.append(head->characters.data(), head->size).append(how.date).append("\r\n"sv).append(fields);
    out.append(length).append(connection).append("\r\n"sv).append(body);
}

}  // namespace tollgate::http
