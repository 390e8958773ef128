#include "serve.hpp"

#include "certificate.hpp"
#include "data_directory.hpp"
#include "output.hpp"

#include <nlohmann/json.hpp>

#include <sys/resource.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <optional>
#include <string>

namespace reference {

using namespace tollgate;

namespace {

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

}  // namespace

void report(const certificate_state& certificate, metrics_writer& to) {
    to.gauge("tollgate_certificate_expires_at_seconds", "When the TLS certificate that was read last expires, in Unix time.");
    if (const auto expires_at = certificate.expires_at.load(); expires_at != 0) to.sample(static_cast<double>(expires_at));
    to.counter("tollgate_reload_failures_total", "Reloads on SIGHUP that kept the former certificate, ticket keys or authorities.");
    to.sample(certificate.failed_reloads.load());
}

void report_failed_reload(std::string_view reason, const observers& observer, certificate_state& into) noexcept {
    ++into.failed_reloads;
    try {
        const auto failed = unavailable("SIGHUP: " + std::string{reason});
        observer.on_problem(failed);
    } catch (const std::exception&) {  // out of memory: without a line
    }
}

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

void report_authorities(const result<void>& read, const observers& observer, certificate_state& into) noexcept {
    if (read) return;
    try {
        report_failed_reload("the old certificate authorities remain in use: " + read.error().log_text(), observer, into);
    } catch (const std::exception&) {  // out of memory
        ++into.failed_reloads;
    }
}

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

void run_server(const settings& settings, const service_catalog& services) {
    const signals stop_signals;
    allow_descriptors(settings.connections_max);
    make_private_directory(settings.data);
    switch (settings.store_location().kind) {
        case location::kind::memory: return serve_on_memory(settings, services, stop_signals);
        case location::kind::sqlite: return serve_on_sqlite(settings, services, stop_signals);
        case location::kind::postgres:
#if defined(TOLLGATE_WITH_POSTGRES)
            return serve_on_postgres(settings, services, stop_signals);
#else
            break;  // no such setting is read
#endif
    }
}

}  // namespace reference
