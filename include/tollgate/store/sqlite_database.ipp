#pragma once

#include <tollgate/store/detail/sqlite/migrations.hpp>
#include <tollgate/store/sqlite_database.hpp>

#include <algorithm>
#include <mutex>

namespace tollgate::inline v0 {

struct sqlite_database::state {
    state(const std::string& path, const sqlite_database_settings& settings_, sqlite::change_stamp watched)
        : settings{settings_},
          readers{pool_of(path, settings.readers_max), opener_of(path, true)},
          writers{pool_of(path, 1), opener_of(path, false)},
          changes{std::move(watched)} {}

    static reconnecting_pool_settings pool_of(const std::string& path, std::size_t connections_max) {
        // A file that cannot be opened needs no protection from retries: every caller tries.
        return {.name = "SQLite: " + path, .connections_max = connections_max, .longest_pause = milliseconds{0}};
    }

    [[nodiscard]] connections::opener opener_of(const std::string& path, bool read_only) const {
        return [path, with = sqlite::database_settings{settings.busy_wait_max, read_only, settings.vfs}]()
                   -> result<std::unique_ptr<sqlite::database>> {
            auto made = sqlite::database::open(path, with);
            if (!made) return std::move(made).error();
            return std::make_unique<sqlite::database>(*std::move(made));
        };
    }

    static result<lease> take(connections& from, milliseconds wait_max) {
        auto taken = from.take(wait_max);
        if (taken) (*taken)->set_busy_wait_max(wait_max);
        return taken;
    }

    const sqlite_database_settings settings;
    connections readers;
    connections writers;
    sqlite::change_stamp changes;
};

TOLLGATE_DECL sqlite_database::sqlite_database(std::unique_ptr<state> made) noexcept : state_{std::move(made)} {}
TOLLGATE_DECL sqlite_database::sqlite_database(sqlite_database&&) noexcept = default;
TOLLGATE_DECL sqlite_database& sqlite_database::operator=(sqlite_database&&) noexcept = default;
TOLLGATE_DECL sqlite_database::~sqlite_database() = default;

TOLLGATE_DECL result<sqlite_database> sqlite_database::open(const std::string& path,
                                                             const sqlite_database_settings& settings) {
    if (settings.readers_max == 0) return invalid("A database needs at least one connection that reads.");
    auto first = sqlite::database::open(path, {settings.busy_wait_max, false, settings.vfs});
    if (!first) return std::move(first).error();
    auto watched = sqlite::change_stamp::watch(*std::move(first));
    if (!watched) return std::move(watched).error();
    return sqlite_database{std::make_unique<state>(path, settings, *std::move(watched))};
}

TOLLGATE_DECL result<void> sqlite_database::migrate(std::string_view component,
                                                     std::span<const sqlite::statement_text> steps) {
    auto on = writer();
    if (!on) return std::move(on).error();
    return sqlite::migrate(**on, component, steps);
}

TOLLGATE_DECL result<schema_status> sqlite_database::check_schema(const std::string& path, std::string_view component,
                                                                  std::span<const sqlite::statement_text> steps,
                                                                  const sqlite_database_settings& settings) {
    return sqlite::read_schema_status(path, {settings.busy_wait_max, true, settings.vfs}, component, steps);
}

TOLLGATE_DECL auto sqlite_database::reader() -> result<lease> {
    return state::take(state_->readers, state_->settings.busy_wait_max);
}

TOLLGATE_DECL auto sqlite_database::writer() -> result<lease> {
    return state::take(state_->writers, state_->settings.busy_wait_max);
}

TOLLGATE_DECL auto sqlite_database::writer_soon(milliseconds wait_max) -> result<lease> {
    return state::take(state_->writers, (std::min)(wait_max, state_->settings.busy_wait_max));
}

TOLLGATE_DECL const sqlite::change_stamp& sqlite_database::changes() const noexcept { return state_->changes; }

}  // namespace tollgate
