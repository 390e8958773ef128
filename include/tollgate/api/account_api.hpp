#pragma once
#ifndef TOLLGATE_API_ACCOUNT_API_HPP
#define TOLLGATE_API_ACCOUNT_API_HPP

#include <tollgate/pipeline/detail/api_definition.hpp>
#include <tollgate/pipeline/detail/api_settings.hpp>
#include <tollgate/contract/detail/member_names.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/pipeline/judge.hpp>
#include <tollgate/pipeline/route_table.hpp>
#include <tollgate/policy/default_policies.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0 {

namespace pipeline {

/// Whether an authenticator fits the store. One that does not is an error: one message, whose notes name the member.
template <class A, class Store>
consteval bool check_authenticator() {
    static_assert(authenticator_over<A, Store>,
                  "tollgate: an authenticator does not satisfy authenticator_over this store; read tollgate/contract/authenticator.hpp");
    if constexpr (authenticator_over<A, Store> && requires { &A::read; })
        static_assert(token_authenticator<A>,
                      "tollgate: a member named read exists, but this does not satisfy token_authenticator; "
                      "read tollgate/contract/authenticator.hpp");
    if constexpr (detail::names_field<A>)
        static_assert(has_own_field<A>,
                      "tollgate: field of an authenticator is a static constexpr std::string_view; "
                      "read tollgate/contract/authenticator.hpp");
    return authenticator_over<A, Store>;
}

template <class Authenticators>
struct all_authenticators;
template <class... A>
struct all_authenticators<std::tuple<A...>> {
    template <class Store>
    static consteval bool fit() {
        static_assert(have_distinct_fields<policy_type<A>...>(),
                      "tollgate: each authenticator with a field has another one, and not Authorization; "
                      "read tollgate/contract/authenticator.hpp");
        return (check_authenticator<policy_type<A>, Store>() && ...);
    }

    /// Whether one of them may block by itself, apart from the store.
    static constexpr bool may_block = (http::handler_blocks<policy_type<A>>() || ...);
};

/// A member with the name of an optional part but another signature is an error: otherwise it would be ignored silently.
template <class Users>
consteval bool check_optional_members_of_directory() {
    if constexpr (detail::names_cached_quota_of<Users>)
        static_assert(quota_cache<Users>,
                      "tollgate: a member named cached_quota_of exists, but this does not satisfy quota_cache; "
                      "read tollgate/contract/user_directory.hpp");
    if constexpr (detail::names_cached_balance_of<Users>)
        static_assert(balance_cache<Users>,
                      "tollgate: a member named cached_balance_of exists, but this does not satisfy balance_cache; "
                      "read tollgate/contract/user_directory.hpp");
    if constexpr (detail::names_has_account<Users>)
        static_assert(account_checker<Users>,
                      "tollgate: a member named has_account exists, but this does not satisfy account_checker; "
                      "read tollgate/contract/user_directory.hpp");
    if constexpr (detail::names_activity_of<Users>)
        static_assert(activity_source<Users>,
                      "tollgate: a member named activity_of exists, but this does not satisfy activity_source; "
                      "read tollgate/contract/user_directory.hpp");
    return true;
}

template <class Store>
consteval bool check_optional_members_of_store() {
    // Public ones: a store may inherit another one privately, and show some of its members only.
    if constexpr (requires { &Store::cached_personal_token; } || requires { &Store::cached_access_token; })
        static_assert(credential_cache<Store>,
                      "tollgate: a member named cached_personal_token or cached_access_token exists, but this does not satisfy "
                      "credential_cache; read tollgate/contract/token_store.hpp");
    if constexpr (requires { &Store::record_personal_token_use; } || requires { &Store::record_access_token_use; })
        static_assert(use_recorder<Store>,
                      "tollgate: a member named record_personal_token_use or record_access_token_use exists, but this does not satisfy "
                      "use_recorder; read tollgate/contract/token_store.hpp");
    if constexpr (requires { &Store::create_hook; } || requires { &Store::hooks_of; } || requires { &Store::delete_hook; })
        static_assert(hook_store<Store>,
                      "tollgate: a member named create_hook, hooks_of or delete_hook exists, but this does not satisfy hook_store; "
                      "read tollgate/contract/hook_store.hpp");
    return true;
}

/// The webhooks of a store, if it has any.
template <class Store>
[[nodiscard]] hook_store_ref hooks_of(Store& store) noexcept {
    if constexpr (hook_store<Store>) return store;
    else return {};
}

}  // namespace pipeline

/// `/user/balance`
[[nodiscard]] TOLLGATE_COLD route_table balance_routes();
/// `/{service}/accounts`
[[nodiscard]] TOLLGATE_COLD route_table account_list_routes();

/// Everything under `{base_url}`: a handler, to be hosted by `server` or by any other HTTP server.
///
///     account_api api{settings, users, store, account_routes()};
///     account_api api{settings, users, store, account_routes() + my_routes};
///     account_api api{settings, users, store, default_policies().with_limiter(night_limiter{}), account_routes()};
///
/// `account_routes()` of <tollgate/api/routes.hpp> are all routes of the library; `balance_routes()` and `account_list_routes()` compile
/// faster, without webhooks and the JSON parser. Only the routes of webhooks need a `hook_store`; a `token_store` is enough for the others.
///
/// Users and store are the integrator's and must outlive it. Thread rule: `handle` may be called from many threads at once.
/// Blocking: exactly if the users, the store, the limiter or an authenticator block.
template <class Users, class Store, class Policies = decltype(default_policies())>
class account_api {
    static constexpr bool users_fit = user_directory<Users>;
    static constexpr bool store_fits = token_store<Store>;
    static_assert(user_directory<Users>, "tollgate: this does not satisfy user_directory; read tollgate/contract/user_directory.hpp");
    static_assert(token_store<Store>, "tollgate: this does not satisfy token_store; read tollgate/contract/token_store.hpp");
    static_assert(!users_fit || pipeline::check_optional_members_of_directory<Users>());
    static_assert(!store_fits || pipeline::check_optional_members_of_store<Store>());
    using authenticators = pipeline::all_authenticators<decltype(Policies::authenticators)>;
    static consteval bool authenticators_fit() {
        if constexpr (store_fits) return authenticators::template fit<Store>();
        else return false;
    }
    static constexpr bool fits = users_fit && store_fits && authenticators_fit();

    // Keeps the compiler from reporting the consequences of a misfit, too.
    struct no_context {
        no_context(const auto&...) noexcept {}
    };

public:
    /// Whether handling a request may block.
    static constexpr bool blocking = http::handler_blocks<Users>() || http::handler_blocks<Store>() || authenticators::may_block ||
                                     http::handler_blocks<policy_type<decltype(Policies::limiter)>>();

    /// Throws std::invalid_argument for a base_url or auth_url that `http::url::root` refuses, for a quota without a window, for two
    /// routes with the same method and path, and for a route that needs a scope that no service declares, or webhooks if the store has
    /// none.
    account_api(api_settings settings, Users& users, Store& store, Policies policies, route_table table);

    /// The same with the default policies.
    account_api(api_settings settings, Users& users, Store& store, route_table table)
        requires std::same_as<Policies, decltype(default_policies())>
        : account_api{std::move(settings), users, store, default_policies(), std::move(table)} {}

    // Routes and endpoints point into it.
    account_api(const account_api&) = delete;
    account_api& operator=(const account_api&) = delete;

    /// Implements `http::handler`: responds on this thread, which may block.
    void handle(const http::request& request, http::response& response) noexcept;
    /// Implements `http::handler`: responds to what the server refused. Never blocks.
    void handle(const http::refusal& refusal, http::response& response) noexcept;

    /// Implements `http::resumable_handler`: answers on the thread that read the request unless a store, the directory, the limiter or an
    /// authenticator may block, and from the head alone if it refuses the request.
    [[nodiscard]] http::handle_step advance(const http::request& request, http::response& response, http::handler_state& state,
                                            http::thread_kind thread) noexcept {
        auto& judged = state.get<pipeline::judgement>();
        if (judged.next == pipeline::stage::head) judged.now = state.time_by(policy(policies_.clock));
        const http::handle_step step = judge(request, response, judged, thread);
        state.set_waits_for(judged.waits_for);
        state.set_body_bytes_max(judged.body_bytes_max);
        return step;
    }

    /// For tests, and for servers that do not reuse a response.
    [[nodiscard]] http::response handle(const http::request& request) noexcept {
        http::response response;
        handle(request, response);
        return response;
    }

    /// The API's OpenAPI 3.1 description: what `{base_url}/openapi.json` answers with. Empty without `openapi_routes()`.
    [[nodiscard]] const std::string& openapi() const noexcept { return definition_.openapi; }

    /// To share them with other handlers, `policies().by_reference()`.
    [[nodiscard]] Policies& policies() noexcept { return policies_; }
    [[nodiscard]] const Policies& policies() const noexcept { return policies_; }
    [[nodiscard]] const api_settings& settings() const noexcept { return definition_.settings; }
    [[nodiscard]] const route_table& table() const noexcept { return definition_.routes; }
    /// The path of the base URL.
    [[nodiscard]] std::string_view root() const noexcept { return definition_.root; }

private:
    [[nodiscard]] http::handle_step judge(const http::request& request, http::response& response, pipeline::judgement& state,
                                          http::thread_kind thread) noexcept {
        auto step = http::handle_step::done;
        if constexpr (fits) {
            const pipeline::judge<Users, Store, Policies> api_judge{definition_, users_, store_, policies_, context_};
            pipeline::respond_or_error(
                response, [&] { step = api_judge.advance(request, response, state, thread); },
                [&](const error& thrown) { api_judge.respond_error(thrown, request, response, state); });
        }
        return step;
    }

    pipeline::api_definition definition_;
    Users& users_;
    Store& store_;
    Policies policies_;
    std::conditional_t<fits, api_context, no_context> context_;
};

template <class Users, class Store, class Policies>
account_api<Users, Store, Policies>::account_api(api_settings settings, Users& users, Store& store, Policies policies, route_table table)
    : definition_{std::move(settings), std::move(table), hook_store<Store>},
      users_{users},
      store_{store},
      policies_{std::move(policies)},
      context_{users_, pipeline::hooks_of(store_), policy(policies_.target_rule), policy(policies_.random), policy(policies_.observer),
               definition_.settings, definition_.openapi} {
    policy(policies_.router).build(definition_.patterns);
}

template <class Users, class Store, class Policies>
void account_api<Users, Store, Policies>::handle(const http::request& request, http::response& response) noexcept {
    pipeline::judgement state;
    state.now = policy(policies_.clock).now();
    // This thread may wait for everything.
    while (judge(request, response, state, http::thread_kind::worker) == http::handle_step::needs_worker) {}
}

template <class Users, class Store, class Policies>
void account_api<Users, Store, Policies>::handle(const http::refusal& refusal, http::response& response) noexcept {
    if constexpr (fits)
        pipeline::write_or_status(response, refusal.status, [&] {
            pipeline::respond_refusal(policies_, definition_.settings, definition_.documentation_url, refusal, response);
        });
}

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/api/account_api.ipp>
#endif

#endif  // TOLLGATE_API_ACCOUNT_API_HPP
