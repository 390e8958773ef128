#pragma once

#include <tollgate/store/detail/contained.hpp>
#include <tollgate/store/detail/sqlite/access_tokens.hpp>
#include <tollgate/store/detail/sqlite/applications.hpp>
#include <tollgate/store/detail/sqlite/delivery_history.hpp>
#include <tollgate/store/detail/sqlite/grants.hpp>
#include <tollgate/store/detail/sqlite/hooks.hpp>
#include <tollgate/store/detail/sqlite/migrations.hpp>
#include <tollgate/store/detail/sqlite/outbox.hpp>
#include <tollgate/store/detail/sqlite/personal_tokens.hpp>
#include <tollgate/store/detail/sqlite/pool.hpp>
#include <tollgate/store/detail/sqlite/schema.hpp>
#include <tollgate/store/detail/sqlite/sessions.hpp>
#include <tollgate/store/sqlite.hpp>

#include <utility>

namespace tollgate::inline v0 {

/// One room for each family of verbs, all on the same connections.
struct sqlite_store::rooms {
    rooms(sqlite::pool opened, const sqlite_settings& settings)
        : connections{std::move(opened)},
          personal{connections, settings.cached_credentials_max},
          access{connections, settings.cached_credentials_max},
          hooks{connections},
          applications{connections},
          grants{connections},
          sessions{connections},
          deliveries{connections},
          history{connections} {}

    sqlite::pool connections;
    sqlite::personal_tokens personal;
    sqlite::access_tokens access;
    sqlite::hooks hooks;
    sqlite::applications applications;
    sqlite::grants grants;
    sqlite::sessions sessions;
    sqlite::outbox deliveries;
    sqlite::delivery_history history;
};

TOLLGATE_DECL result<std::unique_ptr<sqlite_store::rooms>> sqlite_store::open_rooms(const std::string& path,
                                                                                     const sqlite_settings& settings) {
    auto connections = sqlite::pool::open(path, {settings.readers_max, settings.busy_wait_max, settings.vfs});
    if (!connections) return std::move(connections).error();
    {
        auto connection = connections->writer();
        if (!connection) return std::move(connection).error();
        if (auto done = sqlite::migrate(**connection, sqlite::store_component, sqlite::store_steps); !done) {
            auto why = std::move(done).error();
            why.cause += ": " + path;
            return why;
        }
    }
    return std::make_unique<rooms>(*std::move(connections), settings);
}

TOLLGATE_DECL sqlite_store::sqlite_store(const std::string& path, const sqlite_settings& settings) {
    auto opened = open_rooms(path, settings);
    if (!opened) throw store_error{opened.error().cause.empty() ? opened.error().message : opened.error().cause};
    rooms_ = *std::move(opened);
}

TOLLGATE_DECL result<sqlite_store> sqlite_store::open(const std::string& path,
                                                       const sqlite_settings& settings) noexcept {
    return detail::contained([&]() -> result<sqlite_store> {
        auto opened = open_rooms(path, settings);
        if (!opened) return std::move(opened).error();
        return sqlite_store{*std::move(opened)};
    });
}

TOLLGATE_DECL sqlite_store::sqlite_store(std::unique_ptr<rooms> opened) noexcept : rooms_{std::move(opened)} {}
TOLLGATE_DECL sqlite_store::sqlite_store(sqlite_store&&) noexcept = default;
TOLLGATE_DECL sqlite_store& sqlite_store::operator=(sqlite_store&&) noexcept = default;
TOLLGATE_DECL sqlite_store::~sqlite_store() = default;

TOLLGATE_DECL result<std::optional<token_credential>> sqlite_store::find_personal_token(
    std::string_view username) noexcept {
    return detail::contained([&] { return rooms_->personal.find(username); });
}
TOLLGATE_DECL result<token_id> sqlite_store::create_personal_token(const new_personal_token& made,
                                                                    std::size_t tokens_per_user_max) noexcept {
    return detail::contained([&] { return rooms_->personal.create(made, tokens_per_user_max); });
}
TOLLGATE_DECL result<std::vector<personal_token>> sqlite_store::personal_tokens_of(user_id user) noexcept {
    return detail::contained([&] { return rooms_->personal.of(user); });
}
TOLLGATE_DECL result<bool> sqlite_store::revoke_personal_token(token_id id) noexcept {
    return detail::contained([&] { return rooms_->personal.revoke(id); });
}
TOLLGATE_DECL result<void> sqlite_store::record_personal_token_use(std::string_view username, instant now) noexcept {
    return detail::contained([&] { return rooms_->personal.record_use(username, now); });
}

TOLLGATE_DECL result<std::optional<token_credential>> sqlite_store::find_access_token(const digest& token) noexcept {
    return detail::contained([&] { return rooms_->access.find(token); });
}

TOLLGATE_DECL lookup<token_credential> sqlite_store::cached_personal_token(std::string_view username) const noexcept {
    return rooms_->personal.cached(username);
}

TOLLGATE_DECL lookup<token_credential> sqlite_store::cached_access_token(const digest& token) const noexcept {
    return rooms_->access.cached(token);
}
TOLLGATE_DECL result<void> sqlite_store::create_access_token(const new_access_token& made) noexcept {
    return detail::contained([&] { return rooms_->access.create(made); });
}
TOLLGATE_DECL result<bool> sqlite_store::revoke_access_token(const digest& token) noexcept {
    return detail::contained([&] { return rooms_->access.revoke(token); });
}

TOLLGATE_DECL result<void> sqlite_store::record_access_token_use(const digest& token, instant now) noexcept {
    return detail::contained([&] { return rooms_->access.record_use(token, now); });
}

TOLLGATE_DECL result<hook_id> sqlite_store::create_hook(const new_hook& made,
                                                         std::size_t hooks_per_event_max) noexcept {
    return detail::contained([&] { return rooms_->hooks.create(made, hooks_per_event_max); });
}
TOLLGATE_DECL result<std::vector<hook>> sqlite_store::hooks_of(const account_ref& account) noexcept {
    return detail::contained([&] { return rooms_->hooks.of(account); });
}
TOLLGATE_DECL result<std::optional<account_ref>> sqlite_store::account_of_hook(const service_name& service,
                                                                                hook_id id) noexcept {
    return detail::contained([&] { return rooms_->hooks.account_of(service, id); });
}
TOLLGATE_DECL result<bool> sqlite_store::replace_hook_secret(const account_ref& account, hook_id id,
                                                              const std::string& secret,
                                                              instant old_valid_until) noexcept {
    return detail::contained([&] { return rooms_->hooks.replace_secret(account, id, secret, old_valid_until); });
}
TOLLGATE_DECL result<bool> sqlite_store::delete_hook(const account_ref& account, hook_id id) noexcept {
    return detail::contained([&] { return rooms_->hooks.remove(account, id); });
}

TOLLGATE_DECL result<application_id> sqlite_store::create_application(const new_application& made,
                                                                       std::size_t applications_per_user_max) noexcept {
    return detail::contained([&] { return rooms_->applications.create(made, applications_per_user_max); });
}
TOLLGATE_DECL result<std::optional<application>> sqlite_store::find_application(std::string_view client_id) noexcept {
    return detail::contained([&] { return rooms_->applications.find(client_id); });
}
TOLLGATE_DECL result<std::vector<application>> sqlite_store::applications_of(user_id owner) noexcept {
    return detail::contained([&] { return rooms_->applications.of(owner); });
}
TOLLGATE_DECL result<bool> sqlite_store::replace_client_secret(user_id owner, application_id id,
                                                                const digest& secret) noexcept {
    return detail::contained([&] { return rooms_->applications.replace_secret(owner, id, secret); });
}
TOLLGATE_DECL result<bool> sqlite_store::delete_application(user_id owner, application_id id) noexcept {
    return detail::contained([&] { return rooms_->applications.remove(owner, id); });
}

TOLLGATE_DECL result<std::optional<scope_set>> sqlite_store::granted_scopes(user_id user,
                                                                             application_id application) noexcept {
    return detail::contained([&] { return rooms_->grants.granted(user, application); });
}
TOLLGATE_DECL result<code_result> sqlite_store::create_code(const new_authorization_code& made) noexcept {
    return detail::contained([&] { return rooms_->grants.create_code(made); });
}
TOLLGATE_DECL result<redeemed_code> sqlite_store::redeem_code(const code_redemption& shown) noexcept {
    return detail::contained([&] { return rooms_->grants.redeem(shown); });
}
TOLLGATE_DECL result<refreshed_token> sqlite_store::refresh_access_token(const token_refresh& shown) noexcept {
    return detail::contained([&] { return rooms_->grants.refresh(shown); });
}
TOLLGATE_DECL result<void> sqlite_store::revoke_oauth_token(application_id application, const digest& token) noexcept {
    return detail::contained([&] { return rooms_->grants.revoke_token(application, token); });
}
TOLLGATE_DECL result<std::vector<grant>> sqlite_store::grants_of(user_id user) noexcept {
    return detail::contained([&] { return rooms_->grants.of(user); });
}
TOLLGATE_DECL result<bool> sqlite_store::revoke_grant(user_id user, application_id application) noexcept {
    return detail::contained([&] { return rooms_->grants.revoke(user, application); });
}
TOLLGATE_DECL result<std::size_t> sqlite_store::sweep_expired(instant now, std::size_t rows_max) noexcept {
    return detail::contained([&] { return rooms_->grants.sweep_expired(now, rows_max); });
}

TOLLGATE_DECL result<void> sqlite_store::create_session(const stored_session& made) noexcept {
    return detail::contained([&] { return rooms_->sessions.create(made); });
}
TOLLGATE_DECL result<std::optional<stored_session>> sqlite_store::find_session(const digest& cookie) noexcept {
    return detail::contained([&] { return rooms_->sessions.find(cookie); });
}
TOLLGATE_DECL result<void> sqlite_store::touch_session(const digest& cookie, instant now) noexcept {
    return detail::contained([&] { return rooms_->sessions.touch(cookie, now); });
}
TOLLGATE_DECL result<bool> sqlite_store::end_session(const digest& cookie) noexcept {
    return detail::contained([&] { return rooms_->sessions.end(cookie); });
}
TOLLGATE_DECL result<void> sqlite_store::end_sessions_of(user_id user) noexcept {
    return detail::contained([&] { return rooms_->sessions.end_all_of(user); });
}
TOLLGATE_DECL result<std::size_t> sqlite_store::sweep_sessions(instant created_before, instant seen_before,
                                                                std::size_t rows_max) noexcept {
    return detail::contained([&] { return rooms_->sessions.sweep(created_before, seen_before, rows_max); });
}

TOLLGATE_DECL result<std::size_t> sqlite_store::append_event(const event& happened, const message_seed& seed,
                                                              instant now) noexcept {
    return detail::contained([&] { return rooms_->deliveries.append(happened, seed, now); });
}
TOLLGATE_DECL result<due_hook_page> sqlite_store::due_hooks(instant now, std::size_t rows_max) noexcept {
    return detail::contained([&] { return rooms_->deliveries.list_due_hooks(now, rows_max); });
}
TOLLGATE_DECL result<std::vector<due_delivery>> sqlite_store::lease(std::span<const lease_request> requests,
                                                                    const lease_time& lease) noexcept {
    return detail::contained([&] { return rooms_->deliveries.lease(requests, lease); });
}
TOLLGATE_DECL result<std::vector<completion>> sqlite_store::complete(std::span<const attempt_result> ended,
                                                                     instant now) noexcept {
    return detail::contained([&] { return rooms_->deliveries.complete(ended, now); });
}
TOLLGATE_DECL result<std::vector<delivery>> sqlite_store::deliveries_of(const account_ref& account, hook_id of,
                                                                         std::size_t rows_max,
                                                                         std::optional<delivery_id> before) noexcept {
    return detail::contained([&] { return rooms_->history.deliveries_of(account, of, rows_max, before); });
}
TOLLGATE_DECL result<std::vector<recorded_attempt>> sqlite_store::attempts_of(const account_ref& account, hook_id of,
                                                                               std::size_t rows_max,
                                                                               std::optional<delivery_id> made_for) noexcept {
    return detail::contained([&] { return rooms_->history.attempts_of(account, of, rows_max, made_for); });
}
TOLLGATE_DECL result<bool> sqlite_store::resend(const account_ref& account, delivery_id id, instant now) noexcept {
    return detail::contained([&] { return rooms_->history.resend(account, id, now); });
}
TOLLGATE_DECL result<bool> sqlite_store::enable_hook(const account_ref& account, hook_id id, instant now) noexcept {
    return detail::contained([&] { return rooms_->history.enable_hook(account, id, now); });
}
TOLLGATE_DECL result<std::size_t> sqlite_store::sweep_deliveries(instant ended_before, std::size_t rows_max) noexcept {
    return detail::contained([&] { return rooms_->history.sweep(ended_before, rows_max); });
}
TOLLGATE_DECL std::optional<std::uint64_t> sqlite_store::changes_seen() const noexcept {
    return rooms_->deliveries.changes_seen();
}

}  // namespace tollgate
