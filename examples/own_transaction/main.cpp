// Commits a change to the program's own tables and the event that reports it in one transaction: both or neither. The
// sites are in the file of Tollgate's store. The program publishes one site, rolls back another, and dies while it publishes a
// third; it returns 0 if webhooks receive only the first event.
#include <tollgate/store/sqlite.hpp>
#include <tollgate/store/sqlite_database.hpp>
#include <tollgate/tollgate.hpp>
#include <tollgate/webhooks/publish.hpp>

#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace tollgate;

/// The shop's own connection to the file. It reports errors as exceptions, as the shop's code does.
class shop_database {
public:
    explicit shop_database(const std::string& path) {
        sqlite3* opened = nullptr;
        const int code = sqlite3_open(path.c_str(), &opened);
        connection_.reset(opened);
        if (code != SQLITE_OK) throw std::runtime_error{sqlite3_errmsg(opened)};
        sqlite3_busy_timeout(opened, 5000);  // while the store writes, and vice versa
        run("PRAGMA synchronous = FULL");    // commits survive a power failure
    }

    void run(const std::string& sql) {
        if (sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
            throw std::runtime_error{sqlite3_errmsg(get())};
    }

    int published_sites() {
        int count = 0;
        const auto read = [](void* into, int, char** columns, char**) {
            *static_cast<int*>(into) = std::atoi(columns[0]);
            return 0;
        };
        sqlite3_exec(get(), "SELECT count(*) FROM sites WHERE published", read, &count, nullptr);
        return count;
    }

    sqlite3* get() { return connection_.get(); }

private:
    struct closer {
        void operator()(sqlite3* open) const { sqlite3_close(open); }
    };
    std::unique_ptr<sqlite3, closer> connection_;
};

/// Rolls back unless committed, also after an exception.
class shop_transaction {
public:
    explicit shop_transaction(shop_database& on) : on_{on} { on_.run("BEGIN IMMEDIATE"); }
    shop_transaction(const shop_transaction&) = delete;
    shop_transaction& operator=(const shop_transaction&) = delete;
    ~shop_transaction() {
        if (sqlite3_get_autocommit(on_.get()) == 0) sqlite3_exec(on_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
    void commit() { on_.run("COMMIT"); }

private:
    shop_database& on_;
};

const account_ref corner_shop{*service_name::from("sitesmaker"), account_id{1}};

enum class ending { commits, changes_its_mind, dies };

// [publish]
void publish_site(shop_database& shop, const service_catalog& services, int site, ending outcome) {
    shop_transaction change{shop};
    shop.run("UPDATE sites SET published = 1 WHERE id = " + std::to_string(site));

    const instant now = system_clock{}.now();
    const event reported{.account = corner_shop,
                         .name = "site.published",
                         .data = "{\"site\": " + std::to_string(site) + "}",
                         .at = now};
    sqlite_own_transaction outbox{shop.get()};
    if (const auto deliveries = publish(outbox, services, reported, now); !deliveries)
        throw std::runtime_error{deliveries.error().log_text()};  // the site is not published either

    if (outcome == ending::changes_its_mind) return;
    if (outcome == ending::dies) ::_exit(1);
    change.commit();  // from here on the event will be delivered
}
// [/publish]

void expect(bool holds, const char* message) {
    if (!holds) throw std::runtime_error{message};
}

void prepare(const std::string& path, const service_catalog& services) {
    sqlite_store store{path};  // creates the tables that the shop's transactions need
    expect(issue_hook(store, services, {.account = corner_shop, .event = "site.published", .target_url = "https://example.com/hook"},
                      system_clock{}.now())
               .has_value(),
           "a hook");
    shop_database shop{path};
    shop.run("CREATE TABLE sites (id INTEGER PRIMARY KEY, published INTEGER NOT NULL DEFAULT 0)");
    shop.run("INSERT INTO sites (id) VALUES (1), (2), (3)");
}

/// Runs in a child process. SQLite must not be open meanwhile, because its connections cannot be used across fork.
void publish_and_die(const std::string& path, const service_catalog& services) {
    const pid_t child = ::fork();
    if (child == 0) {
        try {
            shop_database shop{path};
            publish_site(shop, services, 3, ending::dies);
        } catch (...) {
        }
        ::_exit(2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "the process died between its change and its commit");
}

void run(const std::string& path) {
    service_catalog services;
    expect(services.add("sitesmaker", {"site.published"}).has_value(), "a good catalog");
    prepare(path, services);
    publish_and_die(path, services);

    sqlite_store store{path};
    shop_database shop{path};
    publish_site(shop, services, 2, ending::changes_its_mind);
    publish_site(shop, services, 1, ending::commits);
    expect(shop.published_sites() == 1, "one site is published");

    // The deliveries that a dispatcher would send now.
    const instant now = system_clock{}.now();
    const auto page = store.due_hooks(now, 10);
    expect(page && page->hooks.size() == 1, "one webhook has a delivery");
    const lease_request request{.hook = page->hooks[0].hook, .deliveries_max = 10, .host_leases_max = 10, .full_host_retry_at = now};
    const auto due = store.lease({&request, 1}, {.now = now, .until = now + seconds{30}});
    expect(due && due->size() == 1, "one delivery is due");
    expect((*due)[0].event->data == "{\"site\": 1}", "for the site that is published");
    std::cout << "published, and reported: " << (*due)[0].event->data << '\n';
}

int main() {
    std::string directory = (std::filesystem::temp_directory_path() / "own_transaction-XXXXXX").string();
    if (::mkdtemp(directory.data()) == nullptr) return EXIT_FAILURE;
    int code = EXIT_SUCCESS;
    try {
        run(directory + "/shop.db");
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        code = EXIT_FAILURE;
    }
    std::filesystem::remove_all(directory);
    return code;
}
