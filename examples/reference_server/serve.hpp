#pragma once

#include "demo.hpp"
#include "handler_settings.hpp"
#include "observers.hpp"
#include "reload_thread.hpp"
#include "request_log.hpp"
#include "service_manager.hpp"
#include "settings.hpp"
#include "signals.hpp"

#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/monitoring/metrics.hpp>
#include <tollgate/server/server.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <thread>

namespace reference {

/// Serves until SIGTERM or SIGINT, and then until requests in flight are finished. Prints the ready line once connections
/// are accepted; reads certificates again on SIGHUP. Throws `run_error`.
void run_server(const settings& settings, const tollgate::service_catalog& services);

// `run_server` with each kind of store. Each is in a separate file, because each compiles every handler for its store.

void serve_on_memory(const settings& settings, const tollgate::service_catalog& services, const signals& stop_signals);
void serve_on_sqlite(const settings& settings, const tollgate::service_catalog& services, const signals& stop_signals);
/// Only in a build with libpq.
void serve_on_postgres(const settings& settings, const tollgate::service_catalog& services, const signals& stop_signals);

// The parts of `serve_from` that do not depend on the store.

/// How long requests and deliveries in progress may take after the signal to stop and `--shutdown-grace`.
inline constexpr tollgate::seconds stop_timeout{10};
/// When the process ends after that signal and `--shutdown-grace`, even if a thread still waits for a disk. With the default grace, less
/// than `TimeoutStopSec` in tollgate.service.
inline constexpr tollgate::seconds exit_timeout{15};

/// The ready line. If its URLs do not show every listener's port, it also lists the listeners.
void print_ready(const tollgate::server& running, const settings& settings, const public_urls& urls,
                 const std::optional<demo>& shown, const std::optional<listen_address>& admin);

/// What the metrics report about the certificate.
struct certificate_state {
    std::atomic<std::int64_t> expires_at = 0;  ///< in Unix seconds; 0: unknown, or no TLS
    std::atomic<std::uint64_t> failed_reloads = 0;
    std::atomic<std::thread::id> reloading{};  ///< the thread that reads the certificates again

    [[nodiscard]] bool is_reloading_here() const noexcept { return reloading.load() == std::this_thread::get_id(); }
};

void report(const certificate_state& certificate, tollgate::metrics_writer& to);

/// A line about a problem, and a count.
void report_failed_reload(std::string_view reason, const observers& observer, certificate_state& into) noexcept;

/// Notes when the certificate expires, and writes a notice if clients will refuse that of `--tls-cert`: it expired, or is not valid yet.
void check_certificate_in_use(const settings& settings, const request_log& log, certificate_state& into);

/// Throws `usage_error` if a URL would be that of `--listen`, which a server with passed sockets does not use.
void expect_configured_urls(const settings& settings);

/// Throws `usage_error` or `run_error`, depending on why the server did not start.
void expect_started(const tollgate::result<void>& started, const settings& settings);

/// Reads the certificates again; on any error, the old ones remain in use.
void reload_certificates(tollgate::server& running, const settings& settings, const request_log& log, const observers& observer,
                         certificate_state& into) noexcept;

/// Reports certificate authorities that could not be read again.
void report_authorities(const tollgate::result<void>& read, const observers& observer, certificate_state& into) noexcept;

/// Returns at the signal to stop; until then it asks for a reload on each SIGHUP, and notifies the watchdog. After it, a signal ends the
/// process, and so does the end of the time for stopping.
void wait_for_stop_signal(reload_thread& reload, const signals& stop_signals, const service_manager& manager,
                          tollgate::seconds shutdown_grace);

}  // namespace reference
