#pragma once

#include <cstdint>
#include <stdexcept>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tollgate_test {

/// A socket that listens at a free port of 127.0.0.1, for a server that starts later.
///
/// Data that a client sends before is available when the server's timeouts begin, so that a client that a busy machine
/// delays is not treated as a slow one.
class server_socket {
public:
    server_socket() : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t bytes = sizeof at;
        if (::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 || ::listen(socket_, 16) != 0 ||
            ::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &bytes) != 0)
            throw std::runtime_error{"cannot listen"};
        port_ = ntohs(at.sin_port);
    }
    server_socket(const server_socket&) = delete;
    server_socket& operator=(const server_socket&) = delete;
    ~server_socket() { ::close(socket_); }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// A descriptor for a server, which closes it.
    [[nodiscard]] int copy() const noexcept { return ::dup(socket_); }

private:
    int socket_;
    std::uint16_t port_ = 0;
};

}  // namespace tollgate_test
