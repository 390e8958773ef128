#pragma once

#include "failure.hpp"
#include "password_hash.hpp"

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/base/system_sources.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// One for each store that was used with the data directory; beyond this bound, the demo is created again.
inline constexpr std::size_t kept_demos_max = 16;

/// The demos that earlier starts recorded, one for each store that was used with this data directory, the most recent one
/// first. Their secrets are in a separate file in `data`, readable by the owner only, because a database has only their
/// hashes and every start prints the same secrets. None if there is no such file. Throws `run_error` if it is damaged.
[[nodiscard]] std::vector<demo> read_demos(const std::filesystem::path& data);
/// Keeps the first `kept_demos_max`. Precondition: there is one.
void write_demos(const std::filesystem::path& data, const std::vector<demo>& demos);

/// A password that is easy to type: 16 of 32 characters that are not easily confused.
[[nodiscard]] std::string make_demo_password();

inline constexpr std::string_view demo_login = "demo";

/// `demo-` and five random characters.
[[nodiscard]] std::string make_demo_login();

struct demo_user {
    std::string login;
    tollgate::user_id id;
};

/// The user with the login `previous_login`, with a new password; a new user if there is none. Its login is `demo`, unless such
/// a user already exists: that one may be a real user and is not changed.
template <class Directory>
demo_user renew_demo_user(Directory& directory, const std::optional<std::string>& previous_login, const std::string& hash) {
    if (previous_login)
        if (const auto known = expect(directory.find_login(*previous_login), "cannot look up the demo user")) {
            expect(directory.set_password_hash(known->user, hash), "cannot change the demo user's password");
            return {*previous_login, known->user};
        }
    const auto add = [&](const std::string& login) {
        return directory.add_user({.login = login,
                                   .password_hash = hash,
                                   .currency = "EUR",
                                   .balance = "1234.56"});
    };
    std::string login{demo_login};
    auto added = add(login);
    if (!added && added.error().kind == tollgate::error_kind::conflict) added = add(login = make_demo_login());
    return {login, expect(std::move(added), "cannot add the demo user")};
}

/// A user (see `renew_demo_user`), an account at each service, and a token with all scopes: existing ones are kept,
/// except the password and the token, which are no longer known.
template <class Directory, class Store>
demo renew_demo(Directory& directory, Store& store, const tollgate::service_catalog& services,
                const std::optional<std::string>& previous_login, tollgate::instant now) {
    const auto password = make_demo_password();
    const demo_user known = renew_demo_user(directory, previous_login, hash_password(password));
    const auto user = known.id;
    const auto account_at = [&](std::string_view service, std::string_view name) {
        const auto accounts = expect(directory.accounts_of(user, service), "cannot look up the demo accounts");
        if (!accounts.empty()) return accounts.front().id;
        return expect(directory.add_account(user, *tollgate::service_name::from(service), name, true),
                      "cannot add a demo account");
    };
    const auto site = account_at("sitesmaker", "Demo site");
    const auto shop = account_at("itemplatform", "Demo shop");
    tollgate::scope_set scopes;
    for (const std::string& each : services.scopes()) scopes.add(each);
    const auto token = expect(tollgate::issue_personal_token(store, {user, "Demo", scopes}, now),
                              "cannot create the demo token");
    return {known.login, password, std::string{token.username.view()}, std::string{token.secret.view()}, site, shop};
}

/// Whether the demo's user belongs to this directory, by its password: a user with that login may also be a real user, or the
/// demo of another data directory.
template <class Directory>
bool is_user_of(const demo& recorded, Directory& directory) {
    const auto known = expect(directory.find_login(recorded.login), "cannot look up the demo user");
    return known && check_password(recorded.password, known->password_hash) == password_check::right;
}

/// Whether the demo's token is still valid in the store.
template <class Store>
bool is_alive(const demo& recorded, Store& store) {
    const auto credential = expect(store.find_personal_token(recorded.token_username), "cannot read the demo's token");
    return credential && credential->secret_digest == tollgate::digest_of(recorded.token_secret);
}

}  // namespace reference
