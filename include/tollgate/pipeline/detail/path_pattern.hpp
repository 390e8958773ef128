#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/http/request.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// Text as a template argument.
template <std::size_t Size>
struct fixed_text {
    char characters[Size]{};

    constexpr fixed_text() = default;
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

/// A pattern begins with `/`, has no empty segment and so no `/` at its end. A parameter is a whole segment, and there are at
/// most `limits::path_parameters_max`. Empty for any other text.
[[nodiscard]] constexpr std::optional<pattern_parameters> read_pattern(std::string_view pattern) noexcept {
    // Character by character: GCC does not evaluate string_view's searches at compile time when UBSan is on.
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

/// Empty for text that is not a pattern, which `on_get` and the others refuse.
template <fixed_text Pattern>
consteval pattern_parameters parameters_of() {
    return read_pattern(Pattern.view()).value_or(pattern_parameters{});
}

/// The name of one parameter, as a template argument.
template <fixed_text Pattern, std::size_t Index>
consteval auto parameter_name() {
    constexpr auto name = parameters_of<Pattern>().names[Index];
    fixed_text<name.size() + 1> copy;
    for (std::size_t i = 0; i < name.size(); ++i) copy.characters[i] = name[i];
    return copy;
}

/// The same for two routes exactly if they have the same method and their patterns match the same paths, whatever their
/// parameters are called (FNV-1a, 64 bits).
[[nodiscard]] constexpr std::uint64_t route_key(http::method method, std::string_view pattern) noexcept {
    std::uint64_t hash = 14695981039346656037U;
    const auto add = [&hash](unsigned char c) { hash = (hash ^ c) * 1099511628211U; };
    add(static_cast<unsigned char>(method));
    bool is_in_name = false;
    for (const char c : pattern) {
        if (c == '}') is_in_name = false;
        if (!is_in_name) add(static_cast<unsigned char>(c));
        if (c == '{') is_in_name = true;
    }
    return hash;
}

[[nodiscard]] constexpr bool all_differ(std::initializer_list<std::uint64_t> keys) noexcept {
    for (auto each = keys.begin(); each != keys.end(); ++each)
        for (auto other = keys.begin(); other != each; ++other)
            if (*other == *each) return false;
    return true;
}

}  // namespace pipeline
}  // namespace tollgate
