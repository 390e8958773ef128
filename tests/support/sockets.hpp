#pragma once

#include <tollgate/base/detail/system/sockets.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>

/// Sockets of TCP on 127.0.0.1 for tests on all systems. They wait, unlike those of the library, whose functions they use.
namespace tollgate_test {

using tollgate::detail::native_socket;
using tollgate::detail::no_socket;

/// Closes its socket at the end of the scope.
class owned_socket {
public:
    owned_socket() : owned_socket{open()} {}
    explicit owned_socket(native_socket socket) noexcept : socket_{socket} {}
    owned_socket(owned_socket&& other) noexcept : socket_{std::exchange(other.socket_, no_socket)} {}
    owned_socket& operator=(owned_socket&&) = delete;
    ~owned_socket() {
        if (socket_ != no_socket) tollgate::detail::close_handle(socket_);
    }

    [[nodiscard]] native_socket native() const noexcept { return socket_; }

private:
    static native_socket open() {
#if defined(SOCK_CLOEXEC)
        constexpr int kind = SOCK_STREAM | SOCK_CLOEXEC;  // programs that a test starts do not get it
#else
        constexpr int kind = SOCK_STREAM;
#endif
        tollgate::detail::use_sockets();
        const native_socket opened = ::socket(AF_INET, kind, 0);
        if (opened == no_socket) throw std::runtime_error{"no socket"};
        return opened;
    }

    native_socket socket_;
};

/// A name of 127.0.0.1.
inline sockaddr_in loopback(std::uint16_t port) noexcept {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return name;
}

inline bool connect_to(native_socket socket, std::uint16_t port) noexcept {
    const sockaddr_in to = loopback(port);
    return ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

template <class Value>
void set_socket_option(native_socket socket, int name, const Value& value) noexcept {
    ::setsockopt(socket, SOL_SOCKET, name, reinterpret_cast<const char*>(&value), sizeof value);
}

/// Makes closing reset the connection.
inline void reset_on_close(native_socket socket) noexcept {
    linger now{};
    now.l_onoff = 1;
    set_socket_option(socket, SO_LINGER, now);
}

/// False when the peer no longer accepts data.
inline bool send_all(native_socket socket, std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        const auto sent = tollgate::detail::send_some(socket, bytes.data(), bytes.size());
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

/// Another handle of the same socket, for an owner that closes it.
inline native_socket copy_of(native_socket socket) noexcept {
#if defined(TOLLGATE_SYSTEM_WINDOWS)
    WSAPROTOCOL_INFOW about{};
    if (::WSADuplicateSocketW(socket, ::GetCurrentProcessId(), &about) != 0) return no_socket;
    return ::WSASocketW(FROM_PROTOCOL_INFO, FROM_PROTOCOL_INFO, FROM_PROTOCOL_INFO, &about, 0, WSA_FLAG_OVERLAPPED);
#else
    return ::dup(socket);
#endif
}

}  // namespace tollgate_test
