#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_APPLICATIONS_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_APPLICATIONS_HPP

#include <tollgate/store/detail/key_value/tokens.hpp>

#include <cstddef>
#include <string_view>

namespace tollgate::inline v0::key_value_detail {

/// Removes at most `rows_max` rows of an application in `table::ended_applications`: its access tokens if it is suspended, everything if it
/// was deleted. Returns how many; fewer than `rows_max` if nothing is left.
inline std::size_t remove_of_ended_application(rows& all, application_id id, std::size_t rows_max) {
    const auto application = all.get<application_record>(application_key(id));
    const bool is_deleted = !application;
    std::size_t removed = 0;
    const auto forget_all = [&](table listed, auto forget) {
        for (const digest& each : all.digests(key{listed}.id(id), rows_max - removed)) {
            forget(all, each);
            ++removed;
        }
    };
    if (is_deleted || application->suspended) forget_all(table::access_tokens_of_grant, forget_access_token);
    if (is_deleted) {
        forget_all(table::refresh_tokens_of_grant, forget_refresh_token);
        forget_all(table::codes_of_grant, forget_code);
        forget_all(table::device_codes_of, forget_device_code);
        for (const user_id user : all.ids<user_id>(key{table::grants}.id(id), rows_max - removed)) {
            forget_grant(all, id, user);
            ++removed;
        }
    }
    if (removed < rows_max) all.erase(key{table::ended_applications}.id(id));
    return removed;
}

[[nodiscard]] inline key client_id_key(std::string_view client_id) noexcept { return key{table::client_ids}.raw(client_id); }

/// Deletes an application; what belongs to it is removed later, by `remove_of_ended_application`.
inline void forget_application(rows& all, application_id id, const application_record& application) {
    all.erase(application_key(id));
    all.erase(client_id_key(application.client_id));
    release_row(all, bounded_applications);
    all.erase(key{table::applications_of_owner}.id(application.owner).id(id));
    all.put(key{table::ended_applications}.id(id), "");
}

/// Deletes applications that nobody owns and nobody has authorized, and that were registered before this time. Returns how many.
inline std::size_t sweep_unowned(rows& all, instant registered_before, std::size_t rows_max) {
    std::size_t swept = 0;
    for (const application_id id : all.ids<application_id>(key{table::applications_of_owner}.id(no_owner))) {
        if (swept == rows_max) break;
        const auto application = all.existing<application_record>(application_key(id));
        if (application.created_at >= registered_before || all.number(key{table::user_counts}.id(id)) != 0) continue;
        forget_application(all, id, application);
        ++swept;
    }
    return swept;
}

/// Removes what an application must not have any more.
[[nodiscard]] inline result<void> end_application(const bounded_store_ref& database, application_id id) noexcept {
    return change_in_steps(database, [&](rows& all) { return remove_of_ended_application(all, id, step_rows_max) == step_rows_max; });
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_APPLICATIONS_HPP
