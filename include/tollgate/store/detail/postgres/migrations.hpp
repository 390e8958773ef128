#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_MIGRATIONS_HPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_MIGRATIONS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/postgres/connection.hpp>
#include <tollgate/store/schema_status.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace tollgate::inline v0::postgres {

/// A schema change of a component.
struct schema_step {
    statement_text script;
    /// Releases that do not know this step cannot use the tables after it. Most steps only add and do not break
    /// anything.
    bool breaks_older = false;
};

/// Brings the tables of one `component` up to date: runs the `steps` that the database has not seen yet, in order, all
/// or none. Tables have version n when n steps were done; a released step is never changed, only followed by others.
///
/// Any number of nodes may start at once: one runs the steps under an advisory lock, the others wait. Nodes of an older
/// release continue beside a newer one, and may be restarted, as long as no unknown step breaks them; then this returns
/// an error (internal) that says so, and so does each new connection. A step that finds a table locked for longer than
/// any request takes is an error (unavailable) without effect.
///
/// If there is nothing to do, the connection's role needs no right to create tables.
///
/// `wait_max` bounds the time of each step, and the wait for the node that runs them before this one; it may be any time.
///
/// `on` is used only for this and must be closed afterwards: it may hold locks.
[[nodiscard]] TOLLGATE_DECL result<void> migrate(connection& on, std::string_view component,
                                                 std::span<const schema_step> steps, milliseconds wait_max);

/// The version of the tables, and whether the tables and indexes in `objects`, those that `steps` leave, exist. Changes nothing.
[[nodiscard]] TOLLGATE_DECL result<schema_status> read_schema_status(connection& on, std::string_view component,
                                                                     std::span<const schema_step> steps,
                                                                      std::span<const std::string_view> objects);

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/migrations.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_MIGRATIONS_HPP
