#pragma once

#include <tollgate/store/detail/errors.hpp>
#include <tollgate/store/detail/sqlite/append_event.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>
#include <tollgate/store/detail/sqlite/migrations.hpp>
#include <tollgate/store/detail/sqlite/schema.hpp>
#include <tollgate/store/detail/sqlite/own_transaction.hpp>

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
        auto appended = sqlite::append_event(on, reported, seed, now);
        if (appended) {
            if (auto done = on.run("RELEASE tollgate_event"); !done) appended = std::move(done).error();
        }
        if (!appended && sqlite3_get_autocommit(connection_) == 0) {
            // If this fails, SQLite has already rolled back the whole transaction.
            static_cast<void>(on.run("ROLLBACK TO tollgate_event"));
            static_cast<void>(on.run("RELEASE tollgate_event"));
        }
        return appended;
    });
}

}  // namespace tollgate
