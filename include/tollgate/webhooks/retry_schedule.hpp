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

/// The times at which a failed delivery is retried, and the end of the retries.
struct retry_schedule {
    /// Planned waits after the first attempt, which is not delayed: n waits result in n + 1 attempts. A wait of 0 retries at once. Each
    /// wait is at most `limits::delivery_wait_days_max`.
    std::vector<milliseconds> waits{seconds{5},          std::chrono::minutes{5}, std::chrono::minutes{30},
                                    std::chrono::hours{2}, std::chrono::hours{5},   std::chrono::hours{10},
                                    std::chrono::hours{10}};
    /// The maximum percentage by which each wait is randomly shortened or lengthened, so that deliveries that failed together are not
    /// retried together. At most 100.
    unsigned jitter_percent = 20;
    /// A hook that has failures and no success for this time is disabled. 0: its first failure disables it.
    milliseconds disable_after = default_disable_after;
    /// The longest wait that a receiver can ask for with `Retry-After`, at most `limits::delivery_wait_days_max`. 0: `Retry-After` has no
    /// effect.
    milliseconds retry_after_max = std::chrono::hours{24};
};

/// The value of `chance` with which a wait is as long as planned.
inline constexpr std::uint32_t chance_without_jitter = 0x8000'0000U;

/// The end of an attempt, for `judge_attempt`.
struct attempt_report {
    tollgate::attempt attempt;
    std::string_view retry_after;  ///< the `Retry-After` of the response, or an empty text
};

/// Decides the result of an attempt of `sent` that ended at `now`. A 2xx delivers; 410 (Gone) disables the hook; after anything else the
/// delivery is retried after the next planned wait, until there is none. A longer `Retry-After` is honored, up to `retry_after_max`; the
/// retry is then due at that time or by chance up to `jitter_percent` later, but no later than the next attempt of the plan. A shorter
/// `Retry-After` does not shorten the wait. `chance` is uniform over all values.
[[nodiscard]] TOLLGATE_DECL attempt_result judge_attempt(const retry_schedule& schedule, const due_delivery& sent,
                                                         attempt_report report, instant now, std::uint32_t chance);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/retry_schedule.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_RETRY_SCHEDULE_HPP
