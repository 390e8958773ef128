#pragma once

#include "settings.hpp"

#include <tollgate/account/register_application.hpp>
#include <tollgate/base/decimal.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>

namespace reference {

// One struct per command: its arguments, checked as far as possible without opening a store.

struct serve {};

struct add_user {
    std::string login;
    tollgate::currency_code currency;
    tollgate::decimal balance;
};

/// `"users"` from the id on, at most so many.
struct list_users {
    tollgate::user_id first;
    std::size_t rows_max;
};

struct change_user {
    enum class change { disable, enable, remove, sign_out } kind;
    tollgate::user_id user;
};

struct set_password {
    tollgate::user_id user;
};

struct set_quota {
    tollgate::user_id user;
    std::optional<std::uint32_t> requests_per_day;  // none: the default
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

/// Of an older system: JSON lines in a file, or `-` for stdin.
struct import_tokens {
    std::filesystem::path file;
};

struct list_tokens {
    tollgate::user_id user;
};

struct revoke_token {
    tollgate::token_id token;
};

struct register_app {
    tollgate::application_request application;
};

struct list_apps {
    std::optional<tollgate::user_id> owner;  ///< none: of all users
};

struct delete_app {
    tollgate::client_id_text client_id;
};

struct change_app {
    enum class change { new_secret, suspend, resume };
    change kind;
    tollgate::client_id_text client_id;
};

/// By user, at most so many.
struct list_grants {
    tollgate::client_id_text client_id;
    tollgate::user_id first;
    std::size_t rows_max;
};

struct revoke_grant {
    tollgate::client_id_text client_id;
    tollgate::user_id user;
};

struct list_hooks {
    tollgate::account_ref account;
};

struct import_hooks {
    std::filesystem::path file;
};

struct enable_hook {
    tollgate::hook_id hook;
};

/// The newest first, at most so many.
struct list_deliveries {
    tollgate::hook_id hook;
    std::size_t rows_max;
};

struct resend_delivery {
    tollgate::delivery_id delivery;
};

struct emit_event {
    tollgate::event event;  ///< `at` is approximate; the time of the store replaces it
};

/// The newest first, at most so many.
struct list_audit {
    std::optional<tollgate::user_id> user;  ///< none: of all users
    std::size_t rows_max;
};

struct export_store {
    std::filesystem::path file;
};

struct import_store {
    std::filesystem::path file;
};

struct check {};

struct migrate {
    bool dry_run;
};

using command = std::variant<serve, add_user, list_users, change_user, set_password, set_quota, add_account, create_token,
                             import_tokens, list_tokens, revoke_token, register_app, list_apps, delete_app, change_app, list_grants,
                             revoke_grant, list_hooks, import_hooks, enable_hook, list_deliveries, resend_delivery, emit_event, list_audit,
                             export_store, import_store,
                             check, migrate>;

struct invocation {
    reference::settings settings;
    reference::command command;
};

/// The command of the command line and its configuration file; none after `--help` or `--version`, whose
/// text went to stdout. Throws a `usage_error` that names the flag.
[[nodiscard]] std::optional<invocation> read_command_line(int count, const char* const* texts,
                                                          const tollgate::service_catalog& services);

}  // namespace reference
