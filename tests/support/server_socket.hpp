#pragma once

#include <support/sockets.hpp>

#include <cstdint>
#include <stdexcept>

namespace tollgate_test {

/// Whether a server could listen at this port of 127.0.0.1.
inline bool port_is_free(std::uint16_t port) {
    const owned_socket probe;
    (void)tollgate::detail::set_option(probe.native(), SOL_SOCKET, tollgate::detail::listener_option);
    const sockaddr_in at = loopback(port);
    return ::bind(probe.native(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
}

/// A socket that is bound to a free port of 127.0.0.1 and does not listen. The system gives the port to nobody else, connections to
/// it are refused, and a program that sets SO_REUSEADDR, as servers do except on Windows, can listen at it, again and again.
class reserved_port : public owned_socket {
public:
    reserved_port() {
        (void)tollgate::detail::set_option(native(), SOL_SOCKET, tollgate::detail::listener_option);
        sockaddr_in at = loopback(0);
        socklen_t bytes = sizeof at;
        if (::bind(native(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
            ::getsockname(native(), reinterpret_cast<sockaddr*>(&at), &bytes) != 0)
            throw std::runtime_error{"no free port"};
        port_ = ntohs(at.sin_port);
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

private:
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

    /// A handle for a server, which closes it.
    [[nodiscard]] native_socket copy() const noexcept { return copy_of(native()); }
};

}  // namespace tollgate_test
