#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace tollgate::inline v0::detail {

/// Combines calls of several threads into batches: while one round trip is under way, those that arrive form the next one. A call
/// that finds none under way makes its own at once, so that a thread alone never waits for others.
///
/// A batch is sent after all of its calls have arrived: each gets an answer that was made during the call, as if it had asked alone.
///
/// Thread rule: any thread. A call takes the rest of the round trip that is under way and one more, which must be bounded in time.
/// With more than `batch_max` calls waiting it is one more for each of these.
template <class Question, class Answer>
class call_combiner {
public:
    static constexpr std::size_t batch_max = 64;  // keys: larger batches are hardly cheaper for each call, and take longer

    /// One call of a batch.
    class entry {
    public:
        explicit entry(const Question& asked) noexcept : question{asked} {}

        const Question& question;
        std::optional<Answer> answer;

    private:
        friend class call_combiner;
        std::condition_variable changed_;
        entry* next_ = nullptr;
        bool leads_ = false;     // it makes the next round trip
        bool answered_ = false;  // `answer` may be read
    };
    using batch = std::span<entry* const>;

    call_combiner() = default;
    call_combiner(const call_combiner&) = delete;
    call_combiner& operator=(const call_combiner&) = delete;

    /// Calls `ask(batch)`, which throws nothing and gives each entry its answer; for this call, or for others with it.
    template <class Ask>
    [[nodiscard]] Answer call(const Question& asked, Ask&& ask) {
        entry own{asked};
        std::unique_lock lock{mutex_};
        (last_ == nullptr ? first_ : last_->next_) = &own;
        last_ = &own;
        if (under_way_) own.changed_.wait(lock, [&] { return own.answered_ || own.leads_; });
        if (own.answered_) return *std::move(own.answer);

        under_way_ = true;
        std::array<entry*, batch_max> taken;
        std::size_t count = 0;
        for (; first_ != nullptr && count < batch_max; first_ = first_->next_) taken[count++] = first_;
        if (first_ == nullptr) last_ = nullptr;
        lock.unlock();
        ask(batch{taken.data(), count});
        lock.lock();
        // An entry is gone as soon as its call sees the answer, for which it needs the lock.
        for (std::size_t i = 0; i < count; ++i) {
            taken[i]->answered_ = true;
            if (taken[i] != &own) taken[i]->changed_.notify_one();
        }
        under_way_ = first_ != nullptr;
        if (under_way_) {
            first_->leads_ = true;
            first_->changed_.notify_one();
        }
        return *std::move(own.answer);
    }

private:
    std::mutex mutex_;
    entry* first_ = nullptr;  // those that wait for the next batch
    entry* last_ = nullptr;
    bool under_way_ = false;
};

}  // namespace tollgate::detail
