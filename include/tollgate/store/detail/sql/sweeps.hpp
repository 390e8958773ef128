#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQL_SWEEPS_HPP
#define TOLLGATE_STORE_DETAIL_SQL_SWEEPS_HPP

#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/sweep.hpp>
#include <tollgate/store/detail/sql/statements.hpp>
#include <tollgate/store/detail/sweep_kinds.hpp>

#include <cstddef>
#include <initializer_list>

namespace tollgate::inline v0::sql {

/// A statement that deletes the rows whose time has passed; its parameters are `until` and the number of rows at most.
struct sweep_step {
    statement_text text;
    instant until;
};

/// Executes the steps until `rows_max` rows are deleted. `remove(text, until, rows_max)` returns the number of deleted rows.
template <class Remove>
result<std::size_t> sweep_steps(std::initializer_list<sweep_step> steps, std::size_t rows_max, Remove remove) {
    std::size_t swept = 0;
    for (const sweep_step& each : steps) {
        if (swept >= rows_max) break;
        result<std::size_t> some = remove(each.text, each.until, rows_max - swept);
        if (!some) return some;
        swept += *some;
    }
    return swept;
}

/// Device codes that expired before this time are of no use.
[[nodiscard]] constexpr instant device_codes_end(instant now) noexcept { return now - seconds{limits::expired_device_code_seconds}; }

template <class Remove>
result<std::size_t> sweep_expired(instant now, std::size_t rows_max, Remove remove) {
    return sweep_steps({{statements::sweep_codes, now},
                        {statements::sweep_access_tokens, now},
                        {statements::sweep_refresh_tokens, now},
                        {statements::sweep_device_codes, device_codes_end(now)}},
                       rows_max, remove);
}

template <class Remove>
result<std::size_t> sweep_sessions(const session_ends& ends, std::size_t rows_max, Remove remove) {
    return sweep_steps({{statements::sweep_old_sessions, ends.created_before}, {statements::sweep_idle_sessions, ends.seen_before}},
                       rows_max, remove);
}

/// The verb `sweep` of a store that has a function for each kind of rows. Each deletes `rows_max` rows at most, and returns their number.
template <class Store>
result<std::size_t> sweep(Store& store, const sweep_request& request) {
    return tollgate::detail::sweep_kinds(
        request, [&](instant now, std::size_t rows_max) { return store.sweep_expired(now, rows_max); },
        [&](instant registered_before, std::size_t rows_max) { return store.sweep_unowned(registered_before, rows_max); },
        [&](instant ended_before, std::size_t rows_max) { return store.sweep_deliveries(ended_before, rows_max); },
        [&](const session_ends& ends, std::size_t rows_max) { return store.sweep_sessions(ends, rows_max); });
}

}  // namespace tollgate::sql

#endif  // TOLLGATE_STORE_DETAIL_SQL_SWEEPS_HPP
