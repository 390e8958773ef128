#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_EPOLL_LOOP_HPP
#define TOLLGATE_SERVER_DETAIL_EPOLL_LOOP_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/process_life.hpp>
#include <tollgate/server/detail/connection.hpp>
#include <tollgate/server/detail/event_loop.hpp>
#include <tollgate/server/detail/event_loop_group.hpp>
#include <tollgate/server/detail/socket_calls.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#if !defined(TOLLGATE_SERVER_ASIO)

/// Event loops on the server's own threads, directly on Linux's epoll.
///
/// A socket stays registered for reading while it is open, so a connection needs no system calls but `recv` and `send`
/// between two requests. Asio needs one more per wait. Connections are edge-triggered: epoll reports each arrival once, and
/// does not check in each pass whether input is left.
namespace tollgate::inline v0::server_detail {

class epoll_loop;

/// A socket registered with epoll. Owns the socket.
class epoll_source {
public:
    enum class trigger : std::uint8_t {
        level,  ///< reported in each pass while the socket is ready
        edge,   ///< reported when the socket becomes ready, and when more input arrives
    };

    epoll_source(epoll_loop& loop, socket_handle socket, trigger reports, bool is_shared = false) noexcept
        : epoll_{loop}, socket_{socket}, trigger_{reports}, is_shared_{is_shared} {}
    epoll_source(const epoll_source&) = delete;
    epoll_source& operator=(const epoll_source&) = delete;

    /// Called with the events that epoll reports.
    virtual void on_event(std::uint32_t events) noexcept = 0;

protected:
    enum class interest : std::uint8_t { unregistered, readable, writable };

    /// Removes the registration before the socket is closed: otherwise the kernel would keep it while a child process
    /// has a copy of the descriptor.
    TOLLGATE_DECL ~epoll_source();

    /// What to report from now on. Costs nothing if it is reported already. False: the kernel refused, and nothing is reported.
    [[nodiscard]] bool watch(interest what) noexcept { return what == watched_ || change(what); }
    [[nodiscard]] epoll_loop& epoll() const noexcept { return epoll_; }

private:
    TOLLGATE_DECL bool change(interest what) noexcept;

    epoll_loop& epoll_;
    const socket_handle socket_;
    const trigger trigger_;
    const bool is_shared_;  // an accepting socket that others hold, too
    interest watched_ = interest::unregistered;
};

class epoll_connection final : public connection, private epoll_source {
public:
    TOLLGATE_DECL epoll_connection(epoll_loop& loop, socket_handle socket, const ip_address& peer, admission admitted) noexcept;

    TOLLGATE_DECL void end_wait() noexcept;

private:
    TOLLGATE_DECL void on_event(std::uint32_t events) noexcept override;
    [[nodiscard]] bool wait_readable() noexcept override { return wait(interest::readable, ended_ || may_have_input()); }
    [[nodiscard]] bool wait_writable() noexcept override { return wait(interest::writable, false); }
    [[nodiscard]] TOLLGATE_DECL bool wait(interest what, bool is_ready) noexcept;
    TOLLGATE_DECL void cancel() noexcept override;

    bool reported_ = false;  // while nothing was awaited, or beside urgent data: the next wait may be for it
    bool ended_ = false;     // the client sends no more, so nothing else will be reported
    bool awaited_ = false;
    bool cancelled_ = false;
};

class epoll_listener final : public listener, private epoll_source {
public:
    epoll_listener(epoll_loop& loop, const listening_socket& from) noexcept;

private:
    void on_event(std::uint32_t) noexcept override { accept_all(); }
    [[nodiscard]] bool wait_readable() noexcept override { return watch(interest::readable); }
    void pause() noexcept override { (void)watch(interest::unregistered); }
};

/// An event loop that one thread serves by calling `run`.
class epoll_loop final : public event_loop {
public:
    /// Throws `std::system_error`.
    TOLLGATE_COLD epoll_loop(std::shared_ptr<server_context> context, std::shared_ptr<drain_count> drained);
    TOLLGATE_COLD ~epoll_loop() override;

    /// Accepts connections on this socket, which the loop owns from then on. Must be called before `run`.
    TOLLGATE_COLD void listen(const listening_socket& from);

    /// Returns when the loop has drained and `request_exit` was called.
    TOLLGATE_DECL void run() noexcept;

    /// May be called from any thread.
    TOLLGATE_COLD void request_exit() noexcept;

private:
    friend epoll_source;
    friend epoll_connection;

    TOLLGATE_DECL bool wake() noexcept override;
    [[nodiscard]] bool start_ticking() noexcept override { return ticks_ = true; }
    void stop_ticking() noexcept override {}
    [[nodiscard]] TOLLGATE_DECL connection* make_connection(socket_handle socket, const ip_address& peer,
                                                            admission admitted) noexcept override;
    TOLLGATE_COLD void ignore_new_clients() noexcept override;
    TOLLGATE_COLD void close_listeners(last_connections what) noexcept override;

    TOLLGATE_DECL void on_wakeup() noexcept;
    TOLLGATE_DECL void end_cancelled() noexcept;
    [[nodiscard]] TOLLGATE_DECL int wait_milliseconds(clock::time_point now) const noexcept;

    int epoll_ = -1;
    int wakeup_ = -1;  // an eventfd that other threads write to
    bool ticks_ = false;
    work_queue cancelled_;
    std::vector<std::unique_ptr<epoll_listener>> listeners_;
    std::atomic<bool> exit_requested_ = false;
};

/// Epoll loops with one thread each.
class epoll_loop_group final : public event_loop_group {
public:
    TOLLGATE_COLD epoll_loop_group(const std::shared_ptr<server_context>& context, std::size_t loops);
    ~epoll_loop_group() override { close(); }

    TOLLGATE_COLD void listen(const std::vector<listening_socket>& from) override;
    TOLLGATE_COLD void drain(const drain_times& within) override;
    void wait() override { drained_->wait(); }
    [[nodiscard]] bool needs_this_thread() const noexcept override { return serving_scope::is_set_for(*context_); }
    TOLLGATE_COLD void close() noexcept override;
    TOLLGATE_COLD void abandon() noexcept override;

private:
    const std::shared_ptr<server_context> context_;
    const std::shared_ptr<drain_count> drained_;
    std::vector<std::unique_ptr<epoll_loop>> loops_;
    tollgate::detail::thread_count running_;
    std::vector<std::thread> threads_;
};

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_ASIO

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/epoll_loop.ipp>
#endif

#endif  // TOLLGATE_SERVER_DETAIL_EPOLL_LOOP_HPP
