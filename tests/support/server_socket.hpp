#pragma once

#include <cstdint>
#include <stdexcept>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tollgate_test {

/// A socket that is bound to a free port of 127.0.0.1 and does not listen. The system gives the port to nobody else, connections to
/// it are refused, and a program that sets SO_REUSEADDR, as servers do, can listen at it, again and again.
class reserved_port {
public:
    reserved_port() : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
        const int reused = 1;
        ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &reused, sizeof reused);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t bytes = sizeof at;
        if (::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
            ::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &bytes) != 0)
            throw std::runtime_error{"no free port"};
        port_ = ntohs(at.sin_port);
    }
    reserved_port(const reserved_port&) = delete;
    reserved_port& operator=(const reserved_port&) = delete;
    ~reserved_port() { ::close(socket_); }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] int native() const noexcept { return socket_; }

private:
    int socket_;
    std::uint16_t port_ = 0;
};

/// A socket that listens at a free port of 127.0.0.1, for a server that starts later.
///
/// Data that a client sends before is available when the server's timeouts begin, so that a client that a busy machine
/// delays is not treated as a slow one.
class server_socket : public reserved_port {
public:
    server_socket() {
        if (::listen(native(), 4096) != 0) throw std::runtime_error{"cannot listen"};
    }

    /// A descriptor for a server, which closes it.
    [[nodiscard]] int copy() const noexcept { return ::dup(native()); }
};

}  // namespace tollgate_test
