#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_SOCKET_CALLS_HPP
#define TOLLGATE_SERVER_DETAIL_SOCKET_CALLS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/system/files.hpp>
#include <tollgate/base/detail/system/socket_handle.hpp>
#include <tollgate/base/detail/system/unix_socket.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/server/server_settings.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The system calls of sockets. None of them waits or raises a signal.
namespace tollgate::inline v0::server_detail {

using tollgate::detail::no_socket;
using tollgate::detail::socket_file;

enum class io_state : std::uint8_t { done, would_block, closed };

struct io_result {
    io_state state = io_state::closed;
    std::size_t bytes = 0;
};

/// A listening socket, and its address with the actual port.
struct listening_socket {
    socket_handle socket = no_socket;
    listen_address at;
    bool ipv6 = false;
    bool is_shared = false;  ///< others accept at it, too: it is closed without ending it for them
};

/// Returns `closed` at the end of the stream, too. Precondition: `into` is not empty.
TOLLGATE_DECL io_result receive(socket_handle from, std::span<char> into) noexcept;
TOLLGATE_DECL io_result send(socket_handle to, std::string_view bytes) noexcept;

/// Ends the sending direction; receiving continues.
TOLLGATE_DECL void end_sending(socket_handle on) noexcept;
/// Returns true if the peer has not yet acknowledged everything. Returns false where the system cannot tell.
[[nodiscard]] TOLLGATE_DECL bool is_sending(socket_handle on) noexcept;
/// Returns true if the connection was reset or has failed, but not for a client that has only ended its sending direction.
[[nodiscard]] TOLLGATE_DECL bool is_broken(socket_handle one) noexcept;
/// Ends the connection or the listening and closes the descriptor. This takes effect even if a child process has a copy
/// of the descriptor, as one that was forked without `exec` has.
TOLLGATE_DECL void close_socket(socket_handle one) noexcept;
/// Ends the listening and closes the descriptor. A shared socket stays open for the processes that share it.
TOLLGATE_COLD void close_listening(const listening_socket& one) noexcept;

/// From now on, a listening TCP socket ignores clients that begin to connect: they try again after a second, and then reach whoever
/// listens at the port. Handshakes that have begun still end. Nothing happens where the system has no packet filters.
TOLLGATE_COLD void ignore_new_clients(socket_handle listening) noexcept;
/// From now on, a listening Unix domain socket refuses clients; those that are connected can be accepted.
TOLLGATE_COLD void refuse_new_clients_at_path(socket_handle listening) noexcept;

/// Hands each socket to one of the loops, in turn. If a loop throws, the sockets that no loop has yet are closed.
template <class Loops>
void distribute(const std::vector<listening_socket>& sockets, const Loops& loops) {
    for (std::size_t i = 0; i < sockets.size(); ++i) {
        try {
            loops[i % loops.size()]->listen(sockets[i]);
        } catch (...) {
            while (++i < sockets.size()) close_listening(sockets[i]);
            throw;
        }
    }
}

/// A reserved descriptor, to refuse a client when no other is left.
class spare_descriptor {
public:
    spare_descriptor() noexcept { open(); }
    spare_descriptor(const spare_descriptor&) = delete;
    spare_descriptor& operator=(const spare_descriptor&) = delete;
    ~spare_descriptor() { close(); }

    void open() noexcept {
        if (descriptor_ < 0) descriptor_ = tollgate::detail::open_null();
    }
    void close() noexcept {
        if (descriptor_ >= 0) tollgate::detail::close_null(std::exchange(descriptor_, -1));
    }

private:
    int descriptor_ = -1;
};

enum class accept_state : std::uint8_t {
    accepted,
    none,       ///< no connection is waiting
    exhausted,  ///< no descriptor or memory is left; an immediate retry would spin
};

struct accept_result {
    accept_state state = accept_state::none;
    socket_handle socket = no_socket;
    ip_address peer;
};

/// The new socket is non-blocking and sends without delay: responses are sent in batches, which Nagle's algorithm would
/// hold back for 40 ms together with delayed acknowledgements.
TOLLGATE_DECL accept_result accept_one(socket_handle listening) noexcept;

/// The address of the socket's own end; none (`ip_address{}`) for a Unix domain socket.
[[nodiscard]] TOLLGATE_DECL ip_address local_address_of(socket_handle connected) noexcept;

/// Precondition: not a `unix:` address.
TOLLGATE_COLD result<listening_socket> listen_at(const listen_address& endpoint, int backlog);
/// Makes `file`, whose path is that of the `unix:` address.
TOLLGATE_COLD result<listening_socket> listen_at_path(const listen_address& endpoint, socket_file& file, int backlog, unsigned mode);

/// A listening socket that another process created and bound.
TOLLGATE_COLD result<listening_socket> adopt_listening(socket_handle socket);

/// The path of a `unix:` address; empty for another one.
[[nodiscard]] inline std::string_view unix_path_of(const listen_address& endpoint) noexcept {
    constexpr std::string_view prefix = "unix:";
    const std::string_view text = endpoint.address;
    return text.starts_with(prefix) ? text.substr(prefix.size()) : std::string_view{};
}

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/socket_calls.ipp>
#endif

#endif  // TOLLGATE_SERVER_DETAIL_SOCKET_CALLS_HPP
