#include "monitoring.hpp"

#include "output.hpp"

#include <tollgate/base/ip_address.hpp>

#include <sqlite3.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

namespace reference {

using namespace tollgate;

namespace {

/// Due deliveries, as of the last check of the store.
struct delivery_queue {
    std::atomic<std::size_t> due = 0;
    std::atomic<double> oldest_seconds = 0;
};

void report(const certificate_state& certificate, metrics_writer& to) {
    to.gauge("tollgate_certificate_expires_at_seconds", "When the TLS certificate that was read last expires, in Unix time.");
    if (const auto expires_at = certificate.expires_at.load(); expires_at != 0) to.sample(static_cast<double>(expires_at));
    to.counter("tollgate_reload_failures_total", "Reloads on SIGHUP that kept the former certificate, ticket keys or authorities.");
    to.sample(certificate.failed_reloads.load());
}

server_settings settings_for(const listen_address& endpoint) {
    server_settings settings;
    const auto address = to_server_address(endpoint);
    settings.address = address.address;
    settings.port = address.port;
    settings.threads = 1;
    settings.connections_max = 64;  // a few scrapers and balancers
    settings.replace_unfinished = true;  // so that clients that send no complete request cannot keep a health check out
    settings.header_timeout = seconds{2};
    settings.idle_timeout = seconds{120};  // longer than scrapers wait between two requests
    return settings;
}

/// With the name of this machine, by which other machines of its network may reach it.
http::allowed_hosts known_hosts(std::vector<std::string> hosts) {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0') hosts.emplace_back(name);
    hosts.emplace_back("localhost");
    return http::allowed_hosts{std::move(hosts)};
}

}  // namespace

void watch(metrics& counts, health& checks, const watched_parts& parts) {
    const auto queue = std::make_shared<delivery_queue>();
    auto* const wal = parts.wal;
    // All that requests read: the store, and the users, who may have connections of their own.
    checks.add("store", [&data = parts.data, queue, wal]() -> result<void> {
        if (wal != nullptr) wal->check();
        const auto now = data.store.now();
        constexpr std::size_t rows_max = 10'000;
        const auto backlog = data.store.backlog(now, rows_max);
        if (!backlog) return backlog.error();
        queue->due = backlog->due;
        queue->oldest_seconds = backlog->due_since ? std::chrono::duration<double>{now - *backlog->due_since}.count() : 0;
        return try_request_reads(*data.users, data.store);
    });
    counts.add([queue](metrics_writer& to) {
        to.gauge("tollgate_deliveries_due", "Deliveries that are due, counted up to 10000, as of the last check of the store.");
        to.sample(queue->due.load());
        to.gauge("tollgate_deliveries_oldest_due_seconds", "How long the oldest of them has been due.");
        to.sample(queue->oldest_seconds.load());
    });
    if (parts.data.store.tells_changes())
        counts.add([&store = parts.data.store](metrics_writer& to) {
            to.gauge("tollgate_changes_received",
                     "Whether changes by other processes are noticed: 1, or 0. If not, nothing is cached, and deliveries start later.");
            to.sample(store.changes_seen() ? 1 : 0);
        });
    counts.add([&certificate = parts.certificate](metrics_writer& to) { report(certificate, to); });
    counts.add([wal](metrics_writer& to) {
        to.gauge("tollgate_sqlite_wal_bytes", "Size of SQLite's write-ahead log, as of the last check of the store.");
        if (wal != nullptr) to.sample(static_cast<double>(wal->state().bytes));
        to.gauge("tollgate_sqlite_wal_oldest_reader_seconds",
                 "How long a reader has kept SQLite from copying the write-ahead log into the database.");
        if (wal != nullptr) to.sample(std::chrono::duration<double>{wal->state().oldest_reader}.count());
    });
    auto* const limits = parts.assembled.limits();
    checks.add("limits", [limits] { return limits != nullptr ? limits->check() : result<void>{}; });
    counts.watch_process();
    counts.watch_server(parts.server);
    if (parts.data.store.has_statistics()) counts.watch_backend("store", parts.data.store);
    if (parts.data.users->may_block()) counts.watch_backend("users", *parts.data.users);
    if (limits != nullptr) counts.watch_backend("limits", *limits);
}

wal_watch::wal_watch(const std::filesystem::path& database) : log_{database.string() + "-wal"} {
    // Without a connection, only the size is known. It notices the log when it reads.
    if (::sqlite3_open_v2(database.c_str(), &connection_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) == SQLITE_OK &&
        ::sqlite3_exec(connection_, "PRAGMA schema_version", nullptr, nullptr, nullptr) == SQLITE_OK)
        return;
    ::sqlite3_close(connection_);
    connection_ = nullptr;
}

wal_watch::~wal_watch() { ::sqlite3_close(connection_); }

void wal_watch::check() noexcept {
    std::error_code failed;
    const auto bytes = std::filesystem::file_size(log_, failed);
    const auto written = failed ? std::filesystem::file_time_type{} : std::filesystem::last_write_time(log_, failed);
    const bool is_held_up = state().oldest_reader > std::chrono::steady_clock::duration{};
    int frames = -1, copied = -1;
    // Without the mutex: a disk that hangs must not delay the metrics.
    if (!failed && connection_ != nullptr && (checked_ != written || is_held_up)) {
        checked_ = written;
        if (::sqlite3_wal_checkpoint_v2(connection_, nullptr, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied) != SQLITE_OK) frames = -1;
    }
    const std::lock_guard hold{mutex_};
    bytes_ = failed ? 0 : bytes;
    age_.observe(frames, copied, std::chrono::steady_clock::now());
}

wal_state wal_watch::state() const {
    const std::lock_guard hold{mutex_};
    return {bytes_, age_.at(std::chrono::steady_clock::now())};
}

bool admin_listener::host_check::knows_host_of(const http::request& request) const noexcept {
    if (known.allows(request)) return true;
    auto host = request.authority();
    if (host.starts_with('[')) return true;  // an IPv6 address: the parser has checked it
    host = host.substr(0, host.find(':'));
    return host.find('.') == std::string_view::npos || ip_address::parse(host);
}

admin_listener::admin_listener(const listen_address& endpoint, const std::vector<std::string>& hosts, metrics& counts, health& checks)
    : endpoint_{endpoint},
      checked_{http::site{http::mounted("/metrics", counts), http::mounted("/healthz", checks),
                                     http::mounted("/readyz", checks), http::mounted("", nothing_else_)},
               known_hosts(hosts)},
      server_{checked_, settings_for(endpoint)} {}

void admin_listener::start() {
    if (const auto started = server_.start(); !started) throw run_error{"--admin-listen: " + started.error().log_text()};
}

listen_address admin_listener::address() const { return {endpoint_.address, server_.port(), endpoint_.path}; }

}  // namespace reference
