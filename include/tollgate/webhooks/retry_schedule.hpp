#pragma once
#ifndef TOLLGATE_WEBHOOKS_RETRY_SCHEDULE_HPP
#define TOLLGATE_WEBHOOKS_RETRY_SCHEDULE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/delivery.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// When a delivery that failed is retried, and when it is given up.
struct retry_schedule {
    /// Planned waits after the first attempt, which is made at once: n waits make n + 1 attempts. 0: at once. Each is at most
    /// `limits::delivery_wait_days_max`.
    std::vector<milliseconds> waits{seconds{5},          std::chrono::minutes{5}, std::chrono::minutes{30},
                                    std::chrono::hours{2}, std::chrono::hours{5},   std::chrono::hours{10},
                                    std::chrono::hours{10}};
    /// Each wait is randomly shortened or lengthened by up to this much, so that deliveries that failed together are
    /// not retried together. At most 100.
    unsigned jitter_percent = 20;
    /// A hook with failures and no success for this long is disabled. 0: by its first failure.
    milliseconds disable_after = default_disable_after;
    /// The longest wait that a receiver can ask for with `Retry-After`, at most `limits::delivery_wait_days_max`. 0: it has no effect.
    milliseconds retry_after_max = std::chrono::hours{24};
};

/// The randomness with which a wait is as long as planned.
inline constexpr std::uint32_t chance_without_jitter = 0x8000'0000U;

/// How an attempt ended, for `judge_attempt`.
struct attempt_report {
    tollgate::attempt attempt;
    std::string_view retry_after;  ///< of the response, or empty; a view
};

/// The result of an attempt of `sent` that ended at `now`. A 2xx delivers; 410 (Gone) disables the hook; anything
/// else is retried after the next planned wait, until there is none. A longer `Retry-After` is honored, up to
/// `retry_after_max`; the attempt is made then or by chance up to `jitter_percent` later, but no later than the next attempt
/// of the plan. A shorter one does not shorten the wait. `chance` is uniform over all values.
[[nodiscard]] TOLLGATE_DECL attempt_result judge_attempt(const retry_schedule& schedule, const due_delivery& sent,
                                                     attempt_report report, instant now, std::uint32_t chance);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/retry_schedule.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_RETRY_SCHEDULE_HPP
