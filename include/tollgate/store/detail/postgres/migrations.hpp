#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/postgres/connection.hpp>
#include <tollgate/store/detail/sql/schema_status.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace tollgate::inline v0::postgres {

/// One step of a component's tables.
struct schema_step {
    statement_text script;
    /// Releases that do not know this step cannot work with what it leaves. Most steps only add, and do not break them.
    bool breaks_older = false;
};

/// Brings the tables of one `component` up to date: runs those of `steps` that the database has not seen yet, in order,
/// all or none. Tables are at version n when n steps were done; a released step is never changed, only followed.
///
/// Any number of nodes may start at once: one does the work under an advisory lock, the others wait and find it done.
/// Nodes of an older release go on working beside a newer one, and may be started again, as long as no step that they
/// do not know breaks them; then it is a problem (internal) that says so, and each new connection of theirs is one,
/// too. A step that finds a table locked for longer than any request takes is a problem (unavailable), and nothing has
/// happened.
///
/// Where there is nothing to do the connection's role needs no right to make tables.
///
/// `on` is for this alone, and of no use afterwards: it may hold locks.
[[nodiscard]] TOLLGATE_DECL result<void> migrate(connection& on, std::string_view component,
                                                  std::span<const schema_step> steps, milliseconds wait_max);

/// How far the tables are, without changing them.
[[nodiscard]] TOLLGATE_DECL result<schema_status> read_schema_status(connection& on, std::string_view component,
                                                                      std::span<const schema_step> steps);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/migrations.ipp>
#endif
