#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_RETRY_AFTER_HPP
#define TOLLGATE_HTTP_DETAIL_RETRY_AFTER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>

#include <optional>
#include <string_view>

namespace tollgate::inline v0::http {

/// Parses a date in any of the three forms that RFC 9110 section 5.6.7 requires recipients to accept; empty for
/// anything else. The weekday is not compared with the date. `now` determines the century of a two-digit year.
[[nodiscard]] TOLLGATE_DECL std::optional<instant> parse_http_date(std::string_view text, instant now) noexcept;

/// The time that a `Retry-After` (RFC 9110 section 10.2.3) asks to wait: whole seconds or a date, which may be past
/// (zero). At most one year. Empty for anything else.
[[nodiscard]] TOLLGATE_DECL std::optional<milliseconds> parse_retry_after(std::string_view text, instant now) noexcept;

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/retry_after.ipp>
#endif

#endif  // TOLLGATE_HTTP_DETAIL_RETRY_AFTER_HPP
