#pragma once

#include "settings.hpp"
#include "signals.hpp"

#include <tollgate/model/service_catalog.hpp>

namespace reference {

// Serving, with users and store in one place or another: each is a file of its own, because each compiles every handler
// for its store. All return when they were told to stop, and throw `run_error`.

void serve_on_memory(const settings& with, const tollgate::service_catalog& services, const signals& told);
void serve_on_sqlite(const settings& with, const tollgate::service_catalog& services, const signals& told);
/// Only in a build with libpq.
void serve_on_postgres(const settings& with, const tollgate::service_catalog& services, const signals& told);

}  // namespace reference
