#pragma once

#include "settings.hpp"

#include <tollgate/api/account_service.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/policy/public_targets.hpp>
#include <tollgate/server/server_settings.hpp>
#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <cstdint>
#include <string>

namespace reference {

// The settings of each part, made from the flags.

/// Converts to the library's type.
[[nodiscard]] tollgate::listen_address to_server_address(const listen_address& endpoint);

/// Creates a self-signed certificate if none is given. Throws `run_error`.
[[nodiscard]] tollgate::server_settings to_server_settings(const settings& settings);

/// The addresses that clients use, without a slash at the end.
struct public_urls {
    std::string base_url;
    std::string auth_url;
};
/// If not given, they are made from the first listener's address and `port`.
[[nodiscard]] public_urls to_public_urls(const settings& settings, std::uint16_t port);

[[nodiscard]] tollgate::account_service_settings to_service_settings(const settings& settings, const public_urls& urls,
                                                                     const tollgate::service_catalog& services);
[[nodiscard]] tollgate::hook_dispatch_settings to_dispatch_settings(const settings& settings);
/// The same for creating a webhook and for connecting to it.
[[nodiscard]] tollgate::public_targets to_target_rule(const settings& settings);

}  // namespace reference
