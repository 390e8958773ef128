#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQL_SWEEPS_HPP
#define TOLLGATE_STORE_DETAIL_SQL_SWEEPS_HPP

#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/sweep.hpp>
#include <tollgate/store/detail/sql/statements.hpp>

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
        const result<std::size_t> some = remove(each.text, each.until, rows_max - swept);
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

}  // namespace tollgate::sql

#endif  // TOLLGATE_STORE_DETAIL_SQL_SWEEPS_HPP
