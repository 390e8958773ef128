#pragma once
#ifndef TOLLGATE_STORE_POSTGRES_DATABASE_IPP
#define TOLLGATE_STORE_POSTGRES_DATABASE_IPP

#include <tollgate/base/detail/system/boot_clock.hpp>
#include <tollgate/base/detail/bounded_time.hpp>
#include <tollgate/base/detail/reconnecting_pool.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tollgate::inline v0 {

namespace postgres::detail {

/// Takes a lost connection out of the pool.
inline void end(tollgate::detail::reconnecting_pool<connection>::lease& lost, const run_failure& failure) noexcept {
    // If one connection hung, the others would delay a caller each for as long.
    if (failure.hung) lost.trip(failure.error.cause);
    else lost.drop(failure.error.cause);
}

}  // namespace postgres::detail

struct postgres_database::state {
    using connections = tollgate::detail::reconnecting_pool<postgres::connection>;

    struct requirement {
        std::string component;
        std::int64_t version;
    };

    state(std::vector<postgres::server_parameters> servers_, const postgres_database_settings& settings_)
        : servers{std::move(servers_)},
          known{postgres::known_of(servers)},
          settings{settings_},
          clock{std::make_shared<postgres::server_clock>(settings_.callers_clock)},
          pool{{.name = "PostgreSQL",
                .connections_max = settings_.connections_max,
                .connections_reserved = settings_.connections_for_lookups,
                .probes_at_once = true},
               [this]() -> result<std::unique_ptr<postgres::connection>> {
                   auto connection = connect(&timeouts);
                   if (!connection) return std::move(connection).error();
                   return std::make_unique<postgres::connection>(*std::move(connection));
               }} {}

    /// `counter`: null for a connection outside of the pool, whose timeouts say nothing about the others.
    result<postgres::connection> connect(std::atomic<unsigned>* counter);
    result<void> check_requirements(postgres::connection& connection);
    void require(std::string_view component, std::int64_t version);

    const std::vector<postgres::server_parameters> servers;
    const std::shared_ptr<postgres::known_servers> known;
    const postgres_database_settings settings;
    const std::shared_ptr<postgres::server_clock> clock;

    std::mutex mutex;  // guards the next two
    std::string last_address;  // address of the server that responded last, if its name has several
    std::vector<requirement> requirements;

    std::atomic<unsigned> timeouts{0};  // timeouts of the pool's connections
    connections pool;
};

struct postgres::transaction::leased {
    tollgate::detail::reconnecting_pool<connection>::lease held;
};

inline result<postgres::connection> postgres_database::state::connect(std::atomic<unsigned>* counter) {
    // Where another pool found a server: otherwise, if the first one hangs, each of the pools that a command opens would wait for it.
    const std::size_t first = known->last_responding;
    std::string preferred;
    {
        const std::scoped_lock lock{mutex};
        preferred = last_address;
    }
    std::optional<error> failure;
    const auto note = [&failure](error&& next) {
        if (!failure) failure = std::move(next);
        else failure->cause += "; " + next.cause;
    };
    for (std::size_t i = 0; i < servers.size(); ++i) {
        const std::size_t which = (first + i) % servers.size();
        const auto began_at = detail::boot_now();
        auto addresses = postgres::addresses_of(servers[which], settings.each.connect_wait_max);
        if (!addresses) {
            note(std::move(addresses).error());
            continue;
        }
        const auto at_each = postgres::server_at_each(servers[which], *std::move(addresses), preferred);
        const auto left = settings.each.connect_wait_max - std::chrono::floor<milliseconds>(detail::boot_now() - began_at);
        auto share = settings.each;
        share.connect_wait_max = (std::max)(left / static_cast<milliseconds::rep>(at_each.size()), milliseconds{1});
        for (const auto& server : at_each) {
            auto connection = postgres::connection::open(server, share, *clock, counter);
            if (connection) {
                if (auto fits = check_requirements(*connection); !fits) return std::move(fits).error();
                const bool has_alternative = servers.size() > 1 || at_each.size() > 1;
                if (has_alternative && postgres::asks_for_writes(server)) connection->replace_when_read_only(known);
                known->last_responding = which;
                const std::scoped_lock lock{mutex};
                last_address = at_each.size() > 1 ? server.back().second : std::string{};
                return connection;
            }
            note(std::move(connection).error());
        }
    }
    return *std::move(failure);
}

inline result<void> postgres_database::state::check_requirements(postgres::connection& connection) {
    postgres::batch checks{milliseconds{0}};
    {
        const std::scoped_lock lock{mutex};
        for (const requirement& each : requirements)
            checks.add("SELECT component FROM tollgate_schema WHERE component = $1 AND works_with > $2", each.component,
                       each.version);
    }
    auto response = connection.run(checks);
    if (response.failed) return std::move(response.failed->error);
    for (const postgres::rows& each : response.results)
        if (each.count() > 0)
            return internal_error(
                "PostgreSQL: the tables were changed by a later release and are not compatible with this one");
    return {};
}

inline void postgres_database::state::require(std::string_view component, std::int64_t version) {
    const std::scoped_lock lock{mutex};
    for (requirement& each : requirements)
        if (each.component == component) return void(each.version = version);
    requirements.push_back({std::string{component}, version});
}

TOLLGATE_DECL postgres_database::postgres_database(std::unique_ptr<state> initial) noexcept : state_{std::move(initial)} {}
TOLLGATE_DECL postgres_database::postgres_database(postgres_database&&) noexcept = default;
TOLLGATE_DECL postgres_database& postgres_database::operator=(postgres_database&&) noexcept = default;
TOLLGATE_DECL postgres_database::~postgres_database() = default;

TOLLGATE_DECL result<postgres_database> postgres_database::open(const std::string& connection_string,
                                                                const postgres_database_settings& settings) {
    auto servers = postgres::servers_of(connection_string);
    if (!servers) return std::move(servers).error();
    if (settings.connections_max == 0) return invalid("connections_max of PostgreSQL must be above zero.");
    constexpr milliseconds some{1}, hour = std::chrono::hours{1};  // the server takes a limit of 0 for none
    if (auto checked = detail::check_bounds("PostgreSQL", {{"connect_wait_max", settings.each.connect_wait_max, some, hour},
                                                           {"response_wait_max", settings.each.response_wait_max, some, hour},
                                                           {"lock_wait_max", settings.each.lock_wait_max, some, hour}});
        !checked)
        return std::move(checked).error();
    postgres_database database{std::make_unique<state>(*std::move(servers), settings)};
    // A wrong address or password is reported now, not by the first request.
    if (auto first = database.state_->pool.take(settings.connection_wait_max); !first) return std::move(first).error();
    return database;
}

TOLLGATE_DECL result<void> postgres_database::validate(const std::string& connection_string) {
    auto servers = postgres::servers_of(connection_string);
    if (!servers) return std::move(servers).error();
    return {};
}

TOLLGATE_DECL result<void> postgres_database::migrate(std::string_view component, std::span<const postgres::schema_step> steps,
                                                      milliseconds wait_max) {
    auto on = open_another();
    if (!on) return std::move(on).error();
    if (auto done = postgres::migrate(*on, component, steps, wait_max); !done) return done;
    state_->require(component, static_cast<std::int64_t>(steps.size()));
    return {};
}

TOLLGATE_DECL result<schema_status> postgres_database::check_schema(const std::string& connection_string,
                                                                    std::string_view component,
                                                                    std::span<const postgres::schema_step> steps,
                                                                    const postgres_database_settings& settings,
                                                                    std::span<const std::string_view> objects) {
    auto opened = open(connection_string, settings);
    if (!opened) return std::move(opened).error();
    auto on = opened->open_another();
    if (!on) return std::move(on).error();
    return postgres::read_schema_status(*on, component, steps, objects);
}

TOLLGATE_DECL postgres::batch postgres_database::make_batch() const { return postgres::batch{state_->clock->shift()}; }

TOLLGATE_DECL backend_statistics postgres_database::statistics() const noexcept { return state_->pool.statistics(); }

TOLLGATE_DECL const std::shared_ptr<postgres::server_clock>& postgres_database::clock() const noexcept {
    return state_->clock;
}

TOLLGATE_DECL result<postgres::connection> postgres_database::open_another() const {
    return state_->connect(nullptr);
}

TOLLGATE_DECL result<postgres::results> postgres_database::run(const postgres::batch& batch, postgres::repeat when_lost,
                                                               std::optional<milliseconds> connection_wait_max) {
    return run(batch, when_lost, connection_wait_max.value_or(state_->settings.connection_wait_max), false);
}

TOLLGATE_DECL result<postgres::rows> postgres_database::look_up(const postgres::batch& batch) {
    return first_of(run(batch, postgres::repeat::allowed, state_->settings.connection_wait_max, true));
}

TOLLGATE_DECL result<postgres::rows> postgres_database::first_of(result<postgres::results> all) {
    if (!all) return std::move(all).error();
    return std::move(all->front());
}

TOLLGATE_DECL result<postgres::results> postgres_database::run(const postgres::batch& batch, postgres::repeat when_lost,
                                                               milliseconds connection_wait_max, bool is_lookup) {
    using enum postgres::failure_kind;
    for (tries so_far;;) {
        postgres::run_result done;
        {
            auto on = is_lookup ? state_->pool.take_reserved(connection_wait_max) : state_->pool.take(connection_wait_max);
            if (!on) return std::move(on).error();
            done = (*on)->run(batch);
            if (done.failed && done.failed->kind == lost) postgres::detail::end(*on, *done.failed);
        }
        if (!done.failed) return std::move(done.results);
        const auto kind = done.failed->kind;
        const bool is_refused = done.failed->is_refused;
        // No second try after a connection that hung: it has used all the time of a call.
        const bool is_harmless =
            kind == try_again || is_refused || (kind == lost && when_lost == postgres::repeat::allowed && !done.failed->hung);
        if (!is_harmless || !may_repeat(so_far, is_refused)) {
            if (kind == lost && !is_refused && when_lost == postgres::repeat::never)
                done.failed->error.cause += " (it is unknown whether the statement was executed)";
            return std::move(done.failed->error);
        }
        if (kind == try_again) pause_after_conflict(so_far);
    }
}

TOLLGATE_DECL bool postgres_database::may_repeat(tries& so_far, bool is_refused) const noexcept {
    constexpr int tries_max = 3;
    // Each connection to a server that no longer accepts writes may be replaced.
    if (is_refused) return ++so_far.refused <= state_->settings.connections_max;
    return ++so_far.failed < tries_max;
}

TOLLGATE_DECL void postgres_database::pause_after_conflict(const tries& so_far) {
    std::this_thread::sleep_for(milliseconds{5 * so_far.failed});
}

TOLLGATE_DECL result<postgres::transaction> postgres_database::begin() {
    auto on = state_->pool.take(state_->settings.connection_wait_max);
    if (!on) return std::move(on).error();
    return postgres::transaction{std::make_unique<postgres::transaction::leased>(*std::move(on))};
}

TOLLGATE_DECL bool postgres_database::is_up() const noexcept { return state_->pool.is_up(); }
TOLLGATE_DECL bool postgres_database::is_refusing() const noexcept { return state_->pool.is_refusing(); }

namespace postgres {

TOLLGATE_DECL transaction::transaction(std::unique_ptr<leased> on) noexcept : on_{std::move(on)} {}
TOLLGATE_DECL transaction::transaction(transaction&&) noexcept = default;

TOLLGATE_DECL transaction::~transaction() {
    if (on_ == nullptr || !is_open_) return;
    try {
        batch undoing{milliseconds{0}};
        undoing.add("ROLLBACK");
        if (!on_->held->run(undoing).failed) return;
    } catch (...) {  // out of memory: the connection is closed, which ends the transaction
    }
    on_->held.drop("PostgreSQL: a transaction could not be rolled back");
}

TOLLGATE_DECL result<results> transaction::run(const batch& next) {
    if (on_ == nullptr) return unavailable("PostgreSQL: the connection is closed");
    is_open_ = true;
    auto done = on_->held->run(next);
    if (!done.failed) return std::move(done.results);
    has_failed_ = true;
    is_refused_ = done.failed->is_refused;
    may_be_tried_again_ = done.failed->kind == failure_kind::try_again || is_refused_;
    if (done.failed->kind == failure_kind::lost) {
        detail::end(on_->held, *done.failed);
        on_.reset();
        if (!done.failed->is_refused) done.failed->error.cause += " (it is unknown whether the statement was executed)";
    }
    return std::move(done.failed->error);
}

TOLLGATE_DECL result<results> transaction::commit(batch last) {
    if (last.transaction_size() != last.statements().size())
        return internal_error("PostgreSQL: the last batch of a transaction has a statement after the transaction");
    // The server would answer COMMIT with a rollback, and report no error.
    if (has_failed_) return internal_error("PostgreSQL: an earlier batch of this transaction failed");
    last.add("COMMIT");
    auto done = run(last);
    if (done) is_open_ = false;
    return done;
}

}  // namespace postgres

}  // namespace tollgate

#endif  // TOLLGATE_STORE_POSTGRES_DATABASE_IPP
