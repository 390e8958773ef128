#pragma once
#ifndef TOLLGATE_POLICY_STANDARD_WEBHOOK_IPP
#define TOLLGATE_POLICY_STANDARD_WEBHOOK_IPP

#include <tollgate/base/digest.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/policy/standard_webhook.hpp>

#include <cstddef>
#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<std::string> webhook_key(std::string_view secret) {
    constexpr std::size_t key_bytes_min = 24, key_bytes_max = 64;
    if (secret.starts_with(hook_secret_prefix)) {
        auto key = detail::base64_decode(secret.substr(hook_secret_prefix.size()));
        if (key && key->size() >= key_bytes_min && key->size() <= key_bytes_max) return *std::move(key);
    }
    return internal_error("A webhook's secret is not whsec_ followed by 24 to 64 bytes in base64.");
}

TOLLGATE_DECL std::string detail::webhook_mac(std::string_view key, const signed_webhook& webhook) {
    std::string message;
    constexpr std::size_t timestamp_bytes_max = 22;  // the digits with the two dots
    message.reserve(webhook.id.size() + timestamp_bytes_max + webhook.body.size());
    message.append(webhook.id).append(1, '.').append(std::to_string(webhook.timestamp)).append(1, '.').append(webhook.body);
    return std::string{hmac_sha256({key, message}).raw()};
}

TOLLGATE_DECL result<std::string> sign_webhook(std::string_view secret, const signed_webhook& webhook) {
    const auto key = webhook_key(secret);
    if (!key) return key.error();
    return "v1," + detail::base64_encode(detail::webhook_mac(*key, webhook));
}

TOLLGATE_DECL result<void> standard_webhook::write(const due_delivery& sent, instant now, http::field_block& fields,
                                                   std::string& body) const {
    const event& event = *sent.event;
    constexpr std::size_t around_data_bytes = 256;
    body.reserve(event.data.size() + around_data_bytes);
    http::json_writer{body}
        .begin_object()
        .member("type").string(event.name)
        .member("timestamp").string(to_iso8601(event.at).view())
        .member("service").string(event.account.service)
        .member("account").integer(event.account.account.value())
        .member("data").value(event.data)
        .end_object();

    const signed_webhook signed_parts{sent.message_id, to_unix_seconds(now), body};
    auto signatures = sign_webhook(sent.secret, signed_parts);
    if (!signatures) return std::move(signatures).error();
    for (const std::string& each : sent.previous_secrets) {
        const auto older = sign_webhook(each, signed_parts);
        if (!older) return older.error();
        signatures->append(1, ' ').append(*older);
    }

    const std::string timestamp = std::to_string(signed_parts.timestamp);
    const auto id_value = http::field_value::from(sent.message_id);
    const auto timestamp_value = http::field_value::from(timestamp);
    const auto signature_value = http::field_value::from(*signatures);
    if (!id_value || !timestamp_value || !signature_value) return internal_error("A webhook-id contains an invalid character.");
    fields.add("Content-Type", "application/json");
    fields.add("webhook-id", *id_value);
    fields.add("webhook-timestamp", *timestamp_value);
    fields.add("webhook-signature", *signature_value);
    return {};
}

}  // namespace tollgate

#endif  // TOLLGATE_POLICY_STANDARD_WEBHOOK_IPP
