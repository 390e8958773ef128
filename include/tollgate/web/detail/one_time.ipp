#pragma once
#ifndef TOLLGATE_WEB_DETAIL_ONE_TIME_IPP
#define TOLLGATE_WEB_DETAIL_ONE_TIME_IPP

#include <tollgate/base/detail/aes_gcm.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/web/detail/one_time.hpp>

#include <cstdint>
#include <cstring>

namespace tollgate::inline v0::web {

namespace detail {

inline constexpr std::size_t seal_time_bytes = 8;

[[nodiscard]] inline digest seal_key(const session& session) {
    return hmac_sha256({.key = session.secret, .message = "sealed text"});
}

}  // namespace detail

TOLLGATE_DECL std::optional<std::string> seal(const session& session, std::string_view text, const seal_nonce& nonce,
                                              instant now) {
    if (session.secret.empty()) return std::nullopt;
    std::string plain(detail::seal_time_bytes, '\0');
    const std::int64_t time = to_unix_milliseconds(now);
    std::memcpy(plain.data(), &time, sizeof time);
    plain.append(text);
    const auto sealed = tollgate::detail::aes_gcm_encrypt(detail::seal_key(session), nonce, plain);
    return sealed ? std::optional{tollgate::detail::base64url_encode(*sealed)} : std::nullopt;
}

TOLLGATE_DECL std::optional<std::string> open_sealed(const session& session, std::string_view sealed, instant now, seconds lifetime) {
    const auto bytes = tollgate::detail::base64url_decode(sealed);
    if (session.secret.empty() || !bytes) return std::nullopt;
    const auto plain = tollgate::detail::aes_gcm_decrypt(detail::seal_key(session), *bytes);
    if (!plain || plain->size() < detail::seal_time_bytes) return std::nullopt;
    std::int64_t time = 0;
    std::memcpy(&time, plain->data(), sizeof time);
    const instant sealed_at = from_unix_milliseconds(time);
    if (now < sealed_at - sealed_in_future_max || now >= sealed_at + lifetime) return std::nullopt;
    return plain->substr(detail::seal_time_bytes);
}

}  // namespace tollgate::web

#endif  // TOLLGATE_WEB_DETAIL_ONE_TIME_IPP
