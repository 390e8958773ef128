#pragma once
#ifndef TOLLGATE_BASE_DETAIL_CALL_COMBINER_HPP
#define TOLLGATE_BASE_DETAIL_CALL_COMBINER_HPP

#include <array>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace tollgate::inline v0::detail {

/// What a thread sleeps on. Each thread has its own and is woken after all locks are released: a thread that is woken while a lock it
/// needs is held would sleep again, which doubles the cost.
class call_waiter {
public:
    /// Shared with those that wake it: the thread may end before they are done.
    [[nodiscard]] static const std::shared_ptr<call_waiter>& of_this_thread() {
        thread_local const std::shared_ptr<call_waiter> own = std::make_shared<call_waiter>();
        return own;
    }

    void wait() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return is_woken_; });
        is_woken_ = false;
    }
    void wake() {
        {
            const std::lock_guard hold{mutex_};
            is_woken_ = true;
        }
        changed_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_woken_ = false;
};

/// Combines calls of several threads into batches: while one round trip is under way, those that arrive form the next one. A call
/// that finds none under way makes its own at once, so that a thread alone never waits for others.
///
/// A batch is sent after all of its calls have arrived: each gets a result that was read during the call, as if it were the only one.
///
/// Thread rule: any thread. A call takes the rest of the round trip that is under way and one more, which must be bounded in time.
/// One more round trip for each further `batch_max` calls that wait.
template <class Request, class Result>
class call_combiner {
public:
    static constexpr std::size_t batch_max = 64;  // keys: larger batches are hardly cheaper for each call, and take longer

    /// A call of a batch.
    class entry {
    public:
        explicit entry(const Request& value) : request{value}, waiter_{call_waiter::of_this_thread()} {}

        const Request& request;
        std::optional<Result> result;

    private:
        friend class call_combiner;
        const std::shared_ptr<call_waiter>& waiter_;
        entry* next_ = nullptr;
        bool has_result_ = false;  // if it is woken without a result, it makes the next round trip
    };
    using batch = std::span<entry* const>;

    call_combiner() = default;
    call_combiner(const call_combiner&) = delete;
    call_combiner& operator=(const call_combiner&) = delete;

    /// Calls `send(batch)`, which throws nothing and gives each entry its result; for this call, or for others with it. Throws
    /// `std::bad_alloc` only, at a thread's first call, before anything is sent.
    template <class Send>
    [[nodiscard]] Result call(const Request& request, Send&& send) {
        entry own{request};
        if (!join(own)) {
            own.waiter_->wait();
            if (own.has_result_) return *std::move(own.result);
        }
        std::array<entry*, batch_max> taken;
        std::size_t count = 0;
        {
            const std::lock_guard hold{mutex_};
            for (; first_ != nullptr && count < batch_max; first_ = first_->next_) taken[count++] = first_;
            if (first_ == nullptr) last_ = nullptr;
        }
        send(batch{taken.data(), count});
        // The next round trip first: it is under way while those that have their results continue.
        if (const auto next = end_round_trip()) next->wake();
        for (entry* const each : batch{taken.data(), count}) {
            if (each == &own) continue;
            const std::shared_ptr<call_waiter> woken = each->waiter_;  // the entry is gone as soon as its thread is woken
            each->has_result_ = true;
            woken->wake();
        }
        return *std::move(own.result);
    }

private:
    /// Returns true if it makes a round trip at once.
    [[nodiscard]] bool join(entry& one) noexcept {
        const std::lock_guard hold{mutex_};
        (last_ == nullptr ? first_ : last_->next_) = &one;
        last_ = &one;
        return !std::exchange(under_way_, true);
    }
    /// The waiter of the call that makes the next one; null if no call waits.
    [[nodiscard]] std::shared_ptr<call_waiter> end_round_trip() noexcept {
        const std::lock_guard hold{mutex_};
        under_way_ = first_ != nullptr;
        return under_way_ ? first_->waiter_ : nullptr;
    }

    std::mutex mutex_;
    entry* first_ = nullptr;  // calls that wait for the next batch
    entry* last_ = nullptr;
    bool under_way_ = false;
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_CALL_COMBINER_HPP
