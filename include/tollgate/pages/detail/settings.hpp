#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tollgate::inline v0 {

/// Settings of the account pages.
struct page_settings {
    std::string auth_url = {};  ///< without a trailing slash: `https://example.com`
    service_catalog services = {};  ///< their scopes, accounts and events

    /// Peers whose X-Forwarded-For and Forwarded fields are trusted.
    std::vector<ip_network> trusted_proxies = {};

    std::size_t tokens_per_user_max = limits::personal_tokens_per_user_max;
    std::size_t applications_per_user_max = limits::applications_per_user_max;
    std::size_t hooks_per_event_max = limits::hooks_per_event_max;
};

}  // namespace tollgate
