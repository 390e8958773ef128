#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/policy/standard_webhook.hpp>

#include <string_view>

namespace tollgate::inline v0 {

/// The three headers of a webhook, for whoever receives one. Views.
struct webhook_headers {
    std::string_view id;         ///< `webhook-id`: the same for every attempt; by it a receiver knows what it has seen
    std::string_view timestamp;  ///< `webhook-timestamp`
    std::string_view signature;  ///< `webhook-signature`

    /// Out of a request's fields; a header that is missing is empty, and so is one that is there twice. Views of theirs.
    [[nodiscard]] static TOLLGATE_DECL webhook_headers from(const http::field_lines& fields) noexcept;
};

/// How far a receiver's clock and the sender's may be apart, and how long a webhook may be on its way: what is older could
/// be one that somebody recorded and sends again.
inline constexpr seconds webhook_tolerance{300};

/// Whether this is a webhook signed with `secret` (`whsec_...`), by any one of its signatures, not longer ago than
/// `tolerance` and not from further ahead. A receiver answers 2xx only then.
///
///     const auto genuine = tollgate::verify_webhook(secret, tollgate::webhook_headers::from(asked.fields), asked.body,
///                                                   now);
///     if (!genuine) return refuse(401);
///
/// error_kind::unauthorized with a message that names the header for anything else, malformed headers of any kind
/// included; internal for a `secret` that is none. Compares in constant time. Any thread. Nothing is thrown.
///
/// `body` must be the bytes as they came: JSON that was parsed and written again has other ones.
[[nodiscard]] TOLLGATE_DECL result<void> verify_webhook(std::string_view secret, const webhook_headers& headers,
                                                         std::string_view body, instant now,
                                                         seconds tolerance = webhook_tolerance) noexcept;

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/verify.ipp>
#endif
