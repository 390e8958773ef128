#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_BATCH_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_BATCH_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/postgres/statement.hpp>
#include <tollgate/store/detail/sql/rows.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0::postgres {

namespace detail {

/// The server's time limit for statements whose results are awaited for so long: shorter, so that the server reports the timeout while
/// the client still waits. In milliseconds; never 0, which means none.
[[nodiscard]] inline std::string statement_timeout_for(milliseconds response_wait_max) {
    return std::to_string((response_wait_max.count() * 3 + 3) / 4);
}

}  // namespace detail

/// Statements with their parameters, sent together: one round trip and one transaction. Each statement sees what those
/// before it did and what others have committed when it begins. So the first may take a lock, and the next reads what
/// that lock protects.
///
/// Built without a connection, so that it can be sent again.
class batch {
public:
    /// `shift`: added to times, see `server_clock`.
    explicit batch(milliseconds shift) noexcept : shift_{shift} {}

    /// Returns the index of its result.
    template <class... Values>
    std::size_t add(statement_text text, const Values&... values) {
        begin(text, sizeof...(Values));
        (add_value(values), ...);
        return statements_.size() - 1;
    }

    /// Adds a statement whose first parameters are the columns of `rows`.
    template <class... Columns, class... Values>
    std::size_t add(statement_text text, const row_arrays<Columns...>& rows, const Values&... values) {
        return std::apply([&](const auto&... column_values) { return add(text, column_values..., values...); }, rows.column_values());
    }

    /// Sent after the transaction; its result is ignored. Nothing may be added after it.
    void add_after_transaction(statement_text text) {
        transaction_size_ = statements_.size();
        begin(text, 0);
    }

    /// For a batch that may take longer than others, except for locks. Must be called first.
    TOLLGATE_DECL void set_response_wait_max(milliseconds response_wait_max);
    [[nodiscard]] std::optional<milliseconds> response_wait_max() const noexcept { return response_wait_max_; }

    struct value {
        unsigned type;
        std::size_t at;
        std::size_t size;
        bool is_null;
    };
    struct statement {
        statement_text text;
        std::size_t first_value;
        std::size_t value_count;
    };
    [[nodiscard]] const std::vector<statement>& statements() const noexcept { return statements_; }
    /// The number of statements in the transaction.
    [[nodiscard]] std::size_t transaction_size() const noexcept {
        return transaction_size_ == 0 ? statements_.size() : transaction_size_;
    }
    [[nodiscard]] const value& value_at(std::size_t index) const noexcept { return values_[index]; }
    [[nodiscard]] const char* bytes_of(const value& which) const noexcept { return bytes_.data() + which.at; }
    [[nodiscard]] milliseconds shift() const noexcept { return shift_; }

private:
    TOLLGATE_DECL void begin(statement_text text, std::size_t value_count);
    TOLLGATE_DECL void keep(wire_type type, std::size_t begun_at, bool is_null);

    template <class T>
    void add_value(const T& argument) {
        const std::size_t at = bytes_.size();
        parameter to{bytes_, shift_};
        column<T>::write(to, argument);
        keep(column<T>::type, at, to.is_null());
    }

    milliseconds shift_;
    std::optional<milliseconds> response_wait_max_;
    std::size_t transaction_size_ = 0;  // 0: all
    std::vector<statement> statements_;
    std::vector<value> values_;
    std::string bytes_;
};

/// The values of one statement in the form that libpq takes. Points into the batch.
struct wire_values {
    wire_values(const batch& source, const batch::statement& statement) {
        types.reserve(statement.value_count);
        values.reserve(statement.value_count);
        sizes.reserve(statement.value_count);
        for (std::size_t i = 0; i < statement.value_count; ++i) {
            const batch::value& each = source.value_at(statement.first_value + i);
            types.push_back(each.type);
            values.push_back(each.is_null ? nullptr : source.bytes_of(each));
            sizes.push_back(static_cast<int>(each.size));
        }
        formats.assign(statement.value_count, 1);  // binary
    }

    [[nodiscard]] int count() const noexcept { return static_cast<int>(types.size()); }

    std::vector<unsigned> types;
    std::vector<const char*> values;
    std::vector<int> sizes;
    std::vector<int> formats;
};

/// The result of one statement: rows, read from first to last.
///
///     for (;;) {
///         auto row = rows.next<account_id, std::string>();
///         if (!row) return std::move(row).error();
///         if (!*row) break;
///         auto& [id, name] = **row;
///     }
class rows {
public:
    /// Takes ownership of `result`.
    rows(pg_result* result, milliseconds shift, statement_text text) noexcept : result_{result}, shift_{shift}, text_{text} {}

    /// The next row, decoded; empty after the last one. A column of an unexpected type or value is an internal error:
    /// something else changed the table.
    template <class... Columns>
    [[nodiscard]] result<std::optional<std::tuple<Columns...>>> next();

    /// The first row of a statement that always returns one.
    template <class... Columns>
    [[nodiscard]] result<std::tuple<Columns...>> only();

    [[nodiscard]] TOLLGATE_DECL std::size_t count() const noexcept;
    /// The number of rows that the INSERT, UPDATE, DELETE or SELECT affected.
    [[nodiscard]] TOLLGATE_DECL std::int64_t affected() const noexcept;

private:
    struct clearer {
        TOLLGATE_DECL void operator()(pg_result* result) const noexcept;
    };
    TOLLGATE_DECL error misread(std::size_t column) const;
    TOLLGATE_DECL error no_row() const;

    std::unique_ptr<pg_result, clearer> result_;
    milliseconds shift_;
    statement_text text_;
    int next_ = 0;
};

template <class... Columns>
result<std::optional<std::tuple<Columns...>>> rows::next() {
    if (static_cast<std::size_t>(next_) >= count()) return std::optional<std::tuple<Columns...>>{};
    const int row = next_++;
    return sql::decode_row<Columns...>(
        [this, row]<class T>(std::type_identity<T>, int at) {
            return column<T>::read(cell{result_.get(), row, at, shift_});
        },
        [this](std::size_t bad) { return misread(bad); });
}

template <class... Columns>
result<std::tuple<Columns...>> rows::only() {
    auto row = next<Columns...>();
    if (!row) return std::move(row).error();
    if (!*row) return no_row();
    return **std::move(row);
}

/// The number in the only row, as of `count(*)`.
[[nodiscard]] inline result<std::size_t> read_count(rows& from) {
    const auto row = from.only<std::int64_t>();
    if (!row) return row.error();
    return static_cast<std::size_t>(std::get<0>(*row));
}

/// The results of a batch's statements, in order. All of them succeeded and are committed.
using results = std::vector<rows>;

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/batch.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_BATCH_HPP
