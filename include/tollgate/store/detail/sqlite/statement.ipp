#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_STATEMENT_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_STATEMENT_IPP

#include <tollgate/store/detail/sqlite/failure.hpp>
#include <tollgate/store/detail/sqlite/statement.hpp>

#include <sqlite3.h>

namespace tollgate::inline v0::sqlite {

TOLLGATE_DECL bool cell::is_null() const noexcept { return sqlite3_column_type(row_, column_) == SQLITE_NULL; }

TOLLGATE_DECL std::optional<std::int64_t> cell::integer() const noexcept {
    if (sqlite3_column_type(row_, column_) != SQLITE_INTEGER) return std::nullopt;
    return sqlite3_column_int64(row_, column_);
}

TOLLGATE_DECL std::optional<std::string_view> cell::text() const noexcept {
    if (sqlite3_column_type(row_, column_) != SQLITE_TEXT) return std::nullopt;
    const unsigned char* characters = sqlite3_column_text(row_, column_);
    if (characters == nullptr) return std::nullopt;  // out of memory
    return std::string_view{reinterpret_cast<const char*>(characters),
                            static_cast<std::size_t>(sqlite3_column_bytes(row_, column_))};
}

TOLLGATE_DECL std::optional<std::string_view> cell::blob() const noexcept {
    if (sqlite3_column_type(row_, column_) != SQLITE_BLOB) return std::nullopt;
    const void* bytes = sqlite3_column_blob(row_, column_);  // null for an empty one
    const int size = sqlite3_column_bytes(row_, column_);
    if (bytes == nullptr && size != 0) return std::nullopt;
    return std::string_view{static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

TOLLGATE_DECL void parameter::note(int code) noexcept {
    if (code_ == SQLITE_OK) code_ = code;
}

TOLLGATE_DECL void parameter::null() noexcept { note(sqlite3_bind_null(statement_, index_)); }

TOLLGATE_DECL void parameter::integer(std::int64_t value) noexcept {
    note(sqlite3_bind_int64(statement_, index_, value));
}

TOLLGATE_DECL void parameter::text(std::string_view value) noexcept {
    // A null pointer would bind NULL, and an empty view may have one.
    const char* characters = value.empty() ? "" : value.data();
    note(sqlite3_bind_text64(statement_, index_, characters, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

TOLLGATE_DECL void parameter::blob(std::string_view value) noexcept {
    const void* bytes = value.empty() ? "" : static_cast<const void*>(value.data());
    note(sqlite3_bind_blob64(statement_, index_, bytes, value.size(), SQLITE_TRANSIENT));
}

TOLLGATE_DECL result<bool> statement::step() {
    if (failed_) return *failed_;
    if (prepared_ == nullptr) return false;
    const char* text = sqlite3_sql(prepared_);
    sqlite3* connection = sqlite3_db_handle(prepared_);
    if (bind_code_ != SQLITE_OK) return failure(connection, bind_code_, text);
    const int code = sqlite3_step(prepared_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) {
        give_back();  // another step would execute it again
        return false;
    }
    auto failed = failure(connection, code, text);
    sqlite3_reset(prepared_);  // releases the locks now, not at the end of the scope
    return failed;
}

TOLLGATE_DECL result<void> statement::finish() {
    for (;;) {
        auto stepped = step();
        if (!stepped) return std::move(stepped).error();
        if (!*stepped) return {};
    }
}

TOLLGATE_DECL error statement::misread(std::size_t column) const {
    return internal_error("SQLite: column " + std::to_string(column) + " has an unexpected value: " +
                          sqlite3_sql(prepared_));
}

TOLLGATE_DECL void statement::give_back() noexcept {
    if (prepared_ == nullptr) return;
    sqlite3_reset(prepared_);
    sqlite3_clear_bindings(prepared_);
    *in_use_ = false;
    prepared_ = nullptr;
}

}  // namespace tollgate::sqlite

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_STATEMENT_IPP
