#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_SOCKET_CALLS_IPP
#define TOLLGATE_SERVER_DETAIL_SOCKET_CALLS_IPP

#include <tollgate/base/detail/would_block.hpp>
#include <tollgate/server/detail/socket_calls.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#if defined(__linux__)
#include <linux/filter.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#endif

namespace tollgate::inline v0::server_detail {

namespace detail {

/// All address families in one type, as socket calls require.
union socket_address {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
    sockaddr_un unix_domain;
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
    if (bytes < 0 && (tollgate::detail::would_block(errno) || errno == EINTR)) return {io_state::would_block, 0};
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
    pollfd polled{one, 0, 0};
    return ::poll(&polled, 1, 0) > 0 && (polled.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

TOLLGATE_DECL void close_socket(socket_handle one) noexcept {
    ::shutdown(one, SHUT_RDWR);
    ::close(one);
}

TOLLGATE_COLD void close_listening(const listening_socket& one) noexcept {
    if (one.is_shared) ::close(one.socket);
    else close_socket(one.socket);
}

namespace detail {

inline bool is_at_path(socket_handle one) noexcept {
    socket_address name{};
    socklen_t bytes = sizeof name;
    return ::getsockname(one, &name.any, &bytes) == 0 && name.any.sa_family == AF_UNIX;
}

}  // namespace detail

TOLLGATE_COLD void ignore_new_clients(socket_handle listening) noexcept {
#if defined(__linux__)
    if (detail::is_at_path(listening)) return;  // this protocol has no handshake
    // Drops segments with SYN and without ACK. The flags are byte 13 of the TCP header (RFC 9293 section 3.1), where the data begins that
    // the filter of a TCP socket sees.
    constexpr std::uint32_t flags_at = 13, syn = 0x02, ack = 0x10, whole_segment = 0xffffffff;
    sock_filter program[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, flags_at), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, syn | ack),
                             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, syn, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),
                             BPF_STMT(BPF_RET | BPF_K, whole_segment)};
    const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
    (void)::setsockopt(listening, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
#else
    (void)listening;
#endif
}

TOLLGATE_COLD void refuse_new_clients_at_path(socket_handle listening) noexcept {
    if (detail::is_at_path(listening)) ::shutdown(listening, SHUT_RD);
}

TOLLGATE_COLD std::size_t open_files_max() noexcept {
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
        const int accepted = ::accept4(listening, &from.any, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
        const int accepted = ::accept(listening, &from.any, &bytes);
#endif
        if (accepted < 0) {
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
        if (!detail::make_non_blocking(accepted)) {
            ::close(accepted);
            continue;
        }
#endif
#if defined(SO_NOSIGPIPE)
        detail::set_option(accepted, SOL_SOCKET, SO_NOSIGPIPE);
#endif
        detail::set_option(accepted, IPPROTO_TCP, TCP_NODELAY);
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

inline error listen_error(const std::string& place, std::string_view call) {
    return {error_kind::unavailable, "Cannot listen at " + place + ": " + std::strerror(errno) + " (" + std::string{call} + ").", {}};
}

#if defined(SOCK_CLOEXEC)
inline constexpr int stream_type = SOCK_STREAM | SOCK_CLOEXEC;  // at once: another thread may start a program before a later fcntl
#else
inline constexpr int stream_type = SOCK_STREAM;
#endif

/// Closes the socket unless it is released: building its description may throw.
class new_socket {
public:
    explicit new_socket(int socket) noexcept : socket_{socket} {}
    new_socket(const new_socket&) = delete;
    new_socket& operator=(const new_socket&) = delete;
    ~new_socket() {
        if (socket_ >= 0) ::close(socket_);
    }

    [[nodiscard]] int get() const noexcept { return socket_; }
    int release() noexcept { return std::exchange(socket_, -1); }

private:
    int socket_;
};

inline bool is_socket_file(const socket_address& name) noexcept {
    struct stat found{};
    return ::lstat(name.unix_domain.sun_path, &found) == 0 && S_ISSOCK(found.st_mode);
}

/// Removes the file of a Unix domain socket on which no process listens. False if one listens.
inline bool remove_stale(const socket_address& name, socklen_t bytes) noexcept {
    const new_socket asking{::socket(AF_UNIX, stream_type, 0)};
    // Non-blocking, because a process that does not accept may listen. While its backlog is full, the error is EAGAIN.
    if (asking.get() < 0 || !make_non_blocking(asking.get())) return false;
    return ::connect(asking.get(), &name.any, bytes) != 0 && errno == ECONNREFUSED && ::unlink(name.unix_domain.sun_path) == 0;
}

inline result<listening_socket> listen_at_path(const listen_address& endpoint, int backlog, unsigned mode) {
    const std::string_view path = unix_path_of(endpoint);
    socket_address name{};
    if (path.empty() || path.size() >= sizeof name.unix_domain.sun_path || path.find('\0') != std::string_view::npos)
        return invalid("The path of " + endpoint.address + " is empty or too long for a Unix domain socket.");
    name.unix_domain.sun_family = AF_UNIX;
    std::memcpy(name.unix_domain.sun_path, path.data(), path.size());
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);

    listening_socket listening{.at = {endpoint.address, 0}};  // before there is a file, which nothing removes when memory runs out
    new_socket opened{::socket(AF_UNIX, stream_type, 0)};
    if (opened.get() < 0) return listen_error(endpoint.address, "socket");
    if (!make_non_blocking(opened.get())) return listen_error(endpoint.address, "fcntl");
    int bound = ::bind(opened.get(), &name.any, bytes);
    if (bound != 0 && errno == EADDRINUSE) {
        if (!is_socket_file(name)) errno = EEXIST;
        else if (remove_stale(name, bytes)) bound = ::bind(opened.get(), &name.any, bytes);
        else errno = EADDRINUSE;
    }
    if (bound != 0) return listen_error(endpoint.address, "bind");
    const char* failed = nullptr;
    // Set before `listen`, so that only permitted users can connect.
    if (::chmod(name.unix_domain.sun_path, mode) != 0) failed = "chmod";
    else if (::listen(opened.get(), backlog) != 0) failed = "listen";
    if (failed != nullptr) {
        const int reason = errno;
        ::unlink(name.unix_domain.sun_path);
        errno = reason;
        return listen_error(endpoint.address, failed);
    }
    listening.socket = opened.release();
    return listening;
}

}  // namespace detail

TOLLGATE_COLD void socket_file::identify() noexcept {
    struct stat found{};
    if (::lstat(path_.c_str(), &found) != 0) return;
    device_ = found.st_dev;
    inode_ = found.st_ino;
}

TOLLGATE_COLD void socket_file::remove() const noexcept {
    struct stat found{};
    if (::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_) ::unlink(path_.c_str());
}

TOLLGATE_COLD result<listening_socket> adopt_listening(socket_handle socket) {
    int listens = 0;
    socklen_t bytes = sizeof listens;
    detail::socket_address name{};
    socklen_t name_bytes = sizeof name;
    if (::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0 || listens == 0 ||
        !detail::make_non_blocking(socket) || ::getsockname(socket, &name.any, &name_bytes) != 0)
        return invalid("Descriptor " + std::to_string(socket) + " is not a listening socket.");
    if (name.any.sa_family == AF_UNIX) {
        const std::size_t path_bytes = name_bytes - offsetof(sockaddr_un, sun_path);
        const std::string path{name.unix_domain.sun_path, ::strnlen(name.unix_domain.sun_path, path_bytes)};
        return listening_socket{socket, {"unix:" + path, 0}, false, true};
    }
    const bool ipv6 = name.any.sa_family == AF_INET6;
    const auto port = ntohs(ipv6 ? name.v6.sin6_port : name.v4.sin_port);
    return listening_socket{socket, {detail::to_ip_address(name).to_text(), port}, ipv6, true};
}

TOLLGATE_COLD result<listening_socket> listen_at(const listen_address& endpoint, int backlog, unsigned unix_socket_mode) {
    if (endpoint.address.starts_with("unix:")) return detail::listen_at_path(endpoint, backlog, unix_socket_mode);
    const std::string place = endpoint.address + " port " + std::to_string(endpoint.port);
    const auto address = ip_address::parse(endpoint.address);
    if (!address) return invalid("The listen address " + endpoint.address + " is not an IPv4 or IPv6 address.");

    detail::socket_address name{};
    const socklen_t name_bytes = detail::to_socket_address(*address, endpoint.port, name);
    detail::new_socket opened{::socket(name.any.sa_family, detail::stream_type, 0)};
    if (opened.get() < 0) return detail::listen_error(place, "socket");
    if (!detail::make_non_blocking(opened.get())) return detail::listen_error(place, "fcntl");
    detail::set_option(opened.get(), SOL_SOCKET, SO_REUSEADDR);  // a restart need not wait for old connections to expire
    if (name.any.sa_family == AF_INET6) detail::set_option(opened.get(), IPPROTO_IPV6, IPV6_V6ONLY);
    if (::bind(opened.get(), &name.any, name_bytes) != 0) return detail::listen_error(place, "bind");
    if (::listen(opened.get(), backlog) != 0) return detail::listen_error(place, "listen");

    socklen_t bytes = sizeof name;
    if (::getsockname(opened.get(), &name.any, &bytes) != 0) return detail::listen_error(place, "getsockname");
    const bool ipv6 = name.any.sa_family == AF_INET6;
    listening_socket listening{.at = {endpoint.address, ntohs(ipv6 ? name.v6.sin6_port : name.v4.sin_port)}, .ipv6 = ipv6};
    listening.socket = opened.release();
    return listening;
}

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_SOCKET_CALLS_IPP
