#pragma once
#ifndef TOLLGATE_STORE_KEY_VALUE_IPP
#define TOLLGATE_STORE_KEY_VALUE_IPP

#include <tollgate/store/detail/key_value/applications.hpp>
#include <tollgate/store/detail/key_value/deliveries.hpp>
#include <tollgate/store/detail/key_value/sessions.hpp>
#include <tollgate/store/key_value.hpp>

#include <optional>

namespace tollgate::inline v0 {

namespace key_value_detail {

/// Removes at most `rows_max` codes and tokens whose end has passed, and rows of ended applications. Returns how many.
inline std::size_t sweep_expired(rows& all, instant now, std::size_t rows_max) {
    std::size_t swept = 0;
    for (const application_id each : all.ids<application_id>(key{table::ended_applications}, rows_max))
        swept += remove_of_ended_application(all, each, rows_max - swept);
    return swept + sweep_expired_rows(all, now, rows_max - swept);
}

}  // namespace key_value_detail

TOLLGATE_DECL record_store::record_store(key_value_store_ref database, const record_store_settings& settings)
    : database_{database, std::nullopt}, hook_secret_keys_{settings.hook_secret_keys} {}
TOLLGATE_DECL record_store::record_store(key_value_store_ref database, const memory_settings& bounds) : database_{database, bounds} {}

TOLLGATE_DECL record_store::~record_store() = default;

TOLLGATE_DECL result<std::size_t> record_store::sweep(const sweep_request& request) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) {
        std::size_t swept = 0;
        if (request.expired_at) swept += sweep_expired(all, *request.expired_at, request.rows_max);
        if (request.unowned_registered_before)
            swept += sweep_unowned(all, *request.unowned_registered_before, request.rows_max - swept);
        if (request.deliveries_ended_before) swept += sweep_deliveries(all, *request.deliveries_ended_before, request.rows_max - swept);
        if (request.sessions) swept += sweep_sessions(all, *request.sessions, request.rows_max - swept);
        return swept;
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_KEY_VALUE_IPP
