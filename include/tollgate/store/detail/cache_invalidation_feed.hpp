#pragma once

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

struct cache_invalidation_feed_settings {
    using steady = std::chrono::steady_clock;

    /// For how long a row is given out again, where nothing is heard of it. Zero: never.
    milliseconds row_lifetime{30'000};
    /// The same for "there is no such row". That there is one now is heard from nobody, for rows are made all the time:
    /// it has to be well below what may pass until a new one is seen everywhere.
    milliseconds none_lifetime{500};
    steady::time_point (*now)() noexcept = &steady::now;
};

/// What has been heard of changes to rows, made here and elsewhere, for `row_cache`: whether what was read once is still
/// right. Whoever hears of changes (`postgres::listener`, or an integrator's own feed) tells it three things:
///
/// 1. `forget...`, for each change that was heard. Whose row it was is enough: all rows of one user are forgotten
///    together, in constant time. Whoever makes a change here says so here, too, after it is committed and before they
///    return.
/// 2. `forget_all`, where something may have been missed.
/// 3. `trust_until`, again and again: until when it can be relied on that everything has been heard. When that has
///    passed, nothing is given out until it is said again.
///
/// **The bound.** Say at a moment `t` the feed asks for a sign of life, and with it comes all that was committed before
/// `t`. If, once that is told, it calls `trust_until(t + d)`, then a row that was changed at a moment `c` is given out
/// no later than `c + d`, whatever fails: what was promised before the change was heard was promised for at most `c + d`,
/// because the sign of life was asked for before `c`; and what is promised after it was heard does no harm, because the
/// row is forgotten. It does not matter how often the feed asks, nor how long answers take. The clock is the steady one,
/// which nobody sets.
///
/// **The race.** Each change has a number, counted here. A row is kept with the number that was last when its query
/// began, and is right as long as no change of its key, of its user, or of everything has a higher one. So a row that
/// was read before a change and kept after it was heard is forgotten already.
///
/// Keys and users share 4,096 numbers by their hashes: those who meet are forgotten together, which costs a query.
///
/// Thread rule: any thread; each call takes nanoseconds, and none waits.
class cache_invalidation_feed {
public:
    using steady = std::chrono::steady_clock;
    struct mark {
        std::uint64_t changes;  ///< how many had been heard
        steady::time_point at;
    };

    explicit cache_invalidation_feed(const cache_invalidation_feed_settings& settings = {})
        : settings_{settings}, last_of_{std::make_unique<std::atomic<std::uint64_t>[]>(places)} {}
    cache_invalidation_feed(const cache_invalidation_feed&) = delete;
    cache_invalidation_feed& operator=(const cache_invalidation_feed&) = delete;

    /// None while nothing can be relied on.
    [[nodiscard]] std::optional<mark> read() const noexcept { return read_at(settings_.now()); }
    /// What `read` will say for a while, if nothing is heard meanwhile.
    [[nodiscard]] std::optional<mark> read_ahead() const noexcept { return read_at(settings_.now() + ahead); }

    /// `Row`: keyed by a `user_id`, or with a member `user`.
    template <class Key, class Row>
    [[nodiscard]] bool holds(const mark& kept, const mark& now, std::size_t hash, const Key& key,
                             const std::optional<Row>& row) const noexcept {
        const auto lifetime = row ? settings_.row_lifetime : settings_.none_lifetime;
        if (now.at - kept.at >= lifetime) return false;
        if (all_.load(std::memory_order_acquire) > kept.changes || last_of(hash) > kept.changes) return false;
        if (!row) return true;
        if constexpr (std::is_same_v<Key, user_id>) return last_of(hash_of(key)) <= kept.changes;
        else return last_of(hash_of(row->user)) <= kept.changes;
    }

    void forget(user_id of) noexcept { forget_key(hash_of(of)); }
    /// As `row_cache::hash_of` says.
    void forget_key(std::size_t hash) noexcept { raise(last_of_[hash % places], next()); }
    void forget_all() noexcept { raise(all_, next()); }

    void trust_until(steady::time_point then) noexcept {
        trusted_until_.store(then.time_since_epoch().count(), std::memory_order_release);
    }
    void trust_no_more() noexcept { trust_until((steady::time_point::min)()); }

private:
    /// Longer than a thread is away from its core, as a rule, and short beside what a row is given out for.
    static constexpr milliseconds ahead{20};

    [[nodiscard]] std::optional<mark> read_at(steady::time_point now) const noexcept {
        // First whether, then what: what was heard before the promise is seen by whoever sees the promise.
        if (now.time_since_epoch().count() >= trusted_until_.load(std::memory_order_acquire)) return std::nullopt;
        return mark{changes_.load(std::memory_order_acquire), now};
    }

    static constexpr std::size_t places = 4096;  // 32 KiB; at 100 changes a second each is met about every 40 s

    [[nodiscard]] static std::size_t hash_of(user_id user) noexcept {
        // Users are numbered one after the other: the upper half of a product with 2^64 / phi spreads them.
        return static_cast<std::size_t>((static_cast<std::uint64_t>(user.value()) * 0x9e37'79b9'7f4a'7c15U) >> 32);
    }
    [[nodiscard]] std::uint64_t last_of(std::size_t hash) const noexcept {
        return last_of_[hash % places].load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint64_t next() noexcept { return changes_.fetch_add(1, std::memory_order_acq_rel) + 1; }
    /// Of two that come at once the higher stays.
    static void raise(std::atomic<std::uint64_t>& last, std::uint64_t to) noexcept {
        std::uint64_t seen = last.load(std::memory_order_relaxed);
        while (seen < to && !last.compare_exchange_weak(seen, to, std::memory_order_acq_rel)) {
        }
    }

    const cache_invalidation_feed_settings settings_;
    std::atomic<std::uint64_t> changes_{0};
    std::atomic<std::uint64_t> all_{0};
    std::atomic<steady::rep> trusted_until_{(steady::time_point::min)().time_since_epoch().count()};
    std::unique_ptr<std::atomic<std::uint64_t>[]> last_of_;
};

}  // namespace tollgate
