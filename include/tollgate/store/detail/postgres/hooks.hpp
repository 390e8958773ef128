#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/store/detail/postgres/pool.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tollgate::inline v0::postgres {

/// The verbs of `hook_store`, on PostgreSQL. Each is one round trip.
class hooks {
public:
    explicit hooks(pool& connections) : connections_{connections} {}

    TOLLGATE_DECL result<hook_id> create(const new_hook& made, std::size_t hooks_per_event_max);
    TOLLGATE_DECL result<std::vector<hook>> of(const account_ref& account);
    TOLLGATE_DECL result<std::optional<account_ref>> account_of(const service_name& service, hook_id id);
    TOLLGATE_DECL result<bool> replace_secret(const account_ref& account, hook_id id, const std::string& secret,
                                               instant old_valid_until);
    TOLLGATE_DECL result<bool> remove(const account_ref& account, hook_id id);

private:
    pool& connections_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/hooks.ipp>
#endif
