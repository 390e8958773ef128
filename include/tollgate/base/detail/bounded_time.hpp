#pragma once
#ifndef TOLLGATE_BASE_DETAIL_BOUNDED_TIME_HPP
#define TOLLGATE_BASE_DETAIL_BOUNDED_TIME_HPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace tollgate::inline v0::detail {

/// A setting that is a length of time, and its bounds.
struct bounded_time {
    /// A longer time could overflow when it is added to another.
    static constexpr milliseconds longest = std::chrono::days{36'500};

    constexpr bounded_time(const char* setting, milliseconds time, milliseconds least_time = milliseconds{1},
                           milliseconds most_time = longest) noexcept
        : name{setting}, value{time}, least{least_time}, most{most_time} {}
    constexpr bounded_time(const char* setting, seconds time, seconds least_time = seconds{1}, milliseconds most_time = longest) noexcept
        // Clamped beyond the bounds, because the conversion could overflow.
        : bounded_time{setting, milliseconds{(std::clamp)(time, seconds{-1}, seconds{std::chrono::days{36'501}})},
                       milliseconds{least_time}, most_time} {}

    const char* name;
    milliseconds value;
    milliseconds least;
    milliseconds most;
};

/// How long to wait if a caller may give any time: not less than nothing, and not so long that it could overflow.
[[nodiscard]] constexpr milliseconds bounded_wait(milliseconds wait_max) noexcept {
    return (std::clamp)(wait_max, milliseconds{0}, bounded_time::longest);
}

/// Error (invalid) for a setting outside its bounds, which are text: "The {whose} setting {name} must be from 1 to 10."
[[nodiscard]] inline error setting_error(const char* whose, const char* name, const std::string& least, const std::string& most) {
    return invalid(detail::concat({"The ", whose, " setting ", name, " must be from ", least, " to ", most, "."}));
}

/// Returns an error (invalid) for the first setting outside its bounds: "The {whose} setting {name} must be from ...".
[[nodiscard]] inline result<void> check_bounds(const char* whose, std::initializer_list<bounded_time> settings) {
    for (const auto& [name, value, least, most] : settings)
        if (value < least || value > most)
            return setting_error(whose, name, std::to_string(least.count()), std::to_string(most.count()) + " ms");
    return {};
}

/// Throws std::invalid_argument for the first setting outside its bounds, for constructors.
inline void require_bounds(const char* whose, std::initializer_list<bounded_time> settings) {
    if (const auto checked = check_bounds(whose, settings); !checked)
        throw std::invalid_argument{"tollgate: " + checked.error().message};
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_BOUNDED_TIME_HPP
