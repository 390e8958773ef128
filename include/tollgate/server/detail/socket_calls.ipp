#pragma once

#include <tollgate/server/detail/socket_calls.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#if defined(__linux__)
#include <linux/sockios.h>
#include <sys/ioctl.h>
#endif

namespace tollgate::inline v0::server_detail {

namespace detail {

/// Both address families in one type, as socket calls require.
union socket_address {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
};

inline ip_address to_ip_address(const socket_address& from) noexcept {
    std::array<std::uint8_t, 16> bytes{};
    if (from.any.sa_family == AF_INET6) {
        std::memcpy(bytes.data(), &from.v6.sin6_addr, bytes.size());
    } else {
        bytes[10] = bytes[11] = 0xff;
        std::memcpy(bytes.data() + 12, &from.v4.sin_addr, 4);
    }
    return ip_address::from_bytes(bytes);
}

inline socklen_t to_socket_address(const ip_address& from, std::uint16_t port, socket_address& to) noexcept {
    to = {};
    if (from.is_v4()) {
        to.v4.sin_family = AF_INET;
        to.v4.sin_port = htons(port);
        std::memcpy(&to.v4.sin_addr, from.bytes().data() + 12, 4);
        return sizeof to.v4;
    }
    to.v6.sin6_family = AF_INET6;
    to.v6.sin6_port = htons(port);
    std::memcpy(&to.v6.sin6_addr, from.bytes().data(), 16);
    return sizeof to.v6;
}

inline bool make_non_blocking(int socket) noexcept {
    const int flags = ::fcntl(socket, F_GETFL, 0);
    return flags >= 0 && ::fcntl(socket, F_SETFL, flags | O_NONBLOCK) == 0 && ::fcntl(socket, F_SETFD, FD_CLOEXEC) == 0;
}

inline void set_option(int socket, int level, int name) noexcept {
    const int on = 1;
    (void)::setsockopt(socket, level, name, &on, sizeof on);  // a socket without one of the options still works
}

#if defined(MSG_NOSIGNAL)
inline constexpr int send_flags = MSG_NOSIGNAL;
#else
inline constexpr int send_flags = 0;  // there accept_one sets SO_NOSIGPIPE
#endif

inline io_result to_io_result(ssize_t bytes) noexcept {
    if (bytes > 0) return {io_state::done, static_cast<std::size_t>(bytes)};
    if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return {io_state::would_block, 0};
    return {io_state::closed, 0};
}

}  // namespace detail

TOLLGATE_DECL io_result receive(socket_handle from, std::span<char> into) noexcept {
    return detail::to_io_result(::recv(from, into.data(), into.size(), 0));
}

TOLLGATE_DECL io_result send(socket_handle to, std::string_view bytes) noexcept {
    return detail::to_io_result(::send(to, bytes.data(), bytes.size(), detail::send_flags));
}

TOLLGATE_DECL void end_sending(socket_handle on) noexcept { ::shutdown(on, SHUT_WR); }

TOLLGATE_DECL bool is_sending(socket_handle on) noexcept {
#if defined(__linux__)
    int bytes = 0;
    return ::ioctl(on, SIOCOUTQ, &bytes) == 0 && bytes > 0;
#else
    (void)on;
    return false;
#endif
}

TOLLGATE_DECL bool is_broken(socket_handle one) noexcept {
    pollfd asked{one, 0, 0};
    return ::poll(&asked, 1, 0) > 0 && (asked.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

TOLLGATE_DECL void close_socket(socket_handle one) noexcept {
    ::shutdown(one, SHUT_RDWR);
    ::close(one);
}

TOLLGATE_DECL std::size_t open_files_max() noexcept {
    rlimit limit{};
    const bool limited = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? limit.rlim_cur : (std::numeric_limits<std::size_t>::max)();
}

TOLLGATE_DECL void spare_descriptor::open() noexcept {
    if (descriptor_ < 0) descriptor_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TOLLGATE_DECL void spare_descriptor::close() noexcept {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

TOLLGATE_DECL accept_result accept_one(socket_handle listening) noexcept {
    for (;;) {
        detail::socket_address from{};
        socklen_t bytes = sizeof from;
#if defined(__linux__)
        const int made = ::accept4(listening, &from.any, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
        const int made = ::accept(listening, &from.any, &bytes);
#endif
        if (made < 0) {
            switch (errno) {
                case EINTR:
                case ECONNABORTED: continue;  // the client has left; there may be others
                case EMFILE:
                case ENFILE:
                case ENOBUFS:
                case ENOMEM: return {accept_state::exhausted, no_socket, {}};
                default: return {accept_state::none, no_socket, {}};
            }
        }
#if !defined(__linux__)
        if (!detail::make_non_blocking(made)) {
            ::close(made);
            continue;
        }
#endif
#if defined(SO_NOSIGPIPE)
        detail::set_option(made, SOL_SOCKET, SO_NOSIGPIPE);
#endif
        detail::set_option(made, IPPROTO_TCP, TCP_NODELAY);
        return {accept_state::accepted, made, detail::to_ip_address(from)};
    }
}

TOLLGATE_DECL result<listening_socket> listen_at(const listen_address& where, int backlog) {
    const std::string place = where.address + " port " + std::to_string(where.port);
    const auto address = ip_address::parse(where.address);
    if (!address) return invalid("The listen address " + where.address + " is not an IPv4 or IPv6 address.");

    detail::socket_address name{};
    const socklen_t name_bytes = detail::to_socket_address(*address, where.port, name);
    const auto failed = [&](std::string_view call) {
        return error{error_kind::unavailable, "Cannot listen at " + place + ": " + std::strerror(errno) + ".",
                       std::string{call} + " failed"};
    };

#if defined(SOCK_CLOEXEC)
    // atomically: another thread may start a program before a later fcntl
    constexpr int type = SOCK_STREAM | SOCK_CLOEXEC;
#else
    constexpr int type = SOCK_STREAM;
#endif
    const int made = ::socket(name.any.sa_family, type, 0);
    if (made < 0) return failed("socket");
    const auto give_up = [&](std::string_view call) {
        error why = failed(call);
        ::close(made);
        return why;
    };
    if (!detail::make_non_blocking(made)) return give_up("fcntl");
    detail::set_option(made, SOL_SOCKET, SO_REUSEADDR);  // a restart need not wait for old connections to expire
    if (name.any.sa_family == AF_INET6) detail::set_option(made, IPPROTO_IPV6, IPV6_V6ONLY);
    if (::bind(made, &name.any, name_bytes) != 0) return give_up("bind");
    if (::listen(made, backlog) != 0) return give_up("listen");

    socklen_t bytes = sizeof name;
    if (::getsockname(made, &name.any, &bytes) != 0) return give_up("getsockname");
    const bool ipv6 = name.any.sa_family == AF_INET6;
    return listening_socket{made, {where.address, ntohs(ipv6 ? name.v6.sin6_port : name.v4.sin_port)}, ipv6};
}

}  // namespace tollgate::server_detail
