#pragma once
#ifndef TOLLGATE_STORE_SQLITE_IPP
#define TOLLGATE_STORE_SQLITE_IPP

#include <tollgate/store/detail/sqlite/access_tokens.ipp>
#include <tollgate/store/detail/sqlite/applications.ipp>
#include <tollgate/store/detail/sqlite/completions.ipp>
#include <tollgate/store/detail/sqlite/credentials.ipp>
#include <tollgate/store/detail/sqlite/delivery_history.ipp>
#include <tollgate/store/detail/sqlite/device_codes.ipp>
#include <tollgate/store/detail/sqlite/grants.ipp>
#include <tollgate/store/detail/sqlite/hooks.ipp>
#include <tollgate/store/detail/sqlite/leases.ipp>
#include <tollgate/store/detail/sqlite/migrations.hpp>
#include <tollgate/store/detail/sqlite/outbox.ipp>
#include <tollgate/store/detail/sqlite/personal_tokens.ipp>
#include <tollgate/store/detail/sqlite/schema.hpp>
#include <tollgate/store/detail/sqlite/sessions.ipp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>
#include <tollgate/store/detail/sql/shared_verbs.hpp>
#include <tollgate/store/any_store.hpp>
#include <tollgate/store/sqlite.hpp>

#include <string>
#include <utility>

namespace tollgate::inline v0 {

namespace sqlite_detail {

/// A base, so that the state exists before the verbs, which use it.
struct opened_state {
    store_state state;
};

/// What a `sqlite_store` refers to: its state, and the verbs of all contracts.
class store : public opened_state,
              public sql::shared_verbs<store_state>, public access_token_verbs, public application_verbs, public completion_verbs,
              public credential_verbs, public delivery_verbs, public device_code_verbs, public grant_verbs, public hook_verbs,
              public lease_verbs, public outbox_verbs, public personal_token_verbs, public session_verbs {
public:
    store(sqlite_database opened, const sqlite_settings& settings)
        : opened_state{{std::move(opened), settings}},
          shared_verbs{state}, access_token_verbs{state}, application_verbs{state}, completion_verbs{state},
          credential_verbs{state}, delivery_verbs{state}, device_code_verbs{state}, grant_verbs{state}, hook_verbs{state},
          lease_verbs{state}, outbox_verbs{state}, personal_token_verbs{state}, session_verbs{state} {}

    result<std::size_t> sweep(const sweep_request& request) noexcept { return sql::sweep(*this, request); }
};

static_assert(sql::complete_store<store>);

inline result<std::shared_ptr<store>> open_store(const std::string& path, const sqlite_settings& settings) {
    auto opened = sqlite_database::open(path, {settings.readers_max, settings.busy_wait_max, settings.vfs});
    if (!opened) return std::move(opened).error();
    if (auto done = opened->migrate(sqlite::store_component, sqlite::store_steps); !done) {
        done.error().cause += ": " + path;
        return std::move(done).error();
    }
    auto created = std::make_shared<store>(*std::move(opened), settings);
    const auto check_objects = [](sqlite::database& on) {
        return sqlite::expect_objects(on, sqlite::store_component, sqlite::store_objects);
    };
    if (auto complete = created->state.database.read(check_objects); !complete) {
        complete.error().cause += ": " + path;
        return std::move(complete).error();
    }
    // An invalid query is reported now, not by the first request. What it returns of a user matters to that user's requests only.
    if (!created->state.owner_query.empty()) {
        const auto query = sql::statement_text::composed(created->state.owner_query);
        if (auto tried = created->state.database.read([&](sqlite::database& on) { return on.run(query, user_id{1}); }); !tried)
            return std::move(tried).error();
    }
    if (settings.hook_secret_keys)
        if (auto done = created->encrypt_hook_secrets(); !done) {
            done.error().cause += ": " + path;
            return std::move(done).error();
        }
    return created;
}

}  // namespace sqlite_detail

TOLLGATE_DECL sqlite_store::sqlite_store(const std::string& path, const sqlite_settings& settings)
    : sqlite_store{detail::value_or_throw(sqlite_detail::open_store(path, settings))} {}

TOLLGATE_DECL result<sqlite_store> sqlite_store::open(const std::string& path, const sqlite_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<sqlite_store> {
        auto opened = sqlite_detail::open_store(path, settings);
        if (!opened) return std::move(opened).error();
        return sqlite_store{*std::move(opened)};
    });
}

TOLLGATE_DECL result<any_store> sqlite_store::open_any(const std::string& path, const sqlite_settings& settings) noexcept {
    return open(path, settings).transform([](const sqlite_store& opened) -> any_store { return opened; });
}

TOLLGATE_DECL result<schema_status> sqlite_store::check_schema(const std::string& path,
                                                               const sqlite_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<schema_status> {
        return sqlite_database::check_schema(path, sqlite::store_component, sqlite::store_steps,
                                             {.busy_wait_max = settings.busy_wait_max, .vfs = settings.vfs}, sqlite::store_objects);
    });
}

TOLLGATE_DECL sqlite_store::sqlite_store(std::shared_ptr<sqlite_detail::store> opened) noexcept : any_store{std::move(opened)} {}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_SQLITE_IPP
