#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_FAILURE_HPP
#define TOLLGATE_STORE_DETAIL_SQLITE_FAILURE_HPP

#include <tollgate/base/detail/system/files.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/sql/statement_text.hpp>

#include <sqlite3.h>

#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tollgate::inline v0::sqlite {

namespace detail {

/// Why SQLite cannot open, create or write a file. If it may not write to the directory, it tries to read a file that does not exist, and
/// reports only that.
[[nodiscard]] inline std::string reason_of_refused_file(sqlite3* connection, std::string_view path, int system_code) {
    const char* const name = connection != nullptr ? sqlite3_db_filename(connection, "main") : nullptr;
    std::string directory{name != nullptr && *name != '\0' ? std::string_view{name} : path};
    const auto slash = directory.rfind('/');
    directory.resize(slash == std::string::npos ? 0 : slash + 1);
    if (const int refused = tollgate::detail::refusal_of_directory(directory.empty() ? "." : directory); refused != 0)
        return "the directory of the database cannot be written: " + std::generic_category().message(refused);
    return system_code != 0 ? std::generic_category().message(system_code) : std::string{};
}

}  // namespace detail

/// Converts SQLite's result `code` to an error: unavailable for conditions that may pass or that an operator can correct
/// (busy, full disk, no permission), conflict for a violated constraint, internal for the rest. `doing` is added to the
/// cause: a statement or a file name, never a value. `connection` may be null.
[[nodiscard]] inline error failure(sqlite3* connection, int code, std::string_view doing) {
    std::string cause = "SQLite: ";
    const bool has_text = connection != nullptr && sqlite3_extended_errcode(connection) == code;
    cause += has_text ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
    cause += " (result code " + std::to_string(code);
    const int system_code = connection != nullptr ? sqlite3_system_errno(connection) : 0;
    const int primary = code & 0xff;
    std::string reason;
    if (primary == SQLITE_CANTOPEN) reason = detail::reason_of_refused_file(connection, doing, system_code);
    else if (primary == SQLITE_READONLY) reason = detail::reason_of_refused_file(connection, doing, 0);
    else if (system_code != 0 && (primary == SQLITE_IOERR || primary == SQLITE_FULL)) reason = std::generic_category().message(system_code);
    if (!reason.empty()) cause += ", " + reason;
    cause += "): ";
    cause += tollgate::sql::to_log_line(doing);

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
            return {error_kind::conflict, "This already exists or is in use.", std::move(cause)};
        default:
            return internal_error(std::move(cause));
    }
}

}  // namespace tollgate::sqlite

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_FAILURE_HPP
