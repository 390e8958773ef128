#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_REQUEST_ID_HPP
#define TOLLGATE_HTTP_DETAIL_REQUEST_ID_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0::http {

/// An id that no other request has: 32 lower-case hexadecimal digits. It serves as a request id and, being of the same form, as
/// the trace id of a trace that begins with the request (W3C Trace Context section 3.2.2.3).
class unique_id {
public:
    /// The first half is random for each thread, the second half is different for each call on it. An id is not secret: anyone who
    /// has seen one can guess others.
    [[nodiscard]] static unique_id make() noexcept;

    /// Returns all 32 digits.
    [[nodiscard]] std::string_view view() const noexcept { return {digits_.data(), digits_.size()}; }
    /// The 16 digits of the second half: a span id (section 3.2.2.4).
    [[nodiscard]] std::string_view span() const noexcept { return view().substr(span_bytes); }

private:
    static constexpr std::size_t span_bytes = 16;
    std::array<char, 2 * span_bytes> digits_{};
};

/// Bytes of the longest request id that is accepted from a client: enough for a UUID with a prefix.
inline constexpr std::size_t request_id_bytes_max = 128;

/// Returns true if `text` is accepted as a request id: 1 to 128 of `A-Z a-z 0-9 . _ -`. Others could forge log lines.
[[nodiscard]] TOLLGATE_DECL bool is_request_id(std::string_view text) noexcept;

/// The id of a request: its `X-Request-Id`, if it sent one that is well-formed, else `generated`. A view of either.
[[nodiscard]] inline std::string_view request_id_of(const request& request, const unique_id& generated) noexcept {
    if (request.fields.count(field_id::x_request_id) != 1) return generated.view();
    const auto sent = request.fields.find(field_id::x_request_id);
    return is_request_id(sent) ? sent : generated.view();
}

/// Adds `X-Request-Id`. `id` is one that `request_id_of` returned.
inline void add_request_id(response& response, std::string_view id) {
    static constexpr std::string_view name = "X-Request-Id: ";
    std::array<char, name.size() + request_id_bytes_max + 2> line;  // one append instead of four, in every response
    char* end = line.data();
    std::memcpy(end, name.data(), name.size());
    end += name.size();
    std::memcpy(end, id.data(), id.size());
    end += id.size();
    *end++ = '\r';
    *end++ = '\n';
    response.add_prepared_lines({line.data(), static_cast<std::size_t>(end - line.data())});
}

/// The value of a `traceparent` field (W3C Trace Context section 3.2). Views of the field's text.
struct traceparent {
    std::string_view trace_id;   ///< 32 lower-case hexadecimal digits, not all zero
    std::string_view parent_id;  ///< the caller's span: 16 such digits
    bool sampled = false;        ///< true if the caller may have recorded the trace

    /// The result is empty for text that is not well-formed. Of versions above 00, the parts of version 00 are read (section 4.3).
    [[nodiscard]] TOLLGATE_DECL static std::optional<traceparent> parse(std::string_view text) noexcept;
};

/// `00-<trace_id>-<span_id>-01`, or `-00` if the trace is not sampled.
[[nodiscard]] TOLLGATE_DECL std::string make_traceparent(std::string_view trace_id, std::string_view span_id, bool sampled);

namespace detail {

/// The source of the ids of a thread. `prefix` is empty until the first id.
struct id_sequence {
    std::array<char, 16> prefix{};
    std::uint64_t next = 0;
};
inline thread_local constinit id_sequence thread_ids{};

/// Begins the sequence of a thread.
TOLLGATE_DECL void seed(id_sequence& ids) noexcept;

/// 16 lower-case hexadecimal digits, the highest first. Each step of the first part halves the width of what is spread, until
/// every digit has a byte of its own. The last part is one instruction for compilers: the bytes in reverse.
inline void put_hex(char* to, std::uint64_t number) noexcept {
    for (const std::uint64_t half : {number >> 32, number & 0xffff'ffff}) {
        std::uint64_t digits = (half | half << 16) & 0x0000'ffff'0000'ffff;
        digits = (digits | digits << 8) & 0x00ff'00ff'00ff'00ff;
        digits = (digits | digits << 4) & 0x0f0f'0f0f'0f0f'0f0f;
        // A digit above nine carries into the upper half of its byte when six is added.
        const std::uint64_t letters = (digits + 0x0606'0606'0606'0606) >> 4 & 0x0101'0101'0101'0101;
        digits += 0x3030'3030'3030'3030 + letters * ('a' - '0' - 10);
        if constexpr (std::endian::native == std::endian::little)
            digits = digits >> 56 | (digits >> 40 & 0xff00) | (digits >> 24 & 0xff'0000) | (digits >> 8 & 0xff00'0000) |
                     (digits << 8 & 0xff'0000'0000) | (digits << 24 & 0xff00'0000'0000) | (digits << 40 & 0xff'0000'0000'0000) |
                     digits << 56;
        std::memcpy(to, &digits, sizeof digits);
        to += sizeof digits;
    }
}

}  // namespace detail

inline unique_id unique_id::make() noexcept {
    auto& ids = detail::thread_ids;
    if (ids.next == 0) [[unlikely]] detail::seed(ids);
    ids.next += 0x9e37'79b9'7f4a'7c15;  // odd, so that it takes every value before one returns (SplitMix64, Steele et al. 2014)
    std::uint64_t mixed = ids.next;
    mixed = (mixed ^ mixed >> 30) * 0xbf58'476d'1ce4'e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d0'49bb'1331'11eb;
    mixed ^= mixed >> 31;
    unique_id id;
    std::memcpy(id.digits_.data(), ids.prefix.data(), span_bytes);
    detail::put_hex(id.digits_.data() + span_bytes, mixed | (mixed == 0));  // a span id is not zero
    return id;
}

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/request_id.ipp>
#endif

#endif  // TOLLGATE_HTTP_DETAIL_REQUEST_ID_HPP
