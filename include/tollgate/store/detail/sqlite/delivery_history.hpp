#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/sqlite_database.hpp>

#include <cstddef>
#include <vector>

namespace tollgate::inline v0::sqlite {

/// The verbs of `outbox` by which a hook's owner views and resends deliveries, and sweeps.
class delivery_history {
public:
    explicit delivery_history(sqlite_database& connections) : connections_{connections} {}

    TOLLGATE_DECL result<std::vector<delivery>> deliveries_of(const account_ref& account, hook_id of,
                                                               std::size_t rows_max,
                                                               std::optional<delivery_id> before);
    TOLLGATE_DECL result<std::vector<recorded_attempt>> attempts_of(const account_ref& account, hook_id of,
                                                                     std::size_t rows_max,
                                                                     std::optional<delivery_id> made_for);
    TOLLGATE_DECL result<bool> resend(const account_ref& account, delivery_id id, instant now);
    TOLLGATE_DECL result<bool> enable_hook(const account_ref& account, hook_id id, instant now);
    TOLLGATE_DECL result<std::size_t> sweep(instant ended_before, std::size_t rows_max);

private:
    sqlite_database& connections_;
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/delivery_history.ipp>
#endif
