#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/contract/token_store.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace tollgate {

/// Says when to record that a credential was used: for one credential once an hour, because a person asks whether it is
/// used at all, and over all once a second, because each may be a write that everybody waits for. What is left out now
/// is recorded at a later use.
///
/// Thread rule: any thread. A copy has a pace of its own.
class use_pace {
public:
    static constexpr std::chrono::hours for_one{1};
    static constexpr seconds over_all{1};

    use_pace() noexcept = default;
    use_pace(const use_pace& other) noexcept : last_{other.last_.load(std::memory_order_relaxed)} {}
    use_pace& operator=(const use_pace& other) noexcept {
        last_.store(other.last_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        return *this;
    }

    /// Whether a use is recorded that will do for now. A clock that was put back holds up nothing for longer than the pace.
    [[nodiscard]] static bool is_recent(const std::optional<instant>& last_used_at, instant now) noexcept {
        return last_used_at && now < *last_used_at + for_one && *last_used_at < now + for_one;
    }

    /// Of parallel calls at most one is told yes.
    [[nodiscard]] bool is_due(const std::optional<instant>& last_used_at, instant now) noexcept {
        if (is_recent(last_used_at, now)) [[likely]]
            return false;
        std::int64_t last = last_.load(std::memory_order_relaxed);
        const instant then = from_unix_milliseconds(last);
        if (now < then + over_all && then < now + over_all) return false;
        return last_.compare_exchange_strong(last, to_unix_milliseconds(now), std::memory_order_relaxed);
    }

private:
    std::atomic<std::int64_t> last_ = 0;  // milliseconds since 1970
};

namespace detail {

/// Records a use. That this fails, in whatever way, is no reason to refuse the request that was the use.
template <class Record>
void record_quietly(Record&& record) noexcept {
    try {
        static_cast<void>(record());
    } catch (...) {
    }
}

}  // namespace detail

}  // namespace tollgate
