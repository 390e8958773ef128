#pragma once
#ifndef TOLLGATE_BASE_DETAIL_SHORT_MUTEX_HPP
#define TOLLGATE_BASE_DETAIL_SHORT_MUTEX_HPP

#include <atomic>
#include <cstdint>

namespace tollgate::inline v0::detail {

/// A mutex that is held for a few dozen instructions: to lock and unlock std::mutex costs 60 more. One that
/// finds it locked sleeps until it is unlocked ("mutex 2" of Ulrich Drepper, Futexes Are Tricky, 2011). For `std::scoped_lock`.
class short_mutex {
public:
    void lock() noexcept {
        std::uint32_t expected = is_free;
        if (!state_.compare_exchange_strong(expected, is_held, std::memory_order_acquire, std::memory_order_relaxed)) [[unlikely]]
            wait();
    }
    void unlock() noexcept {
        if (state_.exchange(is_free, std::memory_order_release) == is_awaited) [[unlikely]] state_.notify_one();
    }

private:
    enum : std::uint32_t { is_free, is_held, is_awaited };  // awaited: held, and others sleep

    /// A thread that has slept locks it as awaited, because it cannot know whether others still sleep.
    void wait() noexcept {
        while (state_.exchange(is_awaited, std::memory_order_acquire) != is_free) state_.wait(is_awaited, std::memory_order_relaxed);
    }

    std::atomic<std::uint32_t> state_ = is_free;
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_SHORT_MUTEX_HPP
