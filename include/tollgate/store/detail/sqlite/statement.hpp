#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_STATEMENT_HPP
#define TOLLGATE_STORE_DETAIL_SQLITE_STATEMENT_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/detail/sql/columns.hpp>
#include <tollgate/store/detail/sql/rows.hpp>
#include <tollgate/store/detail/sql/statement_text.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

struct sqlite3_stmt;

namespace tollgate::inline v0::sqlite {

using sql::statement_text;

/// A column of the current row. Each function returns empty if the column contains another type.
class cell {
public:
    cell(sqlite3_stmt* row, int column) noexcept : row_{row}, column_{column} {}

    [[nodiscard]] TOLLGATE_DECL bool is_null() const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::optional<std::int64_t> integer() const noexcept;
    /// Valid until the statement's next step.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> text() const noexcept;
    /// Valid until the statement's next step.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> blob() const noexcept;
    [[nodiscard]] std::optional<bool> boolean() const noexcept {
        const auto value = integer();
        return value ? std::optional{*value != 0} : std::nullopt;
    }
    [[nodiscard]] std::optional<instant> moment() const noexcept {
        const auto count = integer();
        return count ? std::optional{from_unix_milliseconds(*count)} : std::nullopt;
    }

private:
    sqlite3_stmt* row_;
    int column_;
};

/// A `?` of a statement. Text and blobs are copied, so values need not outlive the call that binds them.
class parameter {
public:
    parameter(sqlite3_stmt* statement, int index, int& code) noexcept
        : statement_{statement}, index_{index}, code_{code} {}

    TOLLGATE_DECL void null() noexcept;
    TOLLGATE_DECL void integer(std::int64_t value) noexcept;
    TOLLGATE_DECL void text(std::string_view value) noexcept;
    TOLLGATE_DECL void blob(std::string_view value) noexcept;
    void boolean(bool value) noexcept { integer(value ? 1 : 0); }
    void moment(instant value) noexcept { integer(to_unix_milliseconds(value)); }

private:
    TOLLGATE_DECL void note(int code) noexcept;

    sqlite3_stmt* statement_;
    int index_;
    int& code_;
};

/// How a `T` is stored in one column; specialize it for your own types. `read` returns empty if the column contains
/// something else.
///
///     template <>
///     struct tollgate::sqlite::column<color> {
///         static std::optional<color> read(const cell& from);
///         static void write(parameter to, const color& value) noexcept;
///     };
template <class T>
struct column : sql::column<T> {};

template <class T>
struct column<std::optional<T>> : sql::optional_column<T, column<T>> {};

/// A prepared statement with its parameters bound, lent by its `database` until it has no more rows or the scope ends. A
/// value that could not be bound is reported by the first step. Used by the thread that uses the database.
///
///     auto rows = database.prepare("SELECT id, name FROM accounts WHERE user = ?", user);
///     for (;;) {
///         auto row = rows.next<account_id, std::string>();
///         if (!row) return std::move(row).error();
///         if (!*row) break;
///         auto& [id, name] = **row;
///     }
class statement {
public:
    /// A statement that fails at its first step.
    explicit statement(error failure) : failed_{std::move(failure)} {}
    /// `in_use`: set to false when the statement is returned.
    statement(sqlite3_stmt* prepared, bool* in_use) noexcept : prepared_{prepared}, in_use_{in_use} {}

    statement(statement&& other) noexcept
        : prepared_{std::exchange(other.prepared_, nullptr)},
          in_use_{std::exchange(other.in_use_, nullptr)},
          bind_code_{other.bind_code_},
          failed_{std::move(other.failed_)} {}
    statement& operator=(statement&&) = delete;
    ~statement() { give_back(); }

    template <class... Values>
    void bind(const Values&... values) noexcept {
        int index = 0;
        if (prepared_ != nullptr) (column<Values>::write(parameter{prepared_, ++index, bind_code_}, values), ...);
    }

    /// The next row, decoded; empty after the last one. A column of an unexpected type or value is an internal error:
    /// something else changed the file.
    template <class... Columns>
    [[nodiscard]] result<std::optional<std::tuple<Columns...>>> next();

    /// Runs to the end, ignoring rows.
    TOLLGATE_DECL result<void> finish();

private:
    /// Returns true if there is a row.
    TOLLGATE_DECL result<bool> step();
    TOLLGATE_DECL error misread(std::size_t column) const;
    TOLLGATE_DECL void give_back() noexcept;

    sqlite3_stmt* prepared_ = nullptr;  // null once it was given back
    bool* in_use_ = nullptr;
    int bind_code_ = 0;
    std::optional<error> failed_;
};

template <class... Columns>
result<std::optional<std::tuple<Columns...>>> statement::next() {
    auto stepped = step();
    if (!stepped) return std::move(stepped).error();
    if (!*stepped) return std::optional<std::tuple<Columns...>>{};
    return sql::decode_row<Columns...>(
        [this]<class T>(std::type_identity<T>, int at) { return column<T>::read(cell{prepared_, at}); },
        [this](std::size_t bad) { return misread(bad); });
}

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/statement.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_STATEMENT_HPP
