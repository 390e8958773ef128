#pragma once

#include <tollgate/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

// Decoders are strict: of all texts that could stand for some bytes they take one. Those that write into the caller's
// memory return how many bytes they wrote; when they refuse, what they wrote means nothing.

/// RFC 4648 section 4, padded.
[[nodiscard]] TOLLGATE_DECL std::string base64_encode(std::string_view bytes);

/// Refuses missing or extra padding, blanks, line ends, and trailing bits that are not zero (RFC 4648 section 3.5).
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> base64_decode(std::string_view text);

/// Refuses, too, what may not fit: `out` needs room for base64_decoded_bytes_max(text.size()).
[[nodiscard]] TOLLGATE_DECL std::optional<std::size_t> base64_decode_into(std::string_view text,
                                                                          std::span<char> out) noexcept;

[[nodiscard]] constexpr std::size_t base64_decoded_bytes_max(std::size_t text_bytes) noexcept {
    return text_bytes / 4 * 3 + 2;
}

/// RFC 4648 section 5, without padding, as PKCE (RFC 7636) and JOSE want it.
[[nodiscard]] TOLLGATE_DECL std::string base64url_encode(std::string_view bytes);
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> base64url_decode(std::string_view text);

/// Two lower-case digits a byte.
[[nodiscard]] TOLLGATE_DECL std::string hex_encode(std::string_view bytes);
/// Digits of either case.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> hex_decode(std::string_view text);

/// What a `+` is: itself in a path (RFC 3986), a space in a form or in a query made from one (WHATWG URL, section 5.1).
enum class plus_sign : std::uint8_t { literal, space };

/// Everything but unreserved characters as `%XX` (RFC 3986 section 2.3), so that it can stand anywhere in a URL.
[[nodiscard]] TOLLGATE_DECL std::string percent_encode(std::string_view bytes);

/// Refuses a `%` without two hexadecimal digits. The bytes it gives may be any: zero, and what is no UTF-8.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> percent_decode(std::string_view text,
                                                                      plus_sign plus = plus_sign::literal);

/// Refuses, too, text longer than `out`. It may decode onto itself: `out` may begin where `text` does.
[[nodiscard]] TOLLGATE_DECL std::optional<std::size_t> percent_decode_into(
    std::string_view text, std::span<char> out, plus_sign plus = plus_sign::literal) noexcept;

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/detail/encoding.ipp>
#endif
