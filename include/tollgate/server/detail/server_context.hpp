#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/http/detail/request_parser.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/server/detail/connection_limiter.hpp>
#include <tollgate/server/detail/tls_context.hpp>
#include <tollgate/server/detail/worker_pool.hpp>
#include <tollgate/server/server_settings.hpp>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

namespace tollgate::inline v0::server_detail {

/// What all loops of one server share. May be used by several threads at the same time.
class server_context {
public:
    server_context(http::handler_ref answers, server_settings how)
        : handler{answers},
          settings{std::move(how)},
          connections{settings.connections_max, settings.connections_per_address_max},
          workers{settings.worker_queue_max} {}

    const http::handler_ref handler;
    const server_settings settings;
    connection_limiter connections;
    worker_pool workers;
    std::atomic<bool> stopping = false;

    [[nodiscard]] http::parser_settings parsing() const noexcept {
        http::parser_settings made;
        made.header_bytes_max = settings.header_bytes_max;
        made.body_bytes_max = settings.body_bytes_max;
        return made;
    }

    /// Of new connections; empty without TLS.
    [[nodiscard]] std::shared_ptr<const tls_context> tls() const {
        const std::lock_guard hold{tls_mutex_};
        return tls_;
    }
    void set_tls(std::shared_ptr<const tls_context> context) {
        const std::lock_guard hold{tls_mutex_};
        tls_ = std::move(context);
    }

private:
    mutable std::mutex tls_mutex_;
    std::shared_ptr<const tls_context> tls_;
};

/// Says which server the calling thread is serving, so that `stop` does not wait for the thread that calls it.
class serving_scope {
public:
    explicit serving_scope(const server_context& of) noexcept : before_{std::exchange(current(), &of)} {}
    serving_scope(const serving_scope&) = delete;
    serving_scope& operator=(const serving_scope&) = delete;
    ~serving_scope() { current() = before_; }

    [[nodiscard]] static bool inside(const server_context& of) noexcept { return current() == &of; }

private:
    static const server_context*& current() noexcept {
        static thread_local const server_context* one = nullptr;
        return one;
    }

    const server_context* before_;
};

}  // namespace tollgate::server_detail
