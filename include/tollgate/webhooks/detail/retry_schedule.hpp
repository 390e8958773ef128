#pragma once

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
    /// Planned waits after the first attempt, which is made at once: there is one attempt more than waits.
    std::vector<milliseconds> waits{seconds{5},          std::chrono::minutes{5}, std::chrono::minutes{30},
                                    std::chrono::hours{2}, std::chrono::hours{5},   std::chrono::hours{10},
                                    std::chrono::hours{10}};
    /// Each wait is randomly shorter or longer by up to this much, so that what failed together is not retried together.
    /// At most 100.
    unsigned jitter_percent = 20;
    /// A hook that has had failures and no success for this long is disabled.
    milliseconds disable_after = std::chrono::hours{120};
};

/// How an attempt ended, for `judge_attempt`. Views.
struct attempt_report {
    attempt made;
    std::string_view retry_after;  ///< of the response, or empty
};

/// The result of an attempt of `sent` that has just ended, at `now`. A 2xx delivers; 410 (Gone) disables the hook; anything
/// else is retried after the next planned wait, until there is none. `Retry-After` is honoured between that wait and twice
/// as long: a receiver can neither shorten the wait nor delay it for a year. `chance` is any number, all equally likely.
[[nodiscard]] TOLLGATE_DECL attempt_result judge_attempt(const retry_schedule& schedule, const due_delivery& sent,
                                                     attempt_report report, instant now, std::uint32_t chance);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/retry_schedule.ipp>
#endif
