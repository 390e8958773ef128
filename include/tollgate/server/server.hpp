#pragma once
#ifndef TOLLGATE_SERVER_SERVER_HPP
#define TOLLGATE_SERVER_SERVER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/any_io_executor.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/server/server_settings.hpp>
#include <tollgate/server/server_statistics.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace tollgate::inline v0 {

namespace server_detail {
class server_context;
class event_loop_group;

/// Creates the event loops of a server: on threads of their own, or on the caller's executor.
using loop_group_factory =
    std::function<std::unique_ptr<event_loop_group>(const std::shared_ptr<server_context>& context, std::size_t loops)>;
}  // namespace server_detail

/// Serves a handler over HTTP/1.1, with or without TLS 1.2 and 1.3.
///
///     tollgate::server server{api, {.port = 8443, .tls = {"cert.pem", "key.pem"}}};
///     return server.run();
///
/// A server has its own threads or runs on an Asio executor; it installs no signal handlers, and a process may have several servers. The
/// handler must outlive the server. A blocking handler is called on worker threads, never on an I/O thread. Every function except
/// construction and destruction may be called from any thread at any time. A handler may stop its server, but not destroy it, except by
/// ending the process. A server runs once: create another server to start again. In a child process, a server that the parent has started
/// does nothing, and is not destroyed.
///
/// If the handler depends on the port, as a handler whose URLs contain it does, listen first, and pass the handler to `start`:
///
///     std::optional<shop_api> api;  // outlives the server
///     tollgate::server server{tollgate::http::handler_ref{}, {.port = 0}};
///     if (const auto listens = server.listen(); !listens) return report(listens.error());
///     api.emplace("http://127.0.0.1:" + std::to_string(server.port()));
///     if (const auto started = server.start(*api); !started) return report(started.error());
class server {
public:
    /// Constructs a server that runs on `settings.threads` threads of its own. Opens no socket yet. Throws std::runtime_error if
    /// OpenSSL returns no random bytes.
    ///
    /// On Linux these threads use epoll. Elsewhere, or if `TOLLGATE_SERVER_ASIO` is defined for the whole program, they use Asio; then this
    /// header includes `<tollgate/server/asio_server.hpp>`.
    TOLLGATE_COLD explicit server(http::handler_ref handler, server_settings settings = {});

    /// Constructs a server on `executor`, which several threads may run. Connections are divided among `settings.threads` event loops, each
    /// of which is used by one thread at a time. The executor's context must outlive the server. Include
    /// `<tollgate/server/asio_server.hpp>` to use this constructor; programs that do not include it do not compile Asio. Throws
    /// std::runtime_error if OpenSSL returns no random bytes.
    TOLLGATE_COLD server(const asio::any_io_executor& executor, http::handler_ref handler, server_settings settings = {});

    server(const server&) = delete;
    server& operator=(const server&) = delete;

    /// Stops without waiting for requests, except for blocking calls of the handler in progress.
    TOLLGATE_COLD ~server();

    /// Opens the sockets, so that `port` and `endpoints` are known. Clients that connect wait until `start`, at most
    /// `server_settings::backlog` of them. Without this call, `start` opens the sockets. Errors: those of `start`.
    TOLLGATE_COLD result<void> listen();

    /// Starts the server and returns when connections are accepted. An error names the setting, address or certificate that cannot be used,
    /// or says that there is no handler; after an error, no socket stays open. Starting a server again, or after it has been stopped, is
    /// also an error, which changes nothing.
    TOLLGATE_COLD result<void> start();
    /// Serves `handler`, which must outlive the server, instead of the constructor's.
    TOLLGATE_COLD result<void> start(http::handler_ref handler);

    /// Calls `start`, then `wait`, for the end of `main`. Returns the exit code: 0 when the server has stopped, even if it was stopped
    /// before it was started; 1 if it could not start, after printing the reason to stderr. To handle the error yourself, call `start` and
    /// `wait`.
    TOLLGATE_COLD int run();

    /// Waits until the server has stopped. Must not be called by a handler or by the only thread that runs the executor.
    TOLLGATE_COLD void wait();

    /// Stops the server. For `server_settings::stop_grace`, it serves as before, but every response has `Connection: close`. Then it
    /// accepts no more connections, closes idle connections, and finishes the requests in progress; a connection that has just been
    /// accepted has half a second to send its request. `deadline` after the grace, the remaining connections are closed and requests
    /// waiting for a worker are dropped. A deadline of zero or less ends everything at once, without a grace. Returns when everything has
    /// ended and the port is free. Only calls of a blocking handler that are still running can delay the return beyond grace and deadline
    /// together.
    ///
    /// If a handler calls it, or a thread that the server's executor needs to make progress, it returns at once, and the server stops while
    /// the executor runs. If no thread runs the executor, it gives up one second after the deadline. May be called again, for instance with
    /// an earlier deadline.
    TOLLGATE_COLD void stop(milliseconds deadline = seconds{10});

    /// Reads certificate, key and ticket keys again, for new connections. After an error the old certificate and keys stay in use. If only
    /// the file of ticket keys cannot be used, the call succeeds: the old ticket keys stay in use, and `server_settings::on_warning` is
    /// called.
    TOLLGATE_COLD result<void> reload_certificates();

    /// Returns the addresses on which the server accepts connections, with the actual ports. Empty before `listen` and `start`.
    [[nodiscard]] TOLLGATE_COLD std::vector<listen_address> endpoints() const;
    /// Returns the server's counts so far. The numbers are read one after another, so they may not be consistent with each other.
    [[nodiscard]] TOLLGATE_DECL server_statistics statistics() const noexcept;
    /// Returns the port of the first address; 0 before `listen` and `start`.
    [[nodiscard]] TOLLGATE_COLD std::uint16_t port() const;

private:
    class core;

    TOLLGATE_COLD server(http::handler_ref handler, server_settings&& settings, server_detail::loop_group_factory make_loops);

    std::unique_ptr<core> core_;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/server.ipp>
#endif

#if defined(TOLLGATE_SERVER_ASIO)
#include <tollgate/server/asio_server.hpp>
#endif

#endif  // TOLLGATE_SERVER_SERVER_HPP
