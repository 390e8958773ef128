#pragma once

#include <tollgate/server/detail/worker_pool.hpp>

#include <algorithm>
#include <array>
#include <chrono>

namespace tollgate::inline v0::server_detail {

namespace detail {

/// The homes that a worker still has to wake.
class pending_notifications {
public:
    ~pending_notifications() { flush(); }

    void add(completion_target& loop) noexcept {
        ++items_;
        const auto end = targets_.begin() + size_;
        if (std::find(targets_.begin(), end, &loop) != end) return;
        if (size_ == targets_.size()) flush();
        targets_[size_++] = &loop;
    }
    [[nodiscard]] std::size_t items() const noexcept { return items_; }

    void flush() noexcept {
        for (std::size_t i = 0; i < size_; ++i) targets_[i]->notify();
        size_ = items_ = 0;
    }

private:
    std::array<completion_target*, 16> targets_;  // only the first size_ are ever read
    std::size_t size_ = 0;
    std::size_t items_ = 0;
};

}  // namespace detail

TOLLGATE_DECL void worker_pool::start(unsigned threads) {
    threads_.reserve(threads);
    while (threads_.size() < threads) threads_.emplace_back([this] { run(); });
}

TOLLGATE_DECL bool worker_pool::submit(work_item& one) noexcept {
    {
        const std::lock_guard hold{mutex_};
        if (stopping_ || queue_.size() >= queue_max_) return false;
        queue_.push(one);
        if (idle_ == 0 || waking_) return true;
        waking_ = true;
    }
    work_came_.notify_one();
    return true;
}

TOLLGATE_DECL void worker_pool::run() noexcept {
    using clock = std::chrono::steady_clock;
    constexpr auto long_time = std::chrono::microseconds{100};  // some ten small requests
    constexpr std::size_t items_max = 16;                       // nobody waits for more than these

    detail::pending_notifications notifications;
    std::unique_lock hold{mutex_};
    for (;;) {
        work_item* one = queue_.pop();
        if (one == nullptr) {
            hold.unlock();
            notifications.flush();
            hold.lock();
            one = queue_.pop();
        }
        while (one == nullptr) {
            if (stopping_) return;
            ++idle_;
            work_came_.wait(hold);
            --idle_;
            waking_ = false;
            one = queue_.pop();
        }
        const bool tell_another = queue_.size() > 0 && idle_ > 0 && !waking_;
        if (tell_another) waking_ = true;
        hold.unlock();
        if (tell_another) work_came_.notify_one();

        const auto begun = clock::now();
        one->work();
        const bool took_long = clock::now() - begun > long_time;
        notifications.add(one->complete());
        if (took_long || notifications.items() >= items_max) notifications.flush();
        hold.lock();
    }
}

TOLLGATE_DECL void worker_pool::stop() noexcept {
    {
        const std::lock_guard hold{mutex_};
        stopping_ = true;
    }
    work_came_.notify_all();
    for (std::thread& one : threads_) one.join();
    threads_.clear();
}

}  // namespace tollgate::server_detail
