#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/contract/payload_format.hpp>

#include <string>

namespace tollgate {

/// The Standard Webhooks specification (https://www.standardwebhooks.com): a JSON body
/// `{"type": event, "timestamp": ISO 8601, "service": name, "account": id, "data": {...}}`, and `webhook-id`,
/// `webhook-timestamp` and `webhook-signature`. While a secret that was replaced is valid, both sign.
///
/// The timestamp in the body is the event's, the one in the header the attempt's.
struct standard_webhook {
    TOLLGATE_DECL outcome<void> write(const due_delivery& sent, instant now, http::field_block& fields,
                                      std::string& body) const;
};

static_assert(payload_format<standard_webhook>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/policy/standard_webhook.ipp>
#endif
