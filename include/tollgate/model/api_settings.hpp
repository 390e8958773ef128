#pragma once
#ifndef TOLLGATE_MODEL_API_SETTINGS_HPP
#define TOLLGATE_MODEL_API_SETTINGS_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tollgate::inline v0 {

/// The license of an API and its description, as OpenAPI states it.
struct api_license {
    std::string name = "MIT License";  ///< that of this library: the description contains its texts
    std::string url = "https://opensource.org/license/mit";
};

/// The settings of an `account_api`.
struct api_settings {
    /// The root of the API, with the version at the end of its path: `https://api.example.com/v1`; see `http::url::root`.
    std::string base_url = {};
    /// The root of the pages, OAuth and the documentation, without a trailing slash: `https://example.com`.
    std::string auth_url = {};
    /// The products with their events; the scopes follow from them.
    service_catalog services = {};

    quota anonymous_quota = default_anonymous_quota;  ///< of one client address without credentials
    quota user_quota = default_user_quota;            ///< of one user, unless the directory has another one

    /// Proxies that name their clients; the field is ignored if another peer sends it.
    std::vector<ip_network> trusted_proxies = {};
    forwarding_field client_named_by = forwarding_field::x_forwarded_for;  ///< the field that those proxies set

    /// The origins whose pages may call from a browser (CORS), such as `https://app.example`; `*` alone: any; empty: no
    /// other origin. Pages are never open to other origins.
    std::vector<std::string> cors_origins = {"*"};

    std::size_t hooks_per_event_max = limits::hooks_per_event_max;  ///< webhooks of one account for one event

    /// The page that Error objects and OpenAPI link to. If it ends in a slash, the topic of the error is appended:
    /// `errors/`. For `api_documentation`: `{auth_url}/docs/`. Empty: `{base_url}/openapi.json`.
    std::string documentation_url = {};
    /// Whether an `authorization_server` is mounted beside the API: only then OpenAPI names its URLs.
    bool has_authorization_server = false;
    api_license license = {};
};

/// What Error objects link to, see `api_settings::documentation_url`.
[[nodiscard]] inline std::string documentation_url_of(const api_settings& settings) {
    if (!settings.documentation_url.empty()) return settings.documentation_url;
    return settings.base_url + "/openapi.json";
}

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_API_SETTINGS_HPP
