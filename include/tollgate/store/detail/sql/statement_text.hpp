#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQL_STATEMENT_TEXT_HPP
#define TOLLGATE_STORE_DETAIL_SQL_STATEMENT_TEXT_HPP

#include <cstddef>
#include <string>
#include <string_view>

namespace tollgate::inline v0::sql {

/// A SQL statement that is known at compile time. Values are always bound as parameters (`?` on SQLite, `$1` on
/// PostgreSQL), which rules out SQL injection.
class statement_text {
public:
    consteval statement_text(const char* literal) : text_{literal} {}
    /// The exception: a statement composed of literals and the program's settings, never of request data. `text` must
    /// outlive every connection that prepares it.
    [[nodiscard]] static statement_text composed(const std::string& text) noexcept {
        return statement_text{std::string_view{text}};
    }
    static statement_text composed(std::string&&) = delete;

    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }
    /// Null-terminated.
    [[nodiscard]] constexpr const char* c_str() const noexcept { return text_.data(); }

private:
    explicit constexpr statement_text(std::string_view text) noexcept : text_{text} {}

    std::string_view text_;
};

/// A statement on one line for the cause of an error, truncated to 200 bytes.
[[nodiscard]] inline std::string to_log_line(std::string_view statement) {
    constexpr std::size_t bytes_max = 200;
    std::string line;
    for (std::size_t at = statement.find_first_not_of(" \n"); at < statement.size();) {
        const auto end = statement.find('\n', at);
        line += statement.substr(at, end == std::string_view::npos ? end : end - at);
        at = statement.find_first_not_of(" \n", end);
        if (line.size() > bytes_max) return line.substr(0, bytes_max) + "...";
        if (at != std::string_view::npos) line += ' ';
    }
    return line;
}

}  // namespace tollgate::sql

#endif  // TOLLGATE_STORE_DETAIL_SQL_STATEMENT_TEXT_HPP
