#pragma once

#include <tollgate/base/config.hpp>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace tollgate::inline v0::server_detail {

/// Where work comes back to.
class completion_target {
public:
    /// Something was given back: see to it. Called by worker threads.
    virtual void notify() noexcept = 0;

protected:
    ~completion_target() = default;
};

/// Something to be done by a thread that may wait.
class work_item {
public:
    work_item() noexcept = default;
    work_item(const work_item&) = delete;
    work_item& operator=(const work_item&) = delete;

    /// Called by a worker thread.
    virtual void work() noexcept = 0;
    /// Called after it by the same thread, which looks at the item no more. The loop is woken a little later.
    virtual completion_target& complete() noexcept = 0;

protected:
    ~work_item() = default;

private:
    friend class work_queue;
    work_item* next_ = nullptr;
};

/// First in, first out; linked through the items, so that nothing is allocated.
class work_queue {
public:
    void push(work_item& one) noexcept {
        one.next_ = nullptr;
        (last_ == nullptr ? first_ : last_->next_) = &one;
        last_ = &one;
        ++size_;
    }
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

/// Threads for handlers that wait, and a bounded queue before them.
///
/// Waking a thread costs as much as a small request. So at most one worker is being woken at a time; one that finds more
/// to do than its own item wakes the next. And a loop is woken once for several items given back in a row, unless one of
/// them took long.
class worker_pool {
public:
    explicit worker_pool(std::size_t queue_max) noexcept : queue_max_{queue_max} {}
    worker_pool(const worker_pool&) = delete;
    worker_pool& operator=(const worker_pool&) = delete;
    ~worker_pool() { stop(); }

    /// Throws `std::system_error` when there is no thread to be had.
    TOLLGATE_DECL void start(unsigned threads);

    /// False, and nothing is queued, when the queue is full.
    [[nodiscard]] TOLLGATE_DECL bool submit(work_item& one) noexcept;

    /// Does what is queued and ends the threads. Not to be called by a worker.
    TOLLGATE_DECL void stop() noexcept;

private:
    TOLLGATE_DECL void run() noexcept;

    const std::size_t queue_max_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable work_came_;
    work_queue queue_;
    std::size_t idle_ = 0;
    bool waking_ = false;  // one idle worker has been told, and is not up yet
    bool stopping_ = false;
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/worker_pool.ipp>
#endif
