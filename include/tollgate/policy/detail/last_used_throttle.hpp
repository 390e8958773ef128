#pragma once
#ifndef TOLLGATE_POLICY_DETAIL_LAST_USED_THROTTLE_HPP
#define TOLLGATE_POLICY_DETAIL_LAST_USED_THROTTLE_HPP

#include <tollgate/base/time.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace tollgate::inline v0::detail {

/// Decides whether to record that a credential was used: at most once an hour per credential, which is exact enough for
/// its owner, and once a second in all, because each record may be a write that other requests wait for. A use that is
/// not recorded is recorded with a later one.
///
/// Thread rule: any thread. A copy is independent.
class last_used_throttle {
public:
    static constexpr std::chrono::hours for_one{1};
    static constexpr seconds over_all{1};

    last_used_throttle() noexcept = default;
    last_used_throttle(const last_used_throttle& other) noexcept : last_{other.last_.load(std::memory_order_relaxed)} {}
    last_used_throttle& operator=(const last_used_throttle& other) noexcept {
        last_.store(other.last_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        return *this;
    }

    /// Whether to record a use now. Of parallel calls at most one returns true. When the clock goes back, the next
    /// record is delayed by at most one interval.
    [[nodiscard]] bool is_due(const std::optional<instant>& last_used_at, instant now) noexcept {
        if (last_used_at && is_recent(*last_used_at, now, for_one)) [[likely]]
            return false;
        std::int64_t last = last_.load(std::memory_order_relaxed);
        if (is_recent(from_unix_milliseconds(last), now, over_all)) return false;
        return last_.compare_exchange_strong(last, to_unix_milliseconds(now), std::memory_order_relaxed);
    }

private:
    std::atomic<std::int64_t> last_ = 0;  // milliseconds since 1970
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_POLICY_DETAIL_LAST_USED_THROTTLE_HPP
