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
[[nodiscard]] constexpr std::optional<pattern_parameters> read_pattern(std::string_view left) noexcept {
    pattern_parameters found;
    if (left.empty() || left.front() != '/') return std::nullopt;
    while (!left.empty()) {
        left.remove_prefix(1);
        const auto segment = left.substr(0, left.find('/'));
        left.remove_prefix(segment.size());
        if (segment.empty()) return std::nullopt;
        if (segment.find_first_of("{}%") == std::string_view::npos) continue;
        const bool is_parameter =
            segment.size() >= 3 && segment.front() == '{' && segment.find_first_of("{}%", 1) == segment.size() - 1;
        if (!is_parameter || segment.back() != '}' || found.count == found.names.size()) return std::nullopt;
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
