#pragma once
#ifndef TOLLGATE_STORE_SQLITE_OWN_TRANSACTION_IPP
#define TOLLGATE_STORE_SQLITE_OWN_TRANSACTION_IPP

#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/sqlite/append_event.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>
#include <tollgate/store/detail/sqlite/migrations.hpp>
#include <tollgate/store/detail/sqlite/schema.hpp>
#include <tollgate/store/sqlite_own_transaction.hpp>
#include <tollgate/store/detail/undo.hpp>

#include <sqlite3.h>

#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<std::size_t> sqlite_own_transaction::append_event(const event& reported, const message_seed& seed,
                                                                       instant now) noexcept {
    return detail::without_exceptions([&]() -> result<std::size_t> {
        if (sqlite3_get_autocommit(connection_) != 0) return invalid("No transaction is open on this connection.");
        auto on = sqlite::database::borrow(connection_);
        if (auto good = sqlite::expect_migrated(on, sqlite::store_component, sqlite::store_steps); !good)
            return std::move(good).error();
        if (auto done = on.run("SAVEPOINT tollgate_event"); !done) return std::move(done).error();
        detail::undo_unless_kept appending{[this]() noexcept {
            // Without a transaction, SQLite has already rolled it back as a whole.
            if (sqlite3_get_autocommit(connection_) == 0)
                sqlite3_exec(connection_, "ROLLBACK TO tollgate_event; RELEASE tollgate_event", nullptr, nullptr, nullptr);
        }};
        auto appended = sqlite::append_event(on, reported, seed, now);
        if (!appended) return appended;
        if (auto done = on.run("RELEASE tollgate_event"); !done) return std::move(done).error();
        appending.keep();
        return appended;
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_SQLITE_OWN_TRANSACTION_IPP
