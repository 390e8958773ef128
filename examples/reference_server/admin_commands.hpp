#pragma once

#include "command_line.hpp"

#include <nlohmann/json_fwd.hpp>

namespace reference {

/// An administrative command: opens the store, which servers may be using at the same time, makes one change, and
/// returns the output. Precondition: it is not `serve`, and the store is not `memory:`, except for `check`. Throws `run_error`.
[[nodiscard]] nlohmann::ordered_json administer(const command& chosen, const settings& settings);

}  // namespace reference
