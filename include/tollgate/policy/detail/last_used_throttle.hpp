#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/contract/token_store.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace tollgate::inline v0 {

/// Says when to record that a credential was used: for one credential once an hour, because a person asks whether it is
/// used at all, and over all once a second, because each may be a write that everybody waits for. What is left out now
/// is recorded at a later use.
///
/// Thread rule: any thread. A copy has a pace of its own.
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

    /// Of parallel calls at most one is told yes. A clock that was put back holds up nothing for longer than the pace.
    [[nodiscard]] bool is_due(const std::optional<instant>& last_used_at, instant now) noexcept {
        if (is_recent(last_used_at, now)) [[likely]]
            return false;
        std::int64_t last = last_.load(std::memory_order_relaxed);
        if (!has_passed(last, now)) return false;
        return last_.compare_exchange_strong(last, to_unix_milliseconds(now), std::memory_order_relaxed);
    }
    /// What `is_due` would say now, without being told so.
    [[nodiscard]] bool would_be_due(const std::optional<instant>& last_used_at, instant now) const noexcept {
        return !is_recent(last_used_at, now) && has_passed(last_.load(std::memory_order_relaxed), now);
    }

private:
    [[nodiscard]] static bool is_recent(const std::optional<instant>& last_used_at, instant now) noexcept {
        return last_used_at && now < *last_used_at + for_one && *last_used_at < now + for_one;
    }
    [[nodiscard]] static bool has_passed(std::int64_t last, instant now) noexcept {
        const instant then = from_unix_milliseconds(last);
        return now >= then + over_all || then >= now + over_all;
    }

    std::atomic<std::int64_t> last_ = 0;  // milliseconds since 1970
};

namespace detail {

/// Stands for a store where somebody only looks what would be asked of it (`pipeline::recalled_store`).
template <class S>
concept use_foreseer = requires(S& s) {
    { s.foresee_record() } noexcept;
};

/// Records a use when that is due. That this fails, in whatever way, is no reason to refuse the request that was the use.
template <class Store, class Record>
void record_use(last_used_throttle& pace, Store& store, const std::optional<instant>& last_used_at, instant now,
                Record&& record) noexcept {
    if constexpr (use_foreseer<Store>) {
        if (pace.would_be_due(last_used_at, now)) store.foresee_record();
    } else if constexpr (use_recorder<Store>) {
        if (pace.is_due(last_used_at, now)) [[unlikely]] {
            try {
                static_cast<void>(record(store));
            } catch (...) {
            }
        }
    }
}

}  // namespace detail

}  // namespace tollgate
