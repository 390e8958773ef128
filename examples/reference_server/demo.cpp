#include "demo.hpp"

#include "data_directory.hpp"
#include "output.hpp"
#include "passwords.hpp"

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/base/system_sources.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace reference {

namespace {

using nlohmann::ordered_json;

/// Characters that are not easily confused.
template <std::size_t Count>
std::string random_characters() {
    constexpr std::string_view characters = "abcdefghijkmnpqrstuvwxyz23456789";
    static_assert(characters.size() == 32);
    std::array<std::byte, Count> bytes;
    if (!tollgate::system_random{}.fill(bytes)) throw run_error{"the system returned no random bytes."};
    std::string text;
    for (const std::byte each : bytes) text += characters[std::to_integer<std::size_t>(each) % characters.size()];
    return text;
}

/// One for each store that was used with the data directory; beyond this bound, the demo is created again.
constexpr std::size_t kept_demos_max = 16;

/// The file has the demo as the ready line shows it, for people to read; those of other stores are below this name.
constexpr const char* elsewhere = "elsewhere";

/// Throws if a member is missing or has another type, or an id is not positive.
demo to_demo(const ordered_json& written) {
    return {written.at("login"),
            written.at("password"),
            written.at("token_username"),
            written.at("token_secret"),
            tollgate::account_id::from(written.at("sitesmaker_account").get<std::int64_t>()).value(),
            tollgate::account_id::from(written.at("itemplatform_account").get<std::int64_t>()).value()};
}

std::filesystem::path file_in(const std::filesystem::path& data) { return data / "demo.json"; }

/// The demos that earlier starts recorded, one for each store that was used with this data directory, the most recent one
/// first. Their secrets are in a separate file in `data`, readable by the owner only, because a database has only their
/// hashes and every start prints the same secrets. None if there is no such file. Throws `run_error` if it is damaged.
std::vector<demo> read_demos(const std::filesystem::path& data) {
    const auto text = read_small_file(file_in(data));
    if (!text) return {};
    try {
        const auto file = ordered_json::parse(*text);
        std::vector<demo> demos{to_demo(file)};
        if (const auto others = file.find(elsewhere); others != file.end())
            for (const auto& each : *others)
                if (demos.size() < kept_demos_max) demos.push_back(to_demo(each));
        return demos;
    } catch (const std::exception&) {
        // The parser's own message could quote a secret of the file.
        throw run_error{"'" + file_in(data).string() + "' is damaged. Repair it, or delete it to get a new demo user."};
    }
}

/// Keeps the first `kept_demos_max`. Precondition: there is one.
void write_demos(const std::filesystem::path& data, const std::vector<demo>& demos) {
    auto file = to_json(demos.front());
    for (std::size_t at = 1; at < (std::min)(demos.size(), kept_demos_max); ++at)
        file[elsewhere].push_back(to_json(demos[at]));
    write_private_file(file_in(data), file.dump(2) + "\n");
}

constexpr std::string_view demo_login = "demo";

/// `demo-` and five random characters.
std::string make_demo_login() { return std::string{demo_login} + "-" + random_characters<5>(); }

struct demo_user {
    std::string login;
    tollgate::user_id id;
};

/// The user with the login `previous_login`, with a new password; a new user if there is none. Its login is `demo`, unless such
/// a user already exists: that one may be a real user and is not changed.
demo_user renew_demo_user(directory& users, const std::optional<std::string>& previous_login, const std::string& hash) {
    if (previous_login)
        if (const auto known = expect(users.find_login(*previous_login), "cannot look up the demo user")) {
            expect(users.set_password_hash(known->user, hash), "cannot change the demo user's password");
            return {*previous_login, known->user};
        }
    const auto add = [&](const std::string& login) {
        return users.add_user({.login = login,
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
demo renew_demo(const storage& data, const tollgate::service_catalog& services, const std::optional<std::string>& previous_login) {
    directory& users = *data.users;
    const auto password = random_characters<16>();
    const demo_user known = renew_demo_user(users, previous_login, hash_password(password));
    const auto user = known.id;
    const auto account_at = [&](std::string_view service, std::string_view name) {
        const auto accounts = expect(users.accounts_of(user, service), "cannot look up the demo accounts");
        if (!accounts.empty()) return accounts.front().id;
        return expect(users.add_account(user, *tollgate::service_name::from(service), name, true),
                      "cannot add a demo account");
    };
    const auto site = account_at("sitesmaker", "Demo site");
    const auto shop = account_at("itemplatform", "Demo shop");
    tollgate::scope_set scopes;
    for (const std::string& each : services.scopes()) scopes.add(each);
    const auto token = expect(tollgate::issue_personal_token(data.store, {user, "Demo", scopes}, data.store.now()),
                              "cannot create the demo token");
    return {known.login, password, std::string{token.username.view()}, std::string{token.secret.view()}, site, shop};
}

/// Whether the demo's user belongs to this directory, by its password: a user with that login may also be a real user, or the
/// demo of another data directory.
bool is_user_of(const demo& recorded, directory& users) {
    const auto known = expect(users.find_login(recorded.login), "cannot look up the demo user");
    return known && check_password(recorded.password, known->password_hash) == password_check::right;
}

/// Whether the demo's token is still valid in the store.
bool is_alive(const demo& recorded, const tollgate::any_store& store) {
    const auto credential = expect(store.find_credential(tollgate::personal_token_key{recorded.token_username}),
                                   "cannot read the demo's token");
    return credential && credential->secret_digest == tollgate::digest_of(recorded.token_secret);
}

}  // namespace

ordered_json to_json(const demo& shown) {
    return {{"login", shown.login},
            {"password", shown.password},
            {"token_username", shown.token_username},
            {"token_secret", shown.token_secret},
            {"sitesmaker_account", shown.sitesmaker_account.value()},
            {"itemplatform_account", shown.itemplatform_account.value()}};
}

demo seed_demo(const storage& data, const settings& settings, const tollgate::service_catalog& services) {
    if (settings.store_location().kind == location::kind::memory) return renew_demo(data, services, std::nullopt);
    const directory_lock alone{settings.data};
    auto written = read_demos(settings.data);
    const auto alive = std::find_if(written.begin(), written.end(), [&](const demo& each) {
        return expect(data.users->find_login(each.login), "cannot look up the demo user") && is_alive(each, data.store);
    });
    if (!written.empty() && alive == written.begin()) return *alive;
    if (alive != written.end()) {
        std::rotate(written.begin(), alive, alive + 1);
    } else {
        const auto same_user = std::find_if(written.begin(), written.end(),
                                            [&](const demo& each) { return is_user_of(each, *data.users); });
        std::optional<std::string> login;
        if (same_user != written.end()) {
            login = same_user->login;
            written.erase(same_user);
        }
        written.insert(written.begin(), renew_demo(data, services, login));
    }
    write_demos(settings.data, written);
    return written.front();
}

}  // namespace reference
