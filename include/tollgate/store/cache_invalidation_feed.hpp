#pragma once
#ifndef TOLLGATE_STORE_CACHE_INVALIDATION_FEED_HPP
#define TOLLGATE_STORE_CACHE_INVALIDATION_FEED_HPP

#include <tollgate/base/detail/system/boot_clock.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/time.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

namespace tollgate::inline v0 {

/// How long `cache_invalidation_feed` lets rows be returned, and its clock.
struct cache_invalidation_feed_settings {
    /// The clock, which cannot be set.
    using steady = std::chrono::steady_clock;

    /// The time for which a row is returned without news of it. Zero: never.
    milliseconds row_lifetime{30'000};
    /// The time for which "no such row" is returned. New rows are not announced, because they are created all the time, so this must be
    /// well below the time in which a new row has to be visible everywhere.
    milliseconds none_lifetime{500};
    /// Returns the current time. The default clock continues while the machine is suspended.
    steady::time_point (*now)() noexcept = &detail::boot_now;
};

/// Collects changes to rows, made by this process and by others, for `row_cache`: it tells whether a cached row is
/// still valid. The source of the changes (`postgres::listener`, or an integrator's own) calls three functions:
///
/// 1. `forget...` for each change. The user whose row it is suffices: all rows of one user are invalidated together, in
///    constant time. Code that makes a change in this process also calls it, after the commit and before it returns.
/// 2. `forget_all` when changes may have been missed.
/// 3. `trust_until`, repeatedly: until when the received changes can be assumed to be complete. After that time no cached
///    row is returned until it is called again.
///
/// **The bound.** Suppose that at time `t` the source sends a request to the server, and that all changes committed
/// before `t` arrive before the response. If it then calls `trust_until(t + d)`, a row changed at time `c` is returned
/// no later than `c + d`, even after failures: trust granted before the change arrived ends by `c + d`, because its request
/// was sent before `c`; trust granted afterwards does no harm, because the row has been invalidated. Neither the rate
/// of requests nor the time that responses take matters. The clock cannot be set, and continues while the
/// machine is suspended.
///
/// **The race.** Changes are numbered here. A row is cached with the last number before its query, and is valid while
/// no change of its key, its user, or everything has a higher number. A row that was read before a change and cached
/// after the change arrived is therefore invalid from the start.
///
/// Keys and users share 4,096 numbers by hash. Those that collide are invalidated together, which costs a query.
///
/// Thread rule: any thread; each call takes nanoseconds and does not wait.
class cache_invalidation_feed {
public:
    /// The clock, which cannot be set.
    using steady = std::chrono::steady_clock;
    /// A moment: a row that was cached at one is valid while `holds` returns true.
    struct mark {
        std::uint64_t changes;  ///< the number of changes received so far
        steady::time_point at;  ///< the time
    };

    /// Constructs a feed that trusts nothing until `trust_until` is called.
    explicit cache_invalidation_feed(const cache_invalidation_feed_settings& settings = {})
        : settings_{settings}, last_of_{std::make_unique<std::atomic<std::uint64_t>[]>(places)} {}
    cache_invalidation_feed(const cache_invalidation_feed&) = delete;
    cache_invalidation_feed& operator=(const cache_invalidation_feed&) = delete;

    /// The result is empty while nothing can be trusted.
    [[nodiscard]] std::optional<mark> read() const noexcept { return read_at(settings_.now()); }
    /// What `read` will return for the next moments if no change arrives.
    [[nodiscard]] std::optional<mark> read_ahead() const noexcept { return read_at(settings_.now() + ahead); }

    /// Returns whether a row that was cached at `stored` may be returned at `now`. `Row` has a `user_id` as key, or a member `user`.
    template <class Key, class Row>
    [[nodiscard]] bool holds(const mark& stored, const mark& now, std::size_t hash, const Key& key,
                             const std::optional<Row>& row) const noexcept {
        const auto lifetime = row ? settings_.row_lifetime : settings_.none_lifetime;
        // Computed in milliseconds: in the clock's unit, a long lifetime could overflow.
        if (std::chrono::floor<milliseconds>(now.at - stored.at) >= lifetime) return false;
        if (all_.load(std::memory_order_acquire) > stored.changes || last_of(hash) > stored.changes) return false;
        if (!row) return true;
        if constexpr (std::is_same_v<Key, user_id>) return last_of(hash_of(key)) <= stored.changes;
        else return last_of(hash_of(row->user)) <= stored.changes;
    }

    /// Invalidates all rows of a user.
    void forget(user_id user) noexcept { forget_key(hash_of(user)); }
    /// Invalidates the row of a key. `hash` is `row_cache::hash_of` of the key.
    void forget_key(std::size_t hash) noexcept { raise(last_of_[hash % places], next()); }
    /// Invalidates all rows.
    void forget_all() noexcept { raise(all_, next()); }

    /// Sets the time until which the received changes can be assumed to be complete.
    void trust_until(steady::time_point then) noexcept {
        trusted_until_.store(then.time_since_epoch().count(), std::memory_order_release);
    }
    /// Lets no cached row be returned until `trust_until` is called again.
    void trust_no_more() noexcept { trust_until((steady::time_point::min)()); }

private:
    /// Longer than threads are usually interrupted, and short compared with the lifetime of a row.
    static constexpr milliseconds ahead{20};

    [[nodiscard]] std::optional<mark> read_at(steady::time_point now) const noexcept {
        // Check trust first: a thread that sees it also sees the changes that arrived before it was granted.
        if (now.time_since_epoch().count() >= trusted_until_.load(std::memory_order_acquire)) return std::nullopt;
        return mark{changes_.load(std::memory_order_acquire), now};
    }

    static constexpr std::size_t places = 4096;  // 32 KiB; at 100 changes a second each is hit about every 40 s

    [[nodiscard]] static std::size_t hash_of(user_id user) noexcept {
        // User ids are consecutive; multiplicative hashing (2^64 / phi) spreads them.
        return (static_cast<std::uint64_t>(user.value()) * 0x9e37'79b9'7f4a'7c15U) >> 32;
    }
    [[nodiscard]] std::uint64_t last_of(std::size_t hash) const noexcept {
        return last_of_[hash % places].load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint64_t next() noexcept { return changes_.fetch_add(1, std::memory_order_acq_rel) + 1; }
    /// Sets `last` to the higher of both.
    static void raise(std::atomic<std::uint64_t>& last, std::uint64_t to) noexcept {
        std::uint64_t current = last.load(std::memory_order_relaxed);
        while (current < to && !last.compare_exchange_weak(current, to, std::memory_order_acq_rel)) {
        }
    }

    const cache_invalidation_feed_settings settings_;
    std::atomic<std::uint64_t> changes_{0};
    std::atomic<std::uint64_t> all_{0};
    std::atomic<steady::rep> trusted_until_{(steady::time_point::min)().time_since_epoch().count()};
    std::unique_ptr<std::atomic<std::uint64_t>[]> last_of_;
};

}  // namespace tollgate

#endif  // TOLLGATE_STORE_CACHE_INVALIDATION_FEED_HPP
