#pragma once

#include <tollgate/base/digest.hpp>
#include <tollgate/base/encoding.hpp>
#include <tollgate/domain/hook_secret.hpp>
#include <tollgate/domain/webhook_signature.hpp>

#include <utility>

namespace tollgate {

TOLLGATE_DECL outcome<std::string> webhook_key(std::string_view secret) {
    if (secret.starts_with(hook_secret_prefix)) {
        auto key = base64_decode(secret.substr(hook_secret_prefix.size()));
        if (key && key->size() >= webhook_key_bytes_min && key->size() <= webhook_key_bytes_max) return *std::move(key);
    }
    return internal_error("A webhook's secret is not whsec_ and 24 to 64 bytes in base64.");
}

TOLLGATE_DECL std::string webhook_mac(std::string_view key, const signed_webhook& of) {
    std::string message;
    constexpr std::size_t timestamp_bytes_max = 22;  // with its two dots
    message.reserve(of.id.size() + timestamp_bytes_max + of.body.size());
    message.append(of.id).append(1, '.').append(std::to_string(of.timestamp)).append(1, '.').append(of.body);
    return std::string{hmac_sha256({key, message}).raw()};
}

TOLLGATE_DECL outcome<std::string> sign_webhook(std::string_view secret, const signed_webhook& of) {
    const auto key = webhook_key(secret);
    if (!key) return key.error();
    return "v1," + base64_encode(webhook_mac(*key, of));
}

}  // namespace tollgate
