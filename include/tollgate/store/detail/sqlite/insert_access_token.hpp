#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>

#include <cstdint>
#include <optional>

namespace tollgate::inline v0::sqlite {

/// Keeps an access token, which came with the refresh token of this row or with none, and forgets those that one user
/// and one application have too many of. Precondition: in a transaction, which the caller ends.
TOLLGATE_DECL result<void> insert_access_token(database& on, const new_access_token& made,
                                                std::optional<std::int64_t> refresh_token);

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/insert_access_token.ipp>
#endif
