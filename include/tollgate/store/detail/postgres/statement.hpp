#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_STATEMENT_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_STATEMENT_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/detail/sql/columns.hpp>
#include <tollgate/store/detail/sql/statement_text.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

struct pg_result;

namespace tollgate::inline v0::postgres {

using sql::statement_text;

/// Returns true if a `text` column can store this: UTF-8 without NUL. Clients may send anything else.
[[nodiscard]] constexpr bool is_storable(std::string_view text) noexcept {
    return text.find('\0') == std::string_view::npos && tollgate::detail::is_utf8(text);
}

/// A PostgreSQL type and its array type, by their fixed numbers (src/include/catalog/pg_type.dat).
struct wire_type {
    unsigned number;
    unsigned array_number;

    friend constexpr bool operator==(const wire_type&, const wire_type&) noexcept = default;
};

inline constexpr wire_type wire_boolean{16, 1000};
inline constexpr wire_type wire_bytes{17, 1001};
inline constexpr wire_type wire_integer{20, 1016};
inline constexpr wire_type wire_text{25, 1009};

/// Writes one parameter's value in the binary format: no quoting, no locale, no rounding.
class parameter {
public:
    /// `shift`: added to times, see `server_clock`.
    parameter(std::string& to, milliseconds shift) noexcept : to_{to}, shift_{shift} {}

    void null() noexcept { is_null_ = true; }
    TOLLGATE_DECL void boolean(bool value);
    TOLLGATE_DECL void integer(std::int64_t value);
    TOLLGATE_DECL void moment(instant value);
    void text(std::string_view value) { to_.append(value); }
    void blob(std::string_view value) { to_.append(value); }

    [[nodiscard]] bool is_null() const noexcept { return is_null_; }

    /// Starts an array of `count` elements of one type; each is added with `element`.
    TOLLGATE_DECL void begin_array(wire_type type, std::size_t count);
    template <class T>
    void element(const T& value);

private:
    [[nodiscard]] TOLLGATE_DECL std::size_t begin_element();
    TOLLGATE_DECL void end_element(std::size_t begun_at, bool is_null) noexcept;

    std::string& to_;
    milliseconds shift_;
    bool is_null_ = false;
};

/// A column of a row. Each function returns empty if the column contains another type.
class cell {
public:
    cell(const pg_result* result, int row, int column, milliseconds shift) noexcept
        : result_{result}, row_{row}, column_{column}, shift_{shift} {}

    [[nodiscard]] TOLLGATE_DECL bool is_null() const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::optional<bool> boolean() const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::optional<std::int64_t> integer() const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::optional<instant> moment() const noexcept;
    /// Valid as long as the rows are.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> text() const noexcept;
    /// Valid as long as the rows are.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> blob() const noexcept;

private:
    [[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> bytes_of(wire_type type) const noexcept;

    const pg_result* result_;
    int row_;
    int column_;
    milliseconds shift_;
};

[[nodiscard]] constexpr wire_type to_wire_type(sql::storage kind) noexcept {
    switch (kind) {
        case sql::storage::boolean: return wire_boolean;
        case sql::storage::integer: return wire_integer;
        case sql::storage::blob: return wire_bytes;
        case sql::storage::text: break;
    }
    return wire_text;
}

/// How a `T` is stored in one column; specialize it for your own types. `read` returns empty if the column contains
/// something else.
///
///     template <>
///     struct tollgate::postgres::column<color> {
///         static constexpr wire_type type = wire_text;
///         static std::optional<color> read(const cell& from);
///         static void write(parameter& to, const color& value);
///     };
template <class T>
struct column : sql::column<T> {
    static constexpr wire_type type = to_wire_type(sql::column<T>::type);
};

template <class T>
struct column<std::optional<T>> : sql::optional_column<T, column<T>> {
    static constexpr wire_type type = column<T>::type;
};

template <class T>
void parameter::element(const T& value) {
    const std::size_t at = begin_element();
    parameter into{to_, shift_};
    column<T>::write(into, value);
    end_element(at, into.is_null());
}

/// An array parameter: one statement processes many values in one round trip.
template <class T>
struct column<std::vector<T>> {
    static constexpr wire_type type{column<T>::type.array_number, 0};
    static void write(parameter& to, const std::vector<T>& values) {
        to.begin_array(column<T>::type, values.size());
        for (const T& each : values) to.element(each);
    }
};

/// Rows for a statement that reads them with `unnest`: each column is an array parameter.
template <class... Columns>
class row_arrays {
public:
    void add(Columns... row) {
        std::apply([&](auto&... column_values) { (column_values.push_back(std::move(row)), ...); }, columns_);
    }
    [[nodiscard]] bool is_empty() const noexcept { return std::get<0>(columns_).empty(); }
    [[nodiscard]] const std::tuple<std::vector<Columns>...>& column_values() const noexcept { return columns_; }

private:
    std::tuple<std::vector<Columns>...> columns_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/statement.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_STATEMENT_HPP
