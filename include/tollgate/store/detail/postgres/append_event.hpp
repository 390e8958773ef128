#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/postgres/batch.hpp>

#include <cstddef>

namespace tollgate::inline v0::postgres {

/// Due notices that one statement reads or removes; the rest is left for the next one.
inline constexpr std::size_t notices_max = 1000;

/// Notifies other nodes of due deliveries.
inline constexpr statement_text notify_other_nodes{
    "SELECT pg_notify('tollgate_deliveries', '') WHERE EXISTS (SELECT FROM tollgate_due_notices)"};

/// `append_event` of `event_sink` as one statement; it returns the number of deliveries, see `read_count`.
TOLLGATE_DECL void append_event(batch& to, const event& reported, const message_seed& seed, instant now);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/append_event.ipp>
#endif
