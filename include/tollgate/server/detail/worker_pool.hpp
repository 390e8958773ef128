#pragma once

#include <tollgate/base/config.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace tollgate::inline v0::server_detail {

/// Work for a thread that may block.
class work_item {
public:
    work_item() noexcept = default;
    work_item(const work_item&) = delete;
    work_item& operator=(const work_item&) = delete;

    /// Called by a worker.
    virtual void work() noexcept = 0;
    /// Called once for each submitted item: after `work` by the same thread, or without it (`worked` is false) by the
    /// thread that withdrew the item. The pool does not use the item afterwards. Must not block: the worker has other
    /// items.
    virtual void complete(bool worked) noexcept = 0;

protected:
    virtual ~work_item() = default;

private:
    friend class work_queue;
    friend class worker_pool;
    work_item* next_ = nullptr;
    std::chrono::steady_clock::time_point submitted_at_{};
};

/// First in, first out. Intrusive, so nothing is allocated.
class work_queue {
public:
    void push(work_item& one) noexcept {
        one.next_ = nullptr;
        (last_ == nullptr ? first_ : last_->next_) = &one;
        last_ = &one;
        ++size_;
    }
    [[nodiscard]] work_item* front() const noexcept { return first_; }
    [[nodiscard]] work_item* pop() noexcept {
        work_item* const one = first_;
        if (one == nullptr) return nullptr;
        first_ = one->next_;
        if (first_ == nullptr) last_ = nullptr;
        --size_;
        return one;
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    work_item* first_ = nullptr;
    work_item* last_ = nullptr;
    std::size_t size_ = 0;
};

/// Threads for blocking handlers, with a queue that is bounded in number and, by `withdraw_older_than`, in time.
///
/// Waking a thread costs as much as a small request, so at most one worker is being woken at a time. A worker that
/// leaves items in the queue wakes the next one before it starts to work.
class worker_pool {
public:
    using time_point = std::chrono::steady_clock::time_point;

    explicit worker_pool(std::size_t queue_max) noexcept : queue_max_{queue_max} {}
    worker_pool(const worker_pool&) = delete;
    worker_pool& operator=(const worker_pool&) = delete;
    ~worker_pool() { stop(); }

    /// Throws `std::system_error` if a thread cannot be started.
    TOLLGATE_DECL void start(unsigned threads);

    /// Returns false and queues nothing when the queue is full or the pool has stopped.
    [[nodiscard]] TOLLGATE_DECL bool submit(work_item& one, time_point now) noexcept;

    /// Completes the queued items that were submitted before `limit`, without working on them.
    TOLLGATE_DECL void withdraw_older_than(time_point limit) noexcept;
    /// Completes all queued items without working on them.
    void withdraw_all() noexcept { withdraw_older_than((time_point::max)()); }

    /// Finishes the queued work and ends the threads. Must not be called by a worker.
    TOLLGATE_DECL void stop() noexcept;

private:
    TOLLGATE_DECL void run() noexcept;

    const std::size_t queue_max_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable work_came_;
    work_queue queue_;
    std::size_t idle_ = 0;
    bool waking_ = false;  // an idle worker was notified and does not run yet
    bool stopping_ = false;
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/worker_pool.ipp>
#endif
