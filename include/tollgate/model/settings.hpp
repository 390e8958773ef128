#pragma once
#ifndef TOLLGATE_MODEL_SETTINGS_HPP
#define TOLLGATE_MODEL_SETTINGS_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// The license of an API and its description, as OpenAPI states it.
struct api_license {
    std::string name = "MIT License";  ///< that of this library: the description contains its texts
    std::string url = "https://opensource.org/license/mit";
};

/// Settings of OAuth alone.
struct oauth_settings {
    /// Services with a page of their own for sign-in and consent, `{auth_url}/en/{service}/oauth/`.
    std::vector<std::string> one_page_services = {};
    /// What the name of the cookie of those pages begins with, as `session_settings::cookie_name`.
    std::string cookie_name = {};

    // Each time is at most 36,500 days, and above zero except for `rotation_grace` and `device_poll_interval`.
    /// RFC 6749 recommends at most ten minutes; a redirect takes seconds. At most `limits::code_hours_max`.
    seconds code_lifetime{60};
    seconds access_token_lifetime{3600};
    seconds refresh_token_lifetime{std::chrono::days{30}};  ///< since its last use
    seconds refresh_token_end{std::chrono::days{365}};      ///< since it was issued, however often it is used
    /// During this time, a refresh token that was replaced by its use returns its successor again: a response may be lost.
    seconds rotation_grace{30};
    /// Whether the refresh tokens of confidential clients are replaced, too. Those of public clients always are.
    bool rotates_all_refresh_tokens = false;

    /// RFC 8628: time to type the code into a browser. At most `limits::code_hours_max`.
    seconds device_code_lifetime{600};
    seconds device_poll_interval{5};    ///< between the polls of a device; below 2, polls count as for 2
    /// Requests for device codes of one address, an IPv6 /56 and an IPv6 /48, whose owners can use all addresses: few of the
    /// codes that may wait for one application (`limits::device_codes_per_application_max`).
    quota device_requests{60, std::chrono::minutes{10}};
    quota device_requests_of_site{120, std::chrono::minutes{10}};
    quota device_requests_of_network{300, std::chrono::minutes{10}};
    /// Wrong user codes that one user types. A guess is right with a probability of at most 1 in 2.5 million while as many codes
    /// wait as one application may have.
    quota user_code_attempts{10, std::chrono::hours{1}};

    /// Requests of one address to the authorization pages: far more than people make.
    quota page_requests{3000, std::chrono::minutes{10}};
    /// Refreshes of one user's grant to one application, with all of its refresh tokens together, or tokens of an application for its
    /// owner: as many access tokens may be valid (`limits::access_tokens_per_grant_max`).
    quota refreshes{1000, std::chrono::hours{1}};
    /// The same of one application, for all of its users: enough for a million users who refresh every hour.
    quota refreshes_of_client{60'000, std::chrono::minutes{3}};
};

/// Settings of the account pages alone.
struct page_settings {
    /// Requests of one user, and of one address without a session: far more than a person makes.
    quota requests{3000, std::chrono::minutes{10}};
    quota test_events{60, std::chrono::hours{1}};  ///< that one user sends to webhooks
    std::size_t tokens_per_user_max = limits::personal_tokens_per_user_max;
    std::size_t applications_per_user_max = limits::applications_per_user_max;
};

namespace detail {
// Not a braced list as the initializer of a member, for which GCC 12 fails in templates with an internal error.
[[nodiscard]] inline std::vector<std::string> any_origin() { return {"*"}; }
}  // namespace detail

/// The settings of an `account_service`, and of `account_api`, `authorization_server` and `account_pages` where they are used alone. Only
/// `base_url` has no default; OAuth and pages alone do not need it.
struct account_service_settings {
    /// The root of the API, with the version at the end of its path: `https://api.example.com/v1`; see `http::url::root`.
    std::string base_url = {};
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
    std::vector<std::string> cors_origins = detail::any_origin();

    std::size_t hooks_per_event_max = limits::hooks_per_event_max;  ///< webhooks of one account for one event

    /// The page that Error objects and OpenAPI link to. If it ends in a slash, the topic of the error is appended:
    /// `errors/`. Empty: the built-in documentation, `{auth_url}/docs/`, of an `account_service`; otherwise `{base_url}/openapi.json` of an
    /// `account_api`, the metadata of an `authorization_server`, and none of `account_pages`.
    std::string documentation_url = {};
    api_license license = {};  ///< of your API, for OpenAPI
    /// For an `account_api` alone: whether an `authorization_server` is mounted beside it, so that OpenAPI names its URLs.
    bool has_authorization_server = false;

    oauth_settings oauth = {};
    page_settings pages = {};
};

/// What Error objects of an API link to; see `account_service_settings::documentation_url`.
[[nodiscard]] inline std::string documentation_url_of(const account_service_settings& settings) {
    if (!settings.documentation_url.empty()) return settings.documentation_url;
    return settings.base_url + "/openapi.json";
}

/// The settings with the `auth_url` in use, without a trailing slash: an empty one becomes the origin of `base_url`, as written.
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
