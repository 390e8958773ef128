#pragma once
#ifndef TOLLGATE_MODEL_PAGE_SETTINGS_HPP
#define TOLLGATE_MODEL_PAGE_SETTINGS_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace tollgate::inline v0 {

/// Settings of the account pages.
struct page_settings {
    std::string auth_url = {};      ///< without a trailing slash: `https://example.com`
    service_catalog services = {};  ///< their scopes, accounts and events
    std::string documentation_url = {};  ///< of the API, which each page links to; empty: none

    /// Proxies that name their clients; the field is ignored if another peer sends it.
    std::vector<ip_network> trusted_proxies = {};
    forwarding_field client_named_by = forwarding_field::x_forwarded_for;  ///< the field that those proxies set

    /// Requests of one user, and of one address without a session: far more than a person makes.
    quota requests{3000, std::chrono::minutes{10}};
    quota test_events{60, std::chrono::hours{1}};  ///< that one user sends to webhooks
    std::size_t tokens_per_user_max = limits::personal_tokens_per_user_max;
    std::size_t applications_per_user_max = limits::applications_per_user_max;
    std::size_t hooks_per_event_max = limits::hooks_per_event_max;  ///< webhooks of one account for one event
};

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_PAGE_SETTINGS_HPP
