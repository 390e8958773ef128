#pragma once

#include "command_line.hpp"

#include <nlohmann/json_fwd.hpp>

namespace reference {

// The administrative commands: each opens the store that a server may be using at the same moment, changes one thing,
// and returns what is printed. All throw `run_error`.

[[nodiscard]] nlohmann::ordered_json run(const add_user& wanted, const settings& with);
[[nodiscard]] nlohmann::ordered_json run(const set_quota& wanted, const settings& with);
[[nodiscard]] nlohmann::ordered_json run(const add_account& wanted, const settings& with);
[[nodiscard]] nlohmann::ordered_json run(const create_token& wanted, const settings& with);
[[nodiscard]] nlohmann::ordered_json run(const revoke_token& wanted, const settings& with);
[[nodiscard]] nlohmann::ordered_json run(const register_app& wanted, const settings& with);
[[nodiscard]] nlohmann::ordered_json run(const emit_event& wanted, const settings& with);

}  // namespace reference
