#pragma once

#include "demo.hpp"
#include "settings.hpp"
#include "signals.hpp"

#include <tollgate/api/account_api.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/server/server.hpp>

#include <optional>

namespace reference {

// What serving is made of whatever the store.

/// For requests and deliveries that are under way when the server is told to stop.
inline constexpr tollgate::seconds stop_patience{10};

/// The ready line. Where its URLs do not tell every listener's port, it lists the listeners as they are, too.
void print_ready(const tollgate::server& running, const settings& with, const tollgate::api_settings& serving,
                 const std::optional<demo>& shown);

/// Throws what a server that did not start is a case of.
void expect_started(const tollgate::result<void>& started, const settings& with);

/// Returns at the signal to stop; reads certificates again at each SIGHUP until then.
void wait_until_told(tollgate::server& running, const settings& with, const signals& told);

}  // namespace reference
