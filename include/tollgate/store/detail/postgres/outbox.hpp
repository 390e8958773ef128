#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace tollgate::inline v0::postgres {

/// The verbs of `outbox` except `due_hooks`, `lease` and `complete`, on PostgreSQL.
///
/// The row of a hook's host is the lock on its deliveries: whoever changes an existing delivery locks it first. New
/// deliveries do not need it. Other nodes are notified in the same round trip but after the transaction, because
/// transactions with NOTIFY are committed one at a time.
class outbox {
public:
    explicit outbox(postgres_database& connections) : connections_{connections} {}

    TOLLGATE_DECL result<std::size_t> append(const event& happened, const message_seed& seed, instant now);
    TOLLGATE_DECL result<std::vector<delivery>> deliveries_of(const account_ref& account, hook_id of,
                                                               std::size_t rows_max, std::optional<delivery_id> before);
    TOLLGATE_DECL result<std::vector<recorded_attempt>> attempts_of(const account_ref& account, hook_id of,
                                                                     std::size_t rows_max,
                                                                     std::optional<delivery_id> made_for);
    TOLLGATE_DECL result<bool> resend(const account_ref& account, delivery_id id, instant now);
    TOLLGATE_DECL result<bool> enable_hook(const account_ref& account, hook_id id, instant now);
    TOLLGATE_DECL result<std::size_t> sweep(instant ended_before, std::size_t rows_max);

private:
    postgres_database& connections_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/outbox.ipp>
#endif
