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

/// The three header fields of a received webhook. Views.
struct webhook_headers {
    std::string_view id;         ///< `webhook-id`: the same for every attempt, so receivers can detect duplicates
    std::string_view timestamp;  ///< `webhook-timestamp`
    std::string_view signature;  ///< `webhook-signature`

    /// Reads them from a request's fields; a field that is missing or repeated results in an empty text. Views of
    /// `fields`.
    [[nodiscard]] static TOLLGATE_DECL webhook_headers from(const http::field_lines& fields) noexcept;
};

/// How far the receiver's clock may differ from the sender's, and how long a webhook may be in transit. Older ones
/// could be replayed.
inline constexpr seconds webhook_tolerance{300};

/// Verifies that a webhook was signed with `secret` (`whsec_...`), as shown by any one of its signatures, and that its
/// timestamp is within `tolerance` of `now`. Respond with 2xx only if both are true.
///
///     const auto genuine = tollgate::verify_webhook(secret, tollgate::webhook_headers::from(request.fields), request.body,
///                                                   now);
///     if (!genuine) return refuse(401);
///
/// Otherwise, and also for malformed fields: error_kind::unauthorized with a message that names the field.
/// error_kind::internal for an invalid `secret`. Compares in constant time. Any thread. Never throws.
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
