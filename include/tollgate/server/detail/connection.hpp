#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_CONNECTION_HPP
#define TOLLGATE_SERVER_DETAIL_CONNECTION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/server/detail/connection_limiter.hpp>
#include <tollgate/server/detail/connection_states.hpp>
#include <tollgate/server/detail/deadline_wheel.hpp>
#include <tollgate/server/detail/event_loop.hpp>
#include <tollgate/server/detail/socket_calls.hpp>
#include <tollgate/server/detail/tls_stream.hpp>
#include <tollgate/server/detail/worker_pool.hpp>
#include <tollgate/server/detail/workspace.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace tollgate::inline v0::server_detail {

/// A client connection: reads when its socket is ready, answers all requests that have arrived, and sends the
/// responses as one batch. `connection_states.hpp` decides what happens when; this class performs the actions of its
/// table.
///
/// A connection waits for one thing at a time: its socket (then the pending wait owns it) or a worker (then the worker
/// owns it). While it waits for the next message it has no buffer. Used by its loop's thread, except for `work` and
/// `complete`.
class connection : public deadline_wheel::entry, public work_item {
public:
    TOLLGATE_DECL connection(event_loop& loop, socket_handle socket, const ip_address& peer, admission admitted) noexcept;
    TOLLGATE_DECL ~connection() override;

    /// Starts serving. May end the connection and destroy it; so may the next two.
    TOLLGATE_DECL void begin() noexcept;
    /// The wait has ended: the socket is ready or broken, or the wait was cancelled.
    TOLLGATE_DECL void on_ready() noexcept;
    /// A worker has finished with it, or it was removed from the workers' queue.
    TOLLGATE_DECL void on_completed() noexcept;

    /// Ends the current wait early; the connection handles `reason` when the wait is over.
    TOLLGATE_DECL void interrupt(interruption reason) noexcept;
    /// Returns true if it counts as one of `connections_max` and has no request in progress.
    [[nodiscard]] bool idle() const noexcept {
        const bool no_request = state_ == connection_state::idle || state_ == connection_state::fresh ||
                                state_ == connection_state::handshaking;
        return no_request && is_replaceable();
    }
    /// Returns true if it counts as one of `connections_max` and waits for the rest of a request.
    [[nodiscard]] bool unfinished() const noexcept {
        return (state_ == connection_state::in_head || state_ == connection_state::in_body) && is_replaceable();
    }

    /// Ends being one of the loop's `tls_keepers`, and frees the buffers. False, and nothing changes, if it does not wait for its socket.
    TOLLGATE_DECL bool stop_keeping_tls_buffers() noexcept;

    TOLLGATE_DECL void on_deadline() noexcept override;
    [[nodiscard]] TOLLGATE_DECL std::optional<http::work_kind> work(bool has_queued) noexcept override;
    TOLLGATE_DECL void complete(bool worked) noexcept override;

protected:
    /// A successful wait calls `on_ready` later, never from within, and owns the connection until then. False: the wait
    /// could not be started, for instance for lack of memory, and nothing will be called.
    [[nodiscard]] virtual bool wait_readable() noexcept = 0;
    [[nodiscard]] virtual bool wait_writable() noexcept = 0;
    virtual void cancel() noexcept = 0;

    /// Returns true if the last read filled its buffer, so that the socket may have more input.
    [[nodiscard]] bool may_have_input() const noexcept { return may_have_input_; }

private:
    friend class connection_list;
    using event = connection_event;

    TOLLGATE_DECL void handle(event current) noexcept;
    TOLLGATE_DECL event perform(connection_action action);

    TOLLGATE_DECL event await(bool wait_started) noexcept;
    TOLLGATE_DECL event begin_tls();
    TOLLGATE_DECL io_result receive_into(std::span<char> space) noexcept;
    TOLLGATE_DECL event receive_input();
    TOLLGATE_DECL event receive_ciphertext();
    TOLLGATE_DECL event decrypt();
    TOLLGATE_DECL event serve();
    TOLLGATE_DECL event submit();
    TOLLGATE_DECL void count_work(bool has_queued) noexcept;
    TOLLGATE_DECL event outcome(http1_session::state session, io_state sent);
    TOLLGATE_DECL event resume_output(io_state sent);
    TOLLGATE_DECL event refuse(http::status status, std::string_view reason);
    TOLLGATE_DECL event finish();
    TOLLGATE_DECL event discard_input();
    TOLLGATE_DECL event extend_linger() noexcept;

    /// Sends the output and counts what is left. Closed: also if that is too much.
    TOLLGATE_DECL io_state transmit();
    TOLLGATE_DECL io_state send_output();
    TOLLGATE_DECL bool hold_unsent(const unsent_output& now) noexcept;
    TOLLGATE_DECL void open_workspace();
    TOLLGATE_DECL void close_workspace() noexcept;
    TOLLGATE_DECL void arm_deadline() noexcept;
    TOLLGATE_DECL void release_tls_buffers() noexcept;
    TOLLGATE_DECL void arm_linger() noexcept;
    [[nodiscard]] bool is_replaceable() const noexcept {
        return admitted_ == admission::accepted && waiting_ && interruption_ == interruption::none;
    }

    /// The longest round trip on earth; `stop` waits for it.
    static constexpr milliseconds linger_while_stopping{250};

    event_loop& loop_;
    connection* previous_ = nullptr;  // in the loop's list
    connection* next_ = nullptr;
    std::unique_ptr<workspace> workspace_;
    std::unique_ptr<tls_stream> tls_;
    ip_address peer_;
    ip_address local_;  // its own address
    socket_handle socket_;
    unsent_output unsent_;  // bytes as counted by the server's limiter
    std::uint32_t discarded_bytes_ = 0;
    std::uint32_t linger_extensions_ = 0;
    std::uint64_t message_at_arming_ = 0;  // distinguishes the deadline of one message from the next
    connection_state state_ = connection_state::connected;
    deadline deadline_ = deadline::none;
    interruption interruption_ = interruption::none;
    admission admitted_;
    std::chrono::steady_clock::time_point queued_at_{};
    bool keeps_tls_buffers_ = false;  // true if it is in the loop's `tls_keepers`
    bool taken_up_ = false;  // the current request, by a worker
    bool waiting_ = false;
    bool may_have_input_ = false;
    bool withdrawn_ = false;                                          // removed from the workers' queue
    http1_session::state after_output_ = http1_session::state::idle;  // the session's state before its output was sent
    io_state sent_ = io_state::done;                                  // the result of sending on a worker
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/connection.ipp>
#include <tollgate/server/detail/event_loop.ipp>
#endif

#endif  // TOLLGATE_SERVER_DETAIL_CONNECTION_HPP
