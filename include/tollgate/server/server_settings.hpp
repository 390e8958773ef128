#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// Where to accept connections: an IPv4 or IPv6 address in text and a port; port 0 is any free one.
struct listen_address {
    std::string address;
    std::uint16_t port = 0;
};

/// A certificate chain (leaf first) and its key, PEM: as files, which `server::reload_certificates` reads again, or as
/// text. All empty: no TLS.
struct tls_settings {
    std::string certificate_file = {};
    std::string key_file = {};
    std::string certificate_pem = {};
    std::string key_pem = {};

    /// Whether a certificate and key are given.
    [[nodiscard]] bool enabled() const noexcept {
        return !certificate_file.empty() || !key_file.empty() || !certificate_pem.empty() || !key_pem.empty();
    }
};

/// The settings of a server. Each default has its reason beside it; every bound holds for one server.
struct server_settings {
    std::string address = "127.0.0.1";  ///< reachable from other machines only if that is requested
    std::uint16_t port = 8080;
    std::vector<listen_address> more_addresses = {};
    tls_settings tls = {};

    unsigned threads = 0;                 ///< for sockets; 0: one for each core
    unsigned worker_threads = 8;          ///< for blocking handlers, which wait more than they compute
    std::size_t worker_queue_max = 1024;  ///< requests waiting for a worker, then 503: at 1 ms each a wait of 0.13 s
    milliseconds queue_wait_max = seconds{2};  ///< for a worker, then 503: a client that waits longer will try again anyway
    int backlog = 4096;                   ///< connections that the kernel accepts in advance; it cuts this to its own bound

    std::size_t header_bytes_max = limits::header_bytes_default;
    std::size_t body_bytes_max = limits::body_bytes_default;

    /// Then the connection that has been idle for longest is closed for a new one; if none is idle, the new one gets 503.
    /// 1 GB if each has sent all but the end of a largest body. Fewer if the limit on open files leaves no room for them.
    std::size_t connections_max = 10'000;
    /// For one client address (an IPv6 address by its /64), then 503. 0: a quarter of `connections_max`, at least 64. Behind a
    /// proxy, whose address all connections have, set it to `connections_max`.
    std::size_t connections_per_address_max = 0;

    milliseconds header_timeout = seconds{10};     ///< from a message's first byte (or the connection's start) to its head's end
    milliseconds body_timeout = seconds{30};       ///< for the whole body: 64 KiB at 17 kbit/s
    milliseconds idle_timeout = seconds{60};       ///< between messages: nginx keeps 75 s, most clients less
    milliseconds write_timeout = seconds{30};      ///< for a client to take one batch of responses
    milliseconds handshake_timeout = seconds{10};  ///< for the whole TLS handshake: a few round trips
    milliseconds linger_timeout = seconds{5};      ///< how long a refused client may go on sending before it is cut off

    /// Called with one line when the system is short of something that the server needs; at most once a minute for each cause,
    /// by a thread that serves sockets: it must not block.
    std::function<void(std::string_view message)> on_warning = {};
};

}  // namespace tollgate
