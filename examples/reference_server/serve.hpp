#pragma once

#include "settings.hpp"

#include <tollgate/model/service_catalog.hpp>

namespace reference {

/// Serves until SIGTERM or SIGINT, and then until what is in flight is answered. Prints the ready line once connections
/// are accepted; reads certificates again on SIGHUP. Throws `run_error`.
void run_server(const settings& with, const tollgate::service_catalog& services);

}  // namespace reference
