#pragma once

#include <tollgate/server/detail/epoll_loop.hpp>

#if defined(__linux__)

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL void epoll_source::change(socket_handle socket, interest what) noexcept {
    epoll_event event{};
    event.events = what == interest::readable ? EPOLLIN : what == interest::writable ? EPOLLOUT : 0U;
    event.data.ptr = this;
    // An error or a hang-up is reported whether or not one asks: who wants nothing is taken out.
    const int command = watched_ == interest::unregistered ? EPOLL_CTL_ADD
                        : what == interest::unregistered   ? EPOLL_CTL_DEL
                                                           : EPOLL_CTL_MOD;
    watched_ = ::epoll_ctl(loop_.epoll_, command, socket, &event) == 0 ? what : interest::unregistered;
}

TOLLGATE_DECL epoll_connection::epoll_connection(epoll_loop& loop, socket_handle socket, const ip_address& peer,
                                                 connection_limiter::decision decision) noexcept
    : connection{loop, socket, peer, decision}, epoll_source{loop}, own_socket_{socket} {}

TOLLGATE_DECL epoll_connection::~epoll_connection() { close_socket(own_socket_); }

TOLLGATE_DECL void epoll_connection::on_event() noexcept {
    if (awaited_) return end_wait();
    // It belongs to a worker, or waits for its cancelled wait to end: what is there now is still there afterwards.
    watch(own_socket_, interest::unregistered);
}

TOLLGATE_DECL void epoll_connection::wait_readable() noexcept {
    awaited_ = true;
    watch(own_socket_, interest::readable);
}

TOLLGATE_DECL void epoll_connection::wait_writable() noexcept {
    awaited_ = true;
    watch(own_socket_, interest::writable);
}

TOLLGATE_DECL void epoll_connection::cancel() noexcept {
    if (!std::exchange(cancelled_, true)) epoll_loop_of().cancelled_.push(*this);
}

TOLLGATE_DECL void epoll_connection::end_wait() noexcept {
    awaited_ = cancelled_ = false;
    on_ready();
}

TOLLGATE_DECL epoll_listener::epoll_listener(epoll_loop& loop, const std::vector<std::unique_ptr<epoll_loop>>& loops,
                                             socket_handle socket) noexcept
    : epoll_source{loop}, loops_{loops}, socket_{socket} {}

TOLLGATE_DECL epoll_listener::~epoll_listener() {
    epoll_loop_of().disarm(*this);
    close_socket(socket_);
}

TOLLGATE_DECL void epoll_listener::on_event() noexcept {
    constexpr int batch_max = 64;  // then the connections that are here have their turn
    constexpr milliseconds pause_when_exhausted{100};
    for (int i = 0; i < batch_max; ++i) {
        const accept_result got = accept_one(socket_);
        if (got.state == accept_state::none) return;
        if (got.state == accept_state::exhausted) {
            watch(socket_, interest::unregistered);  // trying again at once would spin
            return epoll_loop_of().arm(*this, pause_when_exhausted);
        }
        deal(got);
    }
}

TOLLGATE_DECL void epoll_listener::deal(const accept_result& got) noexcept {
    connection_limiter& connections = epoll_loop_of().context().connections;
    const auto decision = connections.admit(got.peer);
    if (decision == connection_limiter::decision::dropped) return close_socket(got.socket);
    next_loop_ = (next_loop_ + 1) % loops_.size();
    epoll_loop& to = *loops_[next_loop_];
    if (&to == &epoll_loop_of()) return to.add_connection(got.socket, got.peer, decision);
    if (to.enqueue_accepted(got.socket, got.peer, decision)) return;
    close_socket(got.socket);
    connections.release(got.peer, decision);
}

TOLLGATE_DECL epoll_loop::epoll_loop(std::shared_ptr<server_context> of, std::function<void()> on_drained)
    : event_loop{std::move(of)}, epoll_{::epoll_create1(EPOLL_CLOEXEC)}, wakeup_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      on_drained_{std::move(on_drained)} {
    epoll_event event{};
    event.events = EPOLLIN;  // data.ptr stays null: the bell is told from sources by it
    if (epoll_ >= 0 && wakeup_ >= 0 && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wakeup_, &event) == 0) return;
    const std::error_code why{errno, std::system_category()};
    if (epoll_ >= 0) ::close(epoll_);
    if (wakeup_ >= 0) ::close(wakeup_);
    throw std::system_error{why, "epoll"};
}

TOLLGATE_DECL epoll_loop::~epoll_loop() {
    listeners_.clear();
    ::close(epoll_);
    ::close(wakeup_);
}

TOLLGATE_DECL void epoll_loop::listen(const std::vector<std::unique_ptr<epoll_loop>>& loops, socket_handle socket) {
    listeners_.push_back(std::make_unique<epoll_listener>(*this, loops, socket));
    listeners_.back()->wait();
}

TOLLGATE_DECL void epoll_loop::run() noexcept {
    std::array<epoll_event, 256> events;
    for (;;) {
        const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), wait_timeout_milliseconds());
        bool rung = false;
        for (int i = 0; i < count; ++i) {
            void* const source = events[static_cast<std::size_t>(i)].data.ptr;
            if (source == nullptr) rung = true;
            else static_cast<epoll_source*>(source)->on_event();
        }
        // All that may end a connection other than the one it is about comes after the events, which name connections.
        tick_if_due();
        if (rung) on_wakeup();
        end_cancelled();
        if (exit_requested_ && drained()) return;
    }
}

TOLLGATE_DECL int epoll_loop::wait_timeout_milliseconds() const noexcept {
    if (!ticks_) return -1;
    const auto left = std::chrono::ceil<milliseconds>(next_tick_ - clock::now()).count();
    return left <= 0 ? 0 : static_cast<int>(left);
}

TOLLGATE_DECL void epoll_loop::tick_if_due() noexcept {
    if (!ticks_) return;
    std::uint64_t ticks = 0;
    for (const auto now = clock::now(); next_tick_ <= now; ++ticks) next_tick_ += tick_length();
    if (ticks > 0) ticks_ = tick(ticks);
}

TOLLGATE_DECL void epoll_loop::start_ticking() noexcept {
    next_tick_ = clock::now() + tick_length();
    ticks_ = true;
}

TOLLGATE_DECL void epoll_loop::end_cancelled() noexcept {
    while (work_item* const one = cancelled_.pop()) static_cast<epoll_connection&>(*one).on_cancelled();
}

TOLLGATE_DECL void epoll_loop::wake_thread() noexcept {
    const std::uint64_t once = 1;
    (void)!::write(wakeup_, &once, sizeof once);  // it fails only when it has been rung 2^64 times
}

TOLLGATE_DECL void epoll_loop::post_collect() noexcept {
    {
        const std::lock_guard hold{requests_mutex_};
        collect_requested_ = true;
    }
    wake_thread();
}

TOLLGATE_DECL void epoll_loop::request_drain(milliseconds deadline) noexcept {
    {
        const std::lock_guard hold{requests_mutex_};
        drain_deadline_ = drain_requested_ ? (std::min)(drain_deadline_, deadline) : deadline;
        drain_requested_ = true;
    }
    wake_thread();
}

TOLLGATE_DECL void epoll_loop::exit_requested() noexcept {
    exit_requested_ = true;
    wake_thread();
}

TOLLGATE_DECL void epoll_loop::on_wakeup() noexcept {
    std::uint64_t rings = 0;
    (void)!::read(wakeup_, &rings, sizeof rings);
    bool collect_now;
    bool drain_now;
    milliseconds deadline;
    {
        const std::lock_guard hold{requests_mutex_};
        collect_now = std::exchange(collect_requested_, false);
        drain_now = std::exchange(drain_requested_, false);
        deadline = drain_deadline_;
    }
    if (drain_now) {
        listeners_.clear();
        drain(deadline);
    }
    if (collect_now) collect();
}

TOLLGATE_DECL void epoll_loop::add_connection(socket_handle socket, const ip_address& peer,
    connection_limiter::decision decision) noexcept {
    if (connection* const made = new (std::nothrow) epoll_connection{*this, socket, peer, decision}) return made->begin();
    close_socket(socket);
    context().connections.release(peer, decision);
}

}  // namespace tollgate::server_detail

#endif  // __linux__
