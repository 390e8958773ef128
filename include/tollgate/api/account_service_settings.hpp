#pragma once
#ifndef TOLLGATE_API_ACCOUNT_SERVICE_SETTINGS_HPP
#define TOLLGATE_API_ACCOUNT_SERVICE_SETTINGS_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/site.hpp>
#include <tollgate/model/api_settings.hpp>
#include <tollgate/model/oauth_settings.hpp>
#include <tollgate/model/page_settings.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <cstddef>
#include <string>
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

}  // namespace tollgate

#endif  // TOLLGATE_API_ACCOUNT_SERVICE_SETTINGS_HPP
