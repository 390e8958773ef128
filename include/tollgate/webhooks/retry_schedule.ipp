#pragma once
#ifndef TOLLGATE_WEBHOOKS_RETRY_SCHEDULE_IPP
#define TOLLGATE_WEBHOOKS_RETRY_SCHEDULE_IPP

#include <tollgate/http/detail/retry_after.hpp>
#include <tollgate/webhooks/retry_schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace tollgate::inline v0 {
namespace detail {

/// `wait` times a factor between 1 - jitter and 1 + jitter.
inline milliseconds jittered(milliseconds wait, unsigned jitter_percent, std::uint32_t chance) noexcept {
    const double jitter = (std::min)(jitter_percent, 100U) / 100.0;
    const double even = static_cast<double>(chance) / 4294967295.0;  // 0 to 1
    return milliseconds{
        static_cast<milliseconds::rep>(static_cast<double>(wait.count()) * (1 - jitter + 2 * jitter * even))};
}

/// From now to the first attempt of the plan that is later than `wait`; empty if none is.
inline std::optional<milliseconds> planned_after(milliseconds wait, const retry_schedule& schedule, std::size_t attempts_made) {
    milliseconds planned{0};
    for (std::size_t i = attempts_made; i < schedule.waits.size(); ++i)
        if (planned += schedule.waits[i]; planned > wait) return planned;
    return std::nullopt;
}

}  // namespace detail

TOLLGATE_DECL attempt_result judge_attempt(const retry_schedule& schedule, const due_delivery& sent, attempt_report report,
                                       instant now, std::uint32_t chance) {
    attempt_result result{.lease = sent.lease, .target_url = sent.target_url, .attempt = std::move(report.attempt)};
    const bool answered = result.attempt.end == attempt_end::answered;
    if (answered && result.attempt.status / 100 == 2) {
        result.outcome = delivery_outcome::delivered;
        return result;
    }
    constexpr unsigned gone = 410;
    if (answered && result.attempt.status == gone) {
        result.outcome = delivery_outcome::gone;
        return result;
    }
    result.disable_if_failing_since = now - schedule.disable_after;
    if (sent.attempts_made >= schedule.waits.size()) return result;

    const milliseconds planned = schedule.waits[sent.attempts_made];
    milliseconds wait = detail::jittered(planned, schedule.jitter_percent, chance);
    if (const auto requested = http::parse_retry_after(report.retry_after, now)) {
        // Never earlier than requested; and deliveries refused together are not retried together.
        const milliseconds honored = (std::min)(*requested, schedule.retry_after_max);
        const milliseconds earliest = (std::max)(honored, planned);
        wait = (std::max)(earliest, detail::jittered(earliest, schedule.jitter_percent, chance / 2 + chance_without_jitter));
        if (honored > planned) {
            const auto next = detail::planned_after(honored, schedule, sent.attempts_made);
            wait = (std::min)({wait, schedule.retry_after_max, next.value_or(wait)});
        }
    }
    result.outcome = delivery_outcome::retry;
    result.retry_at = (std::min)(now + wait, latest_due(now));  // jitter may add to the longest wait
    return result;
}

}  // namespace tollgate

#endif  // TOLLGATE_WEBHOOKS_RETRY_SCHEDULE_IPP
