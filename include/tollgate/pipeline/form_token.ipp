#pragma once

#include <tollgate/base/digest.hpp>
#include <tollgate/base/encoding.hpp>
#include <tollgate/pipeline/form_token.hpp>

#include <cstring>

namespace tollgate::pipeline {

namespace detail {

[[nodiscard]] inline digest mac_of(const form_seal& seal, std::string_view nonce) {
    // The nonce is of one length, and the purpose ends in a byte that none has: no two seals make one message.
    std::string message{"form token\0", 11};
    message.append(nonce).append(seal.purpose).append(1, '\0').append(seal.covered);
    return hmac_sha256({.key = seal.who.secret, .message = message});
}

}  // namespace detail

TOLLGATE_DECL std::string make_form_token(const form_seal& seal, const form_nonce& nonce) {
    const std::string_view raw{reinterpret_cast<const char*>(nonce.data()), nonce.size()};
    return base64url_encode(raw) + "." + base64url_encode(detail::mac_of(seal, raw).raw());
}

TOLLGATE_DECL std::optional<form_nonce> check_form_token(const form_seal& seal, std::string_view shown) {
    // Anybody can make an HMAC with an empty key.
    if (seal.who.secret.empty()) return std::nullopt;
    const auto dot = shown.find('.');
    if (dot == std::string_view::npos || shown.size() > 128) return std::nullopt;
    const auto nonce = base64url_decode(shown.substr(0, dot));
    const auto mac = base64url_decode(shown.substr(dot + 1));
    if (!nonce || nonce->size() != form_nonce{}.size() || !mac) return std::nullopt;
    const auto claimed = digest::from(*mac);
    if (!claimed || *claimed != detail::mac_of(seal, *nonce)) return std::nullopt;
    form_nonce found;
    std::memcpy(found.data(), nonce->data(), found.size());
    return found;
}

}  // namespace tollgate::pipeline
