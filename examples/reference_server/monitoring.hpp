#pragma once

#include "assembly.hpp"
#include "settings.hpp"
#include "storage.hpp"

#include <tollgate/http/site.hpp>
#include <tollgate/monitoring/health.hpp>
#include <tollgate/monitoring/metrics.hpp>
#include <tollgate/server/server.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

struct sqlite3;

/// What operators see of a running server: health checks, metrics, and the listener that serves them.
namespace reference {

/// What the metrics report about the write-ahead log of SQLite.
struct wal_state {
    std::uintmax_t bytes = 0;
    std::chrono::steady_clock::duration oldest_reader{};  ///< how long a reader has kept the log from being copied into the database
};

/// How long a reader has kept the log from being copied: SQLite copies it up to the oldest reader's place. Until the log is longer than
/// that, a reader is not noticed, and does no harm.
class reader_age {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// What a checkpoint returned: frames in the log, and how many of them are in the database.
    void observe(int frames, int copied, time_point now) noexcept {
        if (frames < 0 || copied < 0) return;  // another process makes a checkpoint
        if (copied >= frames) since_.reset();
        else if (!since_ || copied != copied_) since_ = now;
        copied_ = copied;
    }
    [[nodiscard]] std::chrono::steady_clock::duration at(time_point now) const noexcept {
        return since_ ? now - *since_ : std::chrono::steady_clock::duration{};
    }

private:
    std::optional<time_point> since_;
    int copied_ = 0;
};

/// Observes the write-ahead log of a database, on a connection of its own.
class wal_watch {
public:
    explicit wal_watch(const std::filesystem::path& database);
    wal_watch(const wal_watch&) = delete;
    wal_watch& operator=(const wal_watch&) = delete;
    ~wal_watch();

    /// Makes a checkpoint, which does not wait for readers and writers, if the log has changed or a reader held the last one up.
    void check() noexcept;
    /// As of the last check.
    [[nodiscard]] wal_state state() const;

private:
    const std::filesystem::path log_;
    sqlite3* connection_ = nullptr;
    std::optional<std::filesystem::file_time_type> checked_;  // the log, when it was last checked
    mutable std::mutex mutex_;
    std::uintmax_t bytes_ = 0;
    reader_age age_;
};

/// What the metrics report about the certificate.
struct certificate_state {
    std::atomic<std::int64_t> expires_at = 0;  ///< in Unix seconds; 0: unknown, or no TLS
    std::atomic<std::uint64_t> failed_reloads = 0;
    std::atomic<std::thread::id> reloading{};  ///< the thread that reads the certificates again

    [[nodiscard]] bool is_reloading_here() const noexcept { return reloading.load() == std::this_thread::get_id(); }
};

/// The parts of a running server. All of them outlive its metrics and health checks.
struct watched_parts {
    const tollgate::server& server;
    const storage& data;
    assembly& assembled;
    const certificate_state& certificate;
    wal_watch* wal;  ///< null without SQLite
};

/// Adds health checks and metrics.
void watch(tollgate::metrics& counts, tollgate::health& checks, const watched_parts& parts);

/// The plain listener for operators: `/healthz`, `/readyz` and `/metrics`, on a thread that serves nothing else.
class admin_listener {
public:
    /// Responds with 404 to every other path.
    struct nothing_else {
        static constexpr bool blocking = false;

        void handle(const tollgate::http::request&, tollgate::http::response& response) const noexcept {
            response.set_status(tollgate::http::status::not_found);
        }
        void handle(const tollgate::http::refusal& refused, tollgate::http::response& response) const noexcept {
            response.set_status(refused.status);
        }
    };

    /// Responds with 421 to requests for hosts that are neither IP addresses, nor names without a dot, nor known: a web page must not read
    /// the metrics through a name of its own that resolves to this address (DNS rebinding).
    struct host_check {
        static constexpr bool blocking = false;
        static constexpr bool reads_body = false;

        void handle(const tollgate::http::request& request, tollgate::http::response& response) noexcept {
            if (knows_host_of(request)) site.handle(request, response);
            else response.set_status(tollgate::http::status::misdirected_request);
        }
        void handle(const tollgate::http::refusal& refused, tollgate::http::response& response) noexcept { site.handle(refused, response); }
        [[nodiscard]] bool knows_host_of(const tollgate::http::request& request) const noexcept;

        tollgate::http::site site;
        tollgate::http::allowed_hosts known;
    };

    /// `hosts`: names with dots by which it is reached, besides that of this machine. The others outlive it. Nothing is opened before
    /// `start`.
    admin_listener(const listen_address& endpoint, const std::vector<std::string>& hosts, tollgate::metrics& counts,
                   tollgate::health& checks);

    /// Throws `run_error`.
    void start();
    /// The address that it listens on, with the real port.
    [[nodiscard]] listen_address address() const;

private:
    listen_address endpoint_;
    nothing_else nothing_else_;
    host_check checked_;
    tollgate::server server_;
};

}  // namespace reference
