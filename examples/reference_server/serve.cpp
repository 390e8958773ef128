#include "serve.hpp"

#include "certificate.hpp"
#include "data_directory.hpp"
#include "demo.hpp"
#include "handler_settings.hpp"
#include "handlers.hpp"
#include "hook_worker.hpp"
#include "late_handler.hpp"
#include "memory_directory.hpp"
#include "output.hpp"
#include "request_log.hpp"
#include "signals.hpp"
#include "sqlite_directory.hpp"

#include <tollgate/server/server.hpp>
#include <tollgate/store/memory.hpp>
#include <tollgate/store/sqlite.hpp>

#include <nlohmann/json.hpp>

#include <sys/resource.h>

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>

namespace reference {

using namespace tollgate;

namespace {

constexpr seconds stop_patience{10};

/// Descriptors beside those of connections: webhooks on their way, listeners, the store's files, the log.
constexpr rlim_t other_descriptors = 4096 + 256;

void allow_descriptors(std::size_t connections) {
    rlimit allowed{};
    if (::getrlimit(RLIMIT_NOFILE, &allowed) != 0) return;
    const rlim_t wanted = connections + other_descriptors;
    if (allowed.rlim_cur >= wanted) return;
    allowed.rlim_cur = (std::min)(wanted, allowed.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &allowed);
    if (allowed.rlim_cur < wanted)
        complain("--max-connections: the system allows " + std::to_string(allowed.rlim_cur) +
                 " open files, fewer than that.");
}

void print_ready(const api_settings& serving, const std::optional<demo>& shown) {
    nlohmann::ordered_json line{{"ready", true},
                                {"api", serving.base_url},
                                {"auth", serving.auth_url},
                                {"pid", static_cast<std::int64_t>(::getpid())}};
    if (shown) line["demo"] = to_json(*shown);
    print_line(line);
}

/// A pair of files that will not do is as much the configuration's fault as a name that is no address.
void expect_started(const outcome<void>& started, const settings& with) {
    if (started) return;
    const problem& why = started.error();
    if (why.kind == problem_kind::invalid && !with.tls_cert.empty())
        throw usage_error{"--tls-cert, --tls-key: " + why.message};
    throw run_error{why.message};
}

/// Whatever is wrong with the new ones, the old ones go on.
void reload_certificates(server& running, const settings& with) {
    try {
        if (with.tls_cert.empty()) (void)self_signed_certificate(with.data);  // makes a new one in time
        const auto read = running.reload_certificates();
        if (!read) complain("SIGHUP: the old certificate stays in use: " + read.error().message);
    } catch (const run_error& why) {
        complain(std::string{"SIGHUP: the old certificate stays in use: "} + why.what());
    }
}

template <class Store>
void serve_until_told(server& running, hook_worker<Store>& hooks, const settings& with, const signals& told) {
    while (told.wait() == SIGHUP) {
        if (with.plain) continue;
        reload_certificates(running, with);
    }
    told.let_the_next_one_end_the_process();
    std::thread answering{[&running] { running.stop(stop_patience); }};  // beside deliveries: the patience is for both
    hooks.stop(stop_patience);
    answering.join();
}

template <class Directory, class Store>
void serve_from(Directory& users, Store& store, const std::optional<demo>& shown, const settings& with,
                const service_catalog& services, const signals& told) {
    request_log log{with.log};
    std::optional<handlers<Directory, Store>> made;
    late_handler handler;
    server running{handler, to_server_settings(with)};

    const auto make_handlers = [&](std::uint16_t port) {
        made.emplace(with, to_api_settings(with, services, port), users, store, log);
        handler.become(*made);
    };
    const auto port = with.listen.front().port;
    if (port != 0) make_handlers(port);
    expect_started(running.start(), with);
    if (port == 0) make_handlers(running.port());
    hook_worker<Store> hooks{store, with, log};
    hooks.start();
    print_ready(made->settings_told(), shown);
    serve_until_told(running, hooks, with, told);
}

std::optional<demo> memory_demo(memory_directory& users, memory_store& store, const service_catalog& services,
                                bool wanted) {
    return wanted ? std::optional{renew_demo(users, store, services)} : std::nullopt;
}

/// The one that an earlier start wrote down, as long as it is good for anything.
std::optional<demo> kept_demo(sqlite_directory& users, sqlite_store& store, const service_catalog& services,
                              const settings& with) {
    if (!with.demo) return std::nullopt;
    const directory_lock alone{with.data};
    auto kept = read_demo(with.data);
    const bool good =
        kept && expect(users.find_login(kept->login), "cannot look for the demo user") && is_alive(*kept, store);
    if (good) return kept;
    const auto fresh = renew_demo(users, store, services);
    write_demo(with.data, fresh);
    return fresh;
}

}  // namespace

void run_server(const settings& with, const service_catalog& services) {
    const signals told;
    allow_descriptors(with.connections_max);
    make_private_directory(with.data);
    const auto where = with.store_location();
    if (where.kind == location::kind::memory) {
        memory_directory users;
        memory_store store;
        const auto shown = memory_demo(users, store, services, with.demo);
        serve_from(users, store, shown, with, services, told);
        return;
    }
    auto users = expect(sqlite_directory::open(where.file), "--store: cannot open the database");
    auto store = expect(sqlite_store::open(where.file.string()), "--store: cannot open the database");
    const auto shown = kept_demo(users, store, services, with);
    serve_from(users, store, shown, with, services, told);
}

}  // namespace reference
