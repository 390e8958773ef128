#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_ROWS_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_ROWS_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/contract/key_value_store.hpp>
#include <tollgate/store/detail/key_value/codec.hpp>
#include <tollgate/store/detail/key_value/keys.hpp>
#include <tollgate/store/detail/key_value/bounded_store_ref.hpp>
#include <tollgate/store/store_error.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0::key_value_detail {

/// A failure of the database, or damage. It ends the work of a verb; `run` catches it before it reaches the database.
struct failed {
    error reason;
};

[[nodiscard, gnu::noinline, gnu::cold]] inline error damaged(char table) {
    return internal_error(std::string{"the store is damaged: a record of the table "} + table +
                          " is missing, is truncated, or has another version");
}
[[noreturn, gnu::noinline, gnu::cold]] inline void throw_damaged(std::string_view key) { throw failed{damaged(key.front())}; }

/// Rows that a step of unbounded work changes in one transaction: some milliseconds, and few enough for every database.
inline constexpr std::size_t step_rows_max = 500;
inline constexpr std::size_t all_rows = (std::numeric_limits<std::size_t>::max)();

/// The rows of a transaction, as records. A failure is thrown as `failed`.
class rows {
public:
    rows(key_value_transaction_ref transaction, const memory_settings* bounds) : transaction_{transaction}, bounds_{bounds} {
        buffer_.reserve(buffer_bytes);
    }

    /// The bounds of the store; null if it has none.
    [[nodiscard]] const memory_settings* bounds() const noexcept { return bounds_; }

    /// Copies a value. Returns false if there is no such key.
    bool find(const key& at, std::string& value) { return checked(transaction_.get(at, value)); }
    [[nodiscard]] bool has(const key& at) { return find(at, buffer_); }
    /// The record of a key, or empty if there is no such key.
    template <record R>
    [[nodiscard]] std::optional<R> get(const key& at) {
        std::optional<R> found;
        if (find(at, buffer_) && !decode(buffer_, found.emplace())) throw_damaged(at);
        return found;
    }
    /// The record of a key to which another row refers.
    template <record R>
    [[nodiscard]] R existing(const key& at) {
        auto found = get<R>(at);
        if (!found) throw_damaged(at);
        return *std::move(found);
    }
    /// The number that a key has as its value; 0 if there is no such key.
    [[nodiscard]] std::uint64_t number(const key& at) { return find(at, buffer_) ? number_at(buffer_, 0) : 0; }

    template <record R>
    void put(const key& at, const R& value) {
        encode(value, buffer_);
        put(at, std::string_view{buffer_});
    }
    void put(const key& at, std::string_view value) { checked(transaction_.put(at, value)); }
    void erase(const key& at) { checked(transaction_.erase(at)); }

    /// Calls `visit(key, value)` as `key_value_transaction::scan` does.
    template <class Visit>
    void scan(std::string_view first, const key& end, std::size_t rows_max, Visit&& visit) {
        if (rows_max != 0) checked(transaction_.scan(first, end, rows_max, visit));
    }
    /// Scans the keys that begin with `prefix` like the function above.
    template <class Visit>
    void scan(const key& prefix, std::size_t rows_max, Visit&& visit) {
        scan(prefix, prefix.end(), rows_max, visit);
    }
    [[nodiscard]] std::size_t count(const key& prefix, std::size_t rows_max = all_rows) {
        std::size_t found = 0;
        scan(prefix, rows_max, [&](std::string_view, std::string_view) { return ++found, true; });
        return found;
    }
    /// The ids or digests at the ends of the keys that begin with `prefix`, in order.
    template <class Id>
    [[nodiscard]] std::vector<Id> ids(const key& prefix, std::size_t rows_max = all_rows) {
        std::vector<Id> found;
        scan(prefix, rows_max, [&](std::string_view at, std::string_view) {
            if (const auto id = id_of<Id>(last_number(at))) found.push_back(*id);
            return true;
        });
        return found;
    }
    [[nodiscard]] std::vector<digest> digests(const key& first, const key& end, std::size_t rows_max = all_rows) {
        std::vector<digest> found;
        scan(first, end, rows_max, [&](std::string_view at, std::string_view) { return found.push_back(last_digest(at)), true; });
        return found;
    }
    [[nodiscard]] std::vector<digest> digests(const key& prefix, std::size_t rows_max = all_rows) {
        return digests(prefix, prefix.end(), rows_max);
    }

    /// The next id of a table. Ids are never used again.
    template <class Id>
    [[nodiscard]] Id next_id(table of) {
        const key counter = key{table::counters}.of(of);
        const auto next = id_of<Id>(number(counter) + 1);
        if (!next) throw_damaged(counter);
        put(counter, number_value{*next});
        return *next;
    }
    /// Adds to the number of a key; at 0 the key is erased.
    std::uint64_t add(const key& at, std::int64_t change) {
        const std::uint64_t sum = number(at) + static_cast<std::uint64_t>(change);
        if (sum == 0) erase(at);
        else put(at, number_value{sum});
        return sum;
    }

private:
    template <class T>
    static T checked(result<T>&& done) {
        if (!done) throw failed{std::move(done).error()};
        if constexpr (!std::is_void_v<T>) return *std::move(done);
    }

    static constexpr std::size_t buffer_bytes = 511;  // of nearly all records

    key_value_transaction_ref transaction_;
    const memory_settings* bounds_;
    std::string buffer_;  // of the record that is read or written; its memory is used again
};

/// Runs the work of a verb, `work(rows&)`, in a transaction that `begin` begins. Returns what the last run of the work returned, or an
/// error.
template <class Begin, class Work>
[[nodiscard]] auto run(Begin begin, const memory_settings* bounds, Work& work) noexcept
    -> detail::as_result<std::invoke_result_t<Work&, rows&>> {
    using done = detail::as_result<std::invoke_result_t<Work&, rows&>>;
    return detail::without_exceptions([&]() -> done {
        std::optional<done> outcome;
        const auto guarded = [&](key_value_transaction_ref transaction) noexcept -> result<void> {
            try {
                rows all{transaction, bounds};
                if constexpr (std::is_void_v<std::invoke_result_t<Work&, rows&>>) {
                    work(all);
                    outcome.emplace();
                } else {
                    outcome.emplace(work(all));
                }
            } catch (failed& failure) {
                return std::move(failure.reason);
            } catch (...) {
                return detail::out_of_resources();
            }
            if (!*outcome) return outcome->error();
            return {};
        };
        if (auto committed = begin(guarded); !committed) return std::move(committed).error();
        return *std::move(outcome);
    });
}
/// Runs work that changes rows.
template <class Work>
[[nodiscard]] auto change(const bounded_store_ref& database, Work work) noexcept {
    return run([&](key_value_work guarded) { return database.transact(guarded); }, database.bounds(), work);
}
/// Runs work that only reads rows.
template <class Work>
[[nodiscard]] auto read(const bounded_store_ref& database, Work work) noexcept {
    return run([&](key_value_work guarded) { return database.read(guarded); }, database.bounds(), work);
}

/// Runs `step(rows&)`, which returns true while more work is left, in one transaction after another, so that no transaction is long. What
/// is left after a failure is done by the next call, or by a sweep.
template <class Step>
[[nodiscard]] result<void> change_in_steps(const bounded_store_ref& database, Step step) noexcept {
    for (;;) {
        const result<bool> more = change(database, step);
        if (!more) return more.error();
        if (!*more) return {};
    }
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_ROWS_HPP
