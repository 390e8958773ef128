#pragma once
#ifndef TOLLGATE_API_ACCOUNT_API_HPP
#define TOLLGATE_API_ACCOUNT_API_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/pipeline/call.hpp>
#include <tollgate/pipeline/route_table.hpp>
#include <tollgate/policy/default_policies.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

namespace pipeline {
class api_part;
class judge;
class part;
}  // namespace pipeline

/// A reference to the parts of a store that an `account_api` needs: the credentials, and the webhooks if the store is a `hook_store`. The
/// store must outlive the reference.
class api_store_ref {
public:
    /// Constructs a reference to `store`.
    template <class Store>
        requires detail::is_erasable<Store, api_store_ref>
    api_store_ref(Store& store) noexcept : credentials_{store} {
        if constexpr (requires { &Store::create_hook; } || requires { &Store::hooks_of; } || requires { &Store::delete_hook; })
            static_assert(hook_store<Store>,
                          "tollgate: a member named create_hook, hooks_of or delete_hook exists, but this does not satisfy hook_store; "
                          "read tollgate/contract/hook_store.hpp");
        if constexpr (hook_store<Store>) hooks_ = hook_store_ref{store};
    }

    /// Returns a part of the store. `hooks` refers to no object if the store has no webhooks.
    [[nodiscard]] const credential_source_ref& credentials() const noexcept { return credentials_; }
    [[nodiscard]] const hook_store_ref& hooks() const noexcept { return hooks_; }

private:
    credential_source_ref credentials_;
    hook_store_ref hooks_;
};

/// Returns the route `/user/balance`.
[[nodiscard]] TOLLGATE_COLD route_table balance_routes();
/// Returns the route `/{service}/accounts`.
[[nodiscard]] TOLLGATE_COLD route_table account_list_routes();

/// Serves everything under `{base_url}`. The class is a handler for `server` or any other HTTP server.
///
///     account_api api{settings, users, store, account_routes()};
///     account_api api{settings, users, store, account_routes() + my_routes};
///     account_api api{settings, users, store, default_policies().with_limiter(night_limiter{}), account_routes()};
///
/// `account_routes()` of <tollgate/api/routes.hpp> returns all routes of the library. `balance_routes()` and `account_list_routes()`
/// compile faster, without webhooks and the JSON parser. Only the routes of webhooks need a `hook_store`; a `credential_source` is enough
/// for the others.
///
/// Users and store must outlive the API. Thread rule: `handle` may be called from many threads at once. Blocking: if the users, the store,
/// the limiter or an authenticator may block.
class account_api {
public:
    /// Constructs an API. `users` is any `user_directory`, and `store` any `credential_source`. Throws std::invalid_argument for a base_url
    /// or auth_url that `http::url::root` refuses, for a quota without a window, for two routes with the same method and path, and for a
    /// route that needs a scope that no service declares, or webhooks if the store has none.
    TOLLGATE_COLD account_api(account_service_settings settings, user_directory_ref users, api_store_ref store, tollgate::policies policies,
                              route_table table);
    /// Constructs an API with the default policies.
    account_api(account_service_settings settings, user_directory_ref users, api_store_ref store, route_table table)
        : account_api{std::move(settings), users, store, default_policies(), std::move(table)} {}

    TOLLGATE_COLD ~account_api();

    account_api(const account_api&) = delete;
    account_api& operator=(const account_api&) = delete;

    /// Returns true if handling a request may block.
    [[nodiscard]] TOLLGATE_DECL bool may_block() const noexcept;

    /// Implements `http::handler`: responds on this thread, which may block.
    TOLLGATE_DECL void handle(const http::request& request, http::response& response) noexcept;
    /// Implements `http::handler`: responds to a request that the server refused. Never blocks.
    TOLLGATE_COLD void handle(const http::refusal& refusal, http::response& response) noexcept;

    /// Implements `http::resumable_handler`. Responds on the thread that read the request unless a store, the directory, the limiter or an
    /// authenticator may block. A request that is refused by its head is answered from the head alone.
    [[nodiscard]] TOLLGATE_DECL http::handle_step advance(const http::request& request, http::response& response,
                                                          http::handler_state& state, http::thread_kind thread) noexcept;

    /// Returns the response to a request, for tests, and for servers that do not reuse a response. May block.
    [[nodiscard]] http::response handle(const http::request& request) noexcept {
        http::response response;
        handle(request, response);
        return response;
    }

    /// Returns the API's OpenAPI 3.1 description, which is the response to `{base_url}/openapi.json`. Empty without `openapi_routes()`.
    [[nodiscard]] TOLLGATE_DECL const std::string& openapi() const noexcept;

    /// Returns an argument of the constructor. Other handlers may share the policies: give them a copy.
    [[nodiscard]] TOLLGATE_DECL const tollgate::policies& policies() const noexcept;
    [[nodiscard]] TOLLGATE_DECL const account_service_settings& settings() const noexcept;
    [[nodiscard]] TOLLGATE_DECL const route_table& table() const noexcept;
    /// Returns the URLs for which applications can ask for tokens (RFC 8707): the base URL, then those of groups of routes.
    [[nodiscard]] TOLLGATE_COLD std::vector<std::string> resource_urls() const;
    /// Returns the paths of the metadata of these resources (RFC 9728), which the API serves in addition to everything below its root.
    /// Empty without an authorization server.
    [[nodiscard]] TOLLGATE_COLD std::vector<std::string> metadata_paths() const;
    /// Returns the path of the base URL.
    [[nodiscard]] TOLLGATE_DECL std::string_view root() const noexcept;

private:
    friend class account_service;

    [[nodiscard]] TOLLGATE_DECL const pipeline::part& part() const noexcept;

    std::unique_ptr<const pipeline::api_part> part_;
    std::unique_ptr<const pipeline::judge> judge_;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/api/account_api.ipp>
#endif

#endif  // TOLLGATE_API_ACCOUNT_API_HPP
