#pragma once
#ifndef TOLLGATE_STORE_POSTGRES_IPP
#define TOLLGATE_STORE_POSTGRES_IPP

#include <tollgate/store/detail/postgres/schema.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>
#include <tollgate/store/detail/sweep_kinds.hpp>
#include <tollgate/store/any_store.hpp>
#include <tollgate/store/postgres.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<std::unique_ptr<postgres_store::impl>> postgres_store::open_impl(
    const std::string& connection_string, const postgres_settings& settings) {
    constexpr std::size_t for_lookups = 2;  // one for either kind of token
    const postgres_database_settings database_settings{
        .connections_max = settings.connections_max,
        .connections_for_lookups = settings.connections_max >= 2 * for_lookups ? for_lookups : 0,
        .connection_wait_max = settings.connection_wait_max,
        .each = {.connect_wait_max = settings.connect_wait_max,
                 .response_wait_max = settings.response_wait_max,
                 .lock_wait_max = settings.lock_wait_max},
        .callers_clock = settings.callers_clock};
    auto opened = postgres_database::open(connection_string, database_settings);
    if (!opened) return std::move(opened).error();
    if (auto done = opened->migrate(postgres::store_component, postgres::store_steps); !done)
        return std::move(done).error();
    auto created = std::make_unique<impl>(*std::move(opened), settings);
    // An invalid query is reported now, not by the first request.
    if (!settings.owner_query.empty())
        if (auto tried = created->database.query(created->lookup.personal(), std::vector<token_username>{}); !tried)
            return std::move(tried).error();
    if (settings.hook_secret_keys)
        if (auto done = created->encrypt_hook_secrets(); !done) return std::move(done).error();
    return created;
}

TOLLGATE_DECL postgres_store::postgres_store(const std::string& connection_string, const postgres_settings& settings) {
    auto opened = open_impl(connection_string, settings);
    if (!opened) throw store_error{opened.error().log_text()};
    impl_ = *std::move(opened);
}

TOLLGATE_DECL result<postgres_store> postgres_store::open(const std::string& connection_string,
                                                          const postgres_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<postgres_store> {
        auto opened = open_impl(connection_string, settings);
        if (!opened) return std::move(opened).error();
        return postgres_store{*std::move(opened)};
    });
}

TOLLGATE_DECL result<any_store> postgres_store::open_any(const std::string& connection_string, const postgres_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<any_store> {
        auto opened = open_impl(connection_string, settings);
        if (!opened) return std::move(opened).error();
        return any_store{std::make_shared<postgres_store>(postgres_store{*std::move(opened)})};
    });
}

TOLLGATE_DECL result<schema_status> postgres_store::check_schema(const std::string& connection_string,
                                                                 const postgres_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<schema_status> {
        const postgres_database_settings one_connection{.connections_max = 1,
                                                        .connection_wait_max = settings.connection_wait_max,
                                                        .each = {settings.connect_wait_max, settings.response_wait_max}};
        return postgres_database::check_schema(connection_string, postgres::store_component, postgres::store_steps, one_connection,
                                               postgres::store_objects);
    });
}

TOLLGATE_DECL postgres_store::postgres_store(std::unique_ptr<impl> opened) noexcept : impl_{std::move(opened)} {}
TOLLGATE_DECL postgres_store::postgres_store(postgres_store&&) noexcept = default;
TOLLGATE_DECL postgres_store& postgres_store::operator=(postgres_store&&) noexcept = default;
TOLLGATE_DECL postgres_store::~postgres_store() = default;

TOLLGATE_DECL postgres_clock postgres_store::clock() const noexcept {
    return postgres_clock{impl_->database.clock()};
}

TOLLGATE_DECL const std::shared_ptr<cache_invalidation_feed>& postgres_store::changes() const noexcept {
    return impl_->changes;
}

TOLLGATE_DECL std::optional<std::uint64_t> postgres_store::changes_seen() const noexcept {
    return impl_->listener.changes_seen();
}

TOLLGATE_DECL result<std::size_t> postgres_store::sweep(const sweep_request& request) noexcept {
    return detail::sweep_kinds(
        request, [&](instant now, std::size_t rows_max) { return impl_->sweep_expired(now, rows_max); },
        [&](instant ended_before, std::size_t rows_max) { return impl_->sweep_deliveries(ended_before, rows_max); },
        [&](const session_ends& ends, std::size_t rows_max) { return impl_->sweep_sessions(ends, rows_max); });
}

TOLLGATE_DECL backend_statistics postgres_store::statistics() const noexcept {
    auto statistics = impl_->database.statistics();
    statistics.cache_hits = impl_->personal_tokens.hits() + impl_->access_tokens.hits();
    statistics.cache_misses = impl_->personal_tokens.misses() + impl_->access_tokens.misses();
    return statistics;
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_POSTGRES_IPP
