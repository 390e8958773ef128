#pragma once

#include <tollgate/server/detail/worker_pool.hpp>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL void worker_pool::start(unsigned threads) {
    threads_.reserve(threads);
    while (threads_.size() < threads) threads_.emplace_back([this] { run(); });
}

TOLLGATE_DECL bool worker_pool::submit(work_item& one, time_point now) noexcept {
    {
        const std::lock_guard hold{mutex_};
        if (stopping_ || queue_.size() >= queue_max_) return false;
        one.submitted_at_ = now;
        queue_.push(one);
        if (idle_ == 0 || waking_) return true;
        waking_ = true;
    }
    work_came_.notify_one();
    return true;
}

TOLLGATE_DECL void worker_pool::withdraw_older_than(time_point limit) noexcept {
    for (;;) {
        work_item* one;
        {
            const std::lock_guard hold{mutex_};
            one = queue_.front();
            if (one == nullptr || one->submitted_at_ >= limit) return;
            (void)queue_.pop();
        }
        one->complete(false);
    }
}

TOLLGATE_DECL void worker_pool::run() noexcept {
    std::unique_lock hold{mutex_};
    for (;;) {
        work_item* one = queue_.pop();
        while (one == nullptr) {
            if (stopping_) return;
            ++idle_;
            work_came_.wait(hold);
            --idle_;
            waking_ = false;
            one = queue_.pop();
        }
        const bool wake_another = queue_.size() > 0 && idle_ > 0 && !waking_;
        if (wake_another) waking_ = true;
        hold.unlock();
        if (wake_another) work_came_.notify_one();
        one->work();
        one->complete(true);
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
