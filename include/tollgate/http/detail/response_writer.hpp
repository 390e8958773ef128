#pragma once

#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace tollgate::inline v0::http {

/// What the wire format depends on: the connection, and the request that is answered.
struct framing {
    std::string_view date;                            ///< IMF-fixdate, 29 bytes; the host formats one a second
    http::version version = http::version::http_1_1;  ///< of the request
    bool keep_alive = true;                           ///< false: the host closes the connection after this response
    bool head_only = false;                           ///< the response to HEAD: all fields of GET, no body
};

/// Appends one response in wire format (RFC 9112 section 4): status line, `Date`, the response's own fields,
/// `Content-Length` (except for 204 and 304), `Connection` unless it is the version's default, body. The response must
/// not contain `Date`, `Content-Length`, `Connection` or `Transfer-Encoding` itself. Throws std::bad_alloc when memory
/// runs out; nothing is appended then.
inline void append_response(const response& sent, const framing& how, std::string& out);

/// Appends the interim response that makes a waiting client send the body (RFC 9110 section 10.1.1).
inline void append_continue(std::string& out) { out.append("HTTP/1.1 100 Continue\r\n\r\n"); }

namespace detail {

/// Status line and the following field name for every status sent: most responses start with one copy.
inline constexpr std::size_t status_head_bytes_max = 64;
inline constexpr std::size_t date_bytes_max = 32;  // an IMF-fixdate has 29
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

/// Precomputed lines for 200 to 204, the most common statuses.
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
    // Everything but the fields and the body is assembled here by a few copies of constant size; each `append` would be
    // a call.
    char front[detail::status_head_bytes_max + detail::date_bytes_max + 2];
    char* front_end = front + head->size;
    std::memcpy(front, head->characters.data(), head->characters.size());
    front_end = detail::put(front_end, how.date.substr(0, detail::date_bytes_max));
    front_end = detail::put(front_end, "\r\n"sv);

    char back[96];
    char* back_end = back;
    if (!lengthless) {
        back_end = detail::put(back_end, "Content-Length: "sv);
        back_end = std::to_chars(back_end, back_end + 20, sent.body().size()).ptr;
        back_end = detail::put(back_end, "\r\n"sv);
    }
    back_end = detail::put(back_end, connection);
    back_end = detail::put(back_end, "\r\n"sv);

    const auto front_bytes = static_cast<std::size_t>(front_end - front);
    const auto back_bytes = static_cast<std::size_t>(back_end - back);
    const std::size_t bytes = front_bytes + fields.size() + back_bytes + body.size();
    if (out.capacity() - out.size() < bytes) out.reserve((std::max)(out.size() + bytes, out.capacity() * 2));
    out.append(front, front_bytes).append(fields).append(back, back_bytes).append(body);
}

}  // namespace tollgate::http
