#pragma once
#ifndef TOLLGATE_BASE_TIME_HPP
#define TOLLGATE_BASE_TIME_HPP

#include <tollgate/base/config.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// A point in time in UTC, in milliseconds. Functions take it as an argument: only the time source reads the clock.
using instant = std::chrono::sys_time<std::chrono::milliseconds>;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Returns whole seconds since 1970, rounded down. This is the unit of `webhook-timestamp`.
[[nodiscard]] constexpr std::int64_t to_unix_seconds(instant at) noexcept {
    return std::chrono::floor<seconds>(at).time_since_epoch().count();
}
/// Each converts between an instant and a number of seconds or milliseconds since 1970.
[[nodiscard]] constexpr std::int64_t to_unix_milliseconds(instant at) noexcept { return at.time_since_epoch().count(); }
[[nodiscard]] constexpr instant from_unix_milliseconds(std::int64_t count) noexcept { return instant{milliseconds{count}}; }
[[nodiscard]] constexpr instant from_unix_seconds(std::int64_t count) noexcept { return instant{seconds{count}}; }

/// Returns the first whole second at or after `at`, for times that clients wait for.
[[nodiscard]] constexpr instant round_up_to_seconds(instant at) noexcept { return std::chrono::ceil<seconds>(at); }

/// Returns true if the stored time `at`, at which something is due or ends, has come. This is the rule for every stored time that is
/// compared with the current time. The time has come if it has passed, and also if it is further ahead than `longest`, the longest time
/// that it can be set to. In that case either the clock that set it or this clock is wrong, and nothing may wait until the clocks agree.
///
/// Use it only for decisions that can be repeated. Rows are deleted only when their time has passed, because this clock may be the wrong
/// clock.
[[nodiscard]] constexpr bool has_come(instant at, instant now, milliseconds longest) noexcept {
    return at <= now || at - now > longest;
}
/// Returns true if less than `length` has passed since the stored time `at`. By the rule of `has_come`, the result is false if `at` is that
/// far ahead.
[[nodiscard]] constexpr bool is_recent(instant at, instant now, milliseconds length) noexcept {
    return !has_come(at + length, now, 2 * length - milliseconds{1});
}

/// The form `YYYY-MM-DDTHH:MM:SSZ` (ISO 8601, RFC 3339), 20 characters.
struct iso8601_text {
    std::array<char, 20> characters;
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {characters.data(), characters.size()}; }
};
/// Returns the time as text. Truncates fractions of a second, and clamps years to the range 0 to 9999.
[[nodiscard]] constexpr iso8601_text to_iso8601(instant at) noexcept;

/// The form `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, RFC 9110 section 5.6.7), 29 characters.
struct http_date_text {
    std::array<char, 29> characters;
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {characters.data(), characters.size()}; }
};
/// Returns the time as text. Truncates fractions of a second, and clamps years to the range 0 to 9999.
[[nodiscard]] constexpr http_date_text to_http_date(instant at) noexcept;

namespace detail {

struct civil_time {
    int year, month, day, hour, minute, second, weekday;
};

constexpr civil_time to_civil(instant at) noexcept {
    using namespace std::chrono;
    constexpr instant first = sys_days{year{0} / January / 1};
    constexpr instant last = sys_days{year{9999} / December / 31} + hours{24} - milliseconds{1};
    const instant inside = at < first ? first : at > last ? last : at;
    const auto day_start = floor<days>(inside);
    const year_month_day date{day_start};
    const hh_mm_ss clock{floor<std::chrono::seconds>(inside - day_start)};
    return {static_cast<int>(date.year()),
            static_cast<int>(static_cast<unsigned>(date.month())),
            static_cast<int>(static_cast<unsigned>(date.day())),
            static_cast<int>(clock.hours().count()),
            static_cast<int>(clock.minutes().count()),
            static_cast<int>(clock.seconds().count()),
            static_cast<int>(weekday{day_start}.c_encoding())};
}

/// Writes `count` decimal digits, then `after`. Returns the end of the output.
constexpr char* put_digits(char* out, int value, int count, char after) noexcept {
    for (char* digit = out + count; digit != out; value /= 10) *--digit = static_cast<char>('0' + value % 10);
    out[count] = after;
    return out + count + 1;
}

constexpr char* put_text(char* out, std::string_view text) noexcept {
    for (char c : text) *out++ = c;
    return out;
}

}  // namespace detail

constexpr iso8601_text to_iso8601(instant at) noexcept {
    const auto civil = detail::to_civil(at);
    iso8601_text text{};
    char* out = text.characters.data();
    out = detail::put_digits(out, civil.year, 4, '-');
    out = detail::put_digits(out, civil.month, 2, '-');
    out = detail::put_digits(out, civil.day, 2, 'T');
    out = detail::put_digits(out, civil.hour, 2, ':');
    out = detail::put_digits(out, civil.minute, 2, ':');
    detail::put_digits(out, civil.second, 2, 'Z');
    return text;
}

constexpr http_date_text to_http_date(instant at) noexcept {
    constexpr std::string_view days = "Sun, Mon, Tue, Wed, Thu, Fri, Sat, ";
    constexpr std::string_view months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";
    const auto civil = detail::to_civil(at);
    http_date_text text{};
    char* out = text.characters.data();
    out = detail::put_text(out, days.substr(static_cast<std::size_t>(civil.weekday) * 5, 5));
    out = detail::put_digits(out, civil.day, 2, ' ');
    out = detail::put_text(out, months.substr(static_cast<std::size_t>(civil.month - 1) * 4, 4));
    out = detail::put_digits(out, civil.year, 4, ' ');
    out = detail::put_digits(out, civil.hour, 2, ':');
    out = detail::put_digits(out, civil.minute, 2, ':');
    out = detail::put_digits(out, civil.second, 2, ' ');
    detail::put_text(out, "GMT");
    return text;
}

}  // namespace tollgate

#endif  // TOLLGATE_BASE_TIME_HPP
