#pragma once
#ifndef TOLLGATE_API_ACCOUNT_SERVICE_HPP
#define TOLLGATE_API_ACCOUNT_SERVICE_HPP

#include <tollgate/api/account_api.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/contract/account_store.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/policy/default_policies.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

class any_page_theme;

namespace service_detail {

/// Mounts OAuth and pages. <tollgate/api/sign_in.hpp> defines it, so that a program without sessions does not compile them.
template <class Sessions>
struct mounting;
struct part_mounter;

template <class T>
concept is_mountable = requires { sizeof(mounting<T>); };

/// True if an argument stands where sessions do. They are checked after that, so that the error names the contract.
template <class T>
concept is_for_sessions = !std::same_as<std::remove_const_t<T>, policies> && !std::same_as<std::remove_const_t<T>, route_table>;

/// Whether a store is a `token_store`. One with a verb of it that is not the contract's is an error: it would be ignored silently.
template <class Store>
[[nodiscard]] consteval bool fits_token_store() {
    if constexpr (requires { &Store::create_personal_token; } || requires { &Store::renew_personal_token; })
        static_assert(token_store<Store>,
                      "tollgate: a member named create_personal_token or renew_personal_token exists, but this does not satisfy "
                      "token_store; read tollgate/contract/token_store.hpp");
    return token_store<Store>;
}
template <class Store>
[[nodiscard]] consteval bool fits_oauth_store() {
    if constexpr (requires { &Store::create_application; } || requires { &Store::redeem_code; })
        static_assert(oauth_store<Store>,
                      "tollgate: a member named create_application or redeem_code exists, but this does not satisfy oauth_store; "
                      "read tollgate/contract/oauth_store.hpp");
    return oauth_store<Store>;
}

/// What the parts need that sessions add to an `account_service`.
struct session_parts {
    user_directory_ref users;
    oauth_store_ref applications;  ///< none if the store has no OAuth
    account_store_ref store;       ///< none if the store has not all that the pages manage
    session_source_ref sessions;
    const any_page_theme* theme = nullptr;  ///< a `plain_theme` if null
};

}  // namespace service_detail

/// A part of an `account_service`.
struct service_part {
    std::string_view name;  ///< `API`, `documentation`, `webhooks`, `OAuth`, `pages`
    bool is_mounted = false;
    std::string_view missing = {};  ///< why it is not mounted, for a log line; empty if it is
};

/// Everything, assembled: the API with its documentation, and, with sessions, OAuth and the pages. All parts share one set of
/// policies. A handler: give it to `server`, or call it from another HTTP server.
///
///     account_service service{{.base_url = "https://api.example.com/v1", .services = {{"shop", {"order.paid"}}}}, users, store};
///     account_service service{settings, users, store, default_policies().with_limiter(night_limiter{})};
///     account_service service{settings, users, store, sessions};   // #include <tollgate/api/sign_in.hpp>
///     account_service service{settings, users, store, sessions, default_policies(), account_routes() + my_routes, my_theme{}};
///     server server{service, {.port = 8443, .tls = {"cert.pem", "key.pem"}}};
///
/// A `hook_dispatcher` (<tollgate/webhooks/hook_dispatcher.hpp>) delivers the webhooks of the same store:
///
///     hook_dispatcher dispatcher{store, {}, service.policies()};
///
/// Users, store and sessions must outlive the service. Thread rule: `handle` may be called from many threads at the same time. Blocking: as
/// the users, the store, the sessions, the limiter and the authenticators do; a sign-in always blocks.
class account_service {
public:
    /// API and documentation. `users` is any `user_directory`, and `store` any `credential_source`. Without a table, the routes are
    /// `account_routes()`, and those of webhooks only if the store is a `hook_store`. Throws std::invalid_argument for a URL that
    /// `http::url::root` refuses, and as the constructor of `account_api` does.
    TOLLGATE_COLD account_service(account_service_settings settings, user_directory_ref users, api_store_ref store,
                                  tollgate::policies policies = default_policies(), std::optional<route_table> table = {});
    account_service(account_service_settings settings, user_directory_ref users, api_store_ref store, route_table table)
        : account_service{std::move(settings), users, store, default_policies(), std::move(table)} {}

    /// API, documentation, OAuth and pages, for users whom `sessions` signs in: any `session_source`. OAuth needs an `oauth_store`; the
    /// pages need a store that is a `token_store` and a `hook_store`, too. What the store cannot do is not mounted: see `parts`. Needs
    /// <tollgate/api/sign_in.hpp>. Throws as the other constructor.
    template <class Users, class Store, class Sessions>
        requires service_detail::is_for_sessions<Sessions>
    account_service(account_service_settings settings, Users& users, Store& store, Sessions& sessions,
                    tollgate::policies policies = default_policies(), std::optional<route_table> table = {})
        : account_service{std::move(settings), user_directory_ref{users}, api_store_ref{store}, std::move(policies), std::move(table),
                          mount_by<Sessions>(), parts_of(users, store, sessions)} {}
    template <class Users, class Store, class Sessions>
        requires service_detail::is_for_sessions<Sessions>
    account_service(account_service_settings settings, Users& users, Store& store, Sessions& sessions, tollgate::policies policies,
                    route_table table, const any_page_theme& theme)
        : account_service{std::move(settings), user_directory_ref{users}, api_store_ref{store}, std::move(policies), std::move(table),
                          mount_by<Sessions>(), parts_of(users, store, sessions, &theme)} {}
    template <class Users, class Store, class Sessions>
        requires service_detail::is_for_sessions<Sessions>
    account_service(account_service_settings settings, Users& users, Store& store, Sessions& sessions, route_table table)
        : account_service{std::move(settings), users, store, sessions, default_policies(), std::move(table)} {}

    TOLLGATE_COLD ~account_service();

    // Not copyable, because the parts refer to each other.
    account_service(const account_service&) = delete;
    account_service& operator=(const account_service&) = delete;

    /// Returns true if handling a request may block.
    [[nodiscard]] bool may_block() const noexcept { return site_->may_block(); }

    /// Implements `http::handler`: responds on this thread, which may block. For every path, the API refuses a request without the
    /// User-Agent that the policies require.
    TOLLGATE_DECL void handle(const http::request& request, http::response& response) noexcept;
    /// Implements `http::handler`. The part at the path of the refused request writes the response, or the API if the path is unknown.
    /// Never blocks.
    TOLLGATE_COLD void handle(const http::refusal& refused, http::response& response) noexcept;
    /// Implements `http::resumable_handler`: processes the request as far as is possible on the thread.
    [[nodiscard]] TOLLGATE_DECL http::handle_step advance(const http::request& request, http::response& response,
                                                          http::handler_state& state, http::thread_kind thread) noexcept;

    /// What the service mounted, and what it did not and why: a line of each is worth a log line at the start.
    [[nodiscard]] const std::vector<service_part>& parts() const noexcept { return parts_; }

    /// For `http::site`, where other handlers answer the rest of a host: every path that the service answers for.
    [[nodiscard]] std::vector<std::string> mounts() const { return paths_; }

    /// Returns the response to a request, for tests, and for servers that do not reuse a response. May block.
    [[nodiscard]] http::response handle(const http::request& request) noexcept {
        http::response response;
        handle(request, response);
        return response;
    }

    /// Returns the settings of the API, with the `auth_url` in use.
    [[nodiscard]] const account_service_settings& settings() const noexcept { return api_.settings(); }
    /// Returns the services with their events, for `publish`.
    [[nodiscard]] const service_catalog& services() const noexcept { return api_.settings().services; }
    /// Returns the policies. A copy shares them with other handlers.
    [[nodiscard]] const tollgate::policies& policies() const noexcept { return api_.policies(); }

private:
    using mount_function = void (*)(account_service&, const service_detail::session_parts&);

    /// Constructs a service; `mount` adds the parts of a service with sessions, and is null without sessions.
    TOLLGATE_COLD account_service(const account_service_settings& settings, user_directory_ref users, api_store_ref store,
                                  tollgate::policies policies, std::optional<route_table> table, mount_function mount,
                                  const service_detail::session_parts& session_parts);

    template <class Sessions>
    [[nodiscard]] static mount_function mount_by() noexcept {
        static_assert(service_detail::is_mountable<Sessions>,
                      "tollgate: a service with sessions needs #include <tollgate/api/sign_in.hpp>");
        if constexpr (service_detail::is_mountable<Sessions>) return &service_detail::mounting<Sessions>::mount;
        else return nullptr;
    }
    template <class Users, class Store, class Sessions>
    [[nodiscard]] static service_detail::session_parts parts_of(Users& users, Store& store, Sessions& sessions,
                                                                const any_page_theme* theme = nullptr) noexcept {
        constexpr bool has_tokens = service_detail::fits_token_store<Store>();
        constexpr bool has_oauth = service_detail::fits_oauth_store<Store>();
        service_detail::session_parts parts;
        parts.users = user_directory_ref{users};
        parts.sessions = session_source_ref{sessions};
        parts.theme = theme;
        if constexpr (has_oauth) parts.applications = oauth_store_ref{store};
        if constexpr (has_oauth && has_tokens && hook_store<Store>) parts.store = account_store_ref{store};
        return parts;
    }

    friend struct service_detail::part_mounter;

    // Returns true for a path below the root of the API. The API itself responds there, and to all clients that the agent rule refuses.
    [[nodiscard]] bool is_below_api(std::string_view path) const noexcept;
    [[nodiscard]] bool accepts_agent(const http::request& request) const noexcept;
    [[nodiscard]] bool is_for_api(const http::request& request, http::handler_state& state) const noexcept;
    void refuse_host(const http::request& request, http::response& response) noexcept;
    TOLLGATE_COLD void mount_documentation();

    http::allowed_hosts hosts_;
    account_api api_;
    std::vector<std::shared_ptr<void>> handlers_;  // destroyed before the API, the last one first
    std::vector<service_part> parts_;
    std::vector<http::mount> mounts_;           // of the site, while it is assembled
    std::vector<std::string> paths_;
    std::optional<http::site> site_;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/api/account_service.ipp>
#endif

#endif  // TOLLGATE_API_ACCOUNT_SERVICE_HPP
