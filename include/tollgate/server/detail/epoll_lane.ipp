#pragma once

#include <tollgate/server/detail/epoll_lane.hpp>

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
    watched_ = ::epoll_ctl(home_.epoll_, command, socket, &event) == 0 ? what : interest::unregistered;
}

TOLLGATE_DECL epoll_connection::epoll_connection(epoll_lane& home, socket_handle socket, const ip_address& peer,
                                                 admission::verdict given) noexcept
    : connection{home, socket, peer, given}, epoll_source{home}, own_socket_{socket} {}

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
    if (!std::exchange(cancelled_, true)) epoll_home().cancelled_.push(*this);
}

TOLLGATE_DECL void epoll_connection::end_wait() noexcept {
    awaited_ = cancelled_ = false;
    on_ready();
}

TOLLGATE_DECL epoll_listener::epoll_listener(epoll_lane& home, const std::vector<std::unique_ptr<epoll_lane>>& lanes,
                                             socket_handle socket) noexcept
    : epoll_source{home}, lanes_{lanes}, socket_{socket} {}

TOLLGATE_DECL epoll_listener::~epoll_listener() {
    epoll_home().disarm(*this);
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
            return epoll_home().arm(*this, pause_when_exhausted);
        }
        deal(got);
    }
}

TOLLGATE_DECL void epoll_listener::deal(const accept_result& got) noexcept {
    admission& doors = epoll_home().shared().doors;
    const auto given = doors.enter(got.peer);
    if (given == admission::verdict::dropped) return close_socket(got.socket);
    next_lane_ = (next_lane_ + 1) % lanes_.size();
    epoll_lane& to = *lanes_[next_lane_];
    if (&to == &epoll_home()) return to.adopt(got.socket, got.peer, given);
    if (to.hand_over(got.socket, got.peer, given)) return;
    close_socket(got.socket);
    doors.leave(got.peer, given);
}

TOLLGATE_DECL epoll_lane::epoll_lane(std::shared_ptr<host> of, std::function<void()> on_drained)
    : lane{std::move(of)}, epoll_{::epoll_create1(EPOLL_CLOEXEC)}, bell_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      on_drained_{std::move(on_drained)} {
    epoll_event event{};
    event.events = EPOLLIN;  // data.ptr stays null: the bell is told from sources by it
    if (epoll_ >= 0 && bell_ >= 0 && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, bell_, &event) == 0) return;
    const std::error_code why{errno, std::system_category()};
    if (epoll_ >= 0) ::close(epoll_);
    if (bell_ >= 0) ::close(bell_);
    throw std::system_error{why, "epoll"};
}

TOLLGATE_DECL epoll_lane::~epoll_lane() {
    listeners_.clear();
    ::close(epoll_);
    ::close(bell_);
}

TOLLGATE_DECL void epoll_lane::listen(const std::vector<std::unique_ptr<epoll_lane>>& lanes, socket_handle socket) {
    listeners_.push_back(std::make_unique<epoll_listener>(*this, lanes, socket));
    listeners_.back()->wait();
}

TOLLGATE_DECL void epoll_lane::run() noexcept {
    std::array<epoll_event, 256> events;
    for (;;) {
        const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), patience_milliseconds());
        bool rung = false;
        for (int i = 0; i < count; ++i) {
            void* const source = events[static_cast<std::size_t>(i)].data.ptr;
            if (source == nullptr) rung = true;
            else static_cast<epoll_source*>(source)->on_event();
        }
        // All that may end a connection other than the one it is about comes after the events, which name connections.
        tick_if_due();
        if (rung) answer_the_bell();
        end_cancelled();
        if (let_go_ && drained()) return;
    }
}

TOLLGATE_DECL int epoll_lane::patience_milliseconds() const noexcept {
    if (!ticks_) return -1;
    const auto left = std::chrono::ceil<milliseconds>(next_tick_ - clock::now()).count();
    return left <= 0 ? 0 : static_cast<int>(left);
}

TOLLGATE_DECL void epoll_lane::tick_if_due() noexcept {
    if (!ticks_) return;
    std::uint64_t ticks = 0;
    for (const auto now = clock::now(); next_tick_ <= now; ++ticks) next_tick_ += tick_length();
    if (ticks > 0) ticks_ = tick(ticks);
}

TOLLGATE_DECL void epoll_lane::start_ticking() noexcept {
    next_tick_ = clock::now() + tick_length();
    ticks_ = true;
}

TOLLGATE_DECL void epoll_lane::end_cancelled() noexcept {
    while (work_item* const one = cancelled_.pop()) static_cast<epoll_connection&>(*one).on_cancelled();
}

TOLLGATE_DECL void epoll_lane::ring() noexcept {
    const std::uint64_t once = 1;
    (void)!::write(bell_, &once, sizeof once);  // it fails only when it has been rung 2^64 times
}

TOLLGATE_DECL void epoll_lane::post_fetch() noexcept {
    {
        const std::lock_guard hold{asked_mutex_};
        fetch_asked_ = true;
    }
    ring();
}

TOLLGATE_DECL void epoll_lane::ask_to_drain(milliseconds deadline) noexcept {
    {
        const std::lock_guard hold{asked_mutex_};
        drain_deadline_ = drain_asked_ ? (std::min)(drain_deadline_, deadline) : deadline;
        drain_asked_ = true;
    }
    ring();
}

TOLLGATE_DECL void epoll_lane::let_go() noexcept {
    let_go_ = true;
    ring();
}

TOLLGATE_DECL void epoll_lane::answer_the_bell() noexcept {
    std::uint64_t rings = 0;
    (void)!::read(bell_, &rings, sizeof rings);
    bool fetch_now;
    bool drain_now;
    milliseconds deadline;
    {
        const std::lock_guard hold{asked_mutex_};
        fetch_now = std::exchange(fetch_asked_, false);
        drain_now = std::exchange(drain_asked_, false);
        deadline = drain_deadline_;
    }
    if (drain_now) {
        listeners_.clear();
        drain(deadline);
    }
    if (fetch_now) fetch();
}

TOLLGATE_DECL void epoll_lane::adopt(socket_handle socket, const ip_address& peer, admission::verdict given) noexcept {
    if (connection* const made = new (std::nothrow) epoll_connection{*this, socket, peer, given}) return made->begin();
    close_socket(socket);
    shared().doors.leave(peer, given);
}

}  // namespace tollgate::server_detail

#endif  // __linux__
