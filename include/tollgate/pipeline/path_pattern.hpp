#pragma once

#include <tollgate/base/limits.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tollgate {

/// Text as a template argument.
template <std::size_t Size>
struct fixed_text {
    char characters[Size]{};

    consteval fixed_text(const char (&literal)[Size]) {
        for (std::size_t i = 0; i < Size; ++i) characters[i] = literal[i];
    }
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {characters, Size - 1}; }
};

namespace pipeline {

/// The parameters of a path pattern, left to right: `/{service}/{account}/hooks` has `service` and `account`.
struct pattern_parameters {
    std::array<std::string_view, limits::path_parameters_max> names{};
    std::size_t count = 0;
};

/// Reads a pattern: it begins with `/`, has no empty segment and so no `/` at its end, a parameter is a whole segment, and
/// there are at most `limits::path_parameters_max`. Empty for text that is no pattern.
[[nodiscard]] constexpr std::optional<pattern_parameters> read_pattern(std::string_view pattern) noexcept {
    // By hand, character by character: GCC takes string_view's searches for no constants when UBSan is on.
    const auto is_special = [](char c) { return c == '{' || c == '}' || c == '%'; };
    pattern_parameters found;
    if (pattern.empty() || pattern.front() != '/') return std::nullopt;
    for (std::size_t begin = 1, end = 1; begin <= pattern.size(); begin = ++end) {
        std::size_t specials = 0;
        for (; end < pattern.size() && pattern[end] != '/'; ++end) specials += is_special(pattern[end]) ? 1U : 0U;
        const auto segment = pattern.substr(begin, end - begin);
        if (segment.empty()) return std::nullopt;
        if (specials == 0) continue;
        const bool is_parameter = specials == 2 && segment.size() >= 3 && segment.front() == '{' && segment.back() == '}';
        if (!is_parameter || found.count == found.names.size()) return std::nullopt;
        found.names[found.count++] = segment.substr(1, segment.size() - 2);
    }
    return found;
}

template <fixed_text Pattern>
inline constexpr bool is_path_pattern = read_pattern(Pattern.view()).has_value();

/// None for what is no pattern: the compiler has stopped at that already.
template <fixed_text Pattern>
consteval pattern_parameters parameters_of() {
    return read_pattern(Pattern.view()).value_or(pattern_parameters{});
}

}  // namespace pipeline
}  // namespace tollgate
