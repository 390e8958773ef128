#pragma once

#include "command_line.hpp"
#include "user_records.hpp"

#include <tollgate/contract/observer.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/model/personal_token.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace reference {

/// An administrative command: opens the store, which servers may be using at the same time, makes one change, and
/// returns the output. Precondition: it is not `serve`, and the store is not `memory:`, except for `check`. Throws `run_error`.
[[nodiscard]] nlohmann::ordered_json administer(const command& chosen, const settings& settings);

// The same in each place; on PostgreSQL only in a build with libpq.
[[nodiscard]] nlohmann::ordered_json administer_on_sqlite(const command& chosen, const settings& settings);
[[nodiscard]] nlohmann::ordered_json administer_on_postgres(const command& chosen, const settings& settings);

// The printed form of a row: never a secret, a digest or a hash.
[[nodiscard]] nlohmann::ordered_json to_json(const user_record& row);
[[nodiscard]] nlohmann::ordered_json to_json(const tollgate::personal_token& row);
[[nodiscard]] nlohmann::ordered_json to_json(const tollgate::application& row);
[[nodiscard]] nlohmann::ordered_json to_json(const application_grant& row);
[[nodiscard]] nlohmann::ordered_json to_json(const tollgate::hook& row);
[[nodiscard]] nlohmann::ordered_json to_json(const tollgate::delivery& row);
[[nodiscard]] nlohmann::ordered_json to_json(const tollgate::attempt& row);
[[nodiscard]] nlohmann::ordered_json to_json(const tollgate::activity& row);

/// One line of stdin, without its end. Throws `usage_error`.
[[nodiscard]] std::string read_password(std::string_view login);

}  // namespace reference
