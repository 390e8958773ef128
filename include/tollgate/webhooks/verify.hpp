#pragma once
#ifndef TOLLGATE_WEBHOOKS_VERIFY_HPP
#define TOLLGATE_WEBHOOKS_VERIFY_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/policy/standard_webhook.hpp>

#include <string_view>

namespace tollgate::inline v0 {

/// The three header fields of a received webhook, as views.
struct webhook_headers {
    std::string_view id;         ///< `webhook-id`, which is the same for every attempt, so receivers can detect duplicates
    std::string_view timestamp;  ///< `webhook-timestamp`
    std::string_view signature;  ///< `webhook-signature`

    /// Reads the fields of a request; a field that is missing or repeated results in an empty text. The views refer to `fields`.
    [[nodiscard]] static TOLLGATE_DECL webhook_headers from(const http::field_lines& fields) noexcept;
};

/// The default bound of the difference between the receiver's clock and the timestamp, which includes the time in transit. Older webhooks
/// could be replayed.
inline constexpr seconds webhook_tolerance{300};

/// Verifies that a webhook was signed with `secret` (`whsec_...`), which any one of its signatures proves, and that its timestamp is within
/// `tolerance` of `now`. Respond with 2xx only if both are true.
///
///     const auto genuine = tollgate::verify_webhook(secret, tollgate::webhook_headers::from(request.fields), request.body,
///                                                   now);
///     if (!genuine) return refuse(401);
///
/// Errors: unauthorized with a message that names the field, if either is false or a field is malformed; internal for an invalid `secret`.
/// Compares in constant time. Any thread may call it. Nothing is thrown.
///
/// `body` must be the bytes as received: JSON that was parsed and written again may differ.
[[nodiscard]] TOLLGATE_DECL result<void> verify_webhook(std::string_view secret, const webhook_headers& headers,
                                                        std::string_view body, instant now,
                                                         seconds tolerance = webhook_tolerance) noexcept;

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/verify.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_VERIFY_HPP
