#pragma once

#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/sql/statement_text.hpp>

#include <sqlite3.h>

#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tollgate::inline v0::sqlite {

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
    if (system_code != 0 && (primary == SQLITE_CANTOPEN || primary == SQLITE_IOERR || primary == SQLITE_FULL))
        cause += ", " + std::generic_category().message(system_code);
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
