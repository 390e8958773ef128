#pragma once

#include <tollgate/base/limits.hpp>

#include <array>
#include <cstddef>
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

/// Reads a pattern; compiling stops at one that is no pattern.
template <fixed_text Pattern>
consteval pattern_parameters parameters_of() {
    pattern_parameters found;
    std::string_view left = Pattern.view();
    if (left.empty() || left.front() != '/') throw "a path pattern begins with '/'";
    while (!left.empty()) {
        left.remove_prefix(1);
        const auto segment = left.substr(0, left.find('/'));
        left.remove_prefix(segment.size());
        if (segment.empty()) throw "a path pattern has no empty segment and no '/' at its end";
        if (segment.find_first_of("{}%") == std::string_view::npos) continue;
        if (segment.size() < 3 || segment.front() != '{' || segment.find_first_of("{}%", 1) != segment.size() - 1)
            throw "a parameter is a whole segment: /{name}/";
        if (found.count == found.names.size()) throw "a path pattern has at most limits::path_parameters_max parameters";
        found.names[found.count++] = segment.substr(1, segment.size() - 2);
    }
    return found;
}

}  // namespace pipeline
}  // namespace tollgate
