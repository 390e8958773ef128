#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/store/detail/cache_invalidation_feed.hpp>
#include <tollgate/store/detail/postgres/pool.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::postgres {

/// The verbs of `application_store`, on PostgreSQL. Each is one round trip.
class applications {
public:
    applications(pool& connections, cache_invalidation_feed& changes) : connections_{connections}, changes_{changes} {}

    TOLLGATE_DECL result<application_id> create(const new_application& made, std::size_t applications_per_user_max);
    TOLLGATE_DECL result<std::optional<application>> find(std::string_view client_id);
    TOLLGATE_DECL result<std::vector<application>> of(user_id owner);
    TOLLGATE_DECL result<bool> replace_secret(user_id owner, application_id id, const digest& secret);
    TOLLGATE_DECL result<bool> remove(user_id owner, application_id id);

private:
    pool& connections_;
    cache_invalidation_feed& changes_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/applications.ipp>
#endif
