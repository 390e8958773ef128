#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>

#include <optional>
#include <string_view>

namespace tollgate::inline v0::http {

/// A date as RFC 9110 section 5.6.7 wants a recipient to read it, in any of its three forms; empty for anything else. The
/// weekday is not compared with the date. `now` says in which century a year of two digits is.
[[nodiscard]] TOLLGATE_DECL std::optional<instant> parse_http_date(std::string_view text, instant now) noexcept;

/// For how long a `Retry-After` (RFC 9110 section 10.2.3) asks to wait: whole seconds or a date, which may be over (zero).
/// A year at the most. Empty for anything else.
[[nodiscard]] TOLLGATE_DECL std::optional<milliseconds> parse_retry_after(std::string_view text, instant now) noexcept;

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/retry_after.ipp>
#endif
