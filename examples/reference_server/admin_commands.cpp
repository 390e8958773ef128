#include "admin_commands.hpp"

#include "data_directory.hpp"
#include "expect.hpp"
#include "password_hash.hpp"
#include "services.hpp"
#include "sqlite_directory.hpp"

#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/policy/issue_personal_token.hpp>
#include <tollgate/policy/register_application.hpp>
#include <tollgate/policy/system_clock.hpp>
#include <tollgate/policy/system_random.hpp>
#include <tollgate/store/sqlite.hpp>
#include <tollgate/webhooks/publish.hpp>

#include <nlohmann/json.hpp>

#include <iostream>

namespace reference {

using nlohmann::ordered_json;
using namespace tollgate;

namespace {

static_assert(limits::password_bytes_max == 1024, "the complaint below says so");

/// The file, in a directory that is there.
std::string store_file(const settings& with) {
    if (!with.store) make_private_directory(with.data);
    return with.store_location().file.string();
}

sqlite_directory open_directory(const settings& with) {
    return expect(sqlite_directory::open(store_file(with)), "--store: cannot open the database");
}

sqlite_store open_store(const settings& with) {
    return expect(sqlite_store::open(store_file(with)), "--store: cannot open the database");
}

run_error no_such_user(user_id user) { return run_error{"there is no user " + std::to_string(user.value()) + "."}; }

void expect_user(user_id user, const settings& with) {
    auto known = open_directory(with).quota_of(user);
    if (!known && known.error().kind == problem_kind::not_found) throw no_such_user(user);
    expect(std::move(known), "cannot look for the user");
}

/// One line of stdin, without its end.
std::string read_password() {
    std::string line;
    std::getline(std::cin, line);
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) throw usage_error{"--password-stdin: stdin holds no password."};
    if (line.size() > limits::password_bytes_max)
        throw usage_error{"--password-stdin: the password is longer than 1024 bytes."};
    return line;
}

}  // namespace

ordered_json run(const add_user& wanted, const settings& with) {
    auto password = read_password();
    auto hash = hash_password(password);
    secure_wipe(password);
    auto made = open_directory(with).add_user({wanted.login, std::move(hash), wanted.currency, wanted.balance});
    if (!made && made.error().kind == problem_kind::conflict)
        throw run_error{"--login: there is a user '" + wanted.login + "' already."};
    return {{"id", expect(std::move(made), "cannot add the user").value()}};
}

ordered_json run(const set_quota& wanted, const settings& with) {
    auto done = open_directory(with).set_requests_per_day(wanted.user, wanted.requests_per_day);
    if (!done && done.error().kind == problem_kind::not_found) throw no_such_user(wanted.user);
    expect(std::move(done), "cannot set the quota");
    return {{"id", wanted.user.value()}, {"per_day", wanted.requests_per_day}};
}

ordered_json run(const add_account& wanted, const settings& with) {
    auto made = open_directory(with).add_account(wanted.user, wanted.service, wanted.name, wanted.admin);
    if (!made && made.error().kind == problem_kind::not_found) throw no_such_user(wanted.user);
    return {{"id", expect(std::move(made), "cannot add the account").value()}};
}

ordered_json run(const create_token& wanted, const settings& with) {
    expect_user(wanted.user, with);
    auto store = open_store(with);
    const auto token =
        expect(issue_personal_token(store, system_random{}, {wanted.user, wanted.description, wanted.scopes},
                                    system_clock{}.now()),
               "cannot make the token");
    return {{"id", token.id.value()},
            {"username", token.username.view()},
            {"secret", token.secret.view()},
            {"scopes", wanted.scopes.text()}};
}

ordered_json run(const revoke_token& wanted, const settings& with) {
    if (!expect(open_store(with).revoke_personal_token(wanted.token), "cannot revoke the token"))
        throw run_error{"there is no token " + std::to_string(wanted.token.value()) + "."};
    return {{"id", wanted.token.value()}};
}

ordered_json run(const register_app& wanted, const settings& with) {
    expect_user(wanted.application.owner, with);
    auto store = open_store(with);
    const auto made = expect(register_application(store, system_random{}, wanted.application, system_clock{}.now()),
                             "cannot register the application");
    return {{"client_id", made.client_id.view()}, {"client_secret", made.client_secret.view()}};
}

ordered_json run(const emit_event& wanted, const settings& with) {
    auto store = open_store(with);
    // A server that is running on the file sees by itself that there is something to send; one that is not, when it
    // starts.
    return {{"deliveries", expect(publish(store, reference_services(), wanted.happened, wanted.happened.at),
                                  "cannot report the event")}};
}

}  // namespace reference
