#pragma once

#include "settings.hpp"

#include <tollgate/base/result.hpp>
#include <tollgate/base/secret_keys.hpp>
#include <tollgate/store/sqlite_database.hpp>

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace reference {

/// What `check` prints: one member for each part.
class check_report {
public:
    /// `look` returns the output for the part, or throws a `failure` that says what is wrong with it.
    void add(const std::string& part, const std::function<nlohmann::ordered_json()>& look);
    /// Throws `run_error` with everything that is wrong.
    [[nodiscard]] nlohmann::ordered_json finish() const;

private:
    nlohmann::ordered_json parts_{{"ok", true}};
    std::string faults_;
};

/// The files of --tls-cert and --tls-key: they match, and are valid today.
[[nodiscard]] nlohmann::ordered_json check_certificate(const settings& settings);
/// Whether `keys` has the keys of these encrypted secrets: without them, `serve` does not start.
void check_keys_of(const tollgate::secret_keys& keys, const std::vector<std::string>& secrets);
/// Whether Redis responds.
[[nodiscard]] nlohmann::ordered_json check_limits(const settings& settings);
/// Whether there are tables, of a version that this program can use, and none is missing.
[[nodiscard]] nlohmann::ordered_json check_schema(const tollgate::schema_status& found);

}  // namespace reference
