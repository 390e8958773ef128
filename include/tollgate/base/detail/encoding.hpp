#pragma once
#ifndef TOLLGATE_BASE_DETAIL_ENCODING_HPP
#define TOLLGATE_BASE_DETAIL_ENCODING_HPP

#include <tollgate/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0::detail {

// Decoders are strict: each sequence of bytes has exactly one accepted encoding. Those that write to the caller's
// buffer return the number of bytes written; after a refusal the buffer's contents are unspecified.

/// RFC 4648 section 4, padded.
[[nodiscard]] TOLLGATE_DECL std::string base64_encode(std::string_view bytes);

/// Refuses missing or extra padding, blanks, line ends, and trailing bits that are not zero (RFC 4648 section 3.5).
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> base64_decode(std::string_view text);

/// Also refuses input that may not fit: `out` must hold base64_decoded_bytes_max(text.size()) bytes.
[[nodiscard]] TOLLGATE_DECL std::optional<std::size_t> base64_decode_into(std::string_view text,
                                                                          std::span<char> out) noexcept;

[[nodiscard]] constexpr std::size_t base64_decoded_bytes_max(std::size_t text_bytes) noexcept {
    return text_bytes / 4 * 3 + 2;
}

/// RFC 4648 section 5, without padding, as used by PKCE (RFC 7636) and JOSE.
[[nodiscard]] TOLLGATE_DECL std::string base64url_encode(std::string_view bytes);
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> base64url_decode(std::string_view text);

/// Two lower-case digits per byte.
[[nodiscard]] TOLLGATE_DECL std::string hex_encode(std::string_view bytes);
/// Accepts digits of either case.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> hex_decode(std::string_view text);

/// The meaning of `+`: literal in a path (RFC 3986), a space in a form and in a query made from one (WHATWG URL,
/// section 5.1).
enum class plus_sign : std::uint8_t { literal, space };

/// Encodes everything but unreserved characters as `%XX` (RFC 3986 section 2.3); the result is safe anywhere in a URL.
[[nodiscard]] TOLLGATE_DECL std::string percent_encode(std::string_view bytes);

/// Refuses a `%` without two hexadecimal digits. The result may be any bytes, including zero and invalid UTF-8.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> percent_decode(std::string_view text,
                                                                      plus_sign plus = plus_sign::literal);

/// Also refuses text longer than `out`. May decode in place: `out` may begin where `text` does.
[[nodiscard]] TOLLGATE_DECL std::optional<std::size_t> percent_decode_into(
    std::string_view text, std::span<char> out, plus_sign plus = plus_sign::literal) noexcept;

}  // namespace tollgate::detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/detail/encoding.ipp>
#endif

#endif  // TOLLGATE_BASE_DETAIL_ENCODING_HPP
