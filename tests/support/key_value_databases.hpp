#pragma once

#include <tollgate/contract/key_value_store.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Databases for tests of what is built on a key_value_store: a map, one that runs work again, and one that fails.

namespace tollgate_test {

/// The rows of a database, and their changes in a transaction.
using rows_by_key = std::map<std::string, std::string, std::less<>>;

/// Calls `visit` for a range of a map, as `key_value_transaction::scan` does.
inline void visit_range(const rows_by_key& rows, std::string_view first, std::string_view end, std::size_t rows_max,
                        const tollgate::key_value_visitor& visit) {
    for (auto row = rows.lower_bound(first); row != rows.end() && row->first < end && rows_max-- != 0; ++row)
        if (!visit(row->first, row->second)) return;
}

/// A map with one lock. A transaction that fails is undone.
class map_database {
public:
    static constexpr bool blocking = false;

    class transaction {
    public:
        explicit transaction(rows_by_key& rows) : rows_{rows} {}

        tollgate::result<bool> get(std::string_view key, std::string& value) const {
            const auto found = rows_.find(key);
            if (found != rows_.end()) value = found->second;
            return found != rows_.end();
        }
        tollgate::result<void> put(std::string_view key, std::string_view value) {
            remember(key);
            rows_.insert_or_assign(std::string{key}, std::string{value});
            return {};
        }
        tollgate::result<void> erase(std::string_view key) {
            remember(key);
            if (const auto found = rows_.find(key); found != rows_.end()) rows_.erase(found);
            return {};
        }
        tollgate::result<void> scan(std::string_view first, std::string_view end, std::size_t rows_max,
                                    tollgate::key_value_visitor visit) const {
            visit_range(rows_, first, end, rows_max, visit);
            return {};
        }
        void undo() {
            for (auto& [key, value] : before_)
                if (value) rows_.insert_or_assign(key, *std::move(value));
                else rows_.erase(key);
        }

    private:
        void remember(std::string_view key) {
            if (before_.contains(key)) return;
            const auto found = rows_.find(key);
            before_.emplace(key, found == rows_.end() ? std::nullopt : std::optional{found->second});
        }

        rows_by_key& rows_;
        std::map<std::string, std::optional<std::string>, std::less<>> before_;
    };

    tollgate::result<void> transact(tollgate::key_value_work work) {
        const std::scoped_lock lock{mutex_};
        transaction run{rows_};
        auto done = work(run);
        if (!done) run.undo();
        return done;
    }
    tollgate::result<void> read(tollgate::key_value_work work) {
        const std::scoped_lock lock{mutex_};
        transaction run{rows_};
        return work(run);
    }

    /// A copy of all rows.
    [[nodiscard]] rows_by_key rows() {
        const std::scoped_lock lock{mutex_};
        return rows_;
    }
    void set_rows(rows_by_key rows) {
        const std::scoped_lock lock{mutex_};
        rows_ = std::move(rows);
    }

private:
    std::mutex mutex_;
    rows_by_key rows_;
};

/// A database without locks during the work, as FoundationDB or RocksDB: a run sees a snapshot, and its commit fails if a row or a range
/// that it has read has changed since. Then the work runs again. It is possible to run each work twice, so that only pure work passes.
class optimistic_database {
public:
    static constexpr bool blocking = false;

    explicit optimistic_database(bool runs_twice = false) : runs_twice_{runs_twice} {}

    tollgate::result<void> transact(tollgate::key_value_work work) {
        if (runs_twice_) {
            transaction thrown_away{snapshot()};
            static_cast<void>(work(thrown_away));
        }
        for (;;) {
            transaction run{snapshot()};
            if (auto done = work(run); !done) return done;
            if (commit(run)) return {};
            ++conflicts_;
        }
    }
    tollgate::result<void> read(tollgate::key_value_work work) {
        transaction run{snapshot()};
        return work(run);
    }
    [[nodiscard]] std::uint64_t conflicts() const noexcept { return conflicts_; }

private:
    using shared_rows = std::shared_ptr<const rows_by_key>;

    struct transaction {
        explicit transaction(shared_rows snapshot) : before{std::move(snapshot)}, now{*before} {}

        tollgate::result<bool> get(std::string_view key, std::string& value) {
            ranges.emplace_back(key, std::string{key} + '\0');
            const auto found = now.find(key);
            if (found != now.end()) value = found->second;
            return found != now.end();
        }
        tollgate::result<void> put(std::string_view key, std::string_view value) {
            changes.insert_or_assign(std::string{key}, std::string{value});
            now.insert_or_assign(std::string{key}, std::string{value});
            return {};
        }
        tollgate::result<void> erase(std::string_view key) {
            changes.insert_or_assign(std::string{key}, std::nullopt);
            now.erase(std::string{key});
            return {};
        }
        tollgate::result<void> scan(std::string_view first, std::string_view end, std::size_t rows_max, tollgate::key_value_visitor visit) {
            std::string seen_until{end};  // the rows behind the last one that was visited do not matter
            std::size_t left = rows_max;
            visit_range(now, first, end, rows_max, [&](std::string_view key, std::string_view value) {
                const bool goes_on = visit(key, value);
                if (!goes_on || --left == 0) seen_until = std::string{key} + '\0';
                return goes_on;
            });
            ranges.emplace_back(first, seen_until);
            return {};
        }

        shared_rows before;
        rows_by_key now;
        std::map<std::string, std::optional<std::string>> changes;
        std::vector<std::pair<std::string, std::string>> ranges;  // which were read
    };

    shared_rows snapshot() {
        const std::scoped_lock lock{mutex_};
        return rows_;
    }
    bool commit(transaction& run) {
        if (run.changes.empty()) return true;
        const std::scoped_lock lock{mutex_};
        if (rows_ != run.before)
            for (const auto& [first, end] : run.ranges)
                if (!std::equal(rows_->lower_bound(first), rows_->lower_bound(end), run.before->lower_bound(first),
                                run.before->lower_bound(end)))
                    return false;
        auto changed = std::make_shared<rows_by_key>(*rows_);
        for (auto& [key, value] : run.changes)
            if (value) changed->insert_or_assign(key, *std::move(value));
            else changed->erase(key);
        rows_ = std::move(changed);
        return true;
    }

    const bool runs_twice_;
    std::atomic<std::uint64_t> conflicts_{0};
    std::mutex mutex_;
    shared_rows rows_ = std::make_shared<const rows_by_key>();
};

/// A map whose nth get, put, erase, scan or commit fails, and changes nothing; or whose commit succeeds with an unknown outcome.
class failing_database {
public:
    static constexpr bool blocking = false;

    /// The nth operation from now on fails, counted from 1; 0: none.
    void fail_at(long nth) noexcept { left_ = nth; }
    /// The next commit takes effect and is reported as unknown.
    void lose_next_outcome() noexcept { loses_outcome_ = true; }
    /// Returns true if the operation of `fail_at` has failed.
    [[nodiscard]] bool has_failed() const noexcept { return left_ < 0; }

    tollgate::result<void> transact(tollgate::key_value_work work) {
        auto done = rows_.transact([&](tollgate::key_value_transaction_ref transaction) -> tollgate::result<void> {
            operations counted{*this, transaction};
            auto worked = work(counted);
            if (worked && fails()) return failure();  // the commit
            return worked;
        });
        if (done && loses_outcome_.exchange(false)) return failure();
        return done;
    }
    tollgate::result<void> read(tollgate::key_value_work work) {
        return rows_.read([&](tollgate::key_value_transaction_ref transaction) -> tollgate::result<void> {
            operations counted{*this, transaction};
            return work(counted);
        });
    }
    [[nodiscard]] rows_by_key rows() { return rows_.rows(); }
    void set_rows(rows_by_key rows) { rows_.set_rows(std::move(rows)); }

private:
    struct operations {
        failing_database& database;
        tollgate::key_value_transaction_ref rows;

        tollgate::result<bool> get(std::string_view key, std::string& value) const {
            if (database.fails()) return failure();
            return rows.get(key, value);
        }
        tollgate::result<void> put(std::string_view key, std::string_view value) const {
            if (database.fails()) return failure();
            return rows.put(key, value);
        }
        tollgate::result<void> erase(std::string_view key) const {
            if (database.fails()) return failure();
            return rows.erase(key);
        }
        tollgate::result<void> scan(std::string_view first, std::string_view end, std::size_t rows_max,
                                    tollgate::key_value_visitor visit) const {
            if (database.fails()) return failure();
            return rows.scan(first, end, rows_max, visit);
        }
    };

    bool fails() noexcept {
        if (left_ > 0 && --left_ == 0) left_ = -1;
        else return false;
        return true;
    }
    static tollgate::error failure() { return tollgate::unavailable("the database failed"); }

    map_database rows_;
    std::atomic<long> left_{0};
    std::atomic<bool> loses_outcome_{false};
};

}  // namespace tollgate_test
