#pragma once

#include "command_line.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace reference {

/// An administrative command: opens the store that servers may be using at the same moment, changes one thing, and
/// returns what is printed. Precondition: it is not `serve`, and the store is not `memory:`. Throws `run_error`.
[[nodiscard]] nlohmann::ordered_json administer(const command& wanted, const settings& with);

// The same in each place; on PostgreSQL only in a build with libpq.
[[nodiscard]] nlohmann::ordered_json administer_on_sqlite(const command& wanted, const settings& with);
[[nodiscard]] nlohmann::ordered_json administer_on_postgres(const command& wanted, const settings& with);

/// One line of stdin, without its end. Throws `usage_error`.
[[nodiscard]] std::string read_password();

}  // namespace reference
