#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>

#include <string_view>

struct sqlite3;

namespace tollgate::inline v0::sqlite {

/// Converts SQLite's result `code` to an error: unavailable for conditions that may pass or that an operator can fix
/// (busy, full disk, no permission), conflict for a violated constraint, internal for the rest. `doing` is added to the
/// cause: a statement or a file name, never a value. `connection` may be null.
[[nodiscard]] TOLLGATE_DECL error failure(sqlite3* connection, int code, std::string_view doing);

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/failure.ipp>
#endif
