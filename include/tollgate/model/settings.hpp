#pragma once
#ifndef TOLLGATE_MODEL_SETTINGS_HPP
#define TOLLGATE_MODEL_SETTINGS_HPP

#include <tollgate/base/digest.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// The license of an API and of its description, for OpenAPI.
struct api_license {
    std::string name = "MIT License";  ///< the license of this library, because the description contains its texts
    std::string url = "https://opensource.org/license/mit";
};

/// Whether applications may register themselves (RFC 7591).
enum class dynamic_registration : std::uint8_t {
    off,
    open,        ///< any program, at a bounded rate and number
    with_token,  ///< programs that send the initial access token
};

/// A response that `oauth_settings::fetch_client_document` received.
struct fetched_document {
    unsigned status = 0;
    std::string content_type;
    std::string body;
    std::optional<seconds> fresh_for{};  ///< what the response's `Cache-Control` allows; empty if it says nothing
};

/// Settings that only OAuth uses.
struct oauth_settings {
    /// Services that have a page of their own for sign-in and consent, `{auth_url}/en/{service}/oauth/`.
    std::vector<std::string> one_page_services = {};
    /// The beginning of the name of those pages' cookie, like `session_settings::cookie_name`.
    std::string cookie_name = {};

    // Each duration is at most 36,500 days, and above zero except for `rotation_grace` and `device_poll_interval`.
    /// The lifetime of a code, at most `limits::code_hours_max`. RFC 6749 recommends at most ten minutes; a redirect takes seconds.
    seconds code_lifetime{60};
    seconds access_token_lifetime{3600};
    seconds refresh_token_lifetime{std::chrono::days{30}};  ///< lifetime since the last use
    seconds refresh_token_end{std::chrono::days{365}};      ///< lifetime since the first token of its family
    /// The time during which a refresh token that was replaced by its use returns its successor again, because a response may have been
    /// lost.
    seconds rotation_grace{30};
    /// If true, the refresh tokens of confidential clients are replaced, too. Refresh tokens of public clients always are.
    bool rotates_all_refresh_tokens = false;

    /// The time to enter the code into a browser (RFC 8628), at most `limits::code_hours_max`.
    seconds device_code_lifetime{600};
    /// The time between two requests of a device for its tokens (RFC 8628 section 3.5).
    seconds device_poll_interval{5};
    /// Requests for device codes of an address, an IPv6 /56 and an IPv6 /48, because the owner of such a network can use all of its
    /// addresses. The quotas are a small part of the codes that may wait for one application
    /// (`limits::device_codes_per_application_max`).
    quota device_requests{60, std::chrono::minutes{10}};
    quota device_requests_of_site{120, std::chrono::minutes{10}};
    quota device_requests_of_network{300, std::chrono::minutes{10}};
    /// Wrong user codes that one user may enter. A guess is right with a probability of at most 1 in 2.5 million while as many codes wait
    /// as one application may have.
    quota user_code_attempts{10, std::chrono::hours{1}};

    /// Requests of one address to the authorization pages. People make far fewer.
    quota page_requests{3000, std::chrono::minutes{10}};
    /// Refreshes of one user's grant to one application, with all of its refresh tokens together, or tokens of an application for its
    /// owner. It equals the number of access tokens that may be valid (`limits::access_tokens_per_grant_max`).
    quota refreshes{1000, std::chrono::hours{1}};
    /// Refreshes of one application for all of its users: enough for a million users who refresh every hour.
    quota refreshes_of_client{60'000, std::chrono::minutes{3}};

    /// URLs of protected resources beside those of the API, for which applications can ask for tokens (RFC 8707): other programs that learn
    /// by introspection whether a token is for them. An `account_service` knows its own: the base URL, and `route_table::as_resource`.
    std::vector<std::string> resources = {};

    /// Gets a client ID metadata document (draft-ietf-oauth-client-id-metadata-document), so that a client_id that is an https URL needs no
    /// registration: a `document_fetcher` of <tollgate/webhooks/document_fetcher.hpp>. Empty: such applications are unknown. Called on
    /// worker threads, at most `client_documents_at_once_max` at a time; it must end within seconds.
    std::function<result<fetched_document>(const std::string& url)> fetch_client_document = {};
    /// Returns false for a host whose documents are refused. Empty: every host is accepted. Called from many threads at once.
    std::function<bool(std::string_view host)> accepts_client_host = {};
    quota client_documents{30, std::chrono::minutes{10}};  ///< documents that are fetched for requests of one address
    std::size_t client_documents_max = 256;                ///< documents that are kept in memory
    std::size_t client_documents_at_once_max = 4;

    dynamic_registration registration = dynamic_registration::off;
    digest initial_access_token = {};                   ///< `digest_of` the token for `dynamic_registration::with_token`
    quota registrations{20, std::chrono::hours{1}};     ///< registrations of one address
    /// Applications that nobody owns: those that registered themselves, and those that are known by a URL and have users. Those without
    /// users are removed after a day.
    std::size_t unowned_applications_max = 10'000;
};

/// Settings that only the account pages use.
struct page_settings {
    /// Requests of one user, and of one address without a session. A person makes far fewer.
    quota requests{3000, std::chrono::minutes{10}};
    quota test_events{60, std::chrono::hours{1}};  ///< test events that one user sends to webhooks
    std::size_t tokens_per_user_max = limits::personal_tokens_per_user_max;
    std::size_t applications_per_user_max = limits::applications_per_user_max;
};

namespace detail {
// A function, because GCC 12 fails with an internal error in templates if the member's initializer is a braced list.
[[nodiscard]] inline std::vector<std::string> any_origin() { return {"*"}; }
}  // namespace detail

/// The settings of an `account_service`, and of `account_api`, `authorization_server` and `account_pages` where they are used alone. Only
/// `base_url` has no default; OAuth and pages alone do not need it.
struct account_service_settings {
    /// The root of the API, with the version at the end of its path: `https://api.example.com/v1`; see `http::url::root`.
    std::string base_url = {};
    /// The root of the pages, of OAuth and of the documentation: `https://example.com`. Empty: the origin of `base_url`.
    std::string auth_url = {};
    /// The products with their events, from which the scopes follow: `{{"shop", {"order.paid", "order.shipped"}}}`.
    service_catalog services = {};

    quota anonymous_quota = default_anonymous_quota;  ///< quota of a client address without credentials
    quota user_quota = default_user_quota;            ///< quota of a user, unless the directory returns another quota

    /// Proxies that name their clients. The field is ignored if another peer sends it.
    std::vector<ip_network> trusted_proxies = {};
    forwarding_field client_named_by = forwarding_field::x_forwarded_for;  ///< the field that those proxies set
    /// The hosts that requests may name. Others get 421. Default: any host.
    http::allowed_hosts allowed_hosts = {};

    /// The origins whose pages may call from a browser (CORS), such as `https://app.example`. `*` alone allows any origin; an empty list
    /// allows no other origin. Pages are never open to other origins.
    std::vector<std::string> cors_origins = detail::any_origin();

    std::size_t hooks_per_event_max = limits::hooks_per_event_max;  ///< webhooks of one account for one event

    /// The page that Error objects and OpenAPI link to. If the URL ends in a slash, the topic of the error is appended: `errors/`. If it is
    /// empty, an `account_service` links to the built-in documentation, `{auth_url}/docs/`; alone, an `account_api` links to
    /// `{base_url}/openapi.json`, an `authorization_server` to its metadata, and `account_pages` to nothing.
    std::string documentation_url = {};
    api_license license = {};  ///< the license of your API, for OpenAPI
    /// For an `account_api` alone: true if an `authorization_server` is mounted beside it, so that OpenAPI names its URLs.
    bool has_authorization_server = false;

    oauth_settings oauth = {};
    page_settings pages = {};
};

/// Returns the URL that Error objects of an API link to; see `account_service_settings::documentation_url`.
[[nodiscard]] inline std::string documentation_url_of(const account_service_settings& settings) {
    if (!settings.documentation_url.empty()) return settings.documentation_url;
    return settings.base_url + "/openapi.json";
}

/// Returns the settings with the `auth_url` in use, without a trailing slash. An empty `auth_url` becomes the origin of `base_url`, as
/// written.
[[nodiscard]] inline account_service_settings with_auth_url(account_service_settings settings) {
    if (settings.auth_url.empty()) {
        const auto authority = settings.base_url.find("://");
        const auto end = authority == std::string::npos ? authority : settings.base_url.find('/', authority + 3);
        settings.auth_url = settings.base_url.substr(0, end);
    }
    while (settings.auth_url.ends_with('/')) settings.auth_url.pop_back();
    return settings;
}

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_SETTINGS_HPP
