#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_SOCKET_CALLS_IPP
#define TOLLGATE_SERVER_DETAIL_SOCKET_CALLS_IPP

#include <tollgate/base/detail/system/sockets.hpp>
#include <tollgate/base/detail/system/unix_socket.hpp>
#include <tollgate/server/detail/socket_calls.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

namespace tollgate::inline v0::server_detail {

namespace detail {

/// All address families in one type, as socket calls require.
union socket_address {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
    char unix_domain[sizeof(sockaddr) + tollgate::detail::path_bytes_max()];  // more than a sockaddr_un
};

inline ip_address to_ip_address(const socket_address& from) noexcept {
    std::array<std::uint8_t, 16> bytes{};
    if (from.any.sa_family == AF_INET6) {
        std::memcpy(bytes.data(), &from.v6.sin6_addr, bytes.size());
    } else if (from.any.sa_family != AF_INET) {
        return ip_address::v4(127, 0, 0, 1);  // a Unix domain socket: the peer is on this machine
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

inline io_result to_io_result(std::ptrdiff_t bytes) noexcept {
    if (bytes > 0) return {io_state::done, static_cast<std::size_t>(bytes)};
    if (bytes == 0) return {io_state::closed, 0};
    const int error = tollgate::detail::last_socket_error();
    const bool is_open = tollgate::detail::would_block(error) || tollgate::detail::was_interrupted(error);
    return {is_open ? io_state::would_block : io_state::closed, 0};
}

}  // namespace detail

TOLLGATE_DECL io_result receive(socket_handle from, std::span<char> into) noexcept {
    return detail::to_io_result(tollgate::detail::receive_some(from, into.data(), into.size()));
}

TOLLGATE_DECL io_result send(socket_handle to, std::string_view bytes) noexcept {
    return detail::to_io_result(tollgate::detail::send_some(to, bytes.data(), bytes.size()));
}

TOLLGATE_DECL void end_sending(socket_handle on) noexcept { ::shutdown(on, tollgate::detail::sending_direction); }

TOLLGATE_DECL bool is_sending(socket_handle on) noexcept { return tollgate::detail::has_unacknowledged(on); }

TOLLGATE_DECL bool is_broken(socket_handle one) noexcept {
    pollfd polled{one, 0, 0};
    return tollgate::detail::poll_sockets(&polled, 1, 0) > 0 && (polled.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

TOLLGATE_DECL void close_socket(socket_handle one) noexcept {
    ::shutdown(one, tollgate::detail::both_directions);
    tollgate::detail::close_handle(one);
}

TOLLGATE_COLD void close_listening(const listening_socket& one) noexcept {
    if (one.is_shared) tollgate::detail::close_handle(one.socket);
    else close_socket(one.socket);
}

namespace detail {

inline bool is_at_path(socket_handle one) noexcept {
    socket_address name{};
    socklen_t bytes = sizeof name;
    return ::getsockname(one, &name.any, &bytes) == 0 && tollgate::detail::is_path_socket(name.any);
}

}  // namespace detail

TOLLGATE_COLD void ignore_new_clients(socket_handle listening) noexcept {
    if (!detail::is_at_path(listening)) tollgate::detail::drop_new_handshakes(listening);  // at a path there are no handshakes
}

TOLLGATE_COLD void refuse_new_clients_at_path(socket_handle listening) noexcept {
    if (detail::is_at_path(listening)) ::shutdown(listening, tollgate::detail::receiving_direction);
}

TOLLGATE_DECL accept_result accept_one(socket_handle listening) noexcept {
    for (;;) {
        detail::socket_address from{};
        socklen_t bytes = sizeof from;
        const socket_handle accepted = tollgate::detail::accept_socket(listening, &from.any, &bytes);
        if (accepted == no_socket) {
            const int error = tollgate::detail::last_socket_error();
            if (tollgate::detail::was_interrupted(error) || tollgate::detail::has_left(error)) continue;  // there may be others
            return {tollgate::detail::is_exhausted(error) ? accept_state::exhausted : accept_state::none, no_socket, {}};
        }
        (void)tollgate::detail::set_option(accepted, IPPROTO_TCP, TCP_NODELAY);
        return {accept_state::accepted, accepted, detail::to_ip_address(from)};
    }
}

TOLLGATE_DECL ip_address local_address_of(socket_handle connected) noexcept {
    detail::socket_address name{};
    socklen_t bytes = sizeof name;
    if (::getsockname(connected, &name.any, &bytes) != 0 || (name.any.sa_family != AF_INET && name.any.sa_family != AF_INET6)) return {};
    return detail::to_ip_address(name);
}

namespace detail {

inline error listen_error(const std::string& place, std::string_view call, int reason) {
    return {error_kind::unavailable,
            "Cannot listen at " + place + ": " + tollgate::detail::socket_error_text(reason) + " (" + std::string{call} + ").", {}};
}

/// Closes the socket unless it is released: building its description may throw.
class new_socket {
public:
    explicit new_socket(socket_handle socket) noexcept : socket_{socket} {}
    new_socket(const new_socket&) = delete;
    new_socket& operator=(const new_socket&) = delete;
    ~new_socket() {
        if (socket_ != no_socket) tollgate::detail::close_handle(socket_);
    }

    [[nodiscard]] socket_handle get() const noexcept { return socket_; }
    socket_handle release() noexcept { return std::exchange(socket_, no_socket); }

private:
    socket_handle socket_;
};

}  // namespace detail

TOLLGATE_COLD result<listening_socket> listen_at_path(const listen_address& endpoint, socket_file& file, int backlog, unsigned mode) {
    const std::string_view path = unix_path_of(endpoint);
    if (path.empty() || path.size() >= tollgate::detail::path_bytes_max() || path.find('\0') != std::string_view::npos)
        return invalid("The path of " + endpoint.address + " is empty or too long for a Unix domain socket.");
    listening_socket listening{.at = {endpoint.address, 0}};  // before there is a file, which nothing removes when memory runs out
    const auto opened = file.listen(backlog, mode);
    if (opened.failed != nullptr) return detail::listen_error(endpoint.address, opened.failed, opened.error);
    listening.socket = opened.socket;
    return listening;
}

TOLLGATE_COLD result<listening_socket> adopt_listening(socket_handle socket) {
    int listens = 0;
    detail::socket_address name{};
    socklen_t name_bytes = sizeof name;
    if (!tollgate::detail::get_option(socket, SOL_SOCKET, SO_ACCEPTCONN, listens) || listens == 0 ||
        !tollgate::detail::make_non_blocking(socket) || ::getsockname(socket, &name.any, &name_bytes) != 0)
        return invalid("Descriptor " + std::to_string(socket) + " is not a listening socket.");
    if (tollgate::detail::is_path_socket(name.any))
        return listening_socket{socket, {"unix:" + tollgate::detail::path_of(name.any, name_bytes), 0}, false, true};
    const bool ipv6 = name.any.sa_family == AF_INET6;
    const auto port = ntohs(ipv6 ? name.v6.sin6_port : name.v4.sin_port);
    return listening_socket{socket, {detail::to_ip_address(name).to_text(), port}, ipv6, true};
}

TOLLGATE_COLD result<listening_socket> listen_at(const listen_address& endpoint, int backlog) {
    const std::string place = endpoint.address + " port " + std::to_string(endpoint.port);
    const auto address = ip_address::parse(endpoint.address);
    if (!address) return invalid("The listen address " + endpoint.address + " is not an IPv4 or IPv6 address.");

    detail::socket_address name{};
    const socklen_t name_bytes = detail::to_socket_address(*address, endpoint.port, name);
    detail::new_socket opened{tollgate::detail::open_socket(name.any.sa_family)};
    const auto failure = [&place](std::string_view call) {
        return detail::listen_error(place, call, tollgate::detail::last_socket_error());
    };
    if (opened.get() == no_socket) return failure("socket");
    // A socket without one of the options still works.
    (void)tollgate::detail::set_option(opened.get(), SOL_SOCKET, tollgate::detail::listener_option);
    if (name.any.sa_family == AF_INET6) (void)tollgate::detail::set_option(opened.get(), IPPROTO_IPV6, IPV6_V6ONLY);
    if (::bind(opened.get(), &name.any, name_bytes) != 0) return failure("bind");
    if (::listen(opened.get(), backlog) != 0) return failure("listen");

    socklen_t bytes = sizeof name;
    if (::getsockname(opened.get(), &name.any, &bytes) != 0) return failure("getsockname");
    const bool ipv6 = name.any.sa_family == AF_INET6;
    listening_socket listening{.at = {endpoint.address, ntohs(ipv6 ? name.v6.sin6_port : name.v4.sin_port)}, .ipv6 = ipv6};
    listening.socket = opened.release();
    return listening;
}

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_SOCKET_CALLS_IPP
