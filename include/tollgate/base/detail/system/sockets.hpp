#pragma once
#ifndef TOLLGATE_BASE_DETAIL_SYSTEM_SOCKETS_HPP
#define TOLLGATE_BASE_DETAIL_SYSTEM_SOCKETS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/system/socket_handle.hpp>
#include <tollgate/base/detail/system/windows.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <system_error>

#if !defined(TOLLGATE_SYSTEM_WINDOWS)
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#endif
#if defined(TOLLGATE_SYSTEM_LINUX)
#include <linux/filter.h>
#include <linux/sockios.h>
#endif

/// The functions of sockets that differ between systems. None of them raises a signal. Those that fail set `last_socket_error`.
namespace tollgate::inline v0::detail {

#if defined(TOLLGATE_SYSTEM_WINDOWS)

/// Windows wants this before the first socket or name lookup. It stays in effect until the process ends.
inline void use_sockets() noexcept {
    static const int started = [] {
        WSADATA about{};
        return ::WSAStartup(MAKEWORD(2, 2), &about);
    }();
    (void)started;
}

[[nodiscard]] inline int last_socket_error() noexcept { return ::WSAGetLastError(); }
[[nodiscard]] inline bool would_block(int error) noexcept { return error == WSAEWOULDBLOCK; }
[[nodiscard]] inline bool was_interrupted(int error) noexcept { return error == WSAEINTR; }
[[nodiscard]] inline bool is_connecting(int error) noexcept { return error == WSAEWOULDBLOCK; }
[[nodiscard]] inline bool is_unknown_family(int error) noexcept { return error == WSAEAFNOSUPPORT; }
/// The client has left before it was accepted.
[[nodiscard]] inline bool has_left(int error) noexcept { return error == WSAECONNRESET; }
/// A socket cannot be bound or connected for want of a local address or port.
[[nodiscard]] inline bool has_no_address(int error) noexcept { return error == WSAEADDRNOTAVAIL; }
/// No socket or memory is left.
[[nodiscard]] inline bool is_exhausted(int error) noexcept { return error == WSAEMFILE || error == WSAENOBUFS; }

inline constexpr int sending_direction = SD_SEND;
inline constexpr int receiving_direction = SD_RECEIVE;
inline constexpr int both_directions = SD_BOTH;
/// Windows lets another process take over a port that is used with SO_REUSEADDR.
inline constexpr int listener_option = SO_EXCLUSIVEADDRUSE;

/// The resolver has failed for want of something on this machine; `cause` is its `errno`.
[[nodiscard]] inline bool is_local_lookup_failure(int failed, int) noexcept {
    return failed == WSA_NOT_ENOUGH_MEMORY || is_exhausted(failed);
}

inline void close_handle(native_socket one) noexcept { ::closesocket(one); }

[[nodiscard]] inline bool make_non_blocking(native_socket one) noexcept {
    u_long on = 1;
    return ::ioctlsocket(one, static_cast<long>(FIONBIO), &on) == 0 &&
           ::SetHandleInformation(reinterpret_cast<HANDLE>(one), HANDLE_FLAG_INHERIT, 0) != 0;
}

[[nodiscard]] inline std::ptrdiff_t receive_some(native_socket from, char* into, std::size_t bytes) noexcept {
    return ::recv(from, into, static_cast<int>(bytes), 0);
}
[[nodiscard]] inline std::ptrdiff_t send_some(native_socket to, const char* from, std::size_t bytes) noexcept {
    return ::send(to, from, static_cast<int>(bytes), 0);
}

inline bool set_option(native_socket one, int level, int name) noexcept {
    const int on = 1;
    return ::setsockopt(one, level, name, reinterpret_cast<const char*>(&on), sizeof on) == 0;
}
inline bool get_option(native_socket one, int level, int name, int& value) noexcept {
    int bytes = sizeof value;
    return ::getsockopt(one, level, name, reinterpret_cast<char*>(&value), &bytes) == 0;
}

inline int poll_sockets(pollfd* all, unsigned count, int milliseconds) noexcept { return ::WSAPoll(all, count, milliseconds); }

#else

inline void use_sockets() noexcept {}

[[nodiscard]] inline int last_socket_error() noexcept { return errno; }
/// There are two names, with the same number on most systems.
[[nodiscard]] inline bool would_block(int error) noexcept {
#if EAGAIN != EWOULDBLOCK
    if (error == EWOULDBLOCK) return true;
#endif
    return error == EAGAIN;
}
[[nodiscard]] inline bool was_interrupted(int error) noexcept { return error == EINTR; }
[[nodiscard]] inline bool is_connecting(int error) noexcept { return error == EINPROGRESS; }
[[nodiscard]] inline bool is_unknown_family(int error) noexcept { return error == EAFNOSUPPORT; }
/// The client has left before it was accepted.
[[nodiscard]] inline bool has_left(int error) noexcept { return error == ECONNABORTED; }
/// A socket cannot be bound or connected for want of a local address or port.
[[nodiscard]] inline bool has_no_address(int error) noexcept { return error == EADDRNOTAVAIL; }
/// No descriptor or memory is left.
[[nodiscard]] inline bool is_exhausted(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

inline constexpr int sending_direction = SHUT_WR;
inline constexpr int receiving_direction = SHUT_RD;
inline constexpr int both_directions = SHUT_RDWR;
inline constexpr int listener_option = SO_REUSEADDR;  // a restart need not wait for old connections to expire

// Linux and the BSDs have a flag for each call, macOS an option of the socket.
#if defined(TOLLGATE_POSIX_ONLY)
inline constexpr int send_flags = 0;
#elif defined(MSG_NOSIGNAL)
inline constexpr int send_flags = MSG_NOSIGNAL;
#else
inline constexpr int send_flags = 0;
#endif

/// The resolver has failed for want of something on this machine; `cause` is its `errno`.
[[nodiscard]] inline bool is_local_lookup_failure(int failed, int cause) noexcept {
    return failed == EAI_SYSTEM || cause == EMFILE || cause == ENFILE || cause == ENOBUFS;
}

inline void close_handle(native_socket one) noexcept { ::close(one); }

[[nodiscard]] inline bool make_non_blocking(native_socket one) noexcept {
    const int flags = ::fcntl(one, F_GETFL, 0);
    return flags >= 0 && ::fcntl(one, F_SETFL, flags | O_NONBLOCK) == 0 && ::fcntl(one, F_SETFD, FD_CLOEXEC) == 0;
}

[[nodiscard]] inline std::ptrdiff_t receive_some(native_socket from, char* into, std::size_t bytes) noexcept {
    return ::recv(from, into, bytes, 0);
}
[[nodiscard]] inline std::ptrdiff_t send_some(native_socket to, const char* from, std::size_t bytes) noexcept {
    return ::send(to, from, bytes, send_flags);
}

inline bool set_option(native_socket one, int level, int name) noexcept {
    const int on = 1;
    return ::setsockopt(one, level, name, &on, sizeof on) == 0;
}
inline bool get_option(native_socket one, int level, int name, int& value) noexcept {
    socklen_t bytes = sizeof value;
    return ::getsockopt(one, level, name, &value, &bytes) == 0;
}

inline int poll_sockets(pollfd* all, unsigned count, int milliseconds) noexcept {
    return ::poll(all, number_as<nfds_t>(count), milliseconds);
}

#endif

[[nodiscard]] inline std::string socket_error_text(int error) { return std::system_category().message(error); }

#if defined(TOLLGATE_SYSTEM_LINUX)

/// A stream socket that never waits, and that programs started by this process do not get; `no_socket` after a failure.
[[nodiscard]] inline native_socket open_socket(int family) noexcept {
    return ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}
/// A connection of a listening socket, made as `open_socket` makes one.
[[nodiscard]] inline native_socket accept_socket(native_socket listening, sockaddr* from, socklen_t* bytes) noexcept {
    return ::accept4(listening, from, bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/// Returns true if the peer has not yet acknowledged everything. Returns false where the system cannot tell.
[[nodiscard]] inline bool has_unacknowledged(native_socket one) noexcept {
    int bytes = 0;
    return ::ioctl(one, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

/// A listening TCP socket drops segments with SYN and without ACK. Nothing happens where the system has no packet filters.
inline void drop_new_handshakes(native_socket listening) noexcept {
    // The flags are byte 13 of the TCP header (RFC 9293 section 3.1), where the data begins that the filter of a TCP socket sees.
    constexpr std::uint32_t flags_at = 13, syn = 0x02, ack = 0x10, whole_segment = 0xffffffff;
    sock_filter program[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, flags_at), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, syn | ack),
                             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, syn, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),
                             BPF_STMT(BPF_RET | BPF_K, whole_segment)};
    const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
    (void)::setsockopt(listening, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

#else

/// What the other systems do in several calls. A program that another thread starts between them gets the socket, too.
[[nodiscard]] inline native_socket prepared_socket(native_socket one) noexcept {
    if (one == no_socket) return no_socket;
#if defined(SO_NOSIGPIPE)
    (void)set_option(one, SOL_SOCKET, SO_NOSIGPIPE);
#endif
    if (make_non_blocking(one)) return one;
    const int error = last_socket_error();
    close_handle(one);
#if defined(TOLLGATE_SYSTEM_WINDOWS)
    ::WSASetLastError(error);
#else
    errno = error;
#endif
    return no_socket;
}

[[nodiscard]] inline native_socket open_socket(int family) noexcept {
    use_sockets();
    return prepared_socket(::socket(family, SOCK_STREAM, 0));
}
[[nodiscard]] inline native_socket accept_socket(native_socket listening, sockaddr* from, socklen_t* bytes) noexcept {
    return prepared_socket(::accept(listening, from, bytes));
}
[[nodiscard]] inline bool has_unacknowledged([[maybe_unused]] native_socket one) noexcept {
    int bytes = 0;
#if defined(SO_NWRITE)  // macOS
    if (!get_option(one, SOL_SOCKET, SO_NWRITE, bytes)) return false;
#elif defined(FIONWRITE)  // FreeBSD, NetBSD
    if (::ioctl(one, FIONWRITE, &bytes) != 0) return false;
#elif defined(TIOCOUTQ) && !defined(TOLLGATE_SYSTEM_WINDOWS)
    if (::ioctl(one, TIOCOUTQ, &bytes) != 0) return false;
#endif
    return bytes > 0;
}
inline void drop_new_handshakes(native_socket) noexcept {}

#endif

/// Returns true if a socket is open and has received nothing that was not read. Does not wait.
[[nodiscard]] inline bool is_silent(native_socket one) noexcept {
    pollfd polled{one, POLLIN, 0};
    return poll_sockets(&polled, 1, 0) == 0;
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_SYSTEM_SOCKETS_HPP
