#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/store/detail/sqlite/pool.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::sqlite {

/// The verbs of `application_store`, on SQLite.
class applications {
public:
    explicit applications(pool& connections) : connections_{connections} {}

    TOLLGATE_DECL result<application_id> create(const new_application& made, std::size_t applications_per_user_max);
    TOLLGATE_DECL result<std::optional<application>> find(std::string_view client_id);
    TOLLGATE_DECL result<std::vector<application>> of(user_id owner);
    TOLLGATE_DECL result<bool> replace_secret(user_id owner, application_id id, const digest& secret);
    TOLLGATE_DECL result<bool> remove(user_id owner, application_id id);

private:
    pool& connections_;
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/applications.ipp>
#endif
