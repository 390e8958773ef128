#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/server/detail/deadline_wheel.hpp>
#include <tollgate/server/detail/server_context.hpp>
#include <tollgate/server/detail/socket_calls.hpp>
#include <tollgate/server/detail/workspace.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tollgate::inline v0::server_detail {

class connection;

/// What a connection waits for, each with a time of its own.
enum class deadline : std::uint8_t { none, handshake, head, body, idle, write, linger, count_ };

/// Why a wait was cancelled; a later one of these is stronger.
enum class interruption : std::uint8_t {
    none,
    stopping,   ///< the server takes no further requests
    timed_out,  ///< the connection's deadline is over
    cut_off,    ///< the server's own deadline is over
};

/// The connections of a loop, linked through themselves.
class connection_list {
public:
    TOLLGATE_DECL void add(connection& one) noexcept;
    TOLLGATE_DECL void remove(connection& one) noexcept;
    TOLLGATE_DECL void interrupt_all(interruption why) const noexcept;
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

private:
    connection* first_ = nullptr;
};

/// Serves a part of a server's connections, on one thread at a time: what they share needs no locks.
class event_loop : public completion_target {
public:
    TOLLGATE_DECL explicit event_loop(std::shared_ptr<server_context> of);
    event_loop(const event_loop&) = delete;
    event_loop& operator=(const event_loop&) = delete;
    TOLLGATE_DECL virtual ~event_loop();

    [[nodiscard]] server_context& context() const noexcept { return *context_; }

    /// An accepted connection, from the thread of another loop. False if there is no memory to remember it.
    [[nodiscard]] TOLLGATE_DECL bool enqueue_accepted(socket_handle socket, const ip_address& peer,
        connection_limiter::decision decision) noexcept;

    // For its connections and listeners, on its own thread:

    [[nodiscard]] response_context responding() const noexcept { return {context_->handler, date_.view(), context_->stopping}; }
    [[nodiscard]] const http_date_text& date() const noexcept { return date_; }
    [[nodiscard]] workspace_pool& workspaces() noexcept { return workspaces_; }
    void arm(deadline_wheel::entry& one, deadline what) noexcept {
        if (!ticking_) begin_ticking();
        wheel_.arm(one, ticks_[static_cast<std::size_t>(what)]);
    }
    TOLLGATE_DECL void arm(deadline_wheel::entry& one, milliseconds from_now) noexcept;
    void disarm(deadline_wheel::entry& one) noexcept { wheel_.disarm(one); }

    TOLLGATE_DECL void enter(connection& one) noexcept;
    TOLLGATE_DECL void leave(connection& one) noexcept;
    /// From a worker's thread.
    TOLLGATE_DECL void complete(connection& one) noexcept;
    TOLLGATE_DECL void notify() noexcept override;

    // For the server, on the loop's own thread:

    /// Takes nothing new, closes what is idle, and at the deadline everything. Of several deadlines the earliest counts.
    TOLLGATE_DECL void drain(milliseconds deadline) noexcept;
    TOLLGATE_DECL void cut_off() noexcept;
    [[nodiscard]] bool drained() const noexcept { return draining_ && connections_.empty(); }

protected:
    /// What was handed over or given back is to be fetched by `collect`, on the loop's own thread.
    virtual void post_collect() noexcept = 0;
    /// `tick` is to be called every `tick_length` until it returns false.
    virtual void start_ticking() noexcept = 0;
    /// Makes a connection of an accepted socket and begins it; closes the socket if that fails.
    virtual void add_connection(socket_handle socket, const ip_address& peer, connection_limiter::decision decision) noexcept = 0;
    /// The last connection of a draining loop is gone.
    virtual void on_drained() noexcept = 0;

    [[nodiscard]] milliseconds tick_length() const noexcept { return tick_length_; }
    TOLLGATE_DECL bool tick(std::uint64_t ticks) noexcept;
    TOLLGATE_DECL void collect() noexcept;

private:
    struct accepted_socket {
        socket_handle socket;
        ip_address peer;
        connection_limiter::decision decision;
    };
    class drain_end final : public deadline_wheel::entry {
    public:
        explicit drain_end(event_loop& of) noexcept : loop_{of} {}
        void on_deadline() noexcept override { loop_.cut_off(); }

    private:
        event_loop& loop_;
    };

    [[nodiscard]] TOLLGATE_DECL std::uint64_t to_ticks(milliseconds time) const noexcept;
    TOLLGATE_DECL void begin_ticking() noexcept;
    TOLLGATE_DECL void update_date() noexcept;

    const std::shared_ptr<server_context> context_;
    milliseconds tick_length_{};
    std::array<std::uint64_t, static_cast<std::size_t>(deadline::count_)> ticks_{};
    http_date_text date_{};
    deadline_wheel wheel_;
    workspace_pool workspaces_;
    connection_list connections_;
    drain_end drain_end_{*this};
    bool ticking_ = false;
    bool draining_ = false;

    std::mutex inbox_mutex_;
    work_queue completed_;
    std::vector<accepted_socket> accepted_;
    bool collect_posted_ = false;
};

}  // namespace tollgate::server_detail
