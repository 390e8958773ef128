#pragma once

#include <tollgate/store/detail/contained.hpp>
#include <tollgate/store/detail/postgres/access_tokens.hpp>
#include <tollgate/store/detail/postgres/applications.hpp>
#include <tollgate/store/detail/postgres/leases.hpp>
#include <tollgate/store/detail/postgres/credential_lookup.hpp>
#include <tollgate/store/detail/postgres/grants.hpp>
#include <tollgate/store/detail/postgres/hooks.hpp>
#include <tollgate/store/detail/postgres/listener.hpp>
#include <tollgate/store/detail/postgres/migrations.hpp>
#include <tollgate/store/detail/postgres/outbox.hpp>
#include <tollgate/store/detail/postgres/personal_tokens.hpp>
#include <tollgate/store/detail/postgres/pool.hpp>
#include <tollgate/store/detail/postgres/schema.hpp>
#include <tollgate/store/detail/postgres/sessions.hpp>
#include <tollgate/store/detail/postgres/completions.hpp>
#include <tollgate/store/postgres.hpp>

#include <utility>

namespace tollgate::inline v0 {

/// One room for each family of verbs, all on the same connections.
struct postgres_store::rooms {
    rooms(postgres::pool opened, const postgres_settings& settings)
        : lookup{settings.owner_quota_query},
          connections{std::move(opened)},
          changes{std::make_shared<cache_invalidation_feed>(cache_invalidation_feed_settings{.row_lifetime = settings.cached_for})},
          personal{connections, lookup, *changes, settings.cached_credentials_max},
          access{connections, lookup, *changes, settings.cached_credentials_max},
          hooks{connections},
          applications{connections, *changes},
          grants{connections, *changes},
          sessions{connections},
          outbox{connections},
          leases{connections},
          completions{connections},
          heard{connections} {
        if (settings.cached_credentials_max > 0) heard.tell(changes);
    }

    postgres::credential_lookup lookup;  // its texts are used by connections to their end
    postgres::pool connections;
    std::shared_ptr<cache_invalidation_feed> changes;
    postgres::personal_tokens personal;
    postgres::access_tokens access;
    postgres::hooks hooks;
    postgres::applications applications;
    postgres::grants grants;
    postgres::sessions sessions;
    postgres::outbox outbox;
    postgres::leases leases;
    postgres::completions completions;
    postgres::listener heard;  // ends before the connections do
};

TOLLGATE_DECL result<std::unique_ptr<postgres_store::rooms>> postgres_store::open_rooms(
    const std::string& connection_string, const postgres_settings& settings) {
    auto connections =
        postgres::pool::open(connection_string, {.connections_max = settings.connections_max,
                                                 .connection_wait_max = settings.connection_wait_max,
                                                 .each = {settings.connect_wait_max, settings.answer_wait_max},
                                                 .callers_clock = settings.callers_clock});
    if (!connections) return std::move(connections).error();
    if (auto done = postgres::migrate(*connections, postgres::store_component, postgres::store_steps); !done)
        return std::move(done).error();
    auto made = std::make_unique<rooms>(*std::move(connections), settings);
    // So that a query that will not do is known now, and not with the first request.
    if (!settings.owner_quota_query.empty())
        if (auto tried = made->personal.find({}); !tried) return std::move(tried).error();
    return made;
}

TOLLGATE_DECL postgres_store::postgres_store(const std::string& connection_string, const postgres_settings& settings) {
    auto opened = open_rooms(connection_string, settings);
    if (!opened) throw store_error{opened.error().cause.empty() ? opened.error().message : opened.error().cause};
    rooms_ = *std::move(opened);
}

TOLLGATE_DECL result<postgres_store> postgres_store::open(const std::string& connection_string,
                                                           const postgres_settings& settings) noexcept {
    return detail::contained([&]() -> result<postgres_store> {
        auto opened = open_rooms(connection_string, settings);
        if (!opened) return std::move(opened).error();
        return postgres_store{*std::move(opened)};
    });
}

TOLLGATE_DECL postgres_store::postgres_store(std::unique_ptr<rooms> opened) noexcept : rooms_{std::move(opened)} {}
TOLLGATE_DECL postgres_store::postgres_store(postgres_store&&) noexcept = default;
TOLLGATE_DECL postgres_store& postgres_store::operator=(postgres_store&&) noexcept = default;
TOLLGATE_DECL postgres_store::~postgres_store() = default;

TOLLGATE_DECL postgres_clock postgres_store::clock() const noexcept {
    return postgres_clock{rooms_->connections.clock()};
}

TOLLGATE_DECL const std::shared_ptr<cache_invalidation_feed>& postgres_store::changes() const noexcept {
    return rooms_->changes;
}

TOLLGATE_DECL result<std::optional<token_credential>> postgres_store::find_personal_token(
    std::string_view username) noexcept {
    return detail::contained([&] { return rooms_->personal.find(username); });
}
TOLLGATE_DECL result<token_id> postgres_store::create_personal_token(const new_personal_token& made,
                                                                      std::size_t tokens_per_user_max) noexcept {
    return detail::contained([&] { return rooms_->personal.create(made, tokens_per_user_max); });
}
TOLLGATE_DECL result<std::vector<personal_token>> postgres_store::personal_tokens_of(user_id user) noexcept {
    return detail::contained([&] { return rooms_->personal.of(user); });
}
TOLLGATE_DECL result<bool> postgres_store::revoke_personal_token(token_id id) noexcept {
    return detail::contained([&] { return rooms_->personal.revoke(id); });
}
TOLLGATE_DECL result<void> postgres_store::record_personal_token_use(std::string_view username, instant now) noexcept {
    return detail::contained([&] { return rooms_->personal.record_use(username, now); });
}

TOLLGATE_DECL result<std::optional<token_credential>> postgres_store::find_access_token(const digest& token) noexcept {
    return detail::contained([&] { return rooms_->access.find(token); });
}

TOLLGATE_DECL lookup<token_credential> postgres_store::cached_personal_token(std::string_view username) const noexcept {
    return rooms_->personal.cached(username);
}

TOLLGATE_DECL lookup<token_credential> postgres_store::cached_access_token(const digest& token) const noexcept {
    return rooms_->access.cached(token);
}
TOLLGATE_DECL result<void> postgres_store::create_access_token(const new_access_token& made) noexcept {
    return detail::contained([&] { return rooms_->access.create(made); });
}
TOLLGATE_DECL result<bool> postgres_store::revoke_access_token(const digest& token) noexcept {
    return detail::contained([&] { return rooms_->access.revoke(token); });
}

TOLLGATE_DECL result<void> postgres_store::record_access_token_use(const digest& token, instant now) noexcept {
    return detail::contained([&] { return rooms_->access.record_use(token, now); });
}

TOLLGATE_DECL result<hook_id> postgres_store::create_hook(const new_hook& made,
                                                           std::size_t hooks_per_event_max) noexcept {
    return detail::contained([&] { return rooms_->hooks.create(made, hooks_per_event_max); });
}
TOLLGATE_DECL result<std::vector<hook>> postgres_store::hooks_of(const account_ref& account) noexcept {
    return detail::contained([&] { return rooms_->hooks.of(account); });
}
TOLLGATE_DECL result<std::optional<account_ref>> postgres_store::account_of_hook(const service_name& service,
                                                                                  hook_id id) noexcept {
    return detail::contained([&] { return rooms_->hooks.account_of(service, id); });
}
TOLLGATE_DECL result<bool> postgres_store::replace_hook_secret(const account_ref& account, hook_id id,
                                                                const std::string& secret,
                                                                instant old_valid_until) noexcept {
    return detail::contained([&] { return rooms_->hooks.replace_secret(account, id, secret, old_valid_until); });
}
TOLLGATE_DECL result<bool> postgres_store::delete_hook(const account_ref& account, hook_id id) noexcept {
    return detail::contained([&] { return rooms_->hooks.remove(account, id); });
}

TOLLGATE_DECL result<application_id> postgres_store::create_application(
    const new_application& made, std::size_t applications_per_user_max) noexcept {
    return detail::contained([&] { return rooms_->applications.create(made, applications_per_user_max); });
}
TOLLGATE_DECL result<std::optional<application>> postgres_store::find_application(
    std::string_view client_id) noexcept {
    return detail::contained([&] { return rooms_->applications.find(client_id); });
}
TOLLGATE_DECL result<std::vector<application>> postgres_store::applications_of(user_id owner) noexcept {
    return detail::contained([&] { return rooms_->applications.of(owner); });
}
TOLLGATE_DECL result<bool> postgres_store::replace_client_secret(user_id owner, application_id id,
                                                                  const digest& secret) noexcept {
    return detail::contained([&] { return rooms_->applications.replace_secret(owner, id, secret); });
}
TOLLGATE_DECL result<bool> postgres_store::delete_application(user_id owner, application_id id) noexcept {
    return detail::contained([&] { return rooms_->applications.remove(owner, id); });
}

TOLLGATE_DECL result<std::optional<scope_set>> postgres_store::granted_scopes(user_id user,
                                                                               application_id application) noexcept {
    return detail::contained([&] { return rooms_->grants.granted(user, application); });
}
TOLLGATE_DECL result<code_result> postgres_store::create_code(const new_authorization_code& made) noexcept {
    return detail::contained([&] { return rooms_->grants.create_code(made); });
}
TOLLGATE_DECL result<redeemed_code> postgres_store::redeem_code(const code_redemption& shown) noexcept {
    return detail::contained([&] { return rooms_->grants.redeem(shown); });
}
TOLLGATE_DECL result<refreshed_token> postgres_store::refresh_access_token(const token_refresh& shown) noexcept {
    return detail::contained([&] { return rooms_->grants.refresh(shown); });
}
TOLLGATE_DECL result<void> postgres_store::revoke_oauth_token(application_id application,
                                                               const digest& token) noexcept {
    return detail::contained([&] { return rooms_->grants.revoke_token(application, token); });
}
TOLLGATE_DECL result<std::vector<grant>> postgres_store::grants_of(user_id user) noexcept {
    return detail::contained([&] { return rooms_->grants.of(user); });
}
TOLLGATE_DECL result<bool> postgres_store::revoke_grant(user_id user, application_id application) noexcept {
    return detail::contained([&] { return rooms_->grants.revoke(user, application); });
}
TOLLGATE_DECL result<std::size_t> postgres_store::sweep_expired(instant now, std::size_t rows_max) noexcept {
    return detail::contained([&] { return rooms_->grants.sweep_expired(now, rows_max); });
}

TOLLGATE_DECL result<void> postgres_store::create_session(const stored_session& made) noexcept {
    return detail::contained([&] { return rooms_->sessions.create(made); });
}
TOLLGATE_DECL result<std::optional<stored_session>> postgres_store::find_session(const digest& cookie) noexcept {
    return detail::contained([&] { return rooms_->sessions.find(cookie); });
}
TOLLGATE_DECL result<void> postgres_store::touch_session(const digest& cookie, instant now) noexcept {
    return detail::contained([&] { return rooms_->sessions.touch(cookie, now); });
}
TOLLGATE_DECL result<bool> postgres_store::end_session(const digest& cookie) noexcept {
    return detail::contained([&] { return rooms_->sessions.end(cookie); });
}
TOLLGATE_DECL result<void> postgres_store::end_sessions_of(user_id user) noexcept {
    return detail::contained([&] { return rooms_->sessions.end_all_of(user); });
}
TOLLGATE_DECL result<std::size_t> postgres_store::sweep_sessions(instant created_before, instant seen_before,
                                                                  std::size_t rows_max) noexcept {
    return detail::contained([&] { return rooms_->sessions.sweep(created_before, seen_before, rows_max); });
}

TOLLGATE_DECL result<std::size_t> postgres_store::append_event(const event& happened, const message_seed& seed,
                                                                instant now) noexcept {
    return detail::contained([&] { return rooms_->outbox.append(happened, seed, now); });
}
TOLLGATE_DECL result<due_hook_page> postgres_store::due_hooks(instant now, std::size_t rows_max) noexcept {
    return detail::contained([&] { return rooms_->leases.list_due_hooks(now, rows_max); });
}
TOLLGATE_DECL result<std::vector<due_delivery>> postgres_store::lease(std::span<const lease_request> requests,
                                                                      const lease_time& lease) noexcept {
    return detail::contained([&] { return rooms_->leases.lease(requests, lease); });
}
TOLLGATE_DECL result<std::vector<completion>> postgres_store::complete(std::span<const attempt_result> ended,
                                                                       instant now) noexcept {
    return detail::contained([&] { return rooms_->completions.complete(ended, now); });
}
TOLLGATE_DECL result<std::vector<delivery>> postgres_store::deliveries_of(
    const account_ref& account, hook_id hook, std::size_t rows_max, std::optional<delivery_id> before) noexcept {
    return detail::contained([&] { return rooms_->outbox.deliveries_of(account, hook, rows_max, before); });
}
TOLLGATE_DECL result<std::vector<recorded_attempt>> postgres_store::attempts_of(
    const account_ref& account, hook_id hook, std::size_t rows_max, std::optional<delivery_id> made_for) noexcept {
    return detail::contained([&] { return rooms_->outbox.attempts_of(account, hook, rows_max, made_for); });
}
TOLLGATE_DECL result<bool> postgres_store::resend(const account_ref& account, delivery_id id, instant now) noexcept {
    return detail::contained([&] { return rooms_->outbox.resend(account, id, now); });
}
TOLLGATE_DECL result<bool> postgres_store::enable_hook(const account_ref& account, hook_id hook,
                                                        instant now) noexcept {
    return detail::contained([&] { return rooms_->outbox.enable_hook(account, hook, now); });
}
TOLLGATE_DECL result<std::size_t> postgres_store::sweep_deliveries(instant ended_before,
                                                                    std::size_t rows_max) noexcept {
    return detail::contained([&] { return rooms_->outbox.sweep(ended_before, rows_max); });
}

TOLLGATE_DECL std::optional<std::uint64_t> postgres_store::changes_seen() const noexcept {
    return rooms_->heard.changes_seen();
}

}  // namespace tollgate
