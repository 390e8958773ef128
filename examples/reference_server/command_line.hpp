#pragma once

#include "settings.hpp"

#include <tollgate/account/register_application.hpp>
#include <tollgate/base/decimal.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <optional>
#include <string>
#include <variant>

namespace reference {

// One struct a command: what the person asked for, checked as far as it can be without opening a store.

struct serve {};

struct add_user {
    std::string login;
    tollgate::currency_code currency;
    tollgate::decimal balance;
};

struct set_quota {
    tollgate::user_id user;
    std::uint32_t requests_per_day;
};

struct add_account {
    tollgate::user_id user;
    tollgate::service_name service;
    std::string name;
    bool admin;
};

struct create_token {
    tollgate::user_id user;
    std::string description;
    tollgate::scope_set scopes;
};

struct revoke_token {
    tollgate::token_id token;
};

struct register_app {
    tollgate::application_request application;
};

struct emit_event {
    tollgate::event happened;  ///< `at` is about when the command runs; the store knows better
};

using command =
    std::variant<serve, add_user, set_quota, add_account, create_token, revoke_token, register_app, emit_event>;

struct invocation {
    settings with;
    command what;
};

/// What the command line and the configuration file that it names ask for; none after `--help` or `--version`, whose
/// text went to stdout. Throws `usage_error` that names the flag.
[[nodiscard]] std::optional<invocation> read_command_line(int count, const char* const* texts,
                                                          const tollgate::service_catalog& services);

}  // namespace reference
