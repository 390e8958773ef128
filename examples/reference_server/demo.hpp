#pragma once

#include "settings.hpp"
#include "storage.hpp"

#include <tollgate/base/ids.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace reference {

/// What the ready line says about the demo user.
struct demo {
    std::string login;
    std::string password;
    std::string token_username;
    std::string token_secret;
    tollgate::account_id sitesmaker_account;
    tollgate::account_id itemplatform_account;
};

[[nodiscard]] nlohmann::ordered_json to_json(const demo& shown);

/// The demo that an earlier start in this data directory recorded for this store, if it is still valid; otherwise a new one, of the same
/// user if they still exist. In memory it is always new. Throws `run_error`.
[[nodiscard]] demo seed_demo(const storage& data, const settings& settings, const tollgate::service_catalog& services);

}  // namespace reference
