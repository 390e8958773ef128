#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SWEEP_KINDS_HPP
#define TOLLGATE_STORE_DETAIL_SWEEP_KINDS_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/model/sweep.hpp>

#include <cstddef>

namespace tollgate::inline v0::detail {

/// Sweeps the kinds of rows whose times are set, within the bound of the request. Each function takes its times and the number of rows that
/// it may delete, and returns how many it has deleted.
template <class Expired, class Deliveries, class Sessions>
result<std::size_t> sweep_kinds(const sweep_request& request, Expired expired, Deliveries deliveries, Sessions sessions) {
    std::size_t swept = 0;
    const auto sweep = [&](const auto& times, auto& kind) -> result<void> {
        if (!times || swept >= request.rows_max) return {};
        const result<std::size_t> some = kind(*times, request.rows_max - swept);
        if (!some) return some.error();
        swept += *some;
        return {};
    };
    auto done = sweep(request.expired_at, expired);
    if (done) done = sweep(request.deliveries_ended_before, deliveries);
    if (done) done = sweep(request.sessions, sessions);
    if (!done) return std::move(done).error();
    return swept;
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_STORE_DETAIL_SWEEP_KINDS_HPP
