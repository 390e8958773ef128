#pragma once

#include <tollgate/domain/webhook_signature.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/policy/standard_webhook.hpp>

#include <utility>

namespace tollgate {

TOLLGATE_DECL outcome<void> standard_webhook::write(const due_delivery& sent, instant now, http::field_block& fields,
                                                    std::string& body) const {
    const event& what = *sent.what;
    constexpr std::size_t around_data_bytes = 256;
    body.reserve(what.data.size() + around_data_bytes);
    http::json_writer{body}
        .begin_object()
        .member("type").string(what.name)
        .member("timestamp").string(to_iso8601(what.at).view())
        .member("service").string(what.account.service)
        .member("account").integer(what.account.account.value())
        .member("data").value(what.data)
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
    if (!id_value || !timestamp_value || !signature_value) return internal_error("A webhook-id holds an odd character.");
    fields.add("Content-Type", "application/json");
    fields.add("webhook-id", *id_value);
    fields.add("webhook-timestamp", *timestamp_value);
    fields.add("webhook-signature", *signature_value);
    return {};
}

}  // namespace tollgate
