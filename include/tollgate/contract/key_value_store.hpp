#pragma once
#ifndef TOLLGATE_CONTRACT_KEY_VALUE_STORE_HPP
#define TOLLGATE_CONTRACT_KEY_VALUE_STORE_HPP

#include <tollgate/base/blocking.hpp>
#include <tollgate/base/detail/function_ref.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/detail/member_names.hpp>
#include <tollgate/contract/detail/reference.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// Receives rows: `visit(key, value)`. The views are valid until it returns. It returns false if it wants no more rows. It may throw, and
/// must not use the transaction.
using key_value_visitor = detail::function_ref<bool(std::string_view key, std::string_view value)>;

/// The rows of a database during one run of `transact` or `read`.
///
/// Keys have 1 to `limits::store_key_bytes_max` bytes of any value and are ordered as unsigned bytes (`std::string_view` compares in this
/// way). Values have 0 to `limits::store_value_bytes_max` bytes. The arguments are valid until the call returns. Thread rule: only the
/// thread that runs the work uses it. Errors: unavailable, or internal for damage; the work then returns the error. Nothing should be
/// thrown; an exception ends as an error of the verb.
template <class T>
concept key_value_transaction = requires(T& transaction, std::string_view key, std::string& value, std::string_view new_value,
                                         std::string_view first, std::string_view end, std::size_t rows_max, key_value_visitor visit) {
    // Copies the value of `key` into `value` and returns true. Returns false if there is no such key; `value` then has any content. The
    // transaction's own changes are visible.
    { transaction.get(key, value) } -> std::same_as<result<bool>>;
    // Sets the value of a key, whether the key existed or not. Not called in `read`.
    { transaction.put(key, new_value) } -> std::same_as<result<void>>;
    // Removes a key. Succeeds if there is no such key. Not called in `read`.
    { transaction.erase(key) } -> std::same_as<result<void>>;
    // Calls `visit(key, value)` for the rows with first <= key < end, in ascending order, until it returns false or has been called
    // `rows_max` times. The transaction's own changes are visible. Reads lazily: `rows_max` may be far larger than the number of rows
    // needed.
    { transaction.scan(first, end, rows_max, visit) } -> std::same_as<result<void>>;
};

namespace detail {

struct key_value_transaction_calls {
    result<bool> (*get)(void*, std::string_view, std::string&);
    result<void> (*put)(void*, std::string_view, std::string_view);
    result<void> (*erase)(void*, std::string_view);
    result<void> (*scan)(void*, std::string_view, std::string_view, std::size_t, key_value_visitor);
};

template <class T>
struct calls_of_key_value_transaction {
    static result<bool> get(void* object, std::string_view key, std::string& value) { return object_at<T>(object).get(key, value); }
    static result<void> put(void* object, std::string_view key, std::string_view value) { return object_at<T>(object).put(key, value); }
    static result<void> erase(void* object, std::string_view key) { return object_at<T>(object).erase(key); }
    static result<void> scan(void* object, std::string_view first, std::string_view end, std::size_t rows_max, key_value_visitor visit) {
        return object_at<T>(object).scan(first, end, rows_max, visit);
    }

    static constexpr key_value_transaction_calls table{&get, &put, &erase, &scan};
};

}  // namespace detail

/// A reference to a `key_value_transaction` of any class. The object must outlive the reference. The contract states the thread rule and
/// the errors.
class key_value_transaction_ref : public detail::reference<detail::key_value_transaction_calls> {
public:
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, key_value_transaction_ref>
    key_value_transaction_ref(T& object) noexcept {
        static_assert(key_value_transaction<T>,
                      "tollgate: this does not satisfy key_value_transaction; read tollgate/contract/key_value_store.hpp");
        if constexpr (key_value_transaction<T>) refer_to(object, detail::calls_of_key_value_transaction<T>::table);
    }

    /// Each calls the object's function of this name; see `key_value_transaction`.
    [[nodiscard]] result<bool> get(std::string_view key, std::string& value) const { return calls_->get(object_, key, value); }
    [[nodiscard]] result<void> put(std::string_view key, std::string_view value) const { return calls_->put(object_, key, value); }
    [[nodiscard]] result<void> erase(std::string_view key) const { return calls_->erase(object_, key); }
    [[nodiscard]] result<void> scan(std::string_view first, std::string_view end, std::size_t rows_max, key_value_visitor visit) const {
        return calls_->scan(object_, first, end, rows_max, visit);
    }
};

/// What a transaction does with the rows: `work(transaction)` with an object of any class that is a `key_value_transaction`. It depends
/// only on what it reads, so that it can run again. It does not use the database in any other way, and throws nothing.
using key_value_work = detail::function_ref<result<void>(key_value_transaction_ref)>;

/// A database with transactions of get, put, erase and scan. `record_store` (`tollgate/store/key_value.hpp`) implements all contracts of
/// stores on it, so this is all that an adapter for such a database needs.
///
/// Thread rule: callable from many threads at once; the database may run transactions at the same time or one after another. Blocking:
/// allowed. A database that does not block declares `static constexpr bool blocking = false`; see `may_block`. Errors: an `error`; nothing
/// is thrown.
///
/// Exemplar:
///
///     class copied_map {
///     public:
///         result<void> transact(key_value_work work) {
///             const std::scoped_lock lock{mutex_};
///             transaction changed = committed_;
///             auto done = work(changed);
///             if (done) committed_ = std::move(changed);
///             return done;
///         }
///         result<void> read(key_value_work work) {
///             const std::scoped_lock lock{mutex_};
///             return work(committed_);
///         }
///
///     private:
///         struct transaction {
///             result<bool> get(std::string_view key, std::string& value) {
///                 const auto found = rows.find(key);
///                 if (found != rows.end()) value = found->second;
///                 return found != rows.end();
///             }
///             result<void> put(std::string_view key, std::string_view value) {
///                 rows.insert_or_assign(std::string{key}, std::string{value});
///                 return {};
///             }
///             result<void> erase(std::string_view key) {
///                 if (const auto found = rows.find(key); found != rows.end()) rows.erase(found);
///                 return {};
///             }
///             result<void> scan(std::string_view first, std::string_view end, std::size_t rows_max, key_value_visitor visit) {
///                 for (auto row = rows.lower_bound(first); row != rows.end() && row->first < end && rows_max-- != 0; ++row)
///                     if (!visit(row->first, row->second)) break;
///                 return {};
///             }
///             std::map<std::string, std::string, std::less<>> rows;
///         };
///
///         std::mutex mutex_;
///         transaction committed_;
///     };
template <class D>
concept key_value_store = requires(D& database, key_value_work work) {
    // Runs `work(transaction)`. If it succeeds, commits its changes and returns when they are as durable as the database; if it returns an
    // error, discards its changes and returns that error. Transactions are serializable: each sees the effect of all that were committed
    // before it and nothing else. If a commit fails because of a conflict, the database runs the work again with a new transaction, but
    // only if it is certain that nothing was committed. If it is unknown whether the commit took effect, it returns error_kind::unavailable
    // and does not run the work again; the caller can repeat the verb.
    { database.transact(work) } -> std::same_as<result<void>>;
    // Runs `work(transaction)`, which only calls `get` and `scan`, on one consistent state of the rows that contains every change committed
    // before the call. Returns the result of the work. May run the work again.
    { database.read(work) } -> std::same_as<result<void>>;
};

/// A database that other processes may change at the same time, and that tells whether they did.
///
/// Optional. Several times a second, a dispatcher compares the number; without it, it learns of the events of other processes later.
template <class D>
concept shared_key_value_store = key_value_store<D> && requires(const D& database) {
    // Returns a different number after any process has committed a change. Returns an empty optional if the number cannot be determined
    // now. Never blocks, and costs almost nothing.
    { database.commits_seen() } noexcept -> std::same_as<std::optional<std::uint64_t>>;
};

namespace detail {

struct key_value_store_calls {
    result<void> (*transact)(void*, key_value_work);
    result<void> (*read)(void*, key_value_work);
    std::optional<std::uint64_t> (*commits_seen)(void*) noexcept;  // null if the database does not tell
};

template <class T>
struct calls_of_key_value_store {
    static result<void> transact(void* object, key_value_work work) { return object_at<T>(object).transact(work); }
    static result<void> read(void* object, key_value_work work) { return object_at<T>(object).read(work); }
    static std::optional<std::uint64_t> commits_seen(void* object) noexcept { return object_at<T>(object).commits_seen(); }

    static consteval key_value_store_calls make_table() {
        key_value_store_calls calls{&transact, &read, nullptr};
        if constexpr (shared_key_value_store<T>) calls.commits_seen = &commits_seen;
        return calls;
    }
    static constexpr key_value_store_calls table = make_table();
};

}  // namespace detail

/// A reference to a `key_value_store` of any class, or to no object. The object must outlive the reference. The contract states the thread
/// rule and the errors.
class key_value_store_ref : public detail::reference<detail::key_value_store_calls> {
public:
    key_value_store_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, key_value_store_ref>
    key_value_store_ref(T& object) noexcept {
        static_assert(key_value_store<T>, "tollgate: this does not satisfy key_value_store; read tollgate/contract/key_value_store.hpp");
        if constexpr (key_value_store<T>) {
            static_assert(shared_key_value_store<T> || !detail::names_commits_seen<T>,
                          "tollgate: a member named commits_seen exists, but this does not satisfy shared_key_value_store; "
                          "read tollgate/contract/key_value_store.hpp");
            refer_to(object, detail::calls_of_key_value_store<T>::table);
        }
    }

    /// Each calls the object's function of this name; see `key_value_store`.
    [[nodiscard]] result<void> transact(key_value_work work) const { return calls_->transact(object_, work); }
    [[nodiscard]] result<void> read(key_value_work work) const { return calls_->read(object_, work); }

    /// Returns true if the object is a `shared_key_value_store`.
    [[nodiscard]] bool tells_commits() const noexcept { return calls_->commits_seen != nullptr; }
    /// Calls the object's function of this name. Precondition: tells_commits().
    [[nodiscard]] std::optional<std::uint64_t> commits_seen() const noexcept { return calls_->commits_seen(object_); }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_KEY_VALUE_STORE_HPP
