#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_PATH_PATTERN_HPP
#define TOLLGATE_PIPELINE_DETAIL_PATH_PATTERN_HPP

#include <tollgate/base/detail/text.hpp>
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
/// most `limits::path_parameters_max` of at most `limits::path_segments_max` segments. Empty for any other text.
[[nodiscard]] constexpr std::optional<pattern_parameters> read_pattern(std::string_view pattern) noexcept {
    // Character by character: GCC does not evaluate string_view's searches at compile time when UBSan is on.
    const auto is_special = [](char c) { return c == '{' || c == '}' || c == '%'; };
    pattern_parameters found;
    if (pattern.empty() || pattern.front() != '/') return std::nullopt;
    std::size_t segments = 0;
    for (std::size_t begin = 1, end = 1; begin <= pattern.size(); begin = ++end) {
        std::size_t specials = 0;
        for (; end < pattern.size() && pattern[end] != '/'; ++end) specials += is_special(pattern[end]) ? 1U : 0U;
        const auto segment = pattern.substr(begin, end - begin);
        if (segment.empty() || ++segments > limits::path_segments_max) return std::nullopt;
        if (specials == 0) continue;
        const bool is_parameter = specials == 2 && segment.size() >= 3 && segment.front() == '{' && segment.back() == '}';
        if (!is_parameter || found.count == found.names.size()) return std::nullopt;
        found.names[found.count++] = segment.substr(1, segment.size() - 2);
    }
    return found;
}

/// A pattern up to its `?`, which query parameters follow.
[[nodiscard]] constexpr std::string_view path_part(std::string_view pattern) noexcept {
    std::size_t end = 0;
    while (end < pattern.size() && pattern[end] != '?') ++end;
    return pattern.substr(0, end);
}

/// The query parameters of a pattern, left to right.
struct pattern_query {
    std::array<std::string_view, limits::query_parameters_max> names{};
    std::size_t count = 0;
};

/// Reads what follows the path of a pattern, `?{year}&{page}`: names of 1 or more `a-z A-Z 0-9 _ -`, each once, at most
/// `limits::query_parameters_max`. Empty for any other text behind the `?`.
[[nodiscard]] constexpr std::optional<pattern_query> read_query_pattern(std::string_view pattern) noexcept {
    pattern_query found;
    std::size_t at = path_part(pattern).size();
    if (at == pattern.size()) return found;
    for (char before = '?'; at < pattern.size(); before = '&') {
        if (pattern.size() - at < 2 || pattern[at] != before || pattern[at + 1] != '{') return std::nullopt;
        const std::size_t begin = at += 2;
        const auto is_name = [](char c) { return detail::is_alphanumeric(c) || c == '_' || c == '-'; };
        while (at < pattern.size() && is_name(pattern[at])) ++at;
        const auto name = pattern.substr(begin, at - begin);
        if (name.empty() || at == pattern.size() || pattern[at] != '}' || found.count == found.names.size()) return std::nullopt;
        for (std::size_t i = 0; i < found.count; ++i)
            if (found.names[i] == name) return std::nullopt;
        found.names[found.count++] = name;
        ++at;
    }
    return found.count == 0 ? std::nullopt : std::optional{found};
}

template <fixed_text Pattern>
inline constexpr bool is_path_pattern =
    read_pattern(path_part(Pattern.view())).has_value() && read_query_pattern(Pattern.view()).has_value();

/// The result is empty for text that is not a pattern, which `on_get` and its siblings refuse.
template <fixed_text Pattern>
consteval pattern_parameters parameters_of() {
    return read_pattern(path_part(Pattern.view())).value_or(pattern_parameters{});
}
template <fixed_text Pattern>
consteval pattern_query query_of() {
    return read_query_pattern(Pattern.view()).value_or(pattern_query{});
}

/// A part of a pattern, as a template argument.
template <std::size_t Bytes>
[[nodiscard]] consteval fixed_text<Bytes + 1> to_fixed_text(std::string_view part) {
    fixed_text<Bytes + 1> copy;
    for (std::size_t i = 0; i < Bytes; ++i) copy.characters[i] = part[i];
    return copy;
}

/// The pattern without its query, as a template argument.
template <fixed_text Pattern>
consteval auto path_pattern() {
    constexpr auto path = path_part(Pattern.view());
    return to_fixed_text<path.size()>(path);
}

/// The name of one parameter, as a template argument.
template <fixed_text Pattern, std::size_t Index>
consteval auto parameter_name() {
    constexpr auto name = parameters_of<Pattern>().names[Index];
    return to_fixed_text<name.size()>(name);
}
template <fixed_text Pattern, std::size_t Index>
consteval auto query_parameter_name() {
    constexpr auto name = query_of<Pattern>().names[Index];
    return to_fixed_text<name.size()>(name);
}

/// Returns a hash (FNV-1a, 64 bits) that is the same for two routes exactly if they have the same method and their patterns match the same
/// paths; names of parameters do not matter.
[[nodiscard]] constexpr std::uint64_t route_key(http::method method, std::string_view pattern) noexcept {
    std::uint64_t hash = 14695981039346656037U;
    const auto add = [&hash](unsigned char c) { hash = (hash ^ c) * 1099511628211U; };
    add(static_cast<unsigned char>(method));
    bool is_in_name = false;
    for (const char c : path_part(pattern)) {
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

#endif  // TOLLGATE_PIPELINE_DETAIL_PATH_PATTERN_HPP
