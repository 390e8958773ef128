#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_BOUNDS_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_BOUNDS_HPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/key_value/records.hpp>
#include <tollgate/store/detail/key_value/rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The bounds of memory_settings: how many rows there may be, in total and of one user. Without bounds nothing is counted.

namespace tollgate::inline v0::key_value_detail {

/// The part of a bound that one user, account or host may use; a quarter leaves enough for others.
inline constexpr std::size_t share_divisor = 4;

/// A table with a bound.
struct bounded_table {
    table of;
    std::string_view rows;     // a plural noun
    std::string_view setting;  // the member's name
    std::size_t memory_settings::* rows_max;
};
inline constexpr bounded_table bounded_personal_tokens{table::personal_tokens, "personal tokens", "personal_tokens_max",
                                                       &memory_settings::personal_tokens_max};
inline constexpr bounded_table bounded_access_tokens{table::access_tokens, "access tokens", "access_tokens_max",
                                                     &memory_settings::access_tokens_max};
inline constexpr bounded_table bounded_hooks{table::hooks, "hooks", "hooks_max",
                                             &memory_settings::hooks_max};
inline constexpr bounded_table bounded_applications{table::applications, "applications", "applications_max",
                                                    &memory_settings::applications_max};
inline constexpr bounded_table bounded_grants{table::grants, "grants", "grants_max",
                                              &memory_settings::grants_max};
inline constexpr bounded_table bounded_codes{table::codes, "codes", "codes_max",
                                             &memory_settings::codes_max};
inline constexpr bounded_table bounded_refresh_tokens{table::refresh_tokens, "refresh tokens", "refresh_tokens_max",
                                                      &memory_settings::refresh_tokens_max};
inline constexpr bounded_table bounded_device_codes{table::device_codes, "device codes", "device_codes_max",
                                                    &memory_settings::device_codes_max};
inline constexpr bounded_table bounded_sessions{table::sessions, "sessions", "sessions_max",
                                                &memory_settings::sessions_max};

[[nodiscard]] inline key count_key(table of) noexcept { return key{table::counts}.of(of); }
[[nodiscard]] inline key count_key(table of, user_id user) noexcept { return count_key(of).id(user); }

/// The error for one more row of a table, and of the user if given; empty if there is room.
[[nodiscard]] inline std::optional<error> find_no_room(rows& all, const bounded_table& in, std::optional<user_id> user) {
    if (all.bounds() == nullptr) return std::nullopt;
    const std::size_t rows_max = all.bounds()->*in.rows_max;
    const auto is_full = [&](std::size_t bound, std::string_view of_user, std::string_view share) {
        return unavailable(detail::concat({"The memory store holds ", std::to_string(bound), " ", in.rows, of_user, ", the maximum (",
                                           share, "memory_settings::", in.setting, ")."}));
    };
    if (all.number(count_key(in.of)) >= rows_max) return is_full(rows_max, "", "");
    const std::size_t share = (std::max)(rows_max / share_divisor, std::size_t{1});
    if (user && all.number(count_key(in.of, *user)) >= share) return is_full(share, " of one user", "a quarter of ");
    return std::nullopt;
}
inline void count_row(rows& all, const bounded_table& in, std::optional<user_id> user, int change) {
    if (all.bounds() == nullptr) return;
    all.add(count_key(in.of), change);
    if (user) all.add(count_key(in.of, *user), change);
}
/// Counts one more row, if there is room.
[[nodiscard]] inline result<void> claim_row(rows& all, const bounded_table& in, std::optional<user_id> user = {}) {
    if (auto full = find_no_room(all, in, user)) return *std::move(full);
    count_row(all, in, user, 1);
    return {};
}
inline void release_row(rows& all, const bounded_table& in, std::optional<user_id> user = {}) { count_row(all, in, user, -1); }

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_BOUNDS_HPP
