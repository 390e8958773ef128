#pragma once
#ifndef TOLLGATE_SERVER_SERVER_SETTINGS_HPP
#define TOLLGATE_SERVER_SERVER_SETTINGS_HPP

#include <tollgate/base/detail/system/socket_handle.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

namespace server_detail {
class tls_context;
}

/// The system's type of a socket: a descriptor of type `int`, and on Windows an unsigned integer of a pointer's size (`SOCKET`).
using socket_handle = detail::native_socket;

/// An address to listen on: an IPv4 or IPv6 address as text, and a port; port 0 selects a free port. Or `unix:` and the path of a Unix
/// domain socket, with port 0: its file is created with mode `server_settings::unix_socket_mode` and removed at the end; a file that a
/// crash has left is replaced if no process listens on it. Except on Linux, the server locks a file beside it while it
/// listens, whose name ends in `.lock`. Its connections have the peer 127.0.0.1: if a proxy connects there, list that address as a trusted
/// proxy. Windows has no such sockets: `start` fails (unavailable).
struct listen_address {
    std::string address;
    std::uint16_t port = 0;
};

struct tls_settings;

/// A function that reads a certificate and its key: `{"cert.pem", "key.pem"}`, or the result of `tls_from` for more settings. Both need
/// tollgate/server/tls.hpp, so that programs without TLS do not compile TLS. Empty: no TLS.
struct tls_source : std::function<result<std::shared_ptr<const server_detail::tls_context>>()> {
    using function::function;

    /// Constructs a source for a certificate chain (leaf first) and its key, as PEM files.
    template <class Settings = tls_settings>
    tls_source(std::string certificate_file, std::string key_file)
        : tls_source{from_files<Settings>(std::move(certificate_file), std::move(key_file))} {}

private:
    template <class Settings>
    static tls_source from_files(std::string certificate_file, std::string key_file) {
        constexpr bool has_tls = requires { sizeof(Settings); };
        static_assert(has_tls, "tollgate: TLS needs tollgate/server/tls.hpp");
        if constexpr (has_tls) return tls_from(Settings{std::move(certificate_file), std::move(key_file)});
        else return {};
    }
};

/// The settings of a server. Comments give the reasons for the defaults; every bound applies to one server. All durations,
/// `header_bytes_max`, `connections_max`, `unsent_bytes_max`, `worker_threads` and `worker_queue_max` must be above zero unless a comment
/// says otherwise, or `start` fails (invalid).
struct server_settings {
    /// The first address to listen on, and its port, as in `listen_address`. Other machines cannot reach the default address.
    std::string address = "127.0.0.1";
    std::uint16_t port = 8080;
    std::vector<listen_address> more_addresses = {};  ///< further addresses to listen on
    /// Sockets that are already bound and listening, which replace all addresses. The program that starts this process passes them, such as
    /// systemd. The server closes its descriptors at the end; other processes that hold the sockets can still accept.
    std::vector<socket_handle> listening_sockets = {};
    unsigned unix_socket_mode = 0660;  ///< mode of the file of a Unix domain socket: its owner and group may connect
    tls_source tls = {};               ///< the certificate, such as `{"cert.pem", "key.pem"}`; empty: no TLS

    unsigned threads = 0;                 ///< number of I/O threads; 0: one for each core
    /// Worker threads for blocking handlers, which wait more than they compute: at most this number for each `http::work_kind`, started
    /// when needed, so that requests that wait for one part of the application take no workers from others. Lookups of credentials, users
    /// and limits, which share round trips, get eight times as many; checks of passwords four times as many.
    unsigned worker_threads = 8;
    std::size_t worker_queue_max = 1024;  ///< requests of a kind that wait for a worker, then 503; at 1 ms each a wait of 0.13 s
    /// The time for which a request may wait for a worker, from when it first needs one, before it gets 503. Most clients retry before that
    /// anyway.
    milliseconds queue_wait_max = seconds{2};
    /// Connections that the kernel accepts in advance. The kernel also applies its own bound.
    int backlog = 4096;

    /// Bound in bytes of all field lines of a request; beyond it, the response is 431. This and `body_bytes_max` are reduced to 1 GiB.
    std::size_t header_bytes_max = limits::header_bytes_default;
    /// Bound in bytes of a request's body. The handler gets a request with a larger body as `http::body_state::too_large`, without the
    /// body. The library's handlers answer it with 413.
    std::size_t body_bytes_max = limits::body_bytes_default;

    /// Bound of open connections. When it is reached, the I/O thread that gets a new connection closes the connection of its own that has
    /// been idle the longest; if none is idle, the new connection gets 503. The default number of connections uses about 1 GB of memory
    /// when each client has sent almost all of a body of 64 KiB. The bound is reduced if the limit on open files requires it.
    std::size_t connections_max = 10'000;
    /// Bound of connections of a client address (an IPv6 address by its /64), then 503. 0: a quarter of `connections_max`, at least 64.
    std::size_t connections_per_address_max = 0;
    /// If true, and the server is full and no connection is idle, it closes the connection whose request has been arriving for the longest,
    /// instead of refusing the new connection. For a listener on which a complete request must always get a response, such as the listener
    /// of health checks.
    bool replace_unfinished = false;
    /// Bound in bytes of responses that clients have not taken yet: a connection that would exceed it is closed. A client address gets at
    /// most a quarter, unless it is in `shared_addresses`, and so does a user (`http::response::user`); that also bounds a response to a
    /// client that reads slower than the server sends.
    std::size_t unsent_bytes_max = 256 * 1024 * 1024;
    /// Addresses to which the bounds for an address do not apply, because many clients share them: the proxies that you trust.
    std::vector<ip_network> shared_addresses = {};

    milliseconds header_timeout = seconds{10};     ///< bound from a message's first byte (or the connection's start) to its head's end
    milliseconds body_timeout = seconds{30};       ///< bound of the whole body: 64 KiB at 17 kbit/s
    milliseconds idle_timeout = seconds{60};       ///< bound between messages: nginx keeps 75 s, most clients less
    milliseconds write_timeout = seconds{30};      ///< bound for a client to take a batch of responses
    milliseconds handshake_timeout = seconds{10};  ///< bound of the whole TLS handshake: a few round trips
    /// The time for which a refused client may continue to send before its connection is closed.
    milliseconds linger_timeout = seconds{5};

    /// The time for which `server::stop` continues to accept connections and to serve, with `Connection: close` in every response, before
    /// it closes idle connections. So clients and proxies leave their connections between two requests, instead of losing a request that
    /// they send at the moment at which the server closes. In the last quarter, at most 250 ms, TCP listeners ignore new clients, and only
    /// accept clients that are connecting already: the others try again after a second, when another process may listen. Zero or less:
    /// none. Behind a load balancer, set a longer time than it needs to notice that the server is not ready.
    milliseconds stop_grace = seconds{1};

    /// Called with one line when a system resource runs short, at most once a minute for each cause, and when `reload_certificates` keeps
    /// the former ticket keys. It runs on an I/O thread or the caller's thread, and must not block.
    std::function<void(std::string_view message)> on_warning = {};
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_SERVER_SETTINGS_HPP
