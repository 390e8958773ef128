#pragma once

#include "settings.hpp"

#include <tollgate/model/service_catalog.hpp>

namespace reference {

/// Serves until SIGTERM or SIGINT, and then until requests in flight are finished. Prints the ready line once connections
/// are accepted; reads certificates again on SIGHUP. Throws `run_error`, or `usage_error` for a setting that cannot be used.
void run_server(const settings& settings, const tollgate::service_catalog& services);

}  // namespace reference
