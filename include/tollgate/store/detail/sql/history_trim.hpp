#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQL_HISTORY_TRIM_HPP
#define TOLLGATE_STORE_DETAIL_SQL_HISTORY_TRIM_HPP

#include <tollgate/base/ids.hpp>
#include <tollgate/model/delivery.hpp>

#include <cstddef>
#include <cstdint>

namespace tollgate::inline v0::sql {

/// Returns true if the ended deliveries of a webhook are trimmed to `limits::ended_deliveries_per_hook_max` after this one has come to this
/// state. Finding the rows beyond the bound scans all kept ones, so it is done after one delivery in 64 has ended, chosen by a hash of its
/// id (splitmix64), whichever ids a webhook has. Nothing is counted: processes that share a database need not know of each other.
[[nodiscard]] constexpr bool trims_history(delivery_id id, delivery_state state) noexcept {
    if (state != delivery_state::delivered && state != delivery_state::given_up) return false;
    auto hash = static_cast<std::uint64_t>(id.value());
    hash = (hash ^ hash >> 30) * 0xbf58'476d'1ce4'e5b9U;
    hash = (hash ^ hash >> 27) * 0x94d0'49bb'1331'11ebU;
    return hash >> (64 - 6) == 0;
}

/// Deliveries to remove at a time: four times as many as end between two trims on average.
inline constexpr std::size_t trimmed_rows_max = 256;

}  // namespace tollgate::sql

#endif  // TOLLGATE_STORE_DETAIL_SQL_HISTORY_TRIM_HPP
