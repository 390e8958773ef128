#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_MIGRATIONS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_MIGRATIONS_IPP

#include <tollgate/store/detail/sqlite/migrations.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

namespace tollgate::inline v0::sqlite {

namespace detail {

/// The number of steps done; zero for a component, or a file, that has seen none.
inline result<std::int64_t> schema_version(database& on, std::string_view component) {
    const auto table =
        sql::read_value<std::string>(on.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'tollgate_schema'"));
    if (!table) return table.error();
    if (!*table) return std::int64_t{0};
    const auto version =
        sql::read_value<std::int64_t>(on.prepare("SELECT version FROM tollgate_schema WHERE component = ?", component));
    if (!version) return version.error();
    return version->value_or(0);
}

}  // namespace detail

TOLLGATE_DECL result<void> migrate(database& on, std::string_view component, std::span<const statement_text> steps) {
    const auto newest = static_cast<std::int64_t>(steps.size());
    const auto judge = [&](std::int64_t version) -> result<void> {
        if (version <= newest) return {};
        return internal_error(
            "The tables of \"" + std::string{component} + "\" are of version " + std::to_string(version) +
            ", made by a later release; this release supports versions up to " + std::to_string(newest) + ".");
    };

    // Looks without the write lock first: nearly every start finds everything done.
    auto before = detail::schema_version(on, component);
    if (!before) return std::move(before).error();
    if (*before >= newest) return judge(*before);

    auto change = transaction::begin(on);
    if (!change) return std::move(change).error();
    auto version = detail::schema_version(on, component);
    if (!version) return std::move(version).error();
    if (*version >= newest) return judge(*version);  // another process was quicker

    if (auto done = on.run_script("CREATE TABLE IF NOT EXISTS tollgate_schema ("
                                  "component TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID");
        !done)
        return done;
    for (const statement_text& step : steps.subspan(static_cast<std::size_t>(*version)))
        if (auto done = on.run_script(step); !done) return done;
    if (auto done = on.run("INSERT INTO tollgate_schema VALUES (?1, ?2) "
                           "ON CONFLICT (component) DO UPDATE SET version = ?2",
                           component, newest);
        !done)
        return done;
    return change->commit();
}

TOLLGATE_DECL result<void> expect_migrated(
    database& on, std::string_view component, std::span<const statement_text> steps) {
    const auto version = detail::schema_version(on, component);
    if (!version) return version.error();
    if (*version == static_cast<std::int64_t>(steps.size())) return {};
    return internal_error("The tables of \"" + std::string{component} + "\" are of version " + std::to_string(*version) +
                          ", and this release needs version " + std::to_string(steps.size()) + ".");
}

TOLLGATE_DECL result<std::string_view> find_missing(database& on, std::span<const std::string_view> objects) {
    for (const std::string_view each : objects) {
        const auto exists =
            sql::read_value<bool>(on.prepare("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ? COLLATE NOCASE)", each));
        if (!exists) return exists.error();
        if (!exists->value_or(false)) return each;
    }
    return std::string_view{};
}

TOLLGATE_DECL result<void> expect_objects(database& on, std::string_view component, std::span<const std::string_view> objects) {
    const auto missing = find_missing(on, objects);
    if (!missing) return missing.error();
    if (missing->empty()) return {};
    return internal_error("The tables of \"" + std::string{component} + "\" lack " + std::string{*missing} +
                          ": they were made by a build that was never released, or damaged. Start with a new database, or a backup.");
}

TOLLGATE_DECL result<schema_status> read_schema_status(const std::string& path, const database_settings& settings,
                                                       std::string_view component, std::span<const statement_text> steps,
                                                       std::span<const std::string_view> objects) {
    const auto status = [&](std::int64_t version) {
        return sql::status_at(version, version, steps, [](const statement_text& step) { return step.text(); });
    };
    std::error_code ignored;
    if (settings.vfs.empty() && !std::filesystem::exists(path, ignored)) return status(0);
    auto on = database::open(path, {settings.busy_wait_max, true, settings.vfs});
    if (!on) return std::move(on).error();
    const auto version = detail::schema_version(*on, component);
    if (!version) return version.error();
    auto found = status(*version);
    if (found.version != found.newest) return found;
    const auto missing = find_missing(*on, objects);
    if (!missing) return missing.error();
    found.missing = *missing;
    return found;
}

}  // namespace tollgate::sqlite

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_MIGRATIONS_IPP
