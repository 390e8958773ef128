#pragma once

#include "settings.hpp"

#include <tollgate/http/site.hpp>
#include <tollgate/api/account_api.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/oauth/authorization_server.hpp>
#include <tollgate/pages/account_pages.hpp>
#include <tollgate/policy/public_targets.hpp>
#include <tollgate/server/server_settings.hpp>
#include <tollgate/web/cookie_sessions.hpp>
#include <tollgate/webhooks/dispatcher_settings.hpp>

#include <cstdint>

namespace reference {

// What flags mean to each part. `port` is the first listener's: where no public address is given, it is made of that.

/// Makes a self-signed certificate where none is given. Throws `run_error`.
[[nodiscard]] tollgate::server_settings to_server_settings(const settings& with);

[[nodiscard]] tollgate::api_settings to_api_settings(const settings& with, const tollgate::service_catalog& services,
                                                     std::uint16_t port);
[[nodiscard]] tollgate::oauth_settings to_oauth_settings(const settings& with, const tollgate::api_settings& api);
[[nodiscard]] tollgate::page_settings to_page_settings(const tollgate::api_settings& api);
[[nodiscard]] tollgate::hook_dispatch_settings to_dispatch_settings(const settings& with);
/// The same where a webhook is made and where it is connected to.
[[nodiscard]] tollgate::public_targets to_target_rule(const settings& with);
[[nodiscard]] tollgate::session_settings to_session_settings(const tollgate::api_settings& api);

/// Any host unless `--base-url` is given.
[[nodiscard]] tollgate::http::allowed_hosts to_allowed_hosts(const settings& with, const tollgate::api_settings& api);

}  // namespace reference
