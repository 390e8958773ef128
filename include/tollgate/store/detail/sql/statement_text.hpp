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
    /// Returns true for a `shared_text`.
    [[nodiscard]] constexpr bool is_shared() const noexcept { return is_shared_; }

protected:
    consteval statement_text(const char* literal, bool is_shared) : text_{literal}, is_shared_{is_shared} {}

private:
    explicit constexpr statement_text(std::string_view text) noexcept : text_{text} {}

    std::string_view text_;
    bool is_shared_ = false;
};

/// A statement for both databases, written as PostgreSQL takes it; SQLite gets the result of `without_locks`. Its parameters first occur in
/// order, because SQLite numbers them so.
class shared_text : public statement_text {
public:
    consteval explicit shared_text(const char* literal) : statement_text{literal, true} {
        if (!has_parameters_in_order(literal)) throw "the parameters do not first occur in order";
    }

private:
    static constexpr bool has_parameters_in_order(std::string_view text) {
        unsigned known = 0;
        for (auto at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
            unsigned number = 0;
            for (std::size_t i = at + 1; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
                number = 10 * number + static_cast<unsigned>(text[i] - '0');
            if (number > known + 1) return false;
            if (number > known) known = number;
        }
        return true;
    }
};

/// The form of a `shared_text` for SQLite, where a transaction locks the whole file: ` FOR ... SHARE` and ` FOR ... UPDATE`, which end a
/// statement or sub-select, are left out, and ` = ANY (ARRAY(SELECT ...))` becomes ` IN (SELECT ...)`. PostgreSQL needs the array, because
/// it may plan IN as a join that reads the whole table.
[[nodiscard]] inline std::string without_locks(std::string_view text) {
    constexpr std::string_view array_begin = "= ANY (ARRAY(";
    std::string converted;
    std::size_t depth = 0, array_depth = 0;  // array_depth: that of the open array; 0: none
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::string_view rest = text.substr(at);
        if (rest.starts_with(array_begin)) {
            converted += "IN (";
            array_depth = ++depth;
            at += array_begin.size() - 1;
            continue;
        }
        if (rest.starts_with(" FOR ")) {
            const auto end = rest.find(')');
            if (end == std::string_view::npos) break;
            at += end - 1;
            continue;
        }
        converted += text[at];
        if (text[at] == '(') ++depth;
        if (text[at] != ')') continue;
        if (depth == array_depth) {
            ++at;  // the parenthesis of ANY
            array_depth = 0;
        }
        --depth;
    }
    return converted;
}

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
