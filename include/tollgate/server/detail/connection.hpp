#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/server/detail/connection_limiter.hpp>
#include <tollgate/server/detail/deadline_wheel.hpp>
#include <tollgate/server/detail/event_loop.hpp>
#include <tollgate/server/detail/socket_calls.hpp>
#include <tollgate/server/detail/tls_stream.hpp>
#include <tollgate/server/detail/worker_pool.hpp>
#include <tollgate/server/detail/workspace.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tollgate::inline v0::server_detail {

/// One client's connection: reads when its socket is ready, answers all that came, sends the answers as one batch.
///
/// It waits for one thing at a time: for its socket (then the pending wait owns it), or for a worker (then that does).
/// While it waits for a next message it holds no buffer at all. Whatever ends a wait early only says why and cancels it,
/// so that everything happens in one place, `proceed`. It is used by its loop's thread, but for `work`.
class connection : public deadline_wheel::entry, public work_item {
public:
    TOLLGATE_DECL connection(event_loop& loop, socket_handle socket, const ip_address& peer,
        connection_limiter::decision decision) noexcept;
    TOLLGATE_DECL virtual ~connection();

    /// Begins to serve. May end, and then destroys, the connection. So may the next two.
    TOLLGATE_DECL void begin() noexcept;
    /// The wait is over: the socket is ready, or broken, or the wait was cancelled.
    TOLLGATE_DECL void on_ready() noexcept;
    /// A worker is done with it.
    TOLLGATE_DECL void on_completed() noexcept;

    TOLLGATE_DECL void interrupt(interruption why) noexcept;

    TOLLGATE_DECL void on_deadline() noexcept override;
    TOLLGATE_DECL void work() noexcept override;
    TOLLGATE_DECL completion_target& complete() noexcept override;

    [[nodiscard]] event_loop& loop() const noexcept { return loop_; }

protected:
    /// The three things that are asked of Asio. A wait calls `on_ready` later, never at once, and owns the connection
    /// until then; there is only one at a time.
    virtual void wait_readable() noexcept = 0;
    virtual void wait_writable() noexcept = 0;
    virtual void cancel() noexcept = 0;

private:
    friend class connection_list;

    enum class phase : std::uint8_t { reading, writing, working, lingering };
    enum class next : std::uint8_t { again, wait_readable, wait_writable, work, end };

    template <class Step>
    TOLLGATE_DECL void proceed(Step step) noexcept;
    TOLLGATE_DECL next first_step();
    TOLLGATE_DECL next resume();
    TOLLGATE_DECL next read();
    TOLLGATE_DECL next read_ciphertext();
    TOLLGATE_DECL next decrypt();
    TOLLGATE_DECL next serve();
    TOLLGATE_DECL next after_send(http1_session::state then, io_state sent);
    TOLLGATE_DECL next refuse(http::status status, std::string_view reason);
    TOLLGATE_DECL next reject_overload();
    TOLLGATE_DECL next await_bytes(http1_session::state then);
    TOLLGATE_DECL next finish();
    TOLLGATE_DECL next linger();

    TOLLGATE_DECL io_state transmit();
    TOLLGATE_DECL void open_workspace();
    TOLLGATE_DECL void close_workspace() noexcept;
    TOLLGATE_DECL void expect(deadline what) noexcept;
    TOLLGATE_DECL void expect_end() noexcept;
    TOLLGATE_DECL bool lingers_on() noexcept;

    /// A round trip around the world: whoever asks a server to stop is waiting.
    static constexpr milliseconds linger_while_stopping{250};

    event_loop& loop_;
    connection* previous_ = nullptr;  // in the loop's list
    connection* next_ = nullptr;
    std::unique_ptr<workspace> workspace_;
    std::unique_ptr<tls_stream> tls_;
    ip_address peer_;
    socket_handle socket_;
    std::uint32_t lingered_bytes_ = 0;
    std::uint32_t lingered_times_ = 0;
    std::uint64_t expected_since_ = 0;  // how many messages the workspace had answered when deadline_ was armed
    phase phase_ = phase::reading;
    deadline deadline_ = deadline::none;
    interruption interruption_ = interruption::none;
    connection_limiter::decision admitted_as_;
    bool waiting_ = false;
    bool answered_before_ = false;  // a response was sent: waiting is being idle from now on
    http1_session::state after_output_ = http1_session::state::idle;  // what is to be done when the output is sent
    io_state sent_ = io_state::done;              // what became of the output a worker sent
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/connection.ipp>
#include <tollgate/server/detail/event_loop.ipp>
#endif
