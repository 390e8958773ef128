#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>

#include <string_view>

struct sqlite3;

namespace tollgate::inline v0::sqlite {

/// What SQLite's result `code` means to a caller: unavailable for what may pass by itself or by an operator's hand
/// (busy, disk full, no permission), conflict for a broken constraint, internal for the rest. `doing` goes into the
/// cause: a statement or a file's name, never a value. `connection` may be null.
[[nodiscard]] TOLLGATE_DECL error failure(sqlite3* connection, int code, std::string_view doing);

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/failure.ipp>
#endif
