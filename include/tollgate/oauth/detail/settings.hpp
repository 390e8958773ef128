#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <string>
#include <vector>

namespace tollgate::inline v0 {

/// What an authorization server has to be told.
struct oauth_settings {
    /// Without a slash at its end; also the issuer (RFC 8414, RFC 9207): `https://example.com`.
    std::string auth_url = {};
    /// Whose scopes can be asked for.
    service_catalog services = {};
    /// Services whose users have an address of their own, `{auth_url}/en/{service}/oauth/`, where they sign in and
    /// agree on one page.
    std::vector<std::string> one_page_services = {};

    seconds code_lifetime{60};  ///< RFC 6749 asks for ten minutes at most; a redirect takes one
    seconds access_token_lifetime{3600};
    seconds refresh_token_lifetime{std::chrono::days{30}};  ///< from its last use on
    seconds refresh_token_end{std::chrono::days{365}};      ///< from its making on, however often it is used

    /// Failed client authentications from one address: the API's anonymous window, which they share.
    quota anonymous_quota{60, std::chrono::hours{1}};
    /// Peers whose X-Forwarded-For and Forwarded fields are believed; from all others they are ignored.
    std::vector<ip_network> trusted_proxies = {};
};

}  // namespace tollgate
