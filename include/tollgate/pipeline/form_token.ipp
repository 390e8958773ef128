#pragma once

#include <tollgate/base/digest.hpp>
#include <tollgate/base/encoding.hpp>
#include <tollgate/pipeline/form_token.hpp>

#include <cstdint>
#include <cstring>

namespace tollgate::pipeline {

namespace detail {

inline constexpr std::size_t second_bytes = 4;  // enough until 2106

TOLLGATE_DECL void put_second(form_nonce& made, instant now) noexcept {
    auto left = static_cast<std::uint32_t>(to_unix_milliseconds(now) / 1000);
    for (std::size_t i = 1; i <= second_bytes; ++i, left >>= 8) made[made.size() - i] = std::byte(left & 0xff);
}

[[nodiscard]] inline digest mac_of(const form_seal& seal, const form_nonce& nonce) {
    // The nonce is of one length, and the purpose ends in a byte that none has: no two seals make one message.
    std::string message{"form token\0", 11};
    message.append(reinterpret_cast<const char*>(nonce.data()), nonce.size())
        .append(seal.purpose)
        .append(1, '\0')
        .append(seal.covered);
    return hmac_sha256({.key = seal.who.secret, .message = message});
}

}  // namespace detail

TOLLGATE_DECL instant made_at(const form_nonce& nonce) noexcept {
    std::int64_t second = 0;
    for (std::size_t i = nonce.size() - detail::second_bytes; i < nonce.size(); ++i)
        second = second << 8 | std::to_integer<std::int64_t>(nonce[i]);
    return from_unix_seconds(second);
}

TOLLGATE_DECL std::string form_nonce_text(const form_nonce& nonce) {
    return base64url_encode({reinterpret_cast<const char*>(nonce.data()), nonce.size()});
}

TOLLGATE_DECL std::optional<form_nonce> parse_form_nonce(std::string_view text) {
    const auto bytes = base64url_decode(text);
    form_nonce read;
    if (!bytes || bytes->size() != read.size()) return std::nullopt;
    std::memcpy(read.data(), bytes->data(), read.size());
    return read;
}

TOLLGATE_DECL std::string make_form_token(const form_seal& seal, const form_nonce& nonce) {
    return form_nonce_text(nonce) + "." + base64url_encode(detail::mac_of(seal, nonce).raw());
}

TOLLGATE_DECL std::optional<form_nonce> check_form_token(const form_seal& seal, std::string_view shown) {
    // Anybody can make an HMAC with an empty key.
    if (seal.who.secret.empty()) return std::nullopt;
    const auto dot = shown.find('.');
    if (dot == std::string_view::npos || shown.size() > 128) return std::nullopt;
    const auto nonce = parse_form_nonce(shown.substr(0, dot));
    const auto mac = base64url_decode(shown.substr(dot + 1));
    if (!nonce || !mac) return std::nullopt;
    const auto claimed = digest::from(*mac);
    if (!claimed || *claimed != detail::mac_of(seal, *nonce)) return std::nullopt;
    return nonce;
}

}  // namespace tollgate::pipeline
