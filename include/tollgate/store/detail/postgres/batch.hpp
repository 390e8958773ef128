#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/postgres/statement.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tollgate::inline v0::postgres {

/// Statements with their parameters that go to the server together: one round trip, and one transaction, in which each
/// sees what those before it did and what others have committed by the time it begins. So the first may take a lock,
/// and the next reads what that lock protects.
///
/// Made without a connection, so that it can be sent again.
class batch {
public:
    /// `shift`: what is added to moments, see `server_clock`.
    explicit batch(milliseconds shift) noexcept : shift_{shift} {}

    template <class... Values>
    void add(sql text, const Values&... values) {
        begin(text, sizeof...(Values));
        (add_value(values), ...);
    }

    /// Goes along, behind the transaction; whether it succeeds is nobody's business. Nothing is added after it.
    void add_afterthought(sql text) {
        transaction_size_ = statements_.size();
        begin(text, 0);
    }

    /// For the rare batch that may take longer than others. To be said first.
    TOLLGATE_DECL void take_up_to(milliseconds answer_wait_max);
    [[nodiscard]] std::optional<milliseconds> answer_wait_max() const noexcept { return answer_wait_max_; }

    struct value {
        unsigned type;
        std::size_t at;
        std::size_t size;
        bool is_null;
    };
    struct statement {
        sql text;
        std::size_t first_value;
        std::size_t value_count;
    };
    [[nodiscard]] const std::vector<statement>& statements() const noexcept { return statements_; }
    /// Of the statements, how many are the transaction.
    [[nodiscard]] std::size_t transaction_size() const noexcept {
        return transaction_size_ == 0 ? statements_.size() : transaction_size_;
    }
    [[nodiscard]] const value& value_at(std::size_t index) const noexcept { return values_[index]; }
    [[nodiscard]] const char* bytes_of(const value& which) const noexcept { return bytes_.data() + which.at; }
    [[nodiscard]] milliseconds shift() const noexcept { return shift_; }

private:
    TOLLGATE_DECL void begin(sql text, std::size_t value_count);
    TOLLGATE_DECL void keep(wire_type type, std::size_t begun_at, bool is_null);

    template <class T>
    void add_value(const T& given) {
        const std::size_t at = bytes_.size();
        parameter to{bytes_, shift_};
        column<T>::write(to, given);
        keep(column<T>::type, at, to.is_null());
    }

    milliseconds shift_;
    std::optional<milliseconds> answer_wait_max_;
    std::size_t transaction_size_ = 0;  // 0: all
    std::vector<statement> statements_;
    std::vector<value> values_;
    std::string bytes_;
};

/// What one statement answered: its rows, which are read from first to last.
///
///     for (;;) {
///         auto row = rows.next<account_id, std::string>();
///         if (!row) return std::move(row).error();
///         if (!*row) break;
///         auto& [id, name] = **row;
///     }
class rows {
public:
    /// Takes the result over.
    rows(pg_result* result, milliseconds shift, sql of) noexcept : result_{result}, shift_{shift}, of_{of} {}

    /// The next row, decoded; none when there is no further one. A column that does not hold what it should is an
    /// internal problem: somebody else changed the table.
    template <class... Columns>
    [[nodiscard]] result<std::optional<std::tuple<Columns...>>> next();

    /// The first row, where there always is one.
    template <class... Columns>
    [[nodiscard]] result<std::tuple<Columns...>> only();

    [[nodiscard]] TOLLGATE_DECL std::size_t count() const noexcept;
    /// How many rows the INSERT, UPDATE, DELETE or SELECT touched.
    [[nodiscard]] TOLLGATE_DECL std::int64_t touched() const noexcept;

private:
    struct clearer {
        TOLLGATE_DECL void operator()(pg_result* result) const noexcept;
    };
    TOLLGATE_DECL error misread(std::size_t column) const;
    TOLLGATE_DECL error no_row() const;

    std::unique_ptr<pg_result, clearer> result_;
    milliseconds shift_;
    sql of_;
    int next_ = 0;
};

template <class... Columns>
result<std::optional<std::tuple<Columns...>>> rows::next() {
    using row = std::tuple<Columns...>;
    if (static_cast<std::size_t>(next_) >= count()) return std::optional<row>{};
    const int at = next_++;
    return [this, at]<std::size_t... I>(std::index_sequence<I...>) -> result<std::optional<row>> {
        std::tuple<std::optional<Columns>...> read{
            column<Columns>::read(cell{result_.get(), at, static_cast<int>(I), shift_})...};
        std::size_t bad = sizeof...(Columns);
        ((std::get<I>(read) ? void() : void(bad = I)), ...);
        if (bad != sizeof...(Columns)) return misread(bad);
        return std::optional<row>{std::in_place, *std::move(std::get<I>(read))...};
    }(std::index_sequence_for<Columns...>{});
}

template <class... Columns>
result<std::tuple<Columns...>> rows::only() {
    auto row = next<Columns...>();
    if (!row) return std::move(row).error();
    if (!*row) return no_row();
    return **std::move(row);
}

/// What the statements of a batch answered, in their order. All of them succeeded, and are committed.
using answers = std::vector<rows>;

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/batch.ipp>
#endif
