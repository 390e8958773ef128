#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/server/detail/connection.hpp>
#include <tollgate/server/detail/event_loop.hpp>
#include <tollgate/server/detail/socket_calls.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__linux__)

/// The loops of a server with threads of its own, straight on Linux' epoll.
///
/// A socket stays registered for reading as long as it lives, so that a connection between two requests costs no system
/// call but `recv` and `send`. Asio, which `asio_loop` asks, has to make one more for every wait.
namespace tollgate::inline v0::server_detail {

class epoll_loop;

/// Something that epoll reports about.
class epoll_source {
public:
    explicit epoll_source(epoll_loop& loop) noexcept : loop_{loop} {}
    epoll_source(const epoll_source&) = delete;
    epoll_source& operator=(const epoll_source&) = delete;

    virtual void on_event() noexcept = 0;

protected:
    enum class interest : std::uint8_t { unregistered, nothing, readable, writable };

    ~epoll_source() = default;

    /// Says what to report, until told otherwise. Nothing happens, and nothing costs, if that is what is reported already.
    void watch(socket_handle socket, interest what) noexcept {
        if (what != watched_) change(socket, what);
    }
    [[nodiscard]] epoll_loop& epoll_loop_of() const noexcept { return loop_; }

private:
    TOLLGATE_DECL void change(socket_handle socket, interest what) noexcept;

    epoll_loop& loop_;
    interest watched_ = interest::unregistered;
};

class epoll_connection final : public connection, private epoll_source {
public:
    TOLLGATE_DECL epoll_connection(epoll_loop& loop, socket_handle socket, const ip_address& peer,
                                   connection_limiter::decision decision) noexcept;
    TOLLGATE_DECL ~epoll_connection() override;

    /// The wait was cancelled.
    void on_cancelled() noexcept { end_wait(); }

private:
    TOLLGATE_DECL void on_event() noexcept override;
    TOLLGATE_DECL void wait_readable() noexcept override;
    TOLLGATE_DECL void wait_writable() noexcept override;
    TOLLGATE_DECL void cancel() noexcept override;
    TOLLGATE_DECL void end_wait() noexcept;

    const socket_handle own_socket_;
    bool awaited_ = false;
    bool cancelled_ = false;
};

/// Accepts connections at one address and deals them out to loops in turn.
class epoll_listener final : private deadline_wheel::entry, private epoll_source {
public:
    TOLLGATE_DECL epoll_listener(epoll_loop& loop, const std::vector<std::unique_ptr<epoll_loop>>& loops,
                                 socket_handle socket) noexcept;
    TOLLGATE_DECL ~epoll_listener();

    void wait() noexcept { watch(socket_, interest::readable); }

private:
    TOLLGATE_DECL void on_event() noexcept override;
    void on_deadline() noexcept override { wait(); }
    TOLLGATE_DECL void deal(const accept_result& got) noexcept;

    const std::vector<std::unique_ptr<epoll_loop>>& loops_;
    const socket_handle socket_;
    std::size_t next_loop_ = 0;
};

/// A loop that one thread serves by calling `run`.
class epoll_loop final : public event_loop {
public:
    /// Throws `std::system_error`. `on_drained` is called once, on the loop's thread.
    TOLLGATE_DECL epoll_loop(std::shared_ptr<server_context> of, std::function<void()> on_drained);
    TOLLGATE_DECL ~epoll_loop() override;

    /// Before `run`: accepts connections of this socket, which belongs to the loop from here on.
    TOLLGATE_DECL void listen(const std::vector<std::unique_ptr<epoll_loop>>& loops, socket_handle socket);

    TOLLGATE_DECL void run() noexcept;

    /// From any thread: closes the listeners, then drains. `run` returns when that is done and `exit_requested` was called.
    TOLLGATE_DECL void request_drain(milliseconds deadline) noexcept;
    TOLLGATE_DECL void exit_requested() noexcept;

private:
    friend epoll_source;
    friend epoll_connection;
    friend epoll_listener;

    using clock = std::chrono::steady_clock;

    TOLLGATE_DECL void post_collect() noexcept override;
    TOLLGATE_DECL void start_ticking() noexcept override;
    TOLLGATE_DECL void add_connection(socket_handle socket, const ip_address& peer,
        connection_limiter::decision decision) noexcept override;
    void on_drained() noexcept override { on_drained_(); }

    TOLLGATE_DECL void wake_thread() noexcept;
    TOLLGATE_DECL void on_wakeup() noexcept;
    TOLLGATE_DECL void tick_if_due() noexcept;
    TOLLGATE_DECL void end_cancelled() noexcept;
    [[nodiscard]] TOLLGATE_DECL int wait_timeout_milliseconds() const noexcept;

    int epoll_ = -1;
    int wakeup_ = -1;  // an eventfd that other threads wake_thread
    bool ticks_ = false;
    clock::time_point next_tick_{};
    work_queue cancelled_;
    std::vector<std::unique_ptr<epoll_listener>> listeners_;
    const std::function<void()> on_drained_;

    std::mutex requests_mutex_;
    bool collect_requested_ = false;
    bool drain_requested_ = false;
    std::atomic<bool> exit_requested_ = false;
    milliseconds drain_deadline_{};
};

}  // namespace tollgate::server_detail

#endif  // __linux__

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/epoll_loop.ipp>
#endif
