#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_MIGRATIONS_HPP
#define TOLLGATE_STORE_DETAIL_SQLITE_MIGRATIONS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>
#include <tollgate/store/schema_status.hpp>

#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0::sqlite {

/// Brings the tables of one `component` up to date: runs the `steps` that the file has not seen yet, in order, all or
/// none. Tables have version n when n steps were done; a released step is never changed, only followed by others.
///
/// Safe when several processes open one file at once: one runs the steps, the others wait. A file of a later version
/// than `steps` is an error (internal) and is not changed.
///
/// Versions are stored in a table by component, not in PRAGMA user_version: the file may belong to an integrator, with
/// other tables and its own version, so that changes to both commit together.
TOLLGATE_DECL result<void> migrate(database& on, std::string_view component, std::span<const statement_text> steps);

/// Checks that the tables have exactly the version of `steps`; an error (internal) otherwise.
TOLLGATE_DECL result<void> expect_migrated(database& on, std::string_view component, std::span<const statement_text> steps);

/// Returns the first of these tables and indexes that the file lacks; empty if it has all.
[[nodiscard]] TOLLGATE_DECL result<std::string_view> find_missing(database& on, std::span<const std::string_view> objects);

/// An error if the file lacks one of these tables and indexes, although its version is right.
[[nodiscard]] TOLLGATE_DECL result<void> expect_objects(database& on, std::string_view component,
                                                        std::span<const std::string_view> objects);

/// The version of the tables in a file, and whether the tables and indexes in `objects`, those that `steps` leave, exist. Changes nothing;
/// version 0 if there is no file.
TOLLGATE_DECL result<schema_status> read_schema_status(const std::string& path, const database_settings& settings,
                                                       std::string_view component, std::span<const statement_text> steps,
                                                       std::span<const std::string_view> objects);

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/migrations.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_MIGRATIONS_HPP
