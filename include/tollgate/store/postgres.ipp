#pragma once
#ifndef TOLLGATE_STORE_POSTGRES_IPP
#define TOLLGATE_STORE_POSTGRES_IPP

#include <tollgate/store/detail/postgres/access_tokens.ipp>
#include <tollgate/store/detail/postgres/applications.ipp>
#include <tollgate/store/detail/postgres/completions.ipp>
#include <tollgate/store/detail/postgres/credentials.ipp>
#include <tollgate/store/detail/postgres/delivery_history.ipp>
#include <tollgate/store/detail/postgres/device_codes.ipp>
#include <tollgate/store/detail/postgres/grants.ipp>
#include <tollgate/store/detail/postgres/hooks.ipp>
#include <tollgate/store/detail/postgres/leases.ipp>
#include <tollgate/store/detail/postgres/outbox.ipp>
#include <tollgate/store/detail/postgres/personal_tokens.ipp>
#include <tollgate/store/detail/postgres/schema.hpp>
#include <tollgate/store/detail/postgres/sessions.ipp>
#include <tollgate/store/detail/postgres/store_impl.ipp>
#include <tollgate/store/detail/sql/shared_verbs.hpp>
#include <tollgate/store/any_store.hpp>
#include <tollgate/store/postgres.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

namespace postgres_detail {

/// A base, so that the state exists before the verbs, which use it.
struct opened_state {
    store_state state;
};

/// What a `postgres_store` refers to: its state, and the verbs of all contracts.
class store : public opened_state,
              public sql::shared_verbs<store_state>, public access_token_verbs, public application_verbs, public completion_verbs,
              public credential_verbs, public delivery_verbs, public device_code_verbs, public grant_verbs, public hook_verbs,
              public lease_verbs, public outbox_verbs, public personal_token_verbs, public session_verbs {
public:
    store(postgres_database opened, const postgres_settings& settings)
        : opened_state{{std::move(opened), settings}},
          shared_verbs{state}, access_token_verbs{state}, application_verbs{state}, completion_verbs{state},
          credential_verbs{state}, delivery_verbs{state}, device_code_verbs{state}, grant_verbs{state}, hook_verbs{state},
          lease_verbs{state}, outbox_verbs{state}, personal_token_verbs{state}, session_verbs{state} {}

    result<std::size_t> sweep(const sweep_request& request) noexcept { return sql::sweep(*this, request); }

    [[nodiscard]] postgres_clock clock() const noexcept { return postgres_clock{state.database.clock()}; }
};

static_assert(sql::complete_store<store>);

inline result<std::shared_ptr<store>> open_store(const std::string& connection_string, const postgres_settings& settings) {
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
    auto created = std::make_shared<store>(*std::move(opened), settings);
    // An invalid query is reported now, not by the first request.
    if (!settings.owner_query.empty())
        if (auto tried = created->state.database.query(created->state.lookup.personal(), std::vector<token_username>{}); !tried)
            return std::move(tried).error();
    if (settings.hook_secret_keys)
        if (auto done = created->encrypt_hook_secrets(); !done) return std::move(done).error();
    return created;
}

}  // namespace postgres_detail

TOLLGATE_DECL postgres_store::postgres_store(const std::string& connection_string, const postgres_settings& settings)
    : postgres_store{detail::value_or_throw(postgres_detail::open_store(connection_string, settings))} {}

TOLLGATE_DECL result<postgres_store> postgres_store::open(const std::string& connection_string,
                                                          const postgres_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<postgres_store> {
        auto opened = postgres_detail::open_store(connection_string, settings);
        if (!opened) return std::move(opened).error();
        return postgres_store{*std::move(opened)};
    });
}

TOLLGATE_DECL result<any_store> postgres_store::open_any(const std::string& connection_string, const postgres_settings& settings) noexcept {
    return open(connection_string, settings).transform([](const postgres_store& opened) -> any_store { return opened; });
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

TOLLGATE_DECL postgres_store::postgres_store(std::shared_ptr<postgres_detail::store> opened) noexcept
    : any_store{opened}, store_{std::move(opened)} {}

TOLLGATE_DECL postgres_clock postgres_store::clock() const noexcept { return store_->clock(); }

TOLLGATE_DECL const std::shared_ptr<cache_invalidation_feed>& postgres_store::changes() const noexcept { return store_->state.changes; }

}  // namespace tollgate

#endif  // TOLLGATE_STORE_POSTGRES_IPP
