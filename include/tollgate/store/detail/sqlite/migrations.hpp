#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/sql/schema_status.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>

#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0::sqlite {

/// Brings the tables of one `component` up to date: runs those of `steps` that its file has not seen yet, in order, all
/// or none. A file is at version n when n steps were done; a released step is never changed, only followed.
///
/// Safe when several processes open one file at once: one does the work, the others wait and find it done. A file of a
/// later version than `steps` know is a problem (internal) that says so, and is left alone.
///
/// Versions are kept in a table and by component, not in PRAGMA user_version: the file may be an integrator's own, with
/// tables and a version of theirs, so that their rows and ours commit together.
TOLLGATE_DECL result<void> migrate(database& on, std::string_view component, std::span<const statement_text> steps);

/// Whether the tables are exactly at the version of `steps`; a problem (internal) that says so when they are not, or are
/// not there.
TOLLGATE_DECL result<void> expect_migrated(database& on, std::string_view component, std::span<const statement_text> steps);

/// How far the tables in a file are, without changing it. They are at version 0 if there is no file; none is made.
TOLLGATE_DECL result<schema_status> read_schema_status(const std::string& path, const database_settings& settings,
                                                       std::string_view component, std::span<const statement_text> steps);

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/migrations.ipp>
#endif
