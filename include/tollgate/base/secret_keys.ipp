#pragma once
#ifndef TOLLGATE_BASE_SECRET_KEYS_IPP
#define TOLLGATE_BASE_SECRET_KEYS_IPP

#include <tollgate/base/detail/aes_gcm.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/secret_keys.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

namespace tollgate::inline v0 {
namespace detail {

inline constexpr std::string_view encrypted_prefix = "aes256gcm.";
inline constexpr std::size_t secret_keys_max = 2;  // the one in use, and the previous or the next one
inline constexpr std::size_t key_id_bytes = 4;     // tells two keys apart

/// The id of the key of an encrypted secret: the text between the first two dots.
inline std::string key_id_of(std::string_view encrypted) {
    encrypted.remove_prefix(encrypted_prefix.size());
    return std::string{encrypted.substr(0, (std::min)(encrypted.find('.'), 2 * key_id_bytes))};
}

}  // namespace detail

TOLLGATE_DECL result<secret_keys> secret_keys::parse(std::string_view key_file) {
    detail::key_file_lines key_lines{key_file};
    const auto fault = [&key_lines](const char* problem) {
        return invalid("line " + std::to_string(key_lines.number()) + ' ' + problem + '.');
    };
    secret_keys keys;
    while (const auto line = key_lines.next()) {
        auto bytes = detail::hex_decode(*line);
        if (!bytes || bytes->size() != digest::size_bytes) return fault("is not a key of 64 hexadecimal digits");
        if (keys.keys_.size() == detail::secret_keys_max) return fault("is a third key; a file may have one or two");
        // A key for each purpose: one that encrypts is used for nothing else.
        const auto derive = [&bytes](std::string_view purpose) { return hmac_sha256({.key = *bytes, .message = purpose}); };
        const std::string id = detail::hex_encode(derive("tollgate key id").raw().substr(0, detail::key_id_bytes));
        keys.keys_.push_back({std::string{detail::encrypted_prefix} + id + '.', derive("tollgate secret encryption"),
                              derive("tollgate secret nonce")});
        secure_wipe(*bytes);
        if (keys.keys_.size() == 2 && keys.keys_[0].prefix == keys.keys_[1].prefix)
            return fault("is the same key again");
    }
    if (keys.keys_.empty()) return invalid("it contains no key of 64 hexadecimal digits.");
    return keys;
}

TOLLGATE_DECL result<std::string> secret_keys::encrypt(std::string_view secret, std::string_view context) const {
    if (keys_.empty()) return std::string{secret};
    const key& current = keys_.front();
    // The nonce follows from secret and context: two texts with one nonce are the same text for the same context.
    const digest mac = hmac_sha256(
        {.key = current.making_nonces.raw(),
         .message = std::to_string(context.size()) + ':' + std::string{context} + std::string{secret}});
    detail::aes_gcm_nonce nonce;
    std::memcpy(nonce.data(), mac.bytes().data(), nonce.size());
    const auto encrypted = detail::aes_gcm_encrypt(current.encrypting, nonce, secret, context);
    if (!encrypted) return internal_error("OpenSSL cannot encrypt a secret with AES-256-GCM");
    return current.prefix + detail::base64url_encode(*encrypted);
}

TOLLGATE_DECL result<std::string> secret_keys::decrypt(std::string_view stored, std::string_view context) const {
    if (!stored.starts_with(detail::encrypted_prefix)) return std::string{stored};
    for (const key& each : keys_) {
        if (!stored.starts_with(each.prefix)) continue;
        const auto encrypted = detail::base64url_decode(stored.substr(each.prefix.size()));
        auto secret = encrypted ? detail::aes_gcm_decrypt(each.encrypting, *encrypted, context) : std::nullopt;
        if (!secret) return internal_error("a secret that is encrypted with key " + detail::key_id_of(stored) +
                                        " was damaged or moved: it cannot be decrypted");
        return *std::move(secret);
    }
    return unavailable("a secret is encrypted with key " + detail::key_id_of(stored) +
                       (keys_.empty() ? ", and no key is given" : ", which is not among the keys given"));
}

}  // namespace tollgate

#endif  // TOLLGATE_BASE_SECRET_KEYS_IPP
