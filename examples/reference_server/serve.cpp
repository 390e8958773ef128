#include "serve.hpp"

#include "assembly.hpp"
#include "certificate.hpp"
#include "data_directory.hpp"
#include "demo.hpp"
#include "monitoring.hpp"
#include "output.hpp"
#include "process.hpp"
#include "request_log.hpp"
#include "storage.hpp"

#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/monitoring/health.hpp>
#include <tollgate/monitoring/metrics.hpp>
#include <tollgate/server/server.hpp>

#include <nlohmann/json.hpp>

#include <sys/resource.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace reference {

using namespace tollgate;

namespace {

/// How long requests and deliveries in progress may take after the signal to stop and `--shutdown-grace`.
constexpr seconds stop_timeout{10};
/// When the process ends after that signal and `--shutdown-grace`, even if a thread still waits for a disk. With the default grace, less
/// than `TimeoutStopSec` in tollgate.service.
constexpr seconds exit_timeout{15};

/// Descriptors for purposes other than connections: deliveries, listeners, the store's files, the log.
constexpr rlim_t other_descriptors = 4096 + 256;

void allow_descriptors(std::size_t connections) {
    rlimit allowed{};
    if (::getrlimit(RLIMIT_NOFILE, &allowed) != 0) return;
    const rlim_t needed = connections + other_descriptors;
    if (allowed.rlim_cur >= needed) return;
    allowed.rlim_cur = (std::min)(needed, allowed.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &allowed);
    if (allowed.rlim_cur < needed)
        complain("--max-connections: the system allows only " + std::to_string(allowed.rlim_cur) +
                 " open files, so the server accepts fewer connections.");
}

/// The reason why clients refuse the certificate; empty if there is none.
std::string fault_of_certificate(const settings& settings) {
    if (settings.plain || settings.tls_cert.empty()) return {};  // a self-signed one is replaced in time
    try {
        (void)expiry_of({settings.tls_cert, settings.tls_key});
        return {};
    } catch (const run_error& error) {
        return error.what();
    }
}

bool has_urls(const settings& settings) { return !settings.base_url.empty() && !settings.auth_url.empty(); }

/// The URLs are those of the first listener, unless they are configured; a configured port is known if it is in use.
bool urls_tell_ports(const server& running, const settings& settings) {
    const auto real = running.endpoints();
    if (real.size() != 1 || !has_urls(settings)) return real.size() == 1;
    return real.front().port != 0 && real.front().port == settings.listen.front().port;
}

std::string to_text(const tollgate::listen_address& real) {
    if (real.address.starts_with("unix:")) return real.address;
    return reference::to_text(reference::listen_address{ip_address::parse(real.address).value_or(ip_address{}), real.port, {}});
}

/// A line about a problem, and a count.
void report_failed_reload(std::string_view reason, const observers& observer, certificate_state& into) noexcept {
    ++into.failed_reloads;
    try {
        const auto failed = unavailable("SIGHUP: " + std::string{reason});
        observer.on_problem(failed);
    } catch (const std::exception&) {  // out of memory: without a line
    }
}

/// Notes when the certificate expires, and writes a notice if clients will refuse that of `--tls-cert`: it expired, or is not valid yet.
void check_certificate_in_use(const settings& settings, const request_log& log, certificate_state& into) {
    try {
        if (!settings.plain)
            into.expires_at = to_unix_seconds(end_of(settings.tls_cert.empty() ? self_signed_files(settings.data)
                                                                               : certificate_files{settings.tls_cert, settings.tls_key}));
    } catch (const run_error&) {
        into.expires_at = 0;  // such as a pipe, which can be read only once
    }
    const auto fault = fault_of_certificate(settings);
    if (!fault.empty()) log.on_notice("--tls-cert: clients will refuse the certificate: " + fault);
}

/// The ready line. If its URLs do not show every listener's port, it also lists the listeners.
void print_ready(const server& running, const settings& settings, const public_urls& urls,
                 const std::optional<demo>& shown, const std::optional<listen_address>& admin) {
    nlohmann::ordered_json line{{"ready", true},
                                {"api", urls.base_url},
                                {"auth", urls.auth_url},
                                {"pid", static_cast<std::int64_t>(::getpid())}};
    if (!urls_tell_ports(running, settings))
        for (const auto& each : running.endpoints()) line["listen"].push_back(to_text(each));
    if (admin) line["admin"] = to_text(*admin);
    if (shown) line["demo"] = to_json(*shown);
    print_line(line);
}

/// Throws `usage_error` if a URL would be that of `--listen`, which a server with passed sockets does not use.
void expect_configured_urls(const settings& settings) {
    if (!has_urls(settings)) throw usage_error{"LISTEN_FDS: passed sockets need --base-url and --auth-url."};
}

/// An unusable certificate is a configuration error, like an invalid listen address.
void expect_started(const result<void>& started, const settings& settings) {
    if (started) return;
    const error& error = started.error();
    if (error.kind == error_kind::invalid && !(settings.tls_cert.empty() && settings.tls_ticket_keys.empty()))
        throw usage_error{"--tls-cert, --tls-key, --tls-ticket-keys: " + error.log_text()};
    throw run_error{error.log_text()};
}

/// Reads the certificates again; on any error, the old ones remain in use.
void reload_certificates(server& running, const settings& settings, const request_log& log, const observers& observer,
                         certificate_state& into) noexcept {
    const auto report = [&](std::string_view reason) noexcept {
        try {
            report_failed_reload("the old certificate remains in use: " + std::string{reason}, observer, into);
        } catch (const std::exception&) {  // out of memory
            ++into.failed_reloads;
        }
    };
    try {
        into.reloading = std::this_thread::get_id();
        const bool is_new = settings.tls_cert.empty() && self_signed_certificate(settings.data).is_new;
        const auto read = running.reload_certificates();
        if (!read) return report(read.error().log_text());
        log.on_notice(is_new ? "SIGHUP: a new self-signed certificate was made" : "SIGHUP: the certificate was read again");
        check_certificate_in_use(settings, log, into);
    } catch (const std::exception& error) {
        report(error.what());
    }
}

/// Reports certificate authorities that could not be read again.
void report_authorities(const result<void>& read, const observers& observer, certificate_state& into) noexcept {
    if (read) return;
    try {
        report_failed_reload("the old certificate authorities remain in use: " + read.error().log_text(), observer, into);
    } catch (const std::exception&) {  // out of memory
        ++into.failed_reloads;
    }
}

/// Returns at the signal to stop; until then it asks for a reload on each SIGHUP, and notifies the watchdog. After it, a signal ends the
/// process, and so does the end of the time for stopping.
void wait_for_stop_signal(reload_thread& reload, const signals& stop_signals, const service_manager& manager, seconds shutdown_grace) {
    const auto interval = manager.watchdog_interval();
    for (;;) {
        // Each time, because signals may come more often than the interval ends.
        if (interval) manager.notify("WATCHDOG=1");
        const auto number = interval ? stop_signals.wait(*interval) : stop_signals.wait();
        if (!number) continue;
        if (*number != SIGHUP) break;
        reload.ask();
    }
    manager.notify("STOPPING=1");
    stop_signals.exit_on_next_signal_or_after(shutdown_grace + exit_timeout);
}

}  // namespace

void run_server(const settings& settings, const service_catalog& services) {
    const signals stop_signals;
    allow_descriptors(settings.connections_max);
    make_private_directory(settings.data);
    const auto data = open_storage(settings);
    std::optional<demo> shown;
    if (settings.demo) shown = seed_demo(data, settings, services);
    std::optional<wal_watch> wal;
    if (const auto at = settings.store_location(); at.kind == location::kind::sqlite) wal.emplace(at.file);

    const service_manager manager;  // before threads, which read the environment
    if (!manager.sockets().empty()) expect_configured_urls(settings);
    request_log log{settings.log};
    metrics counts;
    observers observer{log, counts};
    certificate_state certificate;
    auto server_settings = to_server_settings(settings);
    server_settings.listening_sockets = manager.sockets();
    server_settings.on_warning = [&](std::string_view message) {
        // A reload that keeps the former ticket keys has failed, too.
        if (certificate.is_reloading_here()) report_failed_reload(message, observer, certificate);
        else log.on_notice(message);
    };
    std::optional<assembly> assembled;  // outlives the server
    server running{http::handler_ref{}, std::move(server_settings)};
    expect_started(running.listen(), settings);
    const auto urls = to_public_urls(settings, running.port());  // with port 0, the system has chosen one
    assembled.emplace(settings, urls, services, data, observer);
    expect_started(running.start(assembled->service()), settings);
    expect(assembled->dispatcher().start(), "cannot deliver webhooks");

    health checks{{.on_change = [&log](std::string_view name, const result<void>& now) {
        if (!now) log.on_change("not ready: " + std::string{name} + ": " + now.error().log_text());
        else log.on_change("ready: " + std::string{name});
    }}};
    std::optional<admin_listener> admin;
    if (settings.admin_listen) {
        watch(counts, checks, {running, data, *assembled, certificate, wal ? &*wal : nullptr});
        admin.emplace(*settings.admin_listen, settings.admin_hosts, counts, checks);
        admin->start();
        expect(checks.start(), "cannot check the store");
    }
    check_certificate_in_use(settings, log, certificate);
    reload_thread reload{[&] {
        if (!settings.plain) reload_certificates(running, settings, log, observer, certificate);
        report_authorities(assembled->dispatcher().reload_authorities(), observer, certificate);
        if (auto* const limits = assembled->limits()) report_authorities(limits->reload_authorities(), observer, certificate);
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

}  // namespace reference
