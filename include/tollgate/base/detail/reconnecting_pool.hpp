#pragma once
#ifndef TOLLGATE_BASE_DETAIL_RECONNECTING_POOL_HPP
#define TOLLGATE_BASE_DETAIL_RECONNECTING_POOL_HPP

#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/detail/bounded_time.hpp>
#include <tollgate/base/detail/process_life.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The circuit breaker of a pool:
//
//   closed   connections are handed out, and opened as they are needed
//            -> open: a connection failed in a way that others share (`lease::trip`), or none could be opened and
//               there is no other one
//   open     `take` fails at once until the retry time, which backs off from 100 ms to 2 s with jitter
//            -> probing: the first `take` after the retry time
//   probing  one caller opens a connection and uses it; `take` fails at once for all others
//            -> closed: the probe returned its connection
//            -> open: it could not open one, or it closed it as broken (`lease::drop`, `lease::trip`)

namespace tollgate::inline v0::detail {

struct reconnecting_pool_settings {
    using steady = std::chrono::steady_clock;

    /// Prefix of every error message, such as "PostgreSQL".
    std::string name;
    std::size_t connections_max = 8;
    /// The number of these connections that are only for callers of `take_reserved`. Less than `connections_max`.
    std::size_t connections_reserved = 0;
    /// Without a breaker, every caller tries.
    bool has_breaker = true;
    /// True if the first caller after a `trip` probes without a pause.
    bool probes_at_once = false;
    /// Called when the breaker opens (`false`, with the reason) and when it closes. Called with the pool's lock held:
    /// must return quickly and must not use the pool.
    std::function<void(bool up, std::string_view reason)> on_state{};
    steady::time_point (*now)() noexcept = &steady::now;
};

/// The connections of one process to one server or file, opened on demand. The most recently used one is handed out first,
/// because its caches are warm. `Connection` has `bool is_sound() noexcept`: whether the connection looks usable
/// without a round trip. It is called when a connection is returned and before it is handed out again; one that is not sound is closed.
///
/// Thread rule: any thread. Blocking. Outlives its leases.
template <class Connection>
class reconnecting_pool {
public:
    using steady = std::chrono::steady_clock;
    using opener = std::function<result<std::unique_ptr<Connection>>()>;

private:
    /// How a connection is in use.
    struct usage {
        std::uint64_t generation;
        bool is_probe;
        bool is_reserved;
    };

public:
    /// A connection that is in use until the end of the scope.
    class lease {
    public:
        lease(lease&& other) noexcept
            : pool_{std::exchange(other.pool_, nullptr)},
              connection_{std::move(other.connection_)},
              usage_{other.usage_},
              since_{other.since_} {}
        lease& operator=(lease&&) = delete;
        ~lease() {
            if (pool_ == nullptr) return;
            pool_->count_call(since_);
            pool_->put(std::move(connection_), usage_);
        }

        [[nodiscard]] Connection& operator*() const noexcept { return *connection_; }
        [[nodiscard]] Connection* operator->() const noexcept { return connection_.get(); }

        /// Closes the connection because it is broken.
        void drop(std::string_view reason) noexcept { end(false, reason); }
        /// Closes this and all other connections, because they share the failure and each would delay a caller as long.
        /// Opens the breaker, unless a newer connection has shown that the server is available.
        void trip(std::string_view reason) noexcept { end(true, reason); }

    private:
        friend class reconnecting_pool;
        lease(reconnecting_pool& pool, std::unique_ptr<Connection> connection, const usage& how) noexcept
            : pool_{&pool}, connection_{std::move(connection)}, usage_{how}, since_{pool.now()} {}

        void end(bool all, std::string_view reason) noexcept {
            connection_.reset();
            if (pool_ == nullptr) return;
            pool_->count_call(since_);
            pool_->errors_.fetch_add(1, std::memory_order_relaxed);
            std::exchange(pool_, nullptr)->lose(usage_, all, reason);
        }

        reconnecting_pool* pool_;
        std::unique_ptr<Connection> connection_;
        usage usage_;
        steady::rep since_;
    };

    reconnecting_pool(reconnecting_pool_settings settings, opener open)
        : settings_{std::move(settings)}, open_{std::move(open)} {
        settings_.connections_max = (std::max)(settings_.connections_max, std::size_t{1});
        settings_.connections_reserved = (std::min)(settings_.connections_reserved, settings_.connections_max - 1);
        idle_.reserve(settings_.connections_max);  // so that returning a connection never throws
    }
    reconnecting_pool(const reconnecting_pool&) = delete;
    reconnecting_pool& operator=(const reconnecting_pool&) = delete;

    /// Takes a connection. Error (unavailable): the breaker is open, or no connection became free in time. Otherwise the error of the
    /// opener.
    [[nodiscard]] result<lease> take(milliseconds wait_max) { return take_counted(wait_max, false); }
    /// Takes a connection for a caller that may use the reserved connections, too. Errors: as for `take`.
    [[nodiscard]] result<lease> take_reserved(milliseconds wait_max) { return take_counted(wait_max, true); }

    /// Returns the counts of the connections since the pool was constructed.
    [[nodiscard]] backend_statistics statistics() const noexcept {
        const auto duration = [](const std::atomic<steady::rep>& counter) {
            return std::chrono::nanoseconds{steady::duration{counter.load(std::memory_order_relaxed)}};
        };
        return {.calls = calls_.load(std::memory_order_relaxed),
                .errors = errors_.load(std::memory_order_relaxed),
                .busy = duration(busy_),
                .waited = duration(waited_),
                .is_up = is_up()};
    }

    /// Returns true if `take` would fail at once. Takes no lock.
    [[nodiscard]] bool is_refusing() const noexcept {
        return is_open_.load(std::memory_order_acquire) &&
               (is_probing_.load(std::memory_order_relaxed) || now() < retry_at_.load(std::memory_order_relaxed));
    }
    /// Returns true if the breaker is closed, which it is at the start. Takes no lock.
    [[nodiscard]] bool is_up() const noexcept { return !is_open_.load(std::memory_order_acquire); }

private:
    struct idle_connection {
        std::unique_ptr<Connection> held;
        std::uint64_t generation;
    };

    [[nodiscard]] steady::rep now() const noexcept { return settings_.now().time_since_epoch().count(); }
    [[nodiscard]] result<lease> take_counted(milliseconds wait_max, bool is_reserved) {
        const auto start = now();
        auto taken = take_uncounted(wait_max, is_reserved);
        waited_.fetch_add(now() - start, std::memory_order_relaxed);
        if (!taken) errors_.fetch_add(1, std::memory_order_relaxed);
        return taken;
    }
    [[nodiscard]] result<lease> take_uncounted(milliseconds wait_max, bool is_reserved);
    void count_call(steady::rep since) noexcept {
        calls_.fetch_add(1, std::memory_order_relaxed);
        busy_.fetch_add(now() - since, std::memory_order_relaxed);
    }
    [[nodiscard]] error refusal() const {
        return unavailable(settings_.name + ": not connected; retrying shortly: " + last_failure_);
    }
    void put(std::unique_ptr<Connection> returned, const usage& how) noexcept;
    void lose(const usage& how, bool all, std::string_view reason) noexcept;
    // The functions below require the lock to be held.
    void count_in_use(bool is_reserved, bool is_in_use) noexcept {
        if (is_reserved) return;
        if (is_in_use) ++unreserved_in_use_;
        else --unreserved_in_use_;
    }
    /// Releases the slot of a connection that is closed, or could not be opened.
    void release_slot(bool is_reserved) noexcept {
        --opened_;
        count_in_use(is_reserved, false);
        slot_free_->notify_all();
    }
    /// Takes a slot and opens a connection, while the lock is released.
    [[nodiscard]] result<lease> open_one(std::unique_lock<std::mutex>& lock, bool is_probe, bool is_reserved);
    void back_off() noexcept;
    void note_failure(bool opens, bool is_probe, std::string_view reason) noexcept;
    void close_breaker() noexcept;
    void report(bool up, std::string_view reason) noexcept;

    reconnecting_pool_settings settings_;
    const opener open_;

    // Written under the lock; read without it by `is_refusing`.
    std::atomic<bool> is_open_{false};
    std::atomic<bool> is_probing_{false};
    std::atomic<steady::rep> retry_at_{0};

    std::atomic<std::uint64_t> calls_{0};
    std::atomic<std::uint64_t> errors_{0};
    std::atomic<steady::rep> busy_{0};
    std::atomic<steady::rep> waited_{0};

    std::mutex mutex_;
    condition_of_process slot_free_;
    std::vector<idle_connection> idle_;
    std::size_t unreserved_in_use_ = 0;  // connections in use by callers of `take`, including those that are being opened
    std::size_t opened_ = 0;  // including those being opened and those in use
    std::uint64_t generation_ = 0;
    unsigned failures_ = 0;  // consecutive
    std::string last_failure_;
    std::uint32_t random_ = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(this) >> 4) ^
                            static_cast<std::uint32_t>(steady::now().time_since_epoch().count());
};

template <class Connection>
auto reconnecting_pool<Connection>::take_uncounted(milliseconds wait_max, bool is_reserved) -> result<lease> {
    const auto end = settings_.now() + bounded_wait(wait_max);
    std::unique_lock lock{mutex_};
    for (;;) {
        const bool has_share = is_reserved || unreserved_in_use_ < settings_.connections_max - settings_.connections_reserved;
        if (has_share && !idle_.empty()) {
            auto chosen = std::move(idle_.back());
            idle_.pop_back();
            count_in_use(is_reserved, true);
            lock.unlock();  // the check is a system call, and closing may be slow
            if (chosen.held->is_sound())
                return lease{*this, std::move(chosen.held), {chosen.generation, false, is_reserved}};
            chosen.held.reset();
            lock.lock();
            release_slot(is_reserved);
            continue;
        }
        const bool may_try = now() >= retry_at_.load(std::memory_order_relaxed);
        if (is_open_.load(std::memory_order_relaxed)) {
            if (!may_try || is_probing_.load(std::memory_order_relaxed)) return refusal();
            return open_one(lock, true, is_reserved);
        }
        const bool has_place = has_share && opened_ < settings_.connections_max;
        if (has_place && may_try) return open_one(lock, false, is_reserved);
        if (settings_.now() >= end)
            return unavailable(settings_.name + ": no connection came free within " +
                               std::to_string(wait_max.count()) + " ms; there are " + std::to_string(opened_));
        const steady::time_point retry_at{steady::duration{retry_at_.load(std::memory_order_relaxed)}};
        slot_free_->wait_until(lock, has_place ? (std::min)(end, retry_at) : end);
    }
}

template <class Connection>
auto reconnecting_pool<Connection>::open_one(std::unique_lock<std::mutex>& lock, bool is_probe, bool is_reserved) -> result<lease> {
    ++opened_;
    count_in_use(is_reserved, true);
    const std::uint64_t generation = generation_;
    is_probing_.store(is_probe, std::memory_order_relaxed);
    if (failures_ > 0) back_off();  // one caller at a time probes a server that did not respond
    lock.unlock();

    std::optional<result<std::unique_ptr<Connection>>> opened;
    try {
        opened.emplace(open_());
    } catch (...) {  // out of memory
        lock.lock();
        if (is_probe) is_probing_.store(false, std::memory_order_relaxed);
        release_slot(is_reserved);
        throw;
    }
    lock.lock();
    if (!*opened) {
        release_slot(is_reserved);
        note_failure(opened_ == 0, is_probe, opened->error().cause);
        return std::move(*opened).error();
    }
    if (!is_probe && std::exchange(failures_, 0) > 0) {
        retry_at_.store(0, std::memory_order_relaxed);
        slot_free_->notify_all();  // callers that wait for the next try may open one now
    }
    return lease{*this, **std::move(opened), {generation, is_probe, is_reserved}};
}

template <class Connection>
void reconnecting_pool<Connection>::put(std::unique_ptr<Connection> returned, const usage& how) noexcept {
    const bool is_sound = returned->is_sound();
    {
        const std::scoped_lock lock{mutex_};
        count_in_use(how.is_reserved, false);
        if (how.is_probe) close_breaker();
        if (is_sound && how.generation == generation_) idle_.push_back({std::move(returned), how.generation});
        else --opened_;
    }
    // A call that waits without a reservation may not be allowed to take it.
    if (how.is_probe || settings_.connections_reserved > 0) slot_free_->notify_all();
    else slot_free_->notify_one();
}

template <class Connection>
void reconnecting_pool<Connection>::lose(const usage& how, bool all, std::string_view reason) noexcept {
    std::vector<idle_connection> closed;  // destroyed after the lock is released: closing may be slow
    const std::scoped_lock lock{mutex_};
    release_slot(how.is_reserved);
    if (how.is_probe) return note_failure(true, true, reason);
    if (!all || how.generation != generation_) return;
    ++generation_;
    opened_ -= idle_.size();
    try {
        closed.reserve(idle_.size());
        std::move(idle_.begin(), idle_.end(), std::back_inserter(closed));
    } catch (...) {  // out of memory: closed with the lock held
    }
    idle_.clear();  // keeps its capacity
    note_failure(true, false, reason);
    if (settings_.probes_at_once) retry_at_.store(0, std::memory_order_relaxed);
}

template <class Connection>
void reconnecting_pool<Connection>::back_off() noexcept {
    constexpr milliseconds first_pause{100}, longest_pause{2000};  // between attempts to connect
    const std::int64_t full = (std::min)(first_pause.count() << (std::min)(failures_, 10U), longest_pause.count());
    random_ = random_ * 1664525U + 1013904223U;  // jitter, so that nodes do not retry at the same time
    const std::int64_t half = full / 2;
    const milliseconds pause{full - (half > 0 ? static_cast<std::int64_t>(random_ >> 8) % half : 0)};
    retry_at_.store((settings_.now() + pause).time_since_epoch().count(), std::memory_order_relaxed);
}

template <class Connection>
void reconnecting_pool<Connection>::note_failure(bool opens, bool is_probe, std::string_view reason) noexcept {
    if (!settings_.has_breaker) return;
    back_off();
    ++failures_;
    if (is_probe) is_probing_.store(false, std::memory_order_relaxed);
    try {
        last_failure_ = reason;
    } catch (...) {  // out of memory; keep the previous reason
    }
    if (!opens || is_open_.load(std::memory_order_relaxed)) return;
    is_open_.store(true, std::memory_order_release);
    report(false, reason);
}

template <class Connection>
void reconnecting_pool<Connection>::close_breaker() noexcept {
    failures_ = 0;
    is_probing_.store(false, std::memory_order_relaxed);
    retry_at_.store(0, std::memory_order_relaxed);
    is_open_.store(false, std::memory_order_release);
    report(true, "the server is available again");
}

template <class Connection>
void reconnecting_pool<Connection>::report(bool up, std::string_view reason) noexcept {
    if (!settings_.on_state) return;
    try {
        settings_.on_state(up, reason);
    } catch (...) {  // an exception from the callback is ignored
    }
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_RECONNECTING_POOL_HPP
