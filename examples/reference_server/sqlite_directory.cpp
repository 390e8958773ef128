#include "sqlite_directory.hpp"

#include <tollgate/store/detail/sqlite/columns.hpp>
#include <tollgate/store/detail/sqlite/migrations.hpp>

namespace reference {

using namespace tollgate;

namespace {

constexpr std::string_view component = "reference_directory";
constexpr std::size_t users_cached_max = 16'384;  // about 3 MB

constexpr sqlite::sql migrations[] = {
    R"sql(
    CREATE TABLE directory_users (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        login TEXT NOT NULL UNIQUE COLLATE NOCASE,
        password_hash TEXT NOT NULL,
        currency TEXT NOT NULL,
        balance TEXT NOT NULL,
        requests_per_day INTEGER
    ) STRICT;

    CREATE TABLE directory_accounts (
        service TEXT NOT NULL,
        id INTEGER NOT NULL,
        user_id INTEGER NOT NULL REFERENCES directory_users (id),
        name TEXT NOT NULL,
        admin INTEGER NOT NULL,
        PRIMARY KEY (service, id)
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX directory_accounts_by_user ON directory_accounts (user_id, service, id);
    )sql",
    // Ids are counted over all services, and the next one is asked for with each new account.
    "CREATE INDEX directory_accounts_by_id ON directory_accounts (id)",
};

/// The first row, which must be there.
template <class... Columns>
result<std::tuple<Columns...>> require_row(sqlite::statement query) {
    auto row = query.next<Columns...>();
    if (!row) return std::move(row).error();
    if (!*row) return not_found();
    return **std::move(row);
}

}  // namespace

sqlite_directory::sqlite_directory(sqlite::pool connections)
    : connections_{std::move(connections)},
      users_{std::make_unique<sqlite::row_cache<user_id, user_row>>(connections_.changes(), users_cached_max)} {}

result<sqlite_directory> sqlite_directory::open(const std::filesystem::path& file) {
    auto connections = sqlite::pool::open(file.string());
    if (!connections) return std::move(connections).error();
    {
        auto writer = connections->writer();
        if (!writer) return std::move(writer).error();
        if (auto done = sqlite::migrate(**writer, component, migrations); !done) return std::move(done).error();
    }
    return sqlite_directory{*std::move(connections)};
}

result<sqlite_directory::user_row> sqlite_directory::find_user(user_id user) {
    auto found = users_->find(user, [&]() -> result<std::optional<user_row>> {
        auto on = connections_.reader();
        if (!on) return std::move(on).error();
        auto row = (*on)
                       ->prepare("SELECT balance, currency, requests_per_day FROM directory_users WHERE id = ?", user)
                       .next<decimal, currency_code, std::optional<std::int64_t>>();
        if (!row) return std::move(row).error();
        if (!*row) return std::optional<user_row>{};
        const auto& [amount, currency, requests] = **row;
        return std::optional{user_row{amount, currency, requests}};
    });
    if (!found) return std::move(found).error();
    if (!*found) return not_found();
    return **found;
}

lookup<balance> sqlite_directory::cached_balance_of(user_id user) const noexcept {
    const auto found = users_->cached(user);
    if (found.is_hit()) return lookup<balance>::hit({user, found->balance, found->currency});
    return found.is_miss() ? lookup<balance>::miss() : lookup<balance>::unknown();
}

lookup<std::optional<quota>> sqlite_directory::cached_quota_of(user_id user) const noexcept {
    const auto found = users_->cached(user);
    if (found.is_hit()) return lookup<std::optional<quota>>::hit(found->own_quota());
    return found.is_miss() ? lookup<std::optional<quota>>::miss() : lookup<std::optional<quota>>::unknown();
}

result<balance> sqlite_directory::balance_of(user_id user) {
    auto found = find_user(user);
    if (!found) return std::move(found).error();
    return balance{user, found->balance, found->currency};
}

result<std::optional<quota>> sqlite_directory::quota_of(user_id user) {
    auto found = find_user(user);
    if (!found) return std::move(found).error();
    return found->own_quota();
}

result<std::vector<account>> sqlite_directory::accounts_of(user_id user, std::string_view service) {
    auto on = connections_.reader();
    if (!on) return std::move(on).error();
    auto rows = (*on)->prepare(
        "SELECT id, name, admin FROM directory_accounts WHERE user_id = ? AND service = ? ORDER BY id", user, service);
    std::vector<account> accounts;
    while (true) {
        auto row = rows.next<account_id, std::string, bool>();
        if (!row) return std::move(row).error();
        if (!*row) return accounts;
        auto& [id, name, admin] = **row;
        accounts.push_back({id, std::move(name), admin});
    }
}

result<bool> sqlite_directory::has_account(user_id user, const account_ref& wanted) {
    auto on = connections_.reader();
    if (!on) return std::move(on).error();
    auto row = (*on)
                   ->prepare("SELECT 1 FROM directory_accounts WHERE service = ? AND id = ? AND user_id = ?",
                             wanted.service, wanted.account, user)
                   .next<bool>();
    if (!row) return std::move(row).error();
    return row->has_value();
}

result<bool> sqlite_directory::is_account(const account_ref& wanted) {
    auto on = connections_.reader();
    if (!on) return std::move(on).error();
    auto row = (*on)
                   ->prepare("SELECT 1 FROM directory_accounts WHERE service = ? AND id = ?", wanted.service,
                             wanted.account)
                   .next<bool>();
    if (!row) return std::move(row).error();
    return row->has_value();
}

result<user_id> sqlite_directory::add_user(const new_user& made) {
    auto on = connections_.writer();
    if (!on) return std::move(on).error();
    auto done = (*on)->run("INSERT INTO directory_users (login, password_hash, currency, balance) VALUES (?, ?, ?, ?)",
                           made.login, made.password_hash, made.currency, made.balance);
    if (!done) return std::move(done).error();
    return user_id{(*on)->last_insert_id()};
}

result<std::optional<known_login>> sqlite_directory::find_login(std::string_view login) {
    auto on = connections_.reader();
    if (!on) return std::move(on).error();
    auto row = (*on)
                   ->prepare("SELECT id, password_hash FROM directory_users WHERE login = ?", login)
                   .next<user_id, std::string>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<known_login>{};
    auto& [user, hash] = **row;
    return std::optional{known_login{user, std::move(hash)}};
}

template <class... Values>
result<void> sqlite_directory::change_one(sqlite::sql text, const Values&... values) {
    auto on = connections_.writer();
    if (!on) return std::move(on).error();
    if (auto done = (*on)->run(text, values...); !done) return done;
    if ((*on)->changes() == 0) return not_found();
    return {};
}

result<void> sqlite_directory::set_password_hash(user_id user, std::string_view hash) {
    return change_one("UPDATE directory_users SET password_hash = ? WHERE id = ?", hash, user);
}

result<void> sqlite_directory::replace_password_hash(user_id user, const renewed_hash& renewed) {
    return change_one("UPDATE directory_users SET password_hash = ? WHERE id = ? AND password_hash = ?", renewed.after,
                      user, renewed.before);
}

result<void> sqlite_directory::set_requests_per_day(user_id user, std::uint32_t requests) {
    return change_one("UPDATE directory_users SET requests_per_day = ? WHERE id = ?", std::int64_t{requests}, user);
}

result<account_id> sqlite_directory::add_account(user_id user, const service_name& service, std::string_view name,
                                                  bool admin) {
    auto on = connections_.writer();
    if (!on) return std::move(on).error();
    auto change = sqlite::transaction::begin(**on);
    if (!change) return std::move(change).error();
    auto known = require_row<user_id>((*on)->prepare("SELECT id FROM directory_users WHERE id = ?", user));
    if (!known) return std::move(known).error();
    // One count for all services: whoever takes an account's id to another service finds nobody's account there, and
    // never one of their own by chance.
    auto next = require_row<account_id>((*on)->prepare("SELECT coalesce(max(id), 0) + 1 FROM directory_accounts"));
    if (!next) return std::move(next).error();
    const auto id = std::get<0>(*next);
    auto done = (*on)->run("INSERT INTO directory_accounts (service, id, user_id, name, admin) VALUES (?, ?, ?, ?, ?)",
                           service, id, user, name, admin);
    if (!done) return std::move(done).error();
    if (auto committed = change->commit(); !committed) return std::move(committed).error();
    return id;
}

}  // namespace reference
