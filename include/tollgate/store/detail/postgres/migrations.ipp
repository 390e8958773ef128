#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_MIGRATIONS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_MIGRATIONS_IPP

#include <tollgate/store/detail/postgres/migrations.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tollgate::inline v0::postgres {

namespace detail {

struct schema_state {
    std::int64_t version = 0;
    std::int64_t works_with = 0;  ///< the lowest version of a release that can use these tables
};

inline result<rows> run_one(connection& on, const batch& request) {
    auto response = on.run(request);
    if (response.failed) return std::move(response.failed->error);
    return std::move(response.results.front());
}

template <class... Values>
result<rows> query(connection& on, statement_text text, const Values&... values) {
    batch request{milliseconds{0}};
    request.add(text, values...);
    return run_one(on, request);
}

/// Zero for a component, or a database, that has seen no step.
inline result<schema_state> read_schema_state(connection& on, std::string_view component) {
    auto response = query(on, "SELECT to_regclass('tollgate_schema') IS NOT NULL");
    if (!response) return std::move(response).error();
    const auto is_there = response->only<bool>();
    if (!is_there) return is_there.error();
    if (!std::get<0>(*is_there)) return schema_state{};
    response = query(on, "SELECT version, works_with FROM tollgate_schema WHERE component = $1", component);
    if (!response) return std::move(response).error();
    const auto found =
        sql::read_one(*response, [](std::int64_t version, std::int64_t works_with) { return schema_state{version, works_with}; });
    if (!found) return found.error();
    return found->value_or(schema_state{});
}

inline result<void> run_steps(connection& on, std::string_view component, std::span<const schema_step> steps,
                               schema_state from) {
    auto done = on.run_script(
        "CREATE TABLE IF NOT EXISTS tollgate_schema ("
        "component text PRIMARY KEY, version bigint NOT NULL, works_with bigint NOT NULL);"
        // While a long transaction makes a table lock wait, the waiting lock would block all short transactions.
        "SET LOCAL lock_timeout = '5s'");
    if (!done) return done;
    for (std::size_t i = static_cast<std::size_t>(from.version); i < steps.size(); ++i) {
        if (done = on.run_script(steps[i].script.text()); !done) return done;
        if (steps[i].breaks_older) from.works_with = static_cast<std::int64_t>(i) + 1;
    }
    auto recorded = query(on,
                          "INSERT INTO tollgate_schema (component, version, works_with) VALUES ($1, $2, $3) "
                          "ON CONFLICT (component) DO UPDATE SET version = $2, works_with = $3",
                          component, static_cast<std::int64_t>(steps.size()), from.works_with);
    if (!recorded) return std::move(recorded).error();
    return on.run_script("COMMIT");
}

}  // namespace detail

TOLLGATE_DECL result<void> migrate(connection& on, std::string_view component, std::span<const schema_step> steps,
                                    milliseconds wait_max) {
    const auto newest = static_cast<std::int64_t>(steps.size());
    const auto judge = [&](const detail::schema_state& found) -> result<void> {
        if (found.works_with <= newest) return {};
        return internal_error("PostgreSQL: the tables of \"" + std::string{component} + "\" are of version " +
                              std::to_string(found.version) + ", made by a later release, and can be used from " +
                              std::to_string(found.works_with) + " on; this release supports versions up to " +
                              std::to_string(newest));
    };

    // Looks without the lock first: nearly every start finds everything done.
    auto found = detail::read_schema_state(on, component);
    if (!found) return std::move(found).error();
    if (found->version >= newest) return judge(*found);

    on.set_response_wait_max(wait_max);
    // Locked before the transaction begins: otherwise it would not see tables created while it waited. All locks end
    // with the connection.
    auto done = on.run_script(
        "SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = '1min';"
        "SELECT pg_advisory_lock(hashtextextended('tollgate_schema', 0))");
    if (!done) return done;
    if (done = on.run_script("BEGIN"); !done) return done;
    found = detail::read_schema_state(on, component);
    if (!found) return std::move(found).error();
    if (found->version >= newest) return judge(*found);  // another node was quicker
    return detail::run_steps(on, component, steps, *found);
}

TOLLGATE_DECL result<schema_status> read_schema_status(connection& on, std::string_view component,
                                                       std::span<const schema_step> steps,
                                                       std::span<const std::string_view> objects) {
    const auto found = detail::read_schema_state(on, component);
    if (!found) return found.error();
    auto status = sql::status_at(found->version, found->works_with, steps, [](const schema_step& step) { return step.script.text(); });
    if (status.version != status.newest) return status;
    auto absent = detail::query(on, "SELECT name FROM unnest($1) AS names (name) WHERE to_regclass(quote_ident(name)) IS NULL LIMIT 1",
                                      std::vector<std::string>(objects.begin(), objects.end()));
    if (!absent) return std::move(absent).error();
    auto name = sql::read_value<std::string>(*absent);
    if (!name) return std::move(name).error();
    status.missing = (*std::move(name)).value_or("");
    return status;
}

}  // namespace tollgate::postgres

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_MIGRATIONS_IPP
