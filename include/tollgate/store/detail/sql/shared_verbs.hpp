#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQL_SHARED_VERBS_HPP
#define TOLLGATE_STORE_DETAIL_SQL_SHARED_VERBS_HPP

#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/lookup.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/model/session.hpp>
#include <tollgate/store/detail/sql/rows.hpp>
#include <tollgate/store/detail/sql/statements.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace tollgate::inline v0::sql {

/// All contracts of stores, also the optional ones.
template <class Store>
concept complete_store = token_store<Store> && credential_cache<Store> && use_recorder<Store> && oauth_store<Store> &&
                         session_store<Store> && hook_store<Store> && outbox<Store> && shared_outbox<Store> && backlog_source<Store>;

/// The verbs of all contracts that both databases implement in the same way: most execute one statement. `State` is the state of a store.
template <class State>
class shared_verbs {
public:
    /// Calls block.
    static constexpr bool blocking = true;

    explicit shared_verbs(State& state) noexcept : impl_{&state} {}

    lookup<token_credential> cached_credential(const credential_key& key) const noexcept {
        if (const auto* const access = std::get_if<access_token_key>(&key)) return impl_->access_tokens.cached(access->token_digest);
        const auto name = token_username::from(std::get<personal_token_key>(key).username);
        if (!name) return lookup<token_credential>::unknown();
        return impl_->personal_tokens.cached(*name);
    }
    result<std::vector<personal_token>> personal_tokens_of(user_id user) noexcept {
        return impl_->read_all(to_personal_token(user), statements::list_personal_tokens, user);
    }

    result<std::optional<application>> find_application(std::string_view client_id) noexcept {
        if (client_id.size() > client_id_text::bytes_max || !State::is_storable(client_id)) return std::optional<application>{};
        return impl_->read_one(to_application, statements::find_application, client_id);
    }
    result<std::vector<application>> applications_of(user_id owner) noexcept {
        return impl_->read_all(to_application, statements::list_applications, owner);
    }

    result<std::optional<oauth_token>> find_oauth_token(const digest& token) noexcept {
        return impl_->read_one(to_oauth_token, statements::find_oauth_token, token);
    }
    result<std::optional<device_code>> find_device_code(const digest& code) noexcept {
        return impl_->read_one(to_device_code, statements::find_device_code, code);
    }
    result<std::vector<grant>> grants_of(user_id user) noexcept {
        return impl_->read_all(to_grant(user), statements::list_grants, user);
    }

    result<std::optional<stored_session>> find_session(const digest& cookie) noexcept {
        return impl_->read_one(to_session, statements::find_session, cookie);
    }
    result<void> touch_session(const digest& cookie, instant now) noexcept {
        return impl_->change(statements::touch_session, now, cookie).transform([](bool) {});
    }
    result<std::vector<stored_session>> sessions_of(user_id user) noexcept {
        return impl_->read_all(to_session, statements::list_sessions, user);
    }
    result<bool> end_sessions(const session_selection& ended) noexcept {
        if (const auto* const cookie = std::get_if<digest>(&ended)) return impl_->change(statements::end_session, *cookie);
        const auto& of = std::get<sessions_of_user>(ended);
        return impl_->change(statements::end_sessions_of_user, of.user, of.except);
    }

    result<std::vector<hook>> hooks_of(const account_ref& account) noexcept {
        return impl_->read_all(to_hook(account), statements::list_hooks, account.service, account.account);
    }
    result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) noexcept {
        if (!State::is_storable(service)) return std::optional<account_ref>{};
        return impl_->read_one(to_account_of(service), statements::find_account_of_hook, id, service);
    }

    [[nodiscard]] backend_statistics statistics() const noexcept {
        auto statistics = impl_->database.statistics();
        statistics.cache_hits = impl_->personal_tokens.hits() + impl_->access_tokens.hits();
        statistics.cache_misses = impl_->personal_tokens.misses() + impl_->access_tokens.misses();
        return statistics;
    }

private:
    State* impl_;
};

}  // namespace tollgate::sql

#endif  // TOLLGATE_STORE_DETAIL_SQL_SHARED_VERBS_HPP
