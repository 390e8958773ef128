#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_WORKER_POOL_IPP
#define TOLLGATE_SERVER_DETAIL_WORKER_POOL_IPP

#include <tollgate/base/detail/system/start_thread.hpp>
#include <tollgate/server/detail/worker_pool.hpp>

#include <algorithm>

namespace tollgate::inline v0::server_detail {

TOLLGATE_COLD void worker_pool::start(unsigned workers_max) {
    using enum http::work_kind;
    const std::lock_guard hold{mutex_};
    for (bulkhead& each : kinds_) each.workers_max = workers_max;
    for (const http::work_kind kind : {credentials, users, limits}) of(kind).workers_max = 8 * workers_max;
    of(sign_in).workers_max = 4 * workers_max;
    std::size_t threads_max = 0;
    for (const bulkhead& each : kinds_) threads_max += each.workers_max;
    threads_.reserve(threads_max);  // so that nothing allocates when a thread is started later
    start_thread();
}

TOLLGATE_COLD void worker_pool::start_thread() {
    threads_.push_back(tollgate::detail::start_thread([this] {
        running_.run([this] { run(); });
    }));
    waking_ = true;
}

TOLLGATE_DECL auto worker_pool::next_kind() noexcept -> bulkhead* {
    for (std::size_t i = 1; i <= kinds_.size(); ++i) {
        const std::size_t kind = (last_kind_ + i) % kinds_.size();
        if (!kinds_[kind].may_run()) continue;
        last_kind_ = kind;
        return &kinds_[kind];
    }
    return nullptr;
}

TOLLGATE_DECL bool worker_pool::wake_worker() noexcept {
    const bool is_needed = std::any_of(kinds_.begin(), kinds_.end(), [](const bulkhead& each) { return each.may_run(); });
    if (!is_needed || waking_) return false;
    if (idle_ > 0) return waking_ = true;
    if (threads_.size() == threads_.capacity()) return false;
    try {
        start_thread();
    } catch (...) {
        return false;  // existing workers take it later
    }
    return false;
}

TOLLGATE_DECL bool worker_pool::submit(work_item& one, http::work_kind kind, time_point now) noexcept {
    bool notify = false;
    {
        const std::lock_guard hold{mutex_};
        bulkhead& to = of(kind);
        if (stopping_ || to.waiting.size() >= queue_max_) return false;
        one.submitted_at_ = now;
        to.waiting.push(one);
        notify = wake_worker();
    }
    if (notify) work_available_.notify_one();
    return true;
}

TOLLGATE_DECL void worker_pool::withdraw_older_than(time_point limit) noexcept {
    work_queue overdue;
    bool notify = false;
    {
        const std::lock_guard hold{mutex_};
        // Compares all items, because an item that came from another kind may be older than those in front of it.
        for (bulkhead& each : kinds_)
            for (std::size_t left = each.waiting.size(); left > 0; --left) {
                work_item* const one = each.waiting.pop();
                (one->submitted_at_ < limit ? overdue : each.waiting).push(*one);
            }
        if (idle_ > 0) waking_ = false;  // glibc before 2.41 may lose a notification (its bug 25847): notify another worker
        notify = wake_worker();
    }
    if (notify) work_available_.notify_one();
    while (work_item* const one = overdue.pop()) one->complete(false);
}

TOLLGATE_DECL void worker_pool::withdraw_all() noexcept {
    {
        const std::lock_guard hold{mutex_};
        withdraws_all_ = true;
    }
    withdraw_older_than((time_point::max)());
}

TOLLGATE_DECL std::size_t worker_pool::queued() const noexcept {
    const std::lock_guard hold{mutex_};
    std::size_t items = 0;
    for (const bulkhead& each : kinds_) items += each.waiting.size();
    return items;
}

TOLLGATE_DECL void worker_pool::run() noexcept {
    std::unique_lock hold{mutex_};
    waking_ = false;
    for (;;) {
        bulkhead* kind = next_kind();
        while (kind == nullptr) {
            if (stopping_) return;
            ++idle_;
            work_available_.wait(hold);
            --idle_;
            waking_ = false;
            kind = next_kind();
        }
        work_item* const one = kind->waiting.pop();
        ++kind->occupied;
        bool has_queued = true;
        for (bool has_place = true; has_place; has_queued = false) {
            const bool notify = wake_worker();
            hold.unlock();
            if (notify) work_available_.notify_one();
            const auto next = one->work(has_queued);
            if (!next) one->complete(true);
            hold.lock();
            --kind->occupied;
            if (!next) break;
            kind = &of(*next);
            has_place = kind->occupied < kind->workers_max && kind->waiting.size() == 0;
            if (withdraws_all_ || (!has_place && kind->waiting.size() >= queue_max_)) {
                hold.unlock();
                one->complete(false);
                hold.lock();
                break;
            }
            if (has_place) ++kind->occupied;
            else kind->waiting.push(*one);
        }
    }
}

TOLLGATE_DECL void worker_pool::stop() noexcept {
    std::vector<std::thread> ending;
    {
        const std::lock_guard hold{mutex_};
        stopping_ = true;
        ending.swap(threads_);
    }
    work_available_.notify_all();
    for (std::thread& one : ending) one.join();
}

TOLLGATE_COLD void worker_pool::abandon() noexcept {
    std::vector<std::thread> ending;
    {
        const std::lock_guard hold{mutex_};
        stopping_ = true;
        ending.swap(threads_);
    }
    withdraw_all();
    work_available_.notify_all();
    running_.join_others(ending);
    const std::lock_guard hold{mutex_};
    ending.swap(threads_);  // a thread that was not joined cannot be destroyed
}

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_WORKER_POOL_IPP
