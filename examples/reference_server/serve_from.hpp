#pragma once

#include "admin_listener.hpp"
#include "assembly.hpp"
#include "data_directory.hpp"
#include "demo.hpp"
#include "late_handler.hpp"
#include "observers.hpp"
#include "request_reads.hpp"
#include "serve.hpp"
#include "wal_watch.hpp"

#include <tollgate/model/service_catalog.hpp>
#include <tollgate/server/server.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace reference {

/// Due deliveries, as of the last check of the store.
struct delivery_queue {
    std::atomic<std::size_t> due = 0;
    std::atomic<double> oldest_seconds = 0;
};

/// For operators: health checks and metrics.
template <class Directory, class Store, class Clock>
void watch(tollgate::metrics& counts, tollgate::health& checks, const tollgate::server& running,
           const stored_data<Directory, Store, Clock>& data, chosen_limiter& limiter, const certificate_state& certificate,
           wal_watch* wal) {
    auto queue = std::make_shared<delivery_queue>();
    // All that requests read: the store, and the users, who may have connections of their own.
    checks.add("store", [&store = data.store, &users = data.users, clock = data.clock, queue, wal]() -> tollgate::result<void> {
        if (wal != nullptr) wal->check();
        const auto now = clock.now();
        constexpr std::size_t rows_max = 10'000;
        const auto backlog = store.backlog(now, rows_max);
        if (!backlog) return backlog.error();
        queue->due = backlog->due;
        queue->oldest_seconds = backlog->due_since ? std::chrono::duration<double>{now - *backlog->due_since}.count() : 0;
        return try_request_reads(users, store);
    });
    counts.add([queue](tollgate::metrics_writer& to) {
        to.gauge("tollgate_deliveries_due", "Deliveries that are due, counted up to 10000, as of the last check of the store.");
        to.sample(queue->due.load());
        to.gauge("tollgate_deliveries_oldest_due_seconds", "How long the oldest of them has been due.");
        to.sample(queue->oldest_seconds.load());
    });
    if constexpr (requires { data.store.changes_seen(); })
        counts.add([&store = data.store](tollgate::metrics_writer& to) {
            to.gauge("tollgate_changes_received",
                     "Whether changes by other processes are noticed: 1, or 0. If not, nothing is cached, and deliveries start later.");
            to.sample(store.changes_seen() ? 1 : 0);
        });
    counts.add([&certificate](tollgate::metrics_writer& to) { report(certificate, to); });
    counts.add([wal](tollgate::metrics_writer& to) {
        to.gauge("tollgate_sqlite_wal_bytes", "Size of SQLite's write-ahead log, as of the last check of the store.");
        if (wal != nullptr) to.sample(static_cast<double>(wal->state().bytes));
        to.gauge("tollgate_sqlite_wal_oldest_reader_seconds",
                 "How long a reader has kept SQLite from copying the write-ahead log into the database.");
        if (wal != nullptr) to.sample(std::chrono::duration<double>{wal->state().oldest_reader}.count());
    });
    checks.add("limits", [&limiter] { return limiter.check(); });
    counts.watch_process();
    counts.watch_server(running);
    if constexpr (requires { data.store.statistics(); }) counts.watch_backend("store", data.store);
    if constexpr (requires { data.users.statistics(); }) counts.watch_backend("users", data.users);
    if (limiter.may_block()) counts.watch_backend("limits", limiter);
}

/// Serves until the signal to stop, and then until requests in flight are finished.
template <class Directory, class Store, class Clock>
void serve_from(const stored_data<Directory, Store, Clock>& data, const std::optional<demo>& shown, const settings& settings,
                const tollgate::service_catalog& services, const signals& stop_signals, wal_watch* wal = nullptr) {
    const service_manager manager;  // before threads, which read the environment
    if (!manager.sockets().empty()) expect_configured_urls(settings);
    request_log log{settings.log};
    tollgate::metrics counts;
    observers observer{log, counts};
    std::optional<assembly<Directory, Store, Clock>> assembled;
    late_handler handler;
    auto server_settings = to_server_settings(settings);
    server_settings.listening_sockets = manager.sockets();
    certificate_state certificate;
    server_settings.on_warning = [&](std::string_view message) {
        // A reload that keeps the former ticket keys has failed, too.
        if (certificate.is_reloading_here()) report_failed_reload(message, observer, certificate);
        else log.on_notice(message);
    };
    tollgate::server running{handler, std::move(server_settings)};

    const auto assemble = [&](std::uint16_t port) {
        auto urls = to_public_urls(settings, port);
        assembled.emplace(settings, urls, services, data, observer);
        handler.become(assembled->service());
        return urls;
    };
    // With port 0 the URLs are known when the server listens.
    const auto port = settings.listen.front().port;
    public_urls urls;
    if (port != 0) urls = assemble(port);
    expect_started(running.start(), settings);
    if (port == 0) urls = assemble(running.port());
    expect(assembled->dispatcher().start(), "cannot deliver webhooks");

    tollgate::health checks{{.on_change = [&log](std::string_view name, const tollgate::result<void>& now) {
        if (!now) log.on_change("not ready: " + std::string{name} + ": " + now.error().log_text());
        else log.on_change("ready: " + std::string{name});
    }}};
    std::optional<admin_listener> admin;
    if (settings.admin_listen) {
        watch(counts, checks, running, data, assembled->limiter(), certificate, wal);
        admin.emplace(*settings.admin_listen, settings.admin_hosts, counts, checks);
        admin->start();
        expect(checks.start(), "cannot check the store");
    }
    check_certificate_in_use(settings, log, certificate);
    reload_thread reload{[&] {
        if (!settings.plain) reload_certificates(running, settings, log, observer, certificate);
        report_authorities(assembled->dispatcher().reload_authorities(), observer, certificate);
        report_authorities(assembled->limiter().reload_authorities(), observer, certificate);
    }};
    print_ready(running, settings, urls, shown, admin ? std::optional{admin->address()} : std::nullopt);
    manager.notify("READY=1");
    wait_for_stop_signal(reload, stop_signals, manager, settings.shutdown_grace);
    checks.begin_stop();
    const auto stop_serving = [&] { running.stop(stop_timeout); };
    std::thread answering;  // in parallel with deliveries: both share the timeout
    try {
        answering = std::thread{stop_serving};
        std::this_thread::sleep_for(settings.shutdown_grace);  // deliveries continue, like requests
    } catch (const std::exception&) {  // the system starts no more threads, or has no memory for one: one after the other
        stop_serving();
    }
    assembled->dispatcher().stop(stop_timeout);
    if (answering.joinable()) answering.join();
}

/// The demo that an earlier start in this data directory recorded for this store, if it is still valid; otherwise a new
/// one, of the same user if they still exist.
template <class Directory, class Store, class Clock>
demo kept_demo(const stored_data<Directory, Store, Clock>& data, const settings& settings,
               const tollgate::service_catalog& services) {
    const directory_lock alone{settings.data};
    auto written = read_demos(settings.data);
    const auto alive = std::find_if(written.begin(), written.end(), [&](const demo& each) {
        return expect(data.users.find_login(each.login), "cannot look up the demo user") && is_alive(each, data.store);
    });
    if (!written.empty() && alive == written.begin()) return *alive;
    if (alive != written.end()) {
        std::rotate(written.begin(), alive, alive + 1);
    } else {
        const auto same_user = std::find_if(written.begin(), written.end(),
                                            [&](const demo& each) { return is_user_of(each, data.users); });
        std::optional<std::string> login;
        if (same_user != written.end()) {
            login = same_user->login;
            written.erase(same_user);
        }
        written.insert(written.begin(), renew_demo(data.users, data.store, services, login, data.clock.now()));
    }
    write_demos(settings.data, written);
    return written.front();
}

}  // namespace reference
