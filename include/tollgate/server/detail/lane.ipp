#pragma once

#include <tollgate/server/detail/connection.hpp>
#include <tollgate/server/detail/lane.hpp>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL void connection_list::add(connection& one) noexcept {
    one.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &one;
    first_ = &one;
}

TOLLGATE_DECL void connection_list::remove(connection& one) noexcept {
    (one.previous_ == nullptr ? first_ : one.previous_->next_) = one.next_;
    if (one.next_ != nullptr) one.next_->previous_ = one.previous_;
}

TOLLGATE_DECL void connection_list::interrupt_all(interruption why) const noexcept {
    for (connection* one = first_; one != nullptr; one = one->next_) one->interrupt(why);
}

TOLLGATE_DECL lane::lane(std::shared_ptr<host> of) : host_{std::move(of)}, workspaces_{host_->parsing()} {
    const server_settings& how = host_->settings;
    const std::pair<deadline, milliseconds> times[] = {
        {deadline::handshake, how.handshake_timeout}, {deadline::head, how.header_timeout},
        {deadline::body, how.body_timeout},           {deadline::idle, how.idle_timeout},
        {deadline::write, how.write_timeout},         {deadline::linger, how.linger_timeout}};
    milliseconds shortest = seconds{2};
    for (const auto& [what, time] : times) shortest = (std::min)(shortest, time);
    // An eighth of the shortest time is precise enough; four ticks a second are no load, and date a response well enough.
    tick_length_ = (std::clamp)(shortest / 8, milliseconds{5}, milliseconds{250});
    for (const auto& [what, time] : times)
        ticks_[static_cast<std::size_t>(what)] = to_ticks(time);
}

TOLLGATE_DECL lane::~lane() {
    for (const arrival& one : arrivals_) {
        close_socket(one.socket);
        host_->doors.leave(one.peer, one.given);
    }
}

TOLLGATE_DECL bool lane::hand_over(socket_handle socket, const ip_address& peer, admission::verdict given) noexcept {
    {
        const std::lock_guard hold{inbox_mutex_};
        try {
            arrivals_.push_back({socket, peer, given});
        } catch (const std::bad_alloc&) {
            return false;
        }
        if (std::exchange(fetch_posted_, true)) return true;
    }
    post_fetch();
    return true;
}

TOLLGATE_DECL void lane::give_back(connection& one) noexcept {
    const std::lock_guard hold{inbox_mutex_};
    given_back_.push(one);
}

TOLLGATE_DECL void lane::wake() noexcept {
    {
        const std::lock_guard hold{inbox_mutex_};
        if (fetch_posted_ || given_back_.size() == 0) return;
        fetch_posted_ = true;
    }
    post_fetch();
}

TOLLGATE_DECL void lane::fetch() noexcept {
    std::vector<arrival> arrivals;
    work_queue given_back;
    {
        const std::lock_guard hold{inbox_mutex_};
        arrivals.swap(arrivals_);
        given_back = std::exchange(given_back_, work_queue{});
        fetch_posted_ = false;
    }
    for (const arrival& one : arrivals) {
        if (!draining_) {
            adopt(one.socket, one.peer, one.given);
        } else {
            close_socket(one.socket);
            host_->doors.leave(one.peer, one.given);
        }
    }
    while (work_item* const one = given_back.pop()) static_cast<connection&>(*one).on_given_back();
}

TOLLGATE_DECL void lane::arm(deadline_wheel::entry& one, milliseconds from_now) noexcept {
    if (!ticking_) begin_ticking();
    wheel_.arm(one, to_ticks(from_now));
}

TOLLGATE_DECL std::uint64_t lane::to_ticks(milliseconds time) const noexcept {
    return static_cast<std::uint64_t>((std::max)(time, milliseconds{0}) / tick_length_) + 1;
}

TOLLGATE_DECL void lane::begin_ticking() noexcept {
    ticking_ = true;
    tell_time();
    start_ticking();
}

TOLLGATE_DECL void lane::tell_time() noexcept {
    date_ = to_http_date(std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()));
}

TOLLGATE_DECL bool lane::tick(std::uint64_t ticks) noexcept {
    tell_time();
    workspaces_.trim();
    fetch();  // a worker may have given back something before it began with what takes it long
    while (ticks-- > 0 && !wheel_.empty()) wheel_.advance();
    ticking_ = !wheel_.empty() || !connections_.empty();
    return ticking_;
}

TOLLGATE_DECL void lane::enter(connection& one) noexcept {
    connections_.add(one);
    if (!ticking_) begin_ticking();
}

TOLLGATE_DECL void lane::leave(connection& one) noexcept {
    connections_.remove(one);
    wheel_.disarm(one);
    if (drained()) {
        wheel_.disarm(drain_end_);
        on_drained();
    }
}

TOLLGATE_DECL void lane::drain(milliseconds deadline) noexcept {
    const bool first = !std::exchange(draining_, true);
    if (connections_.empty()) {
        if (first) on_drained();
        return;
    }
    if (!ticking_) begin_ticking();
    wheel_.arm_no_later(drain_end_, to_ticks(deadline));
    connections_.interrupt_all(interruption::stopping);
}

TOLLGATE_DECL void lane::cut_off() noexcept { connections_.interrupt_all(interruption::cut_off); }

}  // namespace tollgate::server_detail
