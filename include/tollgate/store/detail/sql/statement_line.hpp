#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tollgate::inline v0::detail {

/// A statement as one line for an operator, and of a long one (a migration) its beginning, which says which it is.
[[nodiscard]] inline std::string to_statement_line(std::string_view doing) {
    constexpr std::size_t bytes_max = 200;
    std::string line;
    for (std::size_t at = doing.find_first_not_of(" \n"); at < doing.size();) {
        const auto end = doing.find('\n', at);
        line += doing.substr(at, end == std::string_view::npos ? end : end - at);
        at = doing.find_first_not_of(" \n", end);
        if (line.size() > bytes_max) return line.substr(0, bytes_max) + "...";
        if (at != std::string_view::npos) line += ' ';
    }
    return line;
}

}  // namespace tollgate::detail
