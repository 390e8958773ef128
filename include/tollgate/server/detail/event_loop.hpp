#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_EVENT_LOOP_HPP
#define TOLLGATE_SERVER_DETAIL_EVENT_LOOP_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/server/detail/deadline_wheel.hpp>
#include <tollgate/server/detail/server_context.hpp>
#include <tollgate/server/detail/socket_calls.hpp>
#include <tollgate/server/detail/workspace.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace tollgate::inline v0::server_detail {

class connection;

/// What a connection waits for; each has its own timeout.
enum class deadline : std::uint8_t { none, handshake, head, last_request, body, idle, write, linger, count_ };

/// Why a wait was cancelled; a later enumerator overrides an earlier one.
enum class interruption : std::uint8_t {
    none,
    draining,   ///< the server accepts no more requests
    replaced,   ///< the connection is idle, or its request unfinished, and its slot is needed
    timed_out,  ///< the connection's deadline has passed
    cut_off,    ///< the deadline of `stop` has passed
};

/// The connections of a loop, an intrusive list; the one that became idle last comes first.
class connection_list {
public:
    TOLLGATE_DECL void add(connection& one) noexcept;
    TOLLGATE_DECL void remove(connection& one) noexcept;
    void move_to_front(connection& one) noexcept {
        if (first_ == &one) return;
        remove(one);
        add(one);
    }
    /// The connection that has been idle the longest; null if there is none.
    [[nodiscard]] TOLLGATE_DECL connection* longest_idle() const noexcept;
    /// The oldest of those whose request has not arrived completely; null if there is none.
    [[nodiscard]] TOLLGATE_DECL connection* oldest_unfinished() const noexcept;
    TOLLGATE_COLD void interrupt_all(interruption reason) const noexcept;
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

private:
    [[nodiscard]] TOLLGATE_DECL connection* longest(bool (connection::*is_wanted)() const noexcept) const noexcept;

    connection* first_ = nullptr;
    connection* last_ = nullptr;
};

/// The TLS connections of a loop that keep their record buffers (33 KiB) while they wait, because they were used since the last tick:
/// allocating the buffers costs more than encrypting a short response. All others free them whenever they wait.
class tls_keepers {
public:
    /// Returns false if there are too many.
    [[nodiscard]] bool add(connection& one) noexcept {
        if (count_ == all_.size()) return false;
        all_[count_++] = &one;
        return true;
    }
    TOLLGATE_DECL void remove(const connection& one) noexcept;
    /// Frees the buffers of all that wait for their sockets, and forgets these connections.
    TOLLGATE_DECL void release() noexcept;

private:
    static constexpr std::size_t count_max = 256;  // the number of workspaces that are kept; about 8 MiB

    std::array<connection*, count_max> all_;
    std::size_t count_ = 0;
};

/// How a server stops, from the request on: for `grace` it still accepts and serves; at `deadline` every connection is closed.
struct drain_times {
    milliseconds grace{0};
    milliseconds deadline{0};
};

/// What happens to connections that the kernel has established when a listener is closed: the kernel would reset them.
enum class last_connections : std::uint8_t { reset, accepted };

/// Lets threads wait until every event loop of a server has drained. Lives as long as the last of those loops.
class drain_count {
public:
    explicit drain_count(std::size_t loops) noexcept : listening_{loops}, left_{loops} {}

    /// A loop has closed its listeners. True: it was the last one, so no loop gets another connection.
    [[nodiscard]] bool one_closed() noexcept { return --listening_ == 0; }

    void one_drained() {
        const std::lock_guard hold{mutex_};
        if (--left_ == 0) all_drained_.notify_all();
    }
    /// Ends all waits: loops that nothing runs any more do not report.
    void end() {
        const std::lock_guard hold{mutex_};
        ended_ = true;
        all_drained_.notify_all();
    }
    /// Bounds all waits, for an executor that may not be run. Of several bounds the earliest applies.
    void give_up_after(milliseconds time) {
        const std::lock_guard hold{mutex_};
        give_up_at_ = (std::min)(give_up_at_, clock::now() + time);
        all_drained_.notify_all();
    }
    [[nodiscard]] bool is_over() {
        const std::lock_guard hold{mutex_};
        return left_ == 0 || ended_;
    }
    void wait() {
        std::unique_lock hold{mutex_};
        while (left_ != 0 && !ended_ && clock::now() < give_up_at_) {
            if (give_up_at_ == never) all_drained_.wait(hold);
            else all_drained_.wait_until(hold, give_up_at_);
        }
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr clock::time_point never = (clock::time_point::max)();

    std::mutex mutex_;
    std::condition_variable all_drained_;
    clock::time_point give_up_at_ = never;
    std::atomic<std::size_t> listening_;
    std::size_t left_;
    bool ended_ = false;
};

/// Serves some of a server's connections on one thread at a time, so that what they share needs no lock.
///
/// `epoll_loop` and `asio_loop` derive from it. They report when a socket is ready, when a tick is over and when
/// another thread has left something to collect; all decisions are made here, in `listener` and in `connection`.
class event_loop {
public:
    using clock = std::chrono::steady_clock;

    /// Reports to `drained` once, on the loop's thread, when the loop is draining and its last connection is gone.
    TOLLGATE_COLD event_loop(std::shared_ptr<server_context> context, std::shared_ptr<drain_count> drained);
    event_loop(const event_loop&) = delete;
    event_loop& operator=(const event_loop&) = delete;
    TOLLGATE_COLD virtual ~event_loop();

    [[nodiscard]] server_context& context() const noexcept { return *context_; }

    /// The loops of a server form a ring, so that a listener distributes connections over them in turn. A new loop is one of its own.
    void set_next(event_loop& next) noexcept { next_ = &next; }
    [[nodiscard]] event_loop& next() const noexcept { return *next_; }

    // These functions may be called from any thread:

    /// Hands over an accepted connection. False when out of memory.
    [[nodiscard]] TOLLGATE_DECL bool enqueue_accepted(socket_handle socket, const ip_address& peer, admission admitted) noexcept;
    /// Hands over a connection that a worker has finished.
    TOLLGATE_DECL void enqueue_completed(connection& one) noexcept;
    /// Closes the listeners after the grace, then, when no loop of the ring accepts any more, the idle connections, and at the deadline all
    /// others. Of several requests, the shortest times apply.
    TOLLGATE_COLD void request_drain(const drain_times& within) noexcept;

    // On the loop's thread:

    [[nodiscard]] response_context responding() const noexcept { return {context_->handler, date_.view(), context_->stopping}; }
    [[nodiscard]] const http_date_text& date() const noexcept { return date_; }
    [[nodiscard]] workspace_pool& workspaces() noexcept { return workspaces_; }
    void arm(deadline_wheel::entry& one, deadline kind) noexcept {
        if (!ticking_) begin_ticking();
        wheel_.arm(one, ticks_due(approximate_now()) + ticks_[static_cast<std::size_t>(kind)]);
    }
    TOLLGATE_COLD void arm(deadline_wheel::entry& one, milliseconds from_now) noexcept;
    void disarm(deadline_wheel::entry& one) noexcept { wheel_.disarm(one); }
    /// Returns true if connections end as soon as they have no request. No further requests will arrive.
    [[nodiscard]] bool draining() const noexcept { return draining_; }

    TOLLGATE_DECL void add(connection& one) noexcept;
    TOLLGATE_DECL void remove(connection& one) noexcept;
    void move_to_front(connection& one) noexcept { connections_.move_to_front(one); }
    [[nodiscard]] server_detail::tls_keepers& tls_keepers() noexcept { return tls_keepers_; }
    /// Creates a connection for an accepted socket and starts it, in place of an idle one if the server is full; closes
    /// the socket if that fails.
    TOLLGATE_DECL void add_connection(socket_handle socket, const ip_address& peer, admission admitted) noexcept;

    /// Sets `date` to the current time. Each tick does this, but a loop without connections has no ticks.
    TOLLGATE_COLD void update_date() noexcept;

protected:
    /// Makes the loop's thread call `collect` soon. False when out of memory; then the next tick collects.
    virtual bool wake() noexcept = 0;
    /// Makes the loop's thread call `tick` every `tick_length` until it returns false. False when out of memory.
    [[nodiscard]] virtual bool start_ticking() noexcept = 0;
    virtual void stop_ticking() noexcept = 0;
    /// Null if that fails; then the socket is closed.
    [[nodiscard]] virtual connection* make_connection(socket_handle socket, const ip_address& peer, admission admitted) noexcept = 0;
    /// Lets its listeners ignore new clients; see `listener::ignore_new`.
    virtual void ignore_new_clients() noexcept = 0;
    virtual void close_listeners(last_connections what) noexcept = 0;

    [[nodiscard]] milliseconds tick_length() const noexcept { return tick_length_; }
    /// Handles the ticks that have passed at `now`; false if no more are needed.
    TOLLGATE_COLD bool tick(clock::time_point now) noexcept;
    [[nodiscard]] clock::time_point next_tick() const noexcept { return next_tick_; }
    /// Takes over what other threads have left for this loop.
    TOLLGATE_DECL void collect() noexcept;
    TOLLGATE_COLD void begin_ticking() noexcept;
    /// The ticks could not continue; the next `arm` restarts them.
    void ticks_failed() noexcept { ticking_ = false; }
    [[nodiscard]] bool drained() const noexcept { return draining_ && connections_.empty(); }

private:
    struct accepted_socket {
        socket_handle socket;
        ip_address peer;
        admission admitted;
    };
    /// What other threads leave for the loop.
    struct inbox {
        work_queue completed;
        std::vector<accepted_socket> accepted;
        std::optional<drain_times> drain;
        bool all_closed = false;  // no loop accepts connections any more
        bool woken = false;
    };
    template <void (event_loop::*Step)() noexcept>
    class drain_step final : public deadline_wheel::entry {
    public:
        explicit drain_step(event_loop& loop) noexcept : loop_{loop} {}
        void on_deadline() noexcept override { (loop_.*Step)(); }

    private:
        event_loop& loop_;
    };

    /// The time, or up to 10 ms later, so that no deadline passes too early. On Linux it costs a quarter of `clock::now`, and every
    /// response arms a deadline.
    [[nodiscard]] static clock::time_point approximate_now() noexcept {
#if defined(CLOCK_MONOTONIC_COARSE)
        timespec tick_of_kernel{};
        if (::clock_gettime(CLOCK_MONOTONIC_COARSE, &tick_of_kernel) == 0) {
            constexpr milliseconds tick_max{10};
            return clock::time_point{seconds{tick_of_kernel.tv_sec} + std::chrono::nanoseconds{tick_of_kernel.tv_nsec} + tick_max};
        }
#endif
        return clock::now();
    }
    [[nodiscard]] TOLLGATE_DECL std::uint64_t to_ticks(milliseconds time) const noexcept;
    /// How many ticks the wheel is behind at `now`: many after a slow handler, or when the process was suspended.
    [[nodiscard]] std::uint64_t ticks_due(clock::time_point now) const noexcept {
        return now < next_tick_ ? 0 : static_cast<std::uint64_t>((now - next_tick_) / tick_length_) + 1;
    }
    TOLLGATE_COLD void close_accepted(const accepted_socket& one) noexcept;
    TOLLGATE_COLD void begin_drain(const drain_times& within) noexcept;
    TOLLGATE_COLD void end_grace() noexcept;
    TOLLGATE_COLD void close_own_listeners(last_connections what) noexcept;
    TOLLGATE_COLD void report_all_closed() noexcept;
    TOLLGATE_COLD void drain() noexcept;
    TOLLGATE_COLD void cut_off() noexcept;
    TOLLGATE_COLD void report_if_drained() noexcept;

    /// The last part of the grace, at most a quarter of it, in which only handshakes that have begun end: the longest round trip on earth.
    static constexpr milliseconds last_handshakes_wait{250};
    /// The time for the request of a connection that was accepted just before the listeners closed: twice the longest round trip on earth.
    static constexpr milliseconds last_request_wait{500};

    const std::shared_ptr<server_context> context_;
    const std::shared_ptr<drain_count> drain_count_;
    event_loop* next_ = this;
    milliseconds tick_length_{};
    std::array<std::uint64_t, static_cast<std::size_t>(deadline::count_)> ticks_{};
    http_date_text date_{};
    clock::time_point next_tick_{};
    deadline_wheel wheel_;
    workspace_pool workspaces_;
    connection_list connections_;
    server_detail::tls_keepers tls_keepers_;
    drain_step<&event_loop::ignore_new_clients> last_handshakes_{*this};
    drain_step<&event_loop::end_grace> grace_end_{*this};
    drain_step<&event_loop::cut_off> drain_end_{*this};
    bool ticking_ = false;
    bool closed_ = false;  // its listeners
    bool draining_ = false;
    bool drained_reported_ = false;

    std::mutex inbox_mutex_;
    inbox inbox_;
};

/// Accepts connections on one address and distributes them over the loops in turn. Belongs to its loop's thread.
class listener : public deadline_wheel::entry {
public:
    /// All loops of the ring must outlive every open listener.
    TOLLGATE_COLD listener(event_loop& loop, socket_handle socket, bool is_shared) noexcept;
    TOLLGATE_COLD ~listener() override;

    /// Waits for connections; if that fails, tries again after a pause.
    TOLLGATE_DECL void listen() noexcept;
    void on_deadline() noexcept override { listen(); }
    /// Before `accept_last`: without it, a client that connects between that and the close would be reset. Of a shared socket, nothing: the
    /// others accept.
    TOLLGATE_COLD void ignore_new() noexcept;
    /// Accepts what has been established, before the socket is closed. Of a shared socket, the others accept it.
    TOLLGATE_COLD void accept_last() noexcept;

protected:
    /// Calls `accept_all` when a connection arrives. False: the wait could not be started.
    [[nodiscard]] virtual bool wait_readable() noexcept = 0;
    /// Ends the wait, if it is persistent.
    virtual void pause() noexcept = 0;

    TOLLGATE_DECL void accept_all() noexcept;

private:
    TOLLGATE_DECL void distribute(const accept_result& accepted) noexcept;
    /// Answers one client with 503 when no descriptor is left. False: not even that is possible, or no client is
    /// waiting.
    TOLLGATE_COLD bool refuse_one() noexcept;

    event_loop& loop_;
    event_loop* last_ = &loop_;  // the loop that got the last connection
    const socket_handle socket_;
    const bool shared_;
};

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_EVENT_LOOP_HPP
