#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_SERVER_CONTEXT_HPP
#define TOLLGATE_SERVER_DETAIL_SERVER_CONTEXT_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/process_life.hpp>
#include <tollgate/base/detail/thread_mark.hpp>
#include <tollgate/http/detail/request_parser.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/server/detail/connection_limiter.hpp>
#include <tollgate/server/detail/socket_calls.hpp>
#include <tollgate/server/detail/tls_stream.hpp>
#include <tollgate/server/detail/worker_pool.hpp>
#include <tollgate/server/server_settings.hpp>
#include <tollgate/server/server_statistics.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

namespace tollgate::inline v0::server_detail {

/// Shared by all event loops of one server. Thread-safe.
class server_context {
public:
    server_context(http::handler_ref answers, server_settings&& configured)
        : handler{answers}, settings{std::move(configured)},
          limiter{connections_max(settings), per_address_max(settings), settings.shared_addresses, settings.unsent_bytes_max},
          workers{settings.worker_queue_max} {}

    http::handler_ref handler;  // constant while there are loops
    const server_settings settings;
    connection_limiter limiter;
    worker_pool workers;
    server_counters counters;
    std::atomic<bool> stopping = false;
    std::atomic<bool> abandoned = false;  ///< the server's threads end without finishing anything
    tollgate::detail::owning_process process;

    [[nodiscard]] http::parser_settings parsing() const noexcept {
        http::parser_settings parser;
        parser.header_bytes_max = settings.header_bytes_max;
        parser.body_bytes_max = settings.body_bytes_max;
        return parser;
    }

    /// Returns the context for new connections; null without TLS.
    [[nodiscard]] std::shared_ptr<const tls_context> tls() const {
        const std::lock_guard hold{tls_mutex_};
        return tls_;
    }
    void set_tls(std::shared_ptr<const tls_context> context) {
        const std::lock_guard hold{tls_mutex_};
        tls_ = std::move(context);
    }

    /// Accepts one connection with the descriptor reserved for when no other is left. The caller closes the connection
    /// before destroying the `spare_use`.
    class spare_use {
    public:
        spare_use(server_context& context, socket_handle listening) noexcept : hold_{context.spare_mutex_}, spare_{context.spare_} {
            spare_.close();
            accepted = accept_one(listening);
        }
        spare_use(const spare_use&) = delete;
        spare_use& operator=(const spare_use&) = delete;
        ~spare_use() {
            if (accepted.state == accept_state::accepted) close_socket(accepted.socket);
            spare_.open();
        }
        accept_result accepted;

    private:
        const std::lock_guard<std::mutex> hold_;
        spare_descriptor& spare_;
    };

    /// Reports that no descriptor, or no memory of the kernel, is left, at most once a minute.
    void warn_exhausted(std::chrono::steady_clock::time_point now) noexcept {
        constexpr std::chrono::minutes pause{1};
        const std::lock_guard hold{spare_mutex_};
        if (warned_ && now - warned_at_ < pause) return;
        warned_ = true;
        warned_at_ = now;
        warn("No file descriptor or memory is left: new connections are refused.");
    }

    void warn(std::string_view message) const noexcept {
        try {
            if (settings.on_warning) settings.on_warning(message);
        } catch (...) {
            return;  // the report is optional
        }
    }

private:
    /// The limit on open files leaves some for everything else: the program's own files and sockets, two for each
    /// worker (a database and a limiter), and connections that are being refused. Never less than half of it.
    [[nodiscard]] static std::size_t connections_max(const server_settings& settings) noexcept {
        const std::size_t files = tollgate::detail::open_files_max();
        const std::size_t others = 64 + 2 * std::size_t{settings.worker_threads} + connection_limiter::refusals_max;
        return (std::min)(settings.connections_max, (std::max)(files / 2, files - (std::min)(files, others)));
    }
    /// A quarter by default, so that three addresses cannot exclude a fourth; at least 64, as small servers need no
    /// such share.
    [[nodiscard]] static std::size_t per_address_max(const server_settings& settings) noexcept {
        constexpr std::size_t share_min = 64;
        if (settings.connections_per_address_max != 0) return settings.connections_per_address_max;
        return (std::max)(connections_max(settings) / 4, share_min);
    }

    mutable std::mutex tls_mutex_;
    std::shared_ptr<const tls_context> tls_;
    std::mutex spare_mutex_;
    spare_descriptor spare_;
    bool warned_ = false;
    std::chrono::steady_clock::time_point warned_at_{};
};

/// The longest time that can still be added to a time point, or subtracted from one.
inline constexpr milliseconds for_ever = std::chrono::hours{24 * 365};

/// Marks the calling thread as serving a server.
using serving_scope = tollgate::detail::thread_mark<server_context>;

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_SERVER_CONTEXT_HPP
