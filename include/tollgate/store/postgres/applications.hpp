#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/domain/application.hpp>
#include <tollgate/store/heard_changes.hpp>
#include <tollgate/store/postgres/pool.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::postgres {

/// The verbs of `application_store`, on PostgreSQL. Each is one round trip.
class applications {
public:
    applications(pool& connections, heard_changes& changes) : connections_{connections}, changes_{changes} {}

    TOLLGATE_DECL outcome<application_id> create(const new_application& made, std::size_t applications_per_user_max);
    TOLLGATE_DECL outcome<std::optional<application>> find(std::string_view client_id);
    TOLLGATE_DECL outcome<std::vector<application>> of(user_id owner);
    TOLLGATE_DECL outcome<bool> replace_secret(user_id owner, application_id id, const digest& secret);
    TOLLGATE_DECL outcome<bool> remove(user_id owner, application_id id);

private:
    pool& connections_;
    heard_changes& changes_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/postgres/applications.ipp>
#endif
