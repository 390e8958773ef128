#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_WORKER_POOL_HPP
#define TOLLGATE_SERVER_DETAIL_WORKER_POOL_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/process_life.hpp>
#include <tollgate/http/handler.hpp>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tollgate::inline v0::server_detail {

/// Work for a thread that may block.
class work_item {
public:
    work_item() noexcept = default;
    work_item(const work_item&) = delete;
    work_item& operator=(const work_item&) = delete;
    virtual ~work_item() = default;

    /// Called by a worker; `has_queued` if the item was in a queue since the last call. Returns what the item has to wait
    /// for next: `work` is called again, perhaps by another worker. Empty: the item is done.
    [[nodiscard]] virtual std::optional<http::work_kind> work(bool has_queued) noexcept = 0;
    /// Called once for each submitted item: after its last `work` by the same thread, or (`worked` is false) by the
    /// thread that withdrew the item, or that found the queue full for which it would have to wait next. The pool does not
    /// use the item afterwards. Must not block: the worker has other items.
    virtual void complete(bool worked) noexcept = 0;

protected:
    /// For `work`: what the item waits for next is new work, whose time counts from now.
    void begin_anew(std::chrono::steady_clock::time_point now) noexcept { submitted_at_ = now; }

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

/// Threads for blocking handlers. Each kind of work is a bulkhead: it has a queue that is bounded in number and, by
/// `withdraw_older_than`, in time, and a bound on the workers that it occupies, so that it cannot delay other kinds.
/// An item that has to wait for another kind continues at once if that kind has a free worker and an empty queue. Otherwise
/// it is queued like a new item, under the same bounds, but its time still counts from when it was submitted, or began anew.
///
/// Any worker does any kind of work. A thread is started when an item may be worked on and all threads are occupied.
/// Waking a thread costs as much as a small request, so at most one worker is being woken at a time. A worker that
/// leaves items in the queue wakes the next one before it starts to work.
class worker_pool {
public:
    using time_point = std::chrono::steady_clock::time_point;

    explicit worker_pool(std::size_t queue_max) noexcept : queue_max_{queue_max} {}
    worker_pool(const worker_pool&) = delete;
    worker_pool& operator=(const worker_pool&) = delete;
    ~worker_pool() { stop(); }

    /// At most `workers_max` do work of one kind at the same time. Eight times as many look up credentials, users and limits,
    /// because lookups that wait together share a round trip, and four times as many check passwords, because the password
    /// source chooses among those that wait. Throws `std::system_error` if not a single thread can be started.
    TOLLGATE_COLD void start(unsigned workers_max);

    /// Returns false, and queues nothing, when the queue of this kind is full or the pool has stopped.
    [[nodiscard]] TOLLGATE_DECL bool submit(work_item& one, http::work_kind kind, time_point now) noexcept;

    /// Completes the queued items that were submitted before `limit`, without working on them, and makes sure that a worker
    /// takes the others. O(queued items).
    TOLLGATE_DECL void withdraw_older_than(time_point limit) noexcept;
    /// Completes all queued items without working on them, and from then on those under way when they have to wait for
    /// something else: for a server that stops.
    TOLLGATE_DECL void withdraw_all() noexcept;

    /// Returns the number of queued items.
    [[nodiscard]] TOLLGATE_DECL std::size_t queued() const noexcept;

    /// Finishes the queued work and ends the threads. Must not be called by a worker.
    TOLLGATE_DECL void stop() noexcept;
    /// Ends the pool without waiting for workers that are busy, for a worker that ends the process. The pool must not be destroyed.
    TOLLGATE_COLD void abandon() noexcept;

private:
    struct bulkhead {
        work_queue waiting;
        unsigned occupied = 0;  // workers
        unsigned workers_max = 0;

        [[nodiscard]] bool may_run() const noexcept { return waiting.size() > 0 && occupied < workers_max; }
    };

    TOLLGATE_DECL void run() noexcept;
    [[nodiscard]] bulkhead& of(http::work_kind kind) noexcept { return kinds_[static_cast<std::size_t>(kind)]; }
    // Precondition of those below: the lock is held.
    /// The next kind in turn with an item that may be worked on; null if there is none.
    [[nodiscard]] TOLLGATE_DECL bulkhead* next_kind() noexcept;
    /// Makes sure that a worker takes the items that may run, if there are any. True: notify one after the lock is released.
    [[nodiscard]] TOLLGATE_DECL bool wake_worker() noexcept;
    TOLLGATE_COLD void start_thread();

    const std::size_t queue_max_;  // bound of the queue of each kind
    mutable std::mutex mutex_;
    std::condition_variable work_available_;
    std::vector<std::thread> threads_;
    std::array<bulkhead, http::work_kinds> kinds_;
    std::size_t last_kind_ = 0;  // the last kind that a worker took
    std::size_t idle_ = 0;
    bool waking_ = false;  // a worker has been notified or started and does not run yet
    bool withdraws_all_ = false;
    bool stopping_ = false;
    tollgate::detail::thread_count running_;
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/worker_pool.ipp>
#endif

#endif  // TOLLGATE_SERVER_DETAIL_WORKER_POOL_HPP
