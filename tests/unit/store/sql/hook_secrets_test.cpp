#include <tollgate/store/detail/sql/hook_secrets.hpp>

#include <tollgate/store/postgres.hpp>
#include <tollgate/store/sqlite.hpp>
#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/postgres_server.hpp>
#include <support/run_store_suite.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <sqlite3.h>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;
using tollgate_test::postgres_server;
using tollgate_test::temporary_directory;

namespace {

const std::string a(64, 'a'), b(64, 'b'), c(64, 'c');
secret_keys keys(const std::string& text) { return value_of(secret_keys::parse(text)); }

const account_ref own_account = sample_account();
const std::string first_secret = "whsec_Zmlyc3QgZmlyc3QgZmlyc3QgZmlyc3QgZmlyc3Q=",
                  second_secret = "whsec_c2Vjb25kIHNlY29uZCBzZWNvbmQgc2Vjb25kIHM=";

/// One database: how its store is opened, and its contents.
struct place {
    std::string name;
    std::function<std::vector<std::string>()> stored_secrets;  ///< as stored: of the hook, then the previous ones
    std::function<void(const std::string&)> run;               ///< a script
};

template <class Store, class Settings>
auto opener(const std::string& schema) {
    return [schema](std::optional<secret_keys> with) {
        Settings settings;
        settings.hook_secret_keys = std::move(with);
        return Store::open(schema, settings);
    };
}

template <class Store>
hook_id listen_with(Store& store, const std::string& secret) {
    auto hook = sample_hook(own_account);
    hook.secret = secret;
    return value_of(store.create_hook(hook, 20));
}

/// The secrets that sign the next delivery.
template <class Store>
std::vector<std::string> signing(Store&& store, instant now = noon) {
    report(store, own_account, 1, now);
    const auto delivery = lease_one(store, now);
    expect_completed(store, completed(delivery, delivery_outcome::delivered), completion::done);
    std::vector<std::string> all{delivery.secret};
    all.insert(all.end(), delivery.previous_secrets.begin(), delivery.previous_secrets.end());
    CHECK(delivery.unreadable_secret.empty());
    return all;
}

template <class Open>
void check_encryption(const place& at, Open open) {
    INFO(at.name);
    const std::vector<std::string> both{second_secret, first_secret};
    const auto begin_with = [&](const std::string& prefix) {
        const auto all = at.stored_secrets();
        for (const std::string& each : all)
            if (!each.starts_with(prefix)) return false;
        return all.size() == 2;
    };

    // Without keys secrets are stored as plain text; with keys existing and new ones are encrypted.
    {
        auto store = value_of(open(std::nullopt));
        const auto hook = listen_with(store, first_secret);
        CHECK(value_of(store.change_hook(own_account, hook, hook_secret_replacement{second_secret, noon + seconds{3600}})));
        CHECK(begin_with("whsec_"));
        CHECK(signing(store) == both);
    }
    {
        auto store = value_of(open(keys(a)));
        CHECK(begin_with(std::string{keys(a).prefix()}));
        CHECK(signing(store) == both);
        const auto hook = value_of(store.hooks_of(own_account)).at(0).id;
        CHECK(value_of(store.delete_hook(own_account, hook)));
        CHECK(at.stored_secrets().empty());
    }
    {
        auto store = value_of(open(keys(a)));
        const auto hook = listen_with(store, first_secret);
        CHECK(value_of(store.change_hook(own_account, hook, hook_secret_replacement{second_secret, noon + seconds{3600}})));
        CHECK(begin_with(std::string{keys(a).prefix()}));
        CHECK(signing(store) == both);
    }
    // Rotation: secrets under the previous key are encrypted with the first one.
    {
        auto store = value_of(open(keys(b + "\n" + a)));
        CHECK(begin_with(std::string{keys(b).prefix()}));
        CHECK(signing(store) == both);
    }
    CHECK(signing(value_of(open(keys(b)))) == both);
    // A node that already has the next key reads the secrets that others encrypt with it.
    CHECK(signing(value_of(open(keys(c + "\n" + b)))) == both);
    CHECK(begin_with(std::string{keys(c).prefix()}));

    // Without their key the store does not open; without any key it opens for calls that need no secret, and signs nothing.
    for (const secret_keys& others : {secret_keys{}, keys(a), keys(a + "\n" + b)}) {
        const auto opened = open(others);
        expect_error(opened, error_kind::unavailable);
        CHECK_THAT(opened.error().cause, Catch::Contains("webhook sitesmaker 42") &&
                                             Catch::Contains(std::string{keys(c).prefix()}.substr(10, 8)));
        CHECK(begin_with(std::string{keys(c).prefix()}));
    }
    {
        auto store = value_of(open(std::nullopt));
        CHECK(value_of(store.hooks_of(own_account)).size() == 1);
        report(store, own_account);
        const auto delivery = lease_one(store, noon);
        CHECK(delivery.secret.empty());
        CHECK(delivery.previous_secrets.empty());
        CHECK_THAT(delivery.unreadable_secret, Catch::Contains("webhook sitesmaker 42") && Catch::Contains("no key is given"));
        expect_completed(store, completed(delivery, delivery_outcome::delivered), completion::done);
    }

    // A damaged secret neither keeps the store from opening nor other deliveries from being sent.
    at.run("UPDATE tollgate_hooks SET secret = secret || 'AA' WHERE secret <> ''");
    {
        auto store = value_of(open(keys(b + "\n" + c)));
        const auto healthy = listen_with(store, first_secret);
        report(store, own_account);
        const auto deliveries = lease_due_at(store, noon);
        REQUIRE(deliveries.size() == 2);
        for (const due_delivery& each : deliveries) {
            CHECK(each.unreadable_secret.empty() == (each.hook == healthy));
            CHECK((each.secret == first_secret) == (each.hook == healthy));
        }
    }
}

std::string bytes_in(const std::string& directory) {
    std::string all;
    for (const auto& each : std::filesystem::directory_iterator{directory}) {
        std::ifstream in{each.path(), std::ios::binary};
        all.append(std::istreambuf_iterator<char>{in}, {});
    }
    return all;
}

class raw_file {
public:
    explicit raw_file(const std::string& path) { REQUIRE(sqlite3_open(path.c_str(), &open_) == SQLITE_OK); }
    raw_file(const raw_file&) = delete;
    raw_file& operator=(const raw_file&) = delete;
    ~raw_file() { sqlite3_close(open_); }

    std::vector<std::string> run(const std::string& script) {
        std::vector<std::string> column;
        const auto add = [](void* to, int, char** values, char**) {
            static_cast<std::vector<std::string>*>(to)->emplace_back(values[0]);
            return 0;
        };
        REQUIRE(sqlite3_exec(open_, script.c_str(), add, &column, nullptr) == SQLITE_OK);
        return column;
    }

private:
    sqlite3* open_ = nullptr;
};

const std::string read_secrets =
    "SELECT secret FROM tollgate_hooks WHERE secret <> '' UNION ALL SELECT secret FROM tollgate_hook_secrets";

}  // namespace

TEST_CASE("webhook secrets are encrypted with the keys of a store on SQLite") {
    temporary_directory directory;
    const auto file = directory.file("a.db");
    check_encryption({"SQLite", [&] { return raw_file{file}.run(read_secrets); },
                      [&](const std::string& script) { raw_file{file}.run(script); }},
                     opener<sqlite_store, sqlite_settings>(file));
}

TEST_CASE("webhook secrets are encrypted with the keys of a store on PostgreSQL") {
    const auto schema = postgres_server::shared().new_schema();
    check_encryption({"PostgreSQL", [&] { return postgres_server::run(schema, read_secrets); },
                      [&](const std::string& script) { postgres_server::run(schema, script); }},
                     opener<postgres_store, postgres_settings>(schema));
}

TEST_CASE("with a key, neither a SQLite file nor its log contains a webhook secret") {
    temporary_directory directory;
    const auto open = opener<sqlite_store, sqlite_settings>(directory.file("a.db"));
    const auto is_there = [&](const std::string& secret) { return bytes_in(directory.path()).find(secret.substr(6)) != std::string::npos; };
    hook_id hook{1};
    {
        auto store = value_of(open(std::nullopt));
        hook = listen_with(store, first_secret);
        CHECK(is_there(first_secret));
    }
    auto store = value_of(open(keys(a)));
    CHECK_FALSE(is_there(first_secret));
    CHECK(value_of(store.change_hook(own_account, hook, hook_secret_replacement{second_secret, noon + seconds{3600}})));
    CHECK_FALSE(is_there(second_secret));
    CHECK(signing(store) == std::vector{second_secret, first_secret});
    CHECK_FALSE(is_there(first_secret));
    CHECK_FALSE(is_there(second_secret));
}

TEST_CASE("deleted secrets are overwritten in a SQLite file") {
    temporary_directory directory;
    const auto file = directory.file("a.db");
    const auto is_there = [&] { return bytes_in(directory.path()).find(first_secret.substr(6)) != std::string::npos; };
    {
        sqlite_store store{file};
        const auto hook = listen_with(store, first_secret);
        CHECK(is_there());
        CHECK(value_of(store.delete_hook(own_account, hook)));
    }
    raw_file{file}.run("PRAGMA wal_checkpoint(TRUNCATE)");
    CHECK_FALSE(is_there());
}

TEST_CASE("a SQLite store that encrypts secrets passes the store suite") {
    temporary_directory directory;
    int count = 0;
    sqlite_settings settings;
    settings.hook_secret_keys = keys(a);
    const auto last = [&] { return directory.file(std::to_string(count) + ".db"); };
    tollgate_test::run_store_suite([&] { return ++count, sqlite_store{last(), settings}; },
                                   [&] { return sqlite_store{last(), settings}; });
}
