#pragma once
#ifndef TOLLGATE_BASE_SECRET_IPP
#define TOLLGATE_BASE_SECRET_IPP

#include <tollgate/base/detail/hash.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/secret.hpp>

#include <openssl/crypto.h>

#include <array>

namespace tollgate::inline v0 {
namespace detail {

inline constexpr std::size_t kind_prefix_bytes = 4;
inline constexpr std::size_t checksum_digits = 6;         // 62^6 > 2^32
inline constexpr std::size_t secret_digits = 43;          // 62^43 > 2^256
inline constexpr std::size_t public_id_digits = 22;       // 62^22 > 2^128
static_assert(kind_prefix_bytes + secret_digits + checksum_digits == secret_text_bytes);

/// In the order of the enumerators.
inline constexpr std::array<std::string_view, 7> secret_prefixes{"tgp_", "tga_", "tgr_", "tgc_",
                                                               "tgs_", "tgw_", "tgd_"};
inline constexpr std::array<std::string_view, 3> public_id_prefixes{"tgu_", "tgi_", "msg_"};

constexpr std::string_view prefix_of(secret_kind kind) noexcept {
    return {secret_prefixes[static_cast<std::size_t>(kind)].data(), kind_prefix_bytes};
}
constexpr std::string_view prefix_of(public_id_kind kind) noexcept {
    return {public_id_prefixes[static_cast<std::size_t>(kind)].data(), kind_prefix_bytes};
}

inline constexpr std::string_view base62_digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

template <std::size_t Digits>
constexpr std::array<char, Digits> to_base62(std::uint32_t number) noexcept {
    std::array<char, Digits> digits{};
    for (std::size_t i = Digits; i-- > 0; number /= 62) digits[i] = base62_digits[number % 62];
    return digits;
}

inline constexpr auto base62_values = [] {
    std::array<std::uint8_t, 256> values{};
    for (std::size_t i = 0; i < base62_digits.size(); ++i)
        values[static_cast<unsigned char>(base62_digits[i])] = static_cast<std::uint8_t>(i);
    return values;
}();

/// Precondition: at most 10 letters and digits. The result has more bits than a checksum, so each checksum has exactly
/// one spelling.
constexpr std::uint64_t from_base62(std::string_view digits) noexcept {
    std::uint64_t number = 0;
    for (char c : digits) number = number * 62 + base62_values[static_cast<unsigned char>(c)];
    return number;
}

/// Encodes a large number, most significant word first, as exactly `Digits` base-62 digits, so that all secrets of a
/// kind have the same length.
template <std::size_t Digits, std::size_t Words>
constexpr std::array<char, Digits> to_base62(std::array<std::uint32_t, Words> number) noexcept {
    std::array<char, Digits> digits{};
    for (std::size_t i = Digits; i-- > 0;) {
        std::uint64_t remainder = 0;
        for (std::uint32_t& word : number) {
            const std::uint64_t with_carry = remainder << 32 | word;
            word = static_cast<std::uint32_t>(with_carry / 62);
            remainder = with_carry % 62;
        }
        digits[i] = base62_digits[remainder];
    }
    return digits;
}

template <std::size_t Bytes>
constexpr std::array<std::uint32_t, Bytes / 4> to_words(std::span<const std::byte, Bytes> bytes) noexcept {
    std::array<std::uint32_t, Bytes / 4> words{};
    for (std::size_t i = 0; i < Bytes; ++i) words[i / 4] = words[i / 4] << 8 | std::to_integer<std::uint32_t>(bytes[i]);
    return words;
}

template <std::size_t Digits>
constexpr std::string_view view_of(const std::array<char, Digits>& digits) noexcept { return {digits.data(), Digits}; }

/// How many of `Size` characters are not ASCII letters or digits. A branch-free loop of known length, which compilers
/// vectorise when the length is a multiple of 16.
template <std::size_t Size>
constexpr unsigned count_others(const char* text) noexcept {
    static_assert(Size % 16 == 0 && Size < 256);
    unsigned char others = 0;
    for (std::size_t i = 0; i < Size; ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const auto letter = static_cast<unsigned char>((c | 0x20) - 'a');
        const auto digit = static_cast<unsigned char>(c - '0');
        others = static_cast<unsigned char>(others + ((letter > 25) & (digit > 9)));
    }
    return others;
}

/// The CRC-32 of the digits and the `_` before them, whose length is a multiple of the CRC's step.
inline std::uint32_t checksum_of(std::string_view secret) noexcept {
    constexpr std::size_t checked_bytes = 1 + secret_digits;
    static_assert(checked_bytes % 4 == 0);
    return detail::crc32({secret.data() + kind_prefix_bytes - 1, checked_bytes});
}

}  // namespace detail

TOLLGATE_DECL secret_text make_secret(secret_kind kind, std::span<const std::byte, 32> random) noexcept {
    secret_text secret;
    secret.append(detail::prefix_of(kind));
    secret.append(detail::view_of(detail::to_base62<detail::secret_digits>(detail::to_words(random))));
    secret.append(detail::view_of(detail::to_base62<detail::checksum_digits>(detail::checksum_of(secret))));
    return secret;
}

TOLLGATE_DECL bool is_well_formed(secret_kind kind, std::string_view text) noexcept {
    if (text.size() != secret_text_bytes || text.substr(0, detail::kind_prefix_bytes) != detail::prefix_of(kind))
        return false;

    // All but the prefix and one character, so that the rest is a multiple of the vector size.
    constexpr std::size_t first = detail::kind_prefix_bytes;
    if (!detail::is_alphanumeric(text[first]) ||
        detail::count_others<secret_text_bytes - first - 1>(&text[first + 1]) != 0)
        return false;

    return detail::from_base62(text.substr(secret_text_bytes - detail::checksum_digits)) == detail::checksum_of(text);
}

TOLLGATE_DECL std::string_view family_of(std::string_view secret) noexcept {
    return secret.substr(0, secret_text_bytes - detail::checksum_digits - detail::public_id_digits);
}

TOLLGATE_DECL secret_text make_successor(std::string_view secret, const digest& seed) {
    const auto derived = hmac_sha256({.key = seed.raw(), .message = secret});
    const auto bytes = std::as_bytes(std::span{derived.bytes()}).first<16>();
    secret_text successor;
    successor.append(family_of(secret));
    successor.append(detail::view_of(detail::to_base62<detail::public_id_digits>(detail::to_words(bytes))));
    successor.append(detail::view_of(detail::to_base62<detail::checksum_digits>(detail::checksum_of(successor))));
    return successor;
}

TOLLGATE_DECL public_id make_public_id(public_id_kind kind, std::span<const std::byte, 16> random) noexcept {
    public_id id;
    id.append(detail::prefix_of(kind));
    id.append(detail::view_of(detail::to_base62<detail::public_id_digits>(detail::to_words(random))));
    return id;
}

TOLLGATE_DECL void secure_wipe(std::span<std::byte> bytes) noexcept { OPENSSL_cleanse(bytes.data(), bytes.size()); }

TOLLGATE_DECL void secure_wipe(std::string& text) noexcept {
    OPENSSL_cleanse(text.data(), text.size());
    text.clear();
}

}  // namespace tollgate

#endif  // TOLLGATE_BASE_SECRET_IPP
