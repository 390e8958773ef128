#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/server/server_settings.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// The system calls of sockets, none of which waits or raises a signal: what is read and written, and when, is decided by
/// a connection; Asio is asked only when a socket is ready.
namespace tollgate::inline v0::server_detail {

using socket_handle = int;
inline constexpr socket_handle no_socket = -1;

enum class io_state : std::uint8_t { done, would_block, closed };

struct io_result {
    io_state state = io_state::closed;
    std::size_t bytes = 0;
};

/// `closed` for the end of the stream too. Precondition: `into` is not empty.
TOLLGATE_DECL io_result receive(socket_handle from, std::span<char> into) noexcept;
TOLLGATE_DECL io_result send(socket_handle to, std::string_view bytes) noexcept;

/// Says that nothing more is sent, and goes on receiving.
TOLLGATE_DECL void end_sending(socket_handle on) noexcept;
/// Whether the other side has yet to take something of what was sent. False where the system cannot tell.
[[nodiscard]] TOLLGATE_DECL bool is_sending(socket_handle on) noexcept;
TOLLGATE_DECL void close_socket(socket_handle one) noexcept;

enum class accept_state : std::uint8_t {
    accepted,
    none,       ///< nobody is waiting
    exhausted,  ///< no descriptor or memory is left: try again later, for trying at once would spin
};

struct accept_result {
    accept_state state = accept_state::none;
    socket_handle socket = no_socket;
    ip_address peer;
};

/// The new socket does not block, and sends without delay: batches are made by us, and Nagle's algorithm together with
/// delayed acknowledgements would hold each of them back for 40 ms.
TOLLGATE_DECL accept_result accept_one(socket_handle listening) noexcept;

/// A listening socket, and the address with the port it really has.
struct listening_socket {
    socket_handle socket = no_socket;
    listen_address at;
    bool ipv6 = false;
};
TOLLGATE_DECL result<listening_socket> listen_at(const listen_address& where, int backlog);

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/socket_calls.ipp>
#endif
