#pragma once

#include <tollgate/store/sqlite/failure.hpp>

#include <sqlite3.h>

#include <string>
#include <system_error>

namespace tollgate::sqlite {

namespace detail {

/// A statement as one line, and of a long one (a migration) its beginning, which says which it is.
inline std::string to_line(std::string_view doing) {
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

}  // namespace detail

TOLLGATE_DECL problem failure(sqlite3* connection, int code, std::string_view doing) {
    std::string cause = "SQLite: ";
    const bool has_text = connection != nullptr && sqlite3_extended_errcode(connection) == code;
    cause += has_text ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
    cause += " (result code " + std::to_string(code);
    const int system_code = connection != nullptr ? sqlite3_system_errno(connection) : 0;
    const int primary = code & 0xff;
    if (system_code != 0 && (primary == SQLITE_CANTOPEN || primary == SQLITE_IOERR || primary == SQLITE_FULL))
        cause += ", " + std::generic_category().message(system_code);
    cause += "): ";
    cause += detail::to_line(doing);

    switch (primary) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_FULL:
        case SQLITE_IOERR:
        case SQLITE_NOMEM:
        case SQLITE_CANTOPEN:
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_PROTOCOL:
        case SQLITE_INTERRUPT:
            return unavailable(std::move(cause));
        case SQLITE_CONSTRAINT:
            return {problem_kind::conflict, "That is there already, or in use.", std::move(cause)};
        default:
            return internal_error(std::move(cause));
    }
}

}  // namespace tollgate::sqlite
