#pragma once
#ifndef TOLLGATE_MODEL_OAUTH_SETTINGS_HPP
#define TOLLGATE_MODEL_OAUTH_SETTINGS_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <string>
#include <vector>

namespace tollgate::inline v0 {

/// Settings of an authorization server.
struct oauth_settings {
    /// Without a trailing slash; also the issuer (RFC 8414, RFC 9207): `https://example.com`.
    std::string auth_url = {};
    /// The services whose scopes applications can request.
    service_catalog services = {};
    /// Services with a page of their own for sign-in and consent, `{auth_url}/en/{service}/oauth/`.
    std::vector<std::string> one_page_services = {};
    /// What the name of the cookie of those pages begins with, as `session_settings::cookie_name`.
    std::string cookie_name = {};

    /// The page that errors and the metadata link to, as `api_settings::documentation_url` says. Empty: the metadata itself.
    std::string documentation_url = {};

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

    /// Failed client authentications per address; the same windows as the API's anonymous requests.
    quota anonymous_quota = default_anonymous_quota;
    /// Proxies that name their clients; of other peers the field is ignored.
    std::vector<ip_network> trusted_proxies = {};
    forwarding_field client_named_by = forwarding_field::x_forwarded_for;  ///< the field that those proxies set
    /// The origins whose pages may call the token endpoint and its like from a browser, as for the API.
    std::vector<std::string> cors_origins = {"*"};
};

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_OAUTH_SETTINGS_HPP
