#pragma once
#ifndef TOLLGATE_STORE_SQLITE_DATABASE_IPP
#define TOLLGATE_STORE_SQLITE_DATABASE_IPP

#include <tollgate/base/detail/bounded_time.hpp>
#include <tollgate/store/detail/sqlite/migrations.hpp>
#include <tollgate/store/detail/sqlite/opened_file.hpp>
#include <tollgate/store/sqlite_database.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

namespace tollgate::inline v0 {

struct sqlite_database::state {
    state(const std::string& path, const sqlite_database_settings& settings_, sqlite::change_stamp watched)
        : settings{settings_},
          file{path},
          readers{pool_of(path, settings.readers_max), opener_of(file.path(), true)},
          writers{pool_of(path, 1), opener_of(file.path(), false)},
          changes{std::move(watched)} {
        changes.set_file(file);
    }

    static detail::reconnecting_pool_settings pool_of(const std::string& path, std::size_t connections_max) {
        // A file that cannot be opened needs no protection from retries: every caller tries.
        return {.name = "SQLite: " + path, .connections_max = connections_max, .has_breaker = false};
    }

    [[nodiscard]] connections::opener opener_of(const std::string& path, bool read_only) const {
        return [path, connection_settings = sqlite::database_settings{settings.busy_wait_max, read_only, settings.vfs}]()
                   -> result<std::unique_ptr<sqlite::database>> {
            auto opened = sqlite::database::open(path, connection_settings);
            if (!opened) return std::move(opened).error();
            return std::make_unique<sqlite::database>(*std::move(opened));
        };
    }

    /// The end of a wait that begins now. Beyond the bounds, times could overflow.
    static std::chrono::steady_clock::time_point end_of(milliseconds wait_max) {
        return std::chrono::steady_clock::now() + detail::bounded_wait(wait_max);
    }

    result<lease> take(connections& from, std::chrono::steady_clock::time_point end) {
        using steady = std::chrono::steady_clock;
        const auto now = steady::now();
        end = (std::clamp)(end, now, now + detail::bounded_time::longest);
        const auto time_left = [end] {
            return (std::max)(std::chrono::ceil<milliseconds>(end - steady::now()), milliseconds{0});
        };
        // Checked for each write, because writes are acknowledged, and before a connection is opened, which could create another file.
        if (!(&from == &writers ? file.is_in_place() : file.was_in_place()))
            return unavailable(
                "SQLite: the file was emptied, or it or its -wal or -shm file was deleted or replaced, while it was open; put it back, or "
                "restart to use what is there now: " +
                file.path());
        auto taken = from.take(time_left());
        if (!taken) return taken;
        // What is left of the time is for the lock of the file.
        (*taken)->set_busy_wait_max(time_left());
        return taken;
    }

    const sqlite_database_settings settings;
    sqlite::opened_file file;
    connections readers;
    connections writers;
    sqlite::change_stamp changes;
};

TOLLGATE_DECL sqlite_database::sqlite_database(std::unique_ptr<state> initial) noexcept : state_{std::move(initial)} {}
TOLLGATE_DECL sqlite_database::sqlite_database(sqlite_database&&) noexcept = default;
TOLLGATE_DECL sqlite_database& sqlite_database::operator=(sqlite_database&&) noexcept = default;
TOLLGATE_DECL sqlite_database::~sqlite_database() = default;

TOLLGATE_DECL result<sqlite_database> sqlite_database::open(const std::string& path, const sqlite_database_settings& settings) {
    if (settings.readers_max == 0) return invalid("A database needs at least one reading connection.");
    auto first = sqlite::database::open(path, {start_wait_max, false, settings.vfs});
    if (!first) return std::move(first).error();
    first->set_busy_wait_max(settings.busy_wait_max);
    auto watched = sqlite::change_stamp::watch(*std::move(first));
    if (!watched) return std::move(watched).error();
    return sqlite_database{std::make_unique<state>(path, settings, *std::move(watched))};
}

TOLLGATE_DECL result<void> sqlite_database::migrate(std::string_view component,
                                                    std::span<const sqlite::statement_text> steps, milliseconds wait_max) {
    auto on = state_->take(state_->writers, state::end_of(wait_max));
    if (!on) return std::move(on).error();
    return sqlite::migrate(**on, component, steps);
}

TOLLGATE_DECL result<schema_status> sqlite_database::check_schema(const std::string& path, std::string_view component,
                                                                  std::span<const sqlite::statement_text> steps,
                                                                  const sqlite_database_settings& settings,
                                                                  std::span<const std::string_view> objects) {
    return sqlite::read_schema_status(path, {.busy_wait_max = settings.busy_wait_max, .vfs = settings.vfs}, component, steps, objects);
}

TOLLGATE_DECL auto sqlite_database::deadline_from_now(milliseconds wait_max) const noexcept -> deadline {
    return state::end_of((std::min)(wait_max, state_->settings.busy_wait_max));
}

TOLLGATE_DECL auto sqlite_database::reader(deadline end) -> result<lease> {
    return state_->take(state_->readers, end ? *end : *deadline_from_now());
}

TOLLGATE_DECL auto sqlite_database::writer(deadline end) -> result<lease> {
    return state_->take(state_->writers, end ? *end : *deadline_from_now());
}

TOLLGATE_DECL backend_statistics sqlite_database::statistics() const noexcept {
    auto all = state_->readers.statistics() + state_->writers.statistics();
    all.is_up = all.is_up && state_->file.was_in_place();
    return all;
}

TOLLGATE_DECL const sqlite::change_stamp& sqlite_database::changes() const noexcept { return state_->changes; }

}  // namespace tollgate

#endif  // TOLLGATE_STORE_SQLITE_DATABASE_IPP
