#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/domain/event.hpp>
#include <tollgate/store/postgres/batch.hpp>

#include <cstddef>

namespace tollgate::postgres {

/// What listeners hear of: deliveries that are due now.
inline constexpr sql ring_at_other_nodes{
    "SELECT pg_notify('tollgate_deliveries', '') WHERE EXISTS (SELECT FROM tollgate_bells)"};

/// What `append_event` of `event_sink` does, as one statement, and how many deliveries it answers there were.
TOLLGATE_DECL void append_event(batch& to, const event& happened, const message_seed& seed, instant now);
[[nodiscard]] TOLLGATE_DECL outcome<std::size_t> appended_count(rows& answered);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres/append_event.ipp>
#endif
