#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_OUTBOX_BOUNDS_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_OUTBOX_BOUNDS_HPP

#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/key_value/bounds.hpp>
#include <tollgate/store/detail/key_value/records.hpp>
#include <tollgate/store/detail/key_value/rows.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// The bytes of events, deliveries and attempts, and the shares of an account and of a host: memory_settings::outbox_bytes_max. Without
// bounds nothing is counted.

namespace tollgate::inline v0::key_value_detail {

// The memory of a row with its keys beside its texts, on x86-64 and rounded up.
inline constexpr std::size_t event_row_bytes = 256;
inline constexpr std::size_t delivery_row_bytes = 768;
inline constexpr std::size_t attempt_row_bytes = 192;

template <class Text>
[[nodiscard]] std::int64_t bytes_of(const attempt_record<Text>& made) noexcept {
    return static_cast<std::int64_t>(attempt_row_bytes + made.response.size() + made.request.size());
}
/// The bytes of a delivery that has not ended. Its event counts for each of its deliveries, because any of them may be the last one that
/// needs it.
[[nodiscard]] inline std::uint64_t unsent_bytes(std::uint64_t event_bytes) noexcept {
    return delivery_row_bytes + event_row_bytes + event_bytes;
}

[[nodiscard]] inline key outbox_bytes_key() noexcept { return count_key(table::events); }
[[nodiscard]] inline key host_bytes_key(std::uint64_t host) noexcept { return count_key(table::leases_of_host).number(host); }
[[nodiscard]] inline key unsent_key(hook_id hook) noexcept { return key{table::unsent}.id(hook); }

/// Counts bytes that rows take or free.
inline void count_bytes(rows& all, std::int64_t change) {
    if (all.bounds() != nullptr && change != 0) all.add(outbox_bytes_key(), change);
}
/// Counts a delivery that is to be sent, or is no longer. Does nothing for a deleted hook, whose bytes are no longer counted.
inline void count_unsent(rows& all, hook_id hook, std::uint64_t event_bytes, bool more) {
    if (all.bounds() == nullptr) return;
    auto row = all.get<unsent_record>(unsent_key(hook));
    if (!row) return;
    const auto change = static_cast<std::int64_t>(unsent_bytes(event_bytes)) * (more ? 1 : -1);
    row->bytes += static_cast<std::uint64_t>(change);
    all.put(unsent_key(hook), *row);
    all.add(host_bytes_key(row->host), change);
}
/// Begins to count what a hook is to send, moves it to the hook's new host, or ends it.
inline void begin_unsent(rows& all, hook_id hook, std::uint64_t host) {
    if (all.bounds() != nullptr) all.put(unsent_key(hook), unsent_record{0, host});
}
inline void move_unsent(rows& all, hook_id hook, std::uint64_t host) {
    auto row = all.bounds() != nullptr ? all.get<unsent_record>(unsent_key(hook)) : std::nullopt;
    if (!row) return;
    all.add(host_bytes_key(row->host), -static_cast<std::int64_t>(row->bytes));
    row->host = host;
    all.add(host_bytes_key(row->host), static_cast<std::int64_t>(row->bytes));
    all.put(unsent_key(hook), *row);
}
inline void end_unsent(rows& all, hook_id hook) {
    const auto row = all.bounds() != nullptr ? all.get<unsent_record>(unsent_key(hook)) : std::nullopt;
    if (!row) return;
    all.add(host_bytes_key(row->host), -static_cast<std::int64_t>(row->bytes));
    all.erase(unsent_key(hook));
}

[[nodiscard]] inline std::uint64_t outbox_share(rows& all) noexcept { return all.bounds()->outbox_bytes_max / share_divisor; }
/// Returns true if a hook's host has room for one more delivery of an event.
[[nodiscard]] inline bool host_has_share(rows& all, hook_id hook, std::uint64_t event_bytes) {
    if (all.bounds() == nullptr) return true;
    const auto row = all.existing<unsent_record>(unsent_key(hook));
    return all.number(host_bytes_key(row.host)) + unsent_bytes(event_bytes) <= outbox_share(all);
}
[[nodiscard]] inline error share_is_used(rows& all, const std::string& destination) {
    return unavailable("The memory store's outbox holds " + std::to_string(outbox_share(all)) + " bytes that are still to be sent " +
                       destination + ", the maximum (a quarter of memory_settings::outbox_bytes_max).");
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_OUTBOX_BOUNDS_HPP
