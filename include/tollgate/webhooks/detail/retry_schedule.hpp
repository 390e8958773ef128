#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/delivery.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// When a delivery that failed is tried again, and when nobody tries any more.
struct retry_schedule {
    /// Planned waits after the first attempt, which is made at once: so there is one attempt more than waits.
    std::vector<milliseconds> waits{seconds{5},          std::chrono::minutes{5}, std::chrono::minutes{30},
                                    std::chrono::hours{2}, std::chrono::hours{5},   std::chrono::hours{10},
                                    std::chrono::hours{10}};
    /// Each wait is this much shorter or longer by chance, so that what failed together does not come back together.
    /// At most 100.
    unsigned jitter_percent = 20;
    /// A hook that had failures and no success for so long is disabled.
    milliseconds disable_after = std::chrono::hours{120};
};

/// How an attempt ended, for `judge_attempt`. Views.
struct attempt_report {
    attempt made;
    std::string_view retry_after;  ///< as the answer said it, or empty
};

/// What comes of an attempt of `sent` that has just ended, at `now`. A 2xx delivers; 410 (Gone) ends the hook; anything
/// else is tried again after the next planned wait, until there is none. `Retry-After` is heeded between that wait and
/// twice as long: nobody can hurry us, and nobody can put us off for a year. `chance` is any number, all being equally
/// likely.
[[nodiscard]] TOLLGATE_DECL settlement judge_attempt(const retry_schedule& schedule, const due_delivery& sent,
                                                     attempt_report report, instant now, std::uint32_t chance);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/retry_schedule.ipp>
#endif
