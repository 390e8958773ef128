#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
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

/// Everything that a server asks of its integrator. Each default stands with its reason; every bound is per server.
struct server_settings {
    std::string address = "127.0.0.1";  ///< the world gets in only where somebody said so
    std::uint16_t port = 8080;
    std::vector<listen_address> more_addresses = {};
    tls_settings tls = {};

    unsigned threads = 0;                  ///< that serve sockets; 0: one a core
    unsigned worker_threads = 8;           ///< for blocking handlers: they wait more than they compute
    std::size_t worker_queue_max = 1024;   ///< requests waiting for a worker, then 503: at 1 ms each a wait of 0.13 s
    int backlog = 4096;                    ///< connections the kernel holds for us; it cuts this to its own bound

    std::size_t header_bytes_max = limits::header_bytes_default;
    std::size_t body_bytes_max = limits::body_bytes_default;

    std::size_t connections_max = 10'000;          ///< then 503; 1 GB if each has sent all but the end of a largest body
    std::size_t connections_per_address_max = 0;   ///< 0: no bound of its own, for behind a proxy all share one address

    milliseconds header_timeout = seconds{10};     ///< from a message's first byte (or the connection's start) to its head's end
    milliseconds body_timeout = seconds{30};       ///< for the whole body: 64 KiB at 17 kbit/s
    milliseconds idle_timeout = seconds{60};       ///< between messages: nginx keeps 75 s, most clients less
    milliseconds write_timeout = seconds{30};      ///< for a client to take one batch of responses
    milliseconds handshake_timeout = seconds{10};  ///< for all of a TLS handshake: a few round trips
    milliseconds linger_timeout = seconds{5};      ///< how long a refused client may go on talking before it is cut off
};

}  // namespace tollgate
