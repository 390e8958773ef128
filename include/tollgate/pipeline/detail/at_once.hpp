#pragma once

#include <tollgate/contract/rate_limiter.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/pipeline/detail/agent.hpp>
#include <tollgate/pipeline/detail/find_route.hpp>
#include <tollgate/pipeline/detail/identify.hpp>
#include <tollgate/pipeline/detail/judgement.hpp>
#include <tollgate/pipeline/detail/limit.hpp>
#include <tollgate/policy/detail/last_used_throttle.hpp>
#include <tollgate/policy/detail/policy_set.hpp>

#include <concepts>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

/// Whether a request can be answered now, without waiting for a database: asked on the thread that serves the sockets,
/// which then answers it in place.
///
/// It is a look ahead, with the stages themselves, at what is remembered; it counts and changes nothing. What was
/// remembered a moment ago may be forgotten by the time of the answer: that one request then waits on its thread, as long
/// as a store's time-outs let it.
namespace tollgate::inline v0::pipeline {

/// Nobody reads it: it says that somebody would have to be asked.
[[nodiscard]] inline error would_wait() { return {error_kind::unavailable, {}, {}}; }

/// A store that answers from what it remembers, or not at all; one that never waits answers.
template <credential_source Store>
struct recalled_store {
    Store& store;
    bool would_record = false;

    [[nodiscard]] result<std::optional<token_credential>> find_personal_token(std::string_view username) const {
        if constexpr (!http::handler_blocks<Store>()) return store.find_personal_token(username);
        else return told(store.recall_personal_token(username));
    }
    [[nodiscard]] result<std::optional<token_credential>> find_access_token(const digest& token) const {
        if constexpr (!http::handler_blocks<Store>()) return store.find_access_token(token);
        else return told(store.recall_access_token(token));
    }

    /// That a use is due to be recorded is a reason to wait, too, where that may wait.
    void foresee_record() noexcept { would_record = http::handler_blocks<Store>() && use_recorder<Store>; }

private:
    [[nodiscard]] static result<std::optional<token_credential>> told(
        const std::optional<std::optional<token_credential>>& known) {
        if (!known) return would_wait();
        return *known;
    }
};

/// Whether what most requests ask of this user can be told without waiting.
template <user_directory Users>
[[nodiscard]] bool remembers(const Users& users, user_id user) noexcept {
    if constexpr (!http::handler_blocks<Users>()) return true;
    else if constexpr (requires { { users.remembers(user) } noexcept -> std::same_as<bool>; }) return users.remembers(user);
    else return false;
}

template <user_directory Users>
struct recalled_users {
    Users& users;

    [[nodiscard]] result<balance> balance_of(user_id) const { return would_wait(); }
    [[nodiscard]] result<std::vector<account>> accounts_of(user_id, std::string_view) const { return would_wait(); }
    [[nodiscard]] result<std::optional<quota>> quota_of(user_id user) const {
        if (!remembers(users, user)) return would_wait();
        return users.quota_of(user);
    }
};

template <class Authenticator>
[[nodiscard]] constexpr bool only_finds_credentials() noexcept {
    if constexpr (requires { { Authenticator::only_finds_credentials } -> std::convertible_to<bool>; })
        return Authenticator::only_finds_credentials;
    else return false;
}

template <class Authenticators>
inline constexpr bool all_only_find_credentials = false;
template <class... A>
inline constexpr bool all_only_find_credentials<std::tuple<A...>> = (only_finds_credentials<policy_type<A>>() && ...);

/// Whether there is something to look at: without it every request may wait.
template <class Users, class Store, class Authenticators>
inline constexpr bool can_recall = (!http::handler_blocks<Store>() || credential_recaller<Store>) &&
    all_only_find_credentials<Authenticators> &&
    (!http::handler_blocks<Users>() || requires(const Users& users, user_id user) {
        { users.remembers(user) } noexcept -> std::same_as<bool>;
    });

/// Who is calling, and that they have room, is remembered; and so is what their endpoint asks for.
template <class Api>
[[nodiscard]] bool answers_at_once(const Api& api, const http::request& asked) {
    const auto& policies = api.policies();
    const auto& settings = api.settings();
    judgement found;
    // Most endpoints ask a database in any case, and the path says which.
    if (find_route(policy(policies.router), api.table(), settings.services, api.root(), asked, found)) return false;
    if (found.route.result != route_match::kind::found || !api.table()[found.route.route].reads_the_user_alone) return false;

    found.now = policy(policies.clock).now();
    look_at_agent(policy(policies.agent_rule), asked, found);
    recalled_store<std::remove_reference_t<decltype(api.store())>> store{api.store()};
    recalled_users<std::remove_reference_t<decltype(api.users())>> users{api.users()};
    identify(policies.authenticators, store, users, asked, found);
    return found.standing == standing::known && !store.would_record && remembers(api.users(), found.who->user) &&
           answers_at_once(policy(policies.limiter), limit_key::of(found.who->user),
                           found.own_quota.value_or(settings.user_quota));
}

}  // namespace tollgate::pipeline
