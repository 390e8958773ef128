#pragma once
#ifndef TOLLGATE_POLICY_STANDARD_WEBHOOK_HPP
#define TOLLGATE_POLICY_STANDARD_WEBHOOK_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/payload_format.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// The signed content of a webhook: `id.timestamp.body`. The views must be valid during the call.
struct signed_webhook {
    std::string_view id;         ///< the `webhook-id`
    std::int64_t timestamp = 0;  ///< the `webhook-timestamp`: whole seconds since 1970
    std::string_view body;       ///< the body, byte for byte as it is sent
};

/// Returns the key in `whsec_<base64>`: 24 to 64 bytes, as the Standard Webhooks specification requires. Error (internal) for any other
/// `secret`, without quoting it. Any thread may call it.
[[nodiscard]] TOLLGATE_DECL result<std::string> webhook_key(std::string_view secret);

namespace detail {
/// Returns the 32 bytes of HMAC-SHA256 over a webhook, with a key from `webhook_key`. Throws as `sha256` does.
[[nodiscard]] TOLLGATE_DECL std::string webhook_mac(std::string_view key, const signed_webhook& webhook);
}  // namespace detail

/// Returns a signature in header form: `v1,<base64>` (https://www.standardwebhooks.com). Error (internal) for a secret that `webhook_key`
/// refuses. Throws as `sha256` does. Any thread may call it.
[[nodiscard]] TOLLGATE_DECL result<std::string> sign_webhook(std::string_view secret, const signed_webhook& webhook);

/// The default payload format, which implements the Standard Webhooks specification (https://www.standardwebhooks.com): a JSON body
/// `{"type": event, "timestamp": ISO 8601, "service": name, "account": id, "data": {...}}`, and the fields `webhook-id`,
/// `webhook-timestamp` and `webhook-signature`. While a replaced secret is valid, the webhook is signed with both secrets.
///
/// The timestamp in the body is the time of the event; the timestamp in the header is the time of the attempt.
struct standard_webhook {
    /// Implements `payload_format`. Error (internal) for a secret that `webhook_key` refuses. Any thread may call it. It never blocks.
    TOLLGATE_DECL result<void> write(const due_delivery& sent, instant now, http::field_block& fields,
                                      std::string& body) const;
};

static_assert(payload_format<standard_webhook>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/policy/standard_webhook.ipp>
#endif

#endif  // TOLLGATE_POLICY_STANDARD_WEBHOOK_HPP
