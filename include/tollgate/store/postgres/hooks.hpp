#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/domain/hook.hpp>
#include <tollgate/store/postgres/pool.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tollgate::postgres {

/// The verbs of `hook_store`, on PostgreSQL. Each is one round trip.
class hooks {
public:
    explicit hooks(pool& connections) : connections_{connections} {}

    TOLLGATE_DECL outcome<hook_id> create(const new_hook& made, std::size_t hooks_per_event_max);
    TOLLGATE_DECL outcome<std::vector<hook>> of(const account_ref& account);
    TOLLGATE_DECL outcome<std::optional<account_ref>> account_of(const service_name& service, hook_id id);
    TOLLGATE_DECL outcome<bool> replace_secret(const account_ref& account, hook_id id, const std::string& secret,
                                               instant old_valid_until);
    TOLLGATE_DECL outcome<bool> remove(const account_ref& account, hook_id id);

private:
    pool& connections_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres/hooks.ipp>
#endif
