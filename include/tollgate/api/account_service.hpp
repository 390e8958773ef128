#pragma once
#ifndef TOLLGATE_API_ACCOUNT_SERVICE_HPP
#define TOLLGATE_API_ACCOUNT_SERVICE_HPP

#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/manual/documentation.hpp>
#include <tollgate/oauth/authorization_server.hpp>
#include <tollgate/pages/account_pages.hpp>
#include <tollgate/pipeline/detail/observed_request.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/web/page_theme.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// The settings of an `account_service`. Only `base_url` has no default.
struct account_service_settings {
    /// The root of the API, with the version at the end of its path: `https://api.example.com/v1`; see `http::url::root`.
    std::string base_url;
    /// The root of the pages, OAuth and the documentation: `https://example.com`. Empty: the origin of `base_url`.
    std::string auth_url = {};
    /// The products with their events; the scopes follow from them: `{{"shop", {"order.paid", "order.shipped"}}}`.
    service_catalog services = {};

    quota anonymous_quota = default_anonymous_quota;  ///< of one client address without credentials
    quota user_quota = default_user_quota;            ///< of one user, unless the directory has another one

    /// Proxies that name their clients; the field is ignored if another peer sends it.
    std::vector<ip_network> trusted_proxies = {};
    forwarding_field client_named_by = forwarding_field::x_forwarded_for;  ///< the field that those proxies set
    /// The hosts that requests may name; others get 421. Default: any.
    http::allowed_hosts allowed_hosts = {};

    /// The origins whose pages may call from a browser (CORS), such as `https://app.example`; `*` alone: any; empty: no
    /// other origin. Pages are never open to other origins.
    std::vector<std::string> cors_origins = {"*"};

    std::size_t hooks_per_event_max = limits::hooks_per_event_max;  ///< webhooks of one account for one event

    /// The page that Error objects and OpenAPI link to. If it ends in a slash, the topic of the error is appended:
    /// `errors/`. Empty: the built-in documentation, `{auth_url}/docs/`.
    std::string documentation_url = {};
    api_license license = {};  ///< of your API, for OpenAPI

    /// Settings of OAuth and the pages alone. Fields that also exist above take their values from there.
    oauth_settings oauth = {};
    page_settings pages = {};
};

/// The sessions of a service without sign-in: API and documentation only.
struct no_sessions {};

namespace service_detail {

template <class... Slots>
void take_policy_set(policy_set<Slots...>&);
template <class Policies>
concept is_policy_set = requires(Policies& policies) { service_detail::take_policy_set(policies); };

/// Whether an argument stands where sessions do. They are checked after that, so that the error names the contract.
template <class T>
concept is_for_sessions = !is_policy_set<std::remove_const_t<T>> && !std::is_same_v<std::remove_const_t<T>, route_table> &&
                          !std::is_same_v<T, no_sessions>;

/// `https://api.example.com` of `https://api.example.com/v1`, as written.
[[nodiscard]] inline std::string origin_of(std::string_view url) {
    const auto authority = url.find("://");
    if (authority == std::string_view::npos) return std::string{url};
    return std::string{url.substr(0, url.find('/', authority + 3))};
}

[[nodiscard]] inline api_settings to_api_settings(account_service_settings settings, bool has_authorization_server) {
    if (settings.auth_url.empty()) settings.auth_url = origin_of(settings.base_url);
    if (settings.documentation_url.empty())
        settings.documentation_url = std::string{without_final_slashes(settings.auth_url)}.append("/docs/");
    return {.base_url = std::move(settings.base_url),
            .auth_url = std::move(settings.auth_url),
            .services = std::move(settings.services),
            .anonymous_quota = settings.anonymous_quota,
            .user_quota = settings.user_quota,
            .trusted_proxies = std::move(settings.trusted_proxies),
            .client_named_by = settings.client_named_by,
            .cors_origins = std::move(settings.cors_origins),
            .hooks_per_event_max = settings.hooks_per_event_max,
            .documentation_url = std::move(settings.documentation_url),
            .has_authorization_server = has_authorization_server,
            .license = std::move(settings.license)};
}

/// The fields that all parts have in common.
template <class Settings>
void copy_common_fields(const api_settings& api, Settings& settings) {
    settings.auth_url = api.auth_url;
    settings.services = api.services;
    settings.trusted_proxies = api.trusted_proxies;
    settings.client_named_by = api.client_named_by;
    settings.documentation_url = api.documentation_url;
}

[[nodiscard]] inline oauth_settings to_oauth_settings(oauth_settings settings, const api_settings& api) {
    copy_common_fields(api, settings);
    settings.anonymous_quota = api.anonymous_quota;
    settings.cors_origins = api.cors_origins;
    return settings;
}

[[nodiscard]] inline page_settings to_page_settings(page_settings settings, const api_settings& api) {
    copy_common_fields(api, settings);
    settings.hooks_per_event_max = api.hooks_per_event_max;
    return settings;
}

/// The documentation. Its requests are reported to the observer like all others.
template <class Api>
class observed_documentation {
public:
    /// Its pages also cover OAuth if there are settings for it.
    template <class... OauthSettings>
    explicit observed_documentation(Api& api, const OauthSettings&... oauth) : api_{api}, pages_{api.settings(), api.table(), oauth...} {}

    static constexpr bool reads_body = false;

    void handle(const http::request& request, http::response& response) const noexcept {
        const auto& settings = api_.settings();
        const auto start = pipeline::start_request(api_.policies());
        pages_.handle(request, response, start.id);
        const auto client = http::client_address(request, settings.trusted_proxies, settings.client_named_by);
        const std::string_view route = response.status() == http::status::not_found ? "" : "/docs/";
        pipeline::observed_request{start, request, client, route}.report_end(api_.policies(), response, nullptr);
    }
    void handle(const http::refusal& refused, http::response& response) const noexcept {
        const auto start = pipeline::start_request(api_.policies());
        pages_.handle(refused, response, start.id);
        pipeline::report_refusal(api_.policies(), start, refused, pipeline::client_of(refused, api_.settings()));
    }

    [[nodiscard]] const std::string& root() const noexcept { return pages_.root(); }

private:
    Api& api_;
    api_documentation pages_;
};

// The handlers besides the API. The API is the last one of the site, for paths that belong to nothing else.
template <class Api>
struct parts_without_sessions {
    explicit parts_without_sessions(Api& api)
        : documentation{api},
          site{http::mounted(documentation.root(), documentation), http::mounted("", api)} {}

    void add_mounts(std::vector<std::string>&) const {}

    observed_documentation<Api> documentation;
    http::site<observed_documentation<Api>, Api> site;
};

/// Stands for the parts if the sessions do not satisfy their contract, so that no other error follows.
template <class Api>
struct parts_of_misfit : parts_without_sessions<Api> {
    explicit parts_of_misfit(Api& api, const auto&...) : parts_without_sessions<Api>{api} {}
};

template <class Api, class Oauth, class Pages, class Theme>
struct parts_with_sessions {
    template <class Users, class Store, class Sessions>
    parts_with_sessions(Api& api, Users& users, Store& store, Sessions& sessions, oauth_settings oauth_part,
                      page_settings page_part, Theme theme_part)
        : theme{std::move(theme_part)},
          oauth{std::move(oauth_part), store, sessions, api.policies().by_reference(), std::ref(policy(theme))},
          documentation{api, oauth.settings()},
          pages{std::move(page_part), users, store, sessions, api.policies().by_reference(), std::ref(policy(theme))},
          // The pages answer for all paths below a language, even those that do not exist.
          site{http::mounted(documentation.root(), documentation),
               http::mounted(oauth),
               http::mounted(pages),
               http::mount<Pages>{pages.language_roots(), {}, pages},
               http::mounted("", api)} {}

    void add_mounts(std::vector<std::string>& paths) const {
        for (auto& each : oauth.mounts()) paths.push_back(std::move(each));
        for (auto& each : pages.mounts()) paths.push_back(std::move(each));
        for (auto& each : pages.language_roots()) paths.push_back(std::move(each));
    }

    Theme theme;
    Oauth oauth;
    observed_documentation<Api> documentation;
    Pages pages;
    http::site<observed_documentation<Api>, Oauth, Pages, Pages, Api> site;
};

}  // namespace service_detail

/// Everything, assembled: the API with its documentation, and, with sessions, OAuth and the pages. All parts share one set of
/// policies. A handler: give it to `server`, or call it from another HTTP server.
///
///     account_service service{{.base_url = "https://api.example.com/v1", .services = {{"shop", {"order.paid"}}}}, users, store};
///     account_service service{settings, users, store, default_policies().with_limiter(night_limiter{})};
///     account_service service{settings, users, store, sessions};
///     account_service service{settings, users, store, sessions, default_policies(), account_routes() + my_routes, my_theme{}};
///     server server{service, {.port = 8443, .tls = {"cert.pem", "key.pem"}}};
///
/// A `hook_dispatcher` (<tollgate/webhooks/hook_dispatcher.hpp>) delivers the webhooks of its store with its policies:
///
///     hook_dispatcher dispatcher{service};
///
/// Users, store and sessions must outlive it. Thread rule: `handle` may be called from many threads at the same time.
/// Blocking: as the users, the store, the sessions, the limiter and the authenticators do; a sign-in always blocks.
template <class Users, class Store, class Sessions = no_sessions, class Policies = decltype(default_policies()),
          class Theme = plain_theme>
class account_service {
    using api_type = account_api<Users, Store, Policies>;
    using shared_policies = decltype(std::declval<Policies&>().by_reference());
    using shared_theme = std::reference_wrapper<policy_type<Theme>>;
    static constexpr auto choose_parts() {
        if constexpr (std::is_same_v<Sessions, no_sessions>) {
            return std::type_identity<service_detail::parts_without_sessions<api_type>>{};
        } else if constexpr (session_source<Sessions>) {
            return std::type_identity<service_detail::parts_with_sessions<
                api_type, authorization_server<Store, Sessions, shared_policies, shared_theme>,
                account_pages<Users, Store, Sessions, shared_policies, shared_theme>, Theme>>{};
        } else {
            static_assert(session_source<Sessions>,
                          "tollgate: this does not satisfy session_source; read tollgate/contract/session_source.hpp");
            return std::type_identity<service_detail::parts_of_misfit<api_type>>{};
        }
    }
    using parts_type = typename decltype(choose_parts())::type;

public:
    /// Whether handling a request may block.
    static constexpr bool blocking = decltype(parts_type::site)::blocking;

    /// API and documentation. Throws std::invalid_argument for a URL that `http::url::root` refuses.
    account_service(account_service_settings settings, Users& users, Store& store, Policies policies = default_policies(),
                    route_table table = account_routes())
        requires(std::is_same_v<Sessions, no_sessions> && service_detail::is_policy_set<Policies>)
        : store_{store},
          hosts_{settings.allowed_hosts},
          api_{service_detail::to_api_settings(std::move(settings), false), users, store, std::move(policies), std::move(table)},
          parts_{api_} {}

    /// API, documentation, OAuth and pages, for users whom `sessions` signs in. Throws as the other constructor.
    account_service(const account_service_settings& settings, Users& users, Store& store, Sessions& sessions,
                    Policies policies = default_policies(), route_table table = account_routes(), Theme theme = {})
        requires(service_detail::is_for_sessions<Sessions> && service_detail::is_policy_set<Policies>)
        : store_{store},
          hosts_{settings.allowed_hosts},
          api_{service_detail::to_api_settings(settings, true), users, store, std::move(policies), std::move(table)},
          parts_{api_, users, store, sessions, service_detail::to_oauth_settings(settings.oauth, api_.settings()),
                 service_detail::to_page_settings(settings.pages, api_.settings()), std::move(theme)} {}

    /// The same with the default policies.
    account_service(account_service_settings settings, Users& users, Store& store, route_table table)
        requires(std::is_same_v<Sessions, no_sessions> && std::is_same_v<Policies, decltype(default_policies())>)
        : account_service{std::move(settings), users, store, default_policies(), std::move(table)} {}
    account_service(const account_service_settings& settings, Users& users, Store& store, Sessions& sessions, route_table table,
                    Theme theme = {})
        requires(service_detail::is_for_sessions<Sessions> && std::is_same_v<Policies, decltype(default_policies())>)
        : account_service{settings, users, store, sessions, default_policies(), std::move(table), std::move(theme)} {}

    // Its parts refer to each other.
    account_service(const account_service&) = delete;
    account_service& operator=(const account_service&) = delete;

    /// A request without the User-Agent that the policies require is refused by the API, wherever it goes.
    void handle(const http::request& request, http::response& response) noexcept {
        if (!hosts_.allows(request)) return refuse_host(request, response);
        if (is_below_api(request.target.path) || !accepts_agent(request)) api_.handle(request, response);
        else parts_.site.handle(request, response);
    }
    /// The part at the path of what the server refused writes the response. The API does if the path is unknown, and at `/`, which most
    /// programs name that send malformed requests, unless a browser sent it or its query is too long.
    void handle(const http::refusal& refused, http::response& response) noexcept {
        const bool is_at_home = refused.path() == "/" && refused.status != http::status::uri_too_long && !asks_for_page(refused);
        if (is_at_home || is_below_api(refused.path())) api_.handle(refused, response);
        else parts_.site.handle(refused, response);
    }
    /// Answers as far as the thread allows, as `resumable_handler` says.
    [[nodiscard]] http::handle_step advance(const http::request& request, http::response& response, http::handler_state& state,
                                            http::thread_kind thread) noexcept {
        if (!hosts_.allows(request)) {
            refuse_host(request, response);
            return http::handle_step::done;
        }
        return is_for_api(request, state) ? http::advance(api_, request, response, state, thread)
                                          : parts_.site.advance(request, response, state, thread);
    }

    /// For `http::site`, where other handlers answer the rest of a host: every path that the service answers for.
    [[nodiscard]] std::vector<std::string> mounts() const {
        std::vector<std::string> all{std::string{api_.root()}, parts_.documentation.root()};
        parts_.add_mounts(all);
        return all;
    }

    /// For tests, and for servers that do not reuse a response.
    [[nodiscard]] http::response handle(const http::request& request) noexcept {
        http::response response;
        handle(request, response);
        return response;
    }

    /// The settings of the API, with the `auth_url` in use.
    [[nodiscard]] const api_settings& settings() const noexcept { return api_.settings(); }
    /// The services with their events: for `publish`.
    [[nodiscard]] const service_catalog& services() const noexcept { return api_.settings().services; }
    /// The store that it was constructed with.
    [[nodiscard]] Store& store() const noexcept { return store_; }
    /// To share them with other handlers: `policies().by_reference()`.
    [[nodiscard]] Policies& policies() noexcept { return api_.policies(); }

private:
    // The API judges the User-Agent of its own requests.
    [[nodiscard]] bool is_below_api(std::string_view path) const noexcept {
        // A root without a path would take the requests of all; the site finds the API behind all others.
        return !api_.root().empty() && http::detail::is_below(path, api_.root());
    }

    [[nodiscard]] static bool asks_for_page(const http::refusal& refused) noexcept {
        const auto* known = refused.request != nullptr ? refused.request : refused.partial;
        return known != nullptr && known->fields.find("Accept").find("text/html") != std::string_view::npos;
    }

    [[nodiscard]] bool accepts_agent(const http::request& request) const noexcept {
        return pipeline::accepts_user_agent(policy(api_.policies().agent_rule), request);
    }

    // Decided once: no other handler can continue with what the first one keeps in `state`, and a rule may change at any time.
    [[nodiscard]] bool is_for_api(const http::request& request, http::handler_state& state) const noexcept {
        enum : std::uint8_t { undecided, by_api, by_site };
        if (is_below_api(request.target.path)) return true;
        if (state.choice() == undecided) state.set_choice(accepts_agent(request) ? by_site : by_api);
        return state.choice() == by_api;
    }

    // By the API, at every path: this server has no pages for the host.
    void refuse_host(const http::request& request, http::response& response) noexcept {
        api_.handle(http::refusal{http::status::misdirected_request, "This server does not serve the requested host.", request.peer,
                                  request.secure, &request},
                    response);
    }

    Store& store_;
    http::allowed_hosts hosts_;
    api_type api_;
    parts_type parts_;
};

// Without this guide Clang 16 takes sessions for policies.
template <class Users, class Store, session_source Sessions, class Policies = decltype(default_policies()), class Theme = plain_theme>
account_service(account_service_settings, Users&, Store&, Sessions&, Policies = default_policies(), route_table = account_routes(),
                Theme = {}) -> account_service<Users, Store, Sessions, Policies, Theme>;

}  // namespace tollgate

#endif  // TOLLGATE_API_ACCOUNT_SERVICE_HPP
