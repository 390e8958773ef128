#pragma once

#include <tollgate/server/detail/connection.hpp>
#include <tollgate/server/detail/event_loop.hpp>

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

TOLLGATE_DECL event_loop::event_loop(std::shared_ptr<server_context> of) : context_{std::move(of)}, workspaces_{context_->parsing()} {
    const server_settings& how = context_->settings;
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

TOLLGATE_DECL event_loop::~event_loop() {
    for (const accepted_socket& one : accepted_) {
        close_socket(one.socket);
        context_->connections.release(one.peer, one.decision);
    }
}

TOLLGATE_DECL bool event_loop::enqueue_accepted(socket_handle socket, const ip_address& peer,
    connection_limiter::decision decision) noexcept {
    {
        const std::lock_guard hold{inbox_mutex_};
        try {
            accepted_.push_back({socket, peer, decision});
        } catch (const std::bad_alloc&) {
            return false;
        }
        if (std::exchange(collect_posted_, true)) return true;
    }
    post_collect();
    return true;
}

TOLLGATE_DECL void event_loop::complete(connection& one) noexcept {
    const std::lock_guard hold{inbox_mutex_};
    completed_.push(one);
}

TOLLGATE_DECL void event_loop::notify() noexcept {
    {
        const std::lock_guard hold{inbox_mutex_};
        if (collect_posted_ || completed_.size() == 0) return;
        collect_posted_ = true;
    }
    post_collect();
}

TOLLGATE_DECL void event_loop::collect() noexcept {
    std::vector<accepted_socket> accepted;
    work_queue completed;
    {
        const std::lock_guard hold{inbox_mutex_};
        accepted.swap(accepted_);
        completed = std::exchange(completed_, work_queue{});
        collect_posted_ = false;
    }
    for (const accepted_socket& one : accepted) {
        if (!draining_) {
            add_connection(one.socket, one.peer, one.decision);
        } else {
            close_socket(one.socket);
            context_->connections.release(one.peer, one.decision);
        }
    }
    while (work_item* const one = completed.pop()) static_cast<connection&>(*one).on_completed();
}

TOLLGATE_DECL void event_loop::arm(deadline_wheel::entry& one, milliseconds from_now) noexcept {
    if (!ticking_) begin_ticking();
    wheel_.arm(one, to_ticks(from_now));
}

TOLLGATE_DECL std::uint64_t event_loop::to_ticks(milliseconds time) const noexcept {
    return static_cast<std::uint64_t>((std::max)(time, milliseconds{0}) / tick_length_) + 1;
}

TOLLGATE_DECL void event_loop::begin_ticking() noexcept {
    ticking_ = true;
    update_date();
    start_ticking();
}

TOLLGATE_DECL void event_loop::update_date() noexcept {
    date_ = to_http_date(std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()));
}

TOLLGATE_DECL bool event_loop::tick(std::uint64_t ticks) noexcept {
    update_date();
    workspaces_.trim();
    collect();  // a worker may have given back something before it began with what takes it long
    while (ticks-- > 0 && !wheel_.empty()) wheel_.advance();
    ticking_ = !wheel_.empty() || !connections_.empty();
    return ticking_;
}

TOLLGATE_DECL void event_loop::enter(connection& one) noexcept {
    connections_.add(one);
    if (!ticking_) begin_ticking();
}

TOLLGATE_DECL void event_loop::leave(connection& one) noexcept {
    connections_.remove(one);
    wheel_.disarm(one);
    if (drained()) {
        wheel_.disarm(drain_end_);
        on_drained();
    }
}

TOLLGATE_DECL void event_loop::drain(milliseconds deadline) noexcept {
    const bool first = !std::exchange(draining_, true);
    if (connections_.empty()) {
        if (first) on_drained();
        return;
    }
    if (!ticking_) begin_ticking();
    wheel_.arm_no_later(drain_end_, to_ticks(deadline));
    connections_.interrupt_all(interruption::stopping);
}

TOLLGATE_DECL void event_loop::cut_off() noexcept { connections_.interrupt_all(interruption::cut_off); }

}  // namespace tollgate::server_detail
