#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tollgate::inline v0 {

/// What account pages have to be told.
struct page_settings {
    std::string auth_url = {};      ///< without a slash at its end: `https://example.com`
    service_catalog services = {};  ///< whose scopes, accounts and events there are

    /// Peers whose X-Forwarded-For and Forwarded fields are believed; from all others they are ignored.
    std::vector<ip_network> trusted_proxies = {};

    std::size_t tokens_per_user_max = limits::personal_tokens_per_user_max;
    std::size_t applications_per_user_max = limits::applications_per_user_max;
    std::size_t hooks_per_event_max = limits::hooks_per_event_max;
};

}  // namespace tollgate
