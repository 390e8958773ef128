#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_RETRY_AFTER_IPP
#define TOLLGATE_HTTP_DETAIL_RETRY_AFTER_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/detail/retry_after.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace tollgate::inline v0::http {
namespace detail {

/// Reads the parts of a date from the front of a text; after one mismatch the whole result is invalid.
class date_reader {
public:
    explicit date_reader(std::string_view text) noexcept : text_{text} {}

    void expect(std::string_view part) noexcept {
        if (text_.starts_with(part)) text_.remove_prefix(part.size());
        else good_ = false;
    }
    /// Exactly `digits` digits; with `padded`, the first may be a blank.
    int number(std::size_t digits, bool padded = false) noexcept {
        int value = 0;
        for (std::size_t i = 0; i < digits; ++i) {
            if (i >= text_.size()) good_ = false;
            else if (tollgate::detail::is_digit(text_[i])) value = value * 10 + (text_[i] - '0');
            else if (!padded || i != 0 || text_[i] != ' ') good_ = false;
        }
        text_.remove_prefix((std::min)(digits, text_.size()));
        return value;
    }
    /// Returns the number of a three-letter name, counted from 1; case-sensitive, as in the grammar.
    int name(std::string_view names) noexcept {
        const std::string_view candidate = text_.substr(0, 3);
        for (std::size_t i = 0; i < names.size(); i += 3) {
            if (candidate != names.substr(i, 3)) continue;
            text_.remove_prefix(3);
            return static_cast<int>(i / 3) + 1;
        }
        good_ = false;
        return 1;
    }
    int month() noexcept { return name("JanFebMarAprMayJunJulAugSepOctNovDec"); }
    seconds time_of_day() noexcept {
        const int hour = number(2);
        expect(":");
        const int minute = number(2);
        expect(":");
        const int second = number(2);
        if (hour > 23 || minute > 59 || second > 60) good_ = false;  // 60: a leap second
        return std::chrono::hours{hour} + std::chrono::minutes{minute} + seconds{second};
    }
    [[nodiscard]] std::string_view rest() const noexcept { return text_; }
    [[nodiscard]] bool whole() const noexcept { return good_ && text_.empty(); }

private:
    std::string_view text_;
    bool good_ = true;
};

struct day {
    int year = 0, month = 1, of_month = 1;
};

inline std::optional<instant> to_instant(const date_reader& reader, const day& day, seconds time) noexcept {
    using namespace std::chrono;
    const year_month_day date{year{day.year}, std::chrono::month{static_cast<unsigned>(day.month)},
                              std::chrono::day{static_cast<unsigned>(day.of_month)}};
    if (!reader.whole() || !date.ok()) return std::nullopt;
    return instant{sys_days{date} + time};
}

}  // namespace detail

TOLLGATE_DECL std::optional<instant> parse_http_date(std::string_view text, instant now) noexcept {
    constexpr std::string_view weekdays = "MonTueWedThuFriSatSun";
    detail::date_reader reader{text};
    detail::day day;
    reader.name(weekdays);
    if (reader.rest().starts_with(", ")) {  // Sun, 06 Nov 1994 08:49:37 GMT
        reader.expect(", ");
        day.of_month = reader.number(2);
        reader.expect(" ");
        day.month = reader.month();
        reader.expect(" ");
        day.year = reader.number(4);
        reader.expect(" ");
        const seconds time = reader.time_of_day();
        reader.expect(" GMT");
        return detail::to_instant(reader, day, time);
    }
    if (reader.rest().starts_with(' ')) {  // Sun Nov  6 08:49:37 1994
        reader.expect(" ");
        day.month = reader.month();
        reader.expect(" ");
        day.of_month = reader.number(2, true);
        reader.expect(" ");
        const seconds time = reader.time_of_day();
        reader.expect(" ");
        day.year = reader.number(4);
        return detail::to_instant(reader, day, time);
    }
    // Sunday, 06-Nov-94 08:49:37 GMT
    for (const std::string_view ending : {"day, ", "sday, ", "nesday, ", "rsday, ", "urday, "})
        if (reader.rest().starts_with(ending)) {
            reader.expect(ending);
            break;
        }
    day.of_month = reader.number(2);
    reader.expect("-");
    day.month = reader.month();
    reader.expect("-");
    const int this_year = tollgate::detail::to_civil(now).year;
    day.year = this_year - this_year % 100 + reader.number(2);
    if (day.year > this_year + 50) day.year -= 100;  // RFC 9110: more than 50 years ahead is the most recent past
    reader.expect(" ");
    const seconds time = reader.time_of_day();
    reader.expect(" GMT");
    return detail::to_instant(reader, day, time);
}

TOLLGATE_DECL std::optional<milliseconds> parse_retry_after(std::string_view text, instant now) noexcept {
    constexpr milliseconds most = std::chrono::hours{24 * 366};
    if (!text.empty() && std::all_of(text.begin(), text.end(), tollgate::detail::is_digit)) {
        milliseconds wait{0};
        for (const char c : text) wait = (std::min)(wait * 10 + seconds{c - '0'}, most);
        return wait;
    }
    const auto date = parse_http_date(text, now);
    if (!date) return std::nullopt;
    return *date <= now ? milliseconds{0} : (std::min)(*date - now, most);
}

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_DETAIL_RETRY_AFTER_IPP
