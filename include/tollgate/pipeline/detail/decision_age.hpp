#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_DECISION_AGE_HPP
#define TOLLGATE_PIPELINE_DETAIL_DECISION_AGE_HPP

#include <tollgate/base/time.hpp>

/// A request may wait for its body or for a worker after it was decided who sends it and whether they may. Meanwhile, a session, a
/// token, a user or an application can end.
namespace tollgate::inline v0::pipeline {

/// The time for which such a decision holds. A request that waits for longer is judged again before it acts.
inline constexpr seconds decision_lifetime{1};  // longer than most bodies take to arrive, and shorter than a person takes to notice

/// Returns true if a decision of this time no longer holds. It also does not hold if the clock was set back, because its age is unknown
/// then.
[[nodiscard]] constexpr bool is_outdated(instant decided_at, instant now) noexcept {
    return now < decided_at || now - decided_at > decision_lifetime;
}

/// The number of repeated judgements of a request. After that, it is refused: the server is overloaded.
inline constexpr int repeated_judgements_max = 2;

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_DECISION_AGE_HPP
