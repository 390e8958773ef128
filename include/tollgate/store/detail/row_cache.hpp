#pragma once
#ifndef TOLLGATE_STORE_DETAIL_ROW_CACHE_HPP
#define TOLLGATE_STORE_DETAIL_ROW_CACHE_HPP

#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/base/lookup.hpp>
#include <tollgate/base/result.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <shared_mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

namespace detail {

/// A lock for many readers or one writer. No caller waits for long: one that does not get the lock proceeds without the cache.
/// A writer blocks new readers until the present readers have left, so that readers cannot starve it.
class row_guard {
public:
    [[nodiscard]] bool try_lock_shared() noexcept {
        if ((state_.fetch_add(1, std::memory_order_acquire) & writer) == 0) [[likely]]
            return true;
        state_.fetch_sub(1, std::memory_order_relaxed);
        return false;
    }
    void unlock_shared() noexcept { state_.fetch_sub(1, std::memory_order_release); }

    [[nodiscard]] bool try_lock() noexcept {
        if ((state_.fetch_or(writer, std::memory_order_acquire) & writer) != 0) return false;
        for (int checks = 0; checks < checks_max; ++checks)
            if (state_.load(std::memory_order_acquire) == writer) return true;
        unlock();
        return false;
    }
    void unlock() noexcept { state_.fetch_and(~writer, std::memory_order_release); }

private:
    static constexpr std::uint32_t writer = 1U << 31;
    static constexpr int checks_max = 2000;  // microseconds: readers copy at most a kilobyte

    std::atomic<std::uint32_t> state_ = 0;  // the number of readers, and whether there is a writer
};

}  // namespace detail

/// Caches rows, and returns each as long as `Changes` says that it is valid. Also caches that there is no row.
///
/// Bounded: `entries_max` in total, in sets of four; memory for an entry is allocated on first use. Only one of a set's
/// four slots may contain "no row", so that invented keys never evict existing rows. Of the other three slots, the
/// first invalid one is replaced, or else the first that was not used since the last pass (second chance).
///
/// A hit needs no memory and no lock that excludes other readers. A call that meets a writer in its set queries instead
/// of waiting, and does not cache the result.
///
/// `Key`: anything `keyed_hash` takes, with `==`. `Value`: copies without throwing. `Changes`:
///
///     using mark = ...;                                     // when something was read; copies without throwing
///     std::optional<mark> read() const noexcept;            // now; none: what is remembered cannot be relied on now
///     bool holds(const mark& stored, const mark& now, std::size_t hash, const Key&, const std::optional<Value>&) const;
///                                                           // whether what was read at `stored` is right at `now`
///
/// One whose marks expire by themselves may also have `read_ahead`: `read` at a slightly later time, for callers that
/// check first and fetch the row shortly after.
///
/// A mark is taken BEFORE the query, so that a concurrent change can only make a valid row look invalid, never the
/// reverse. Models: `sqlite::change_stamp`, `cache_invalidation_feed`. Thread rule: any thread.
template <class Key, class Value, class Changes>
class row_cache {
    using mark = typename Changes::mark;
    static_assert(std::is_nothrow_copy_constructible_v<Key> && std::is_nothrow_copy_assignable_v<Key>);
    static_assert(std::is_nothrow_copy_constructible_v<Value> && std::is_nothrow_copy_assignable_v<Value>);
    static_assert(std::is_nothrow_copy_constructible_v<mark> && std::is_nothrow_copy_assignable_v<mark>);

public:
    using found_row = result<std::optional<Value>>;

    /// `entries_max` is rounded up to four times a power of two; 0: every call queries.
    row_cache(const Changes& changes, std::size_t entries_max)
        : changes_{&changes},
          sets_(entries_max == 0 ? 0 : std::bit_ceil((entries_max + slots_per_set - 1) / slots_per_set)) {}

    /// What `query()` (a `found_row`) returns, or returned before if that is still valid. Errors are not cached.
    template <class Query>
    [[nodiscard]] found_row find(const Key& key, Query&& query);
    /// What `find` would return now without a query; unknown if it would query.
    [[nodiscard]] lookup<Value> cached(const Key& key) const noexcept;

    /// How many lookups were answered from memory, and how many could not be; neither, if the cache is off.
    [[nodiscard]] std::uint64_t hits() const noexcept { return sum(&guard::hits); }
    [[nodiscard]] std::uint64_t misses() const noexcept { return sum(&guard::misses); }

    /// The hash by which `Changes` identifies this key.
    [[nodiscard]] std::size_t hash_of(const Key& key) const noexcept { return hash_(key); }

private:
    static constexpr std::size_t slots_per_set = 4;
    static constexpr std::size_t none_slot = slots_per_set - 1;
    static constexpr std::size_t guard_count = 64;  // a power of two, more than there are cores

    struct entry {
        entry(const mark& read_at, const Key& looked_up, const std::optional<Value>& row) noexcept
            : stored{read_at}, key{looked_up}, value{row} {}

        mark stored;
        Key key;
        std::optional<Value> value;
        std::atomic<bool> was_requested = false;
    };
    struct slot {
        std::size_t hash = 0;
        std::unique_ptr<entry> held;
    };
    struct set {
        std::array<slot, slots_per_set> entries;  // one cache line: a miss touches nothing else
    };
    /// Guards every 64th set.
    struct alignas(64) guard {
        detail::row_guard lock;
        std::size_t evictions = 0;  // where the search for a victim starts
        std::atomic<std::uint64_t> hits = 0;  // in the line that a reader has written to already
        std::atomic<std::uint64_t> misses = 0;
    };
    [[nodiscard]] std::uint64_t sum(std::atomic<std::uint64_t> guard::*counter) const noexcept {
        std::uint64_t all = 0;
        for (const guard& each : guards_) all += (each.*counter).load(std::memory_order_relaxed);
        return all;
    }

    [[nodiscard]] set& set_of(std::size_t hash) noexcept { return sets_[hash & (sets_.size() - 1)]; }
    [[nodiscard]] const set& set_of(std::size_t hash) const noexcept { return sets_[hash & (sets_.size() - 1)]; }
    [[nodiscard]] guard& guard_of(std::size_t hash) const noexcept {
        return guards_[hash & (sets_.size() - 1) & (guard_count - 1)];
    }
    [[nodiscard]] bool holds(const slot& each, const mark& now) const noexcept {
        return changes_->holds(each.held->stored, now, each.hash, each.held->key, each.held->value);
    }

    [[nodiscard]] lookup<Value> cached(std::size_t hash, const mark& now, const Key& key) const noexcept;
    void keep(std::size_t hash, const mark& read_at, const Key& key, const std::optional<Value>& value) noexcept;
    /// The slot for it. Precondition: the set is locked.
    [[nodiscard]] slot& slot_for(std::size_t hash, const mark& now, const Key& key, bool is_row) noexcept;

    const Changes* changes_;
    detail::keyed_hash hash_;
    std::vector<set> sets_;  // a power of two, or empty
    mutable std::array<guard, guard_count> guards_;
};

template <class Key, class Value, class Changes>
template <class Query>
auto row_cache<Key, Value, Changes>::find(const Key& key, Query&& query) -> found_row {
    if (sets_.empty()) return query();
    const auto now = changes_->read();
    if (!now) return query();

    const std::size_t hash = hash_(key);
    if (auto known = cached(hash, *now, key); !known.is_unknown()) return std::move(known).found();
    guard_of(hash).misses.fetch_add(1, std::memory_order_relaxed);
    found_row found = query();
    if (found) keep(hash, *now, key, *found);
    return found;
}

template <class Key, class Value, class Changes>
lookup<Value> row_cache<Key, Value, Changes>::cached(const Key& key) const noexcept {
    if (sets_.empty()) return lookup<Value>::unknown();
    const auto soon = [this] {
        if constexpr (requires { changes_->read_ahead(); }) return changes_->read_ahead();
        else return changes_->read();
    }();
    if (!soon) return lookup<Value>::unknown();
    return cached(hash_(key), *soon, key);
}

template <class Key, class Value, class Changes>
lookup<Value> row_cache<Key, Value, Changes>::cached(std::size_t hash, const mark& now, const Key& key) const noexcept {
    const std::shared_lock lock{guard_of(hash).lock, std::try_to_lock};
    if (!lock.owns_lock()) return lookup<Value>::unknown();
    for (const slot& each : set_of(hash).entries) {
        if (each.held == nullptr || each.hash != hash || !(each.held->key == key) || !holds(each, now)) continue;
        // Checked first: a cache line without writes stays shared by all cores.
        if (!each.held->was_requested.load(std::memory_order_relaxed))
            each.held->was_requested.store(true, std::memory_order_relaxed);
        guard_of(hash).hits.fetch_add(1, std::memory_order_relaxed);
        return each.held->value ? lookup<Value>::hit(*each.held->value) : lookup<Value>::miss();
    }
    return lookup<Value>::unknown();
}

template <class Key, class Value, class Changes>
void row_cache<Key, Value, Changes>::keep(std::size_t hash, const mark& read_at, const Key& key,
                                          const std::optional<Value>& value) noexcept {
    const std::unique_lock lock{guard_of(hash).lock, std::try_to_lock};
    if (!lock.owns_lock()) return;
    slot& chosen = slot_for(hash, read_at, key, value.has_value());
    if (chosen.held != nullptr) {
        chosen.held->stored = read_at;
        chosen.held->key = key;
        chosen.held->value = value;
        chosen.held->was_requested.store(false, std::memory_order_relaxed);
    } else {
        chosen.held.reset(new (std::nothrow) entry{read_at, key, value});  // out of memory: queried again next time
    }
    chosen.hash = hash;
}

template <class Key, class Value, class Changes>
auto row_cache<Key, Value, Changes>::slot_for(std::size_t hash, const mark& now, const Key& key, bool is_row) noexcept
    -> slot& {
    auto& entries = set_of(hash).entries;
    if (!is_row) return entries[none_slot];
    // Slots fill from the left, so an existing slot of this key is found before an empty one.
    for (std::size_t i = 0; i < none_slot; ++i)
        if (entries[i].held == nullptr || (entries[i].hash == hash && entries[i].held->key == key)) return entries[i];
    for (std::size_t i = 0; i < none_slot; ++i)
        if (!holds(entries[i], now)) return entries[i];
    auto& evictions = guard_of(hash).evictions;
    for (std::size_t i = 0; i < none_slot; ++i) {
        slot& each = entries[evictions++ % none_slot];
        if (!each.held->was_requested.exchange(false, std::memory_order_relaxed)) return each;
    }
    return entries[evictions++ % none_slot];
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_ROW_CACHE_HPP
