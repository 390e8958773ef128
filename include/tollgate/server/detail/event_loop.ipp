#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_EVENT_LOOP_IPP
#define TOLLGATE_SERVER_DETAIL_EVENT_LOOP_IPP

#include <tollgate/server/detail/connection.hpp>
#include <tollgate/server/detail/event_loop.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL void connection_list::add(connection& one) noexcept {
    one.previous_ = nullptr;
    one.next_ = first_;
    (first_ == nullptr ? last_ : first_->previous_) = &one;
    first_ = &one;
}

TOLLGATE_DECL void connection_list::remove(connection& one) noexcept {
    (one.previous_ == nullptr ? first_ : one.previous_->next_) = one.next_;
    (one.next_ == nullptr ? last_ : one.next_->previous_) = one.previous_;
}

TOLLGATE_DECL connection* connection_list::longest(bool (connection::*is_wanted)() const noexcept) const noexcept {
    constexpr int steps_max = 256;  // so that a flood of new connections costs little
    connection* one = last_;
    for (int i = 0; one != nullptr && i < steps_max; ++i, one = one->previous_)
        if ((one->*is_wanted)()) return one;
    return nullptr;
}

TOLLGATE_DECL connection* connection_list::longest_idle() const noexcept { return longest(&connection::idle); }

TOLLGATE_DECL connection* connection_list::oldest_unfinished() const noexcept { return longest(&connection::unfinished); }

TOLLGATE_COLD void connection_list::interrupt_all(interruption reason) const noexcept {
    for (connection* one = first_; one != nullptr; one = one->next_) one->interrupt(reason);
}

TOLLGATE_DECL void tls_keepers::remove(const connection& one) noexcept {
    *std::find(all_.begin(), all_.begin() + count_, &one) = all_[count_ - 1];
    --count_;
}

TOLLGATE_DECL void tls_keepers::release() noexcept {
    const auto busy = std::remove_if(all_.begin(), all_.begin() + count_, [](connection* one) { return one->stop_keeping_tls_buffers(); });
    count_ = static_cast<std::size_t>(busy - all_.begin());
}

TOLLGATE_COLD event_loop::event_loop(std::shared_ptr<server_context> context, std::shared_ptr<drain_count> drained)
    : context_{std::move(context)}, drain_count_{std::move(drained)}, workspaces_{context_->parsing()} {
    const server_settings& settings = context_->settings;
    const std::pair<deadline, milliseconds> times[] = {
        {deadline::handshake, settings.handshake_timeout}, {deadline::head, settings.header_timeout},
        {deadline::body, settings.body_timeout},           {deadline::idle, settings.idle_timeout},
        {deadline::write, settings.write_timeout},         {deadline::linger, settings.linger_timeout}};
    const milliseconds last_request = (std::min)({last_request_wait, settings.header_timeout, settings.handshake_timeout});
    milliseconds shortest = (std::min)(milliseconds{seconds{2}}, settings.queue_wait_max);
    for (const auto& [kind, time] : times) shortest = (std::min)(shortest, time);
    // An eighth of the shortest deadline is precise enough; four ticks a second cost little and suffice for `Date`.
    tick_length_ = (std::clamp)(shortest / 8, milliseconds{5}, milliseconds{250});
    for (const auto& [kind, time] : times) ticks_[static_cast<std::size_t>(kind)] = to_ticks(time);
    ticks_[static_cast<std::size_t>(deadline::last_request)] = to_ticks(last_request);
}

TOLLGATE_COLD event_loop::~event_loop() {
    for (const accepted_socket& one : inbox_.accepted) close_accepted(one);
}

TOLLGATE_COLD void event_loop::close_accepted(const accepted_socket& one) noexcept {
    close_socket(one.socket);
    context_->limiter.release(one.peer, one.admitted);
}

TOLLGATE_DECL bool event_loop::enqueue_accepted(socket_handle socket, const ip_address& peer, admission admitted) noexcept {
    const std::lock_guard hold{inbox_mutex_};
    try {
        inbox_.accepted.push_back({socket, peer, admitted});
    } catch (const std::bad_alloc&) {
        return false;
    }
    if (inbox_.woken) return true;
    inbox_.woken = wake();
    if (!inbox_.woken) inbox_.accepted.pop_back();  // without connections there may be no tick
    return inbox_.woken;
}

TOLLGATE_DECL void event_loop::enqueue_completed(connection& one) noexcept {
    // Held while the loop is woken: the loop may destroy its last connection, and itself, as soon as it has the item.
    const std::lock_guard hold{inbox_mutex_};
    inbox_.completed.push(one);
    if (!inbox_.woken) inbox_.woken = wake();
}

TOLLGATE_COLD void event_loop::request_drain(const drain_times& within) noexcept {
    const std::lock_guard hold{inbox_mutex_};
    const drain_times earlier = inbox_.drain.value_or(within);
    inbox_.drain = {.grace = (std::min)(earlier.grace, within.grace), .deadline = (std::min)(earlier.deadline, within.deadline)};
    if (!inbox_.woken) inbox_.woken = wake();
}

TOLLGATE_COLD void event_loop::report_all_closed() noexcept {
    const std::lock_guard hold{inbox_mutex_};
    inbox_.all_closed = true;
    if (!inbox_.woken) inbox_.woken = wake();
}

TOLLGATE_DECL void event_loop::collect() noexcept {
    inbox taken;
    {
        const std::lock_guard hold{inbox_mutex_};
        std::swap(taken, inbox_);
    }
    // First, so that they are among those that are drained: a request may follow. Only a loop that ended at once gets one later.
    for (const accepted_socket& one : taken.accepted) {
        if (draining_) close_accepted(one);
        else add_connection(one.socket, one.peer, one.admitted);
    }
    if (taken.drain) begin_drain(*taken.drain);
    if (taken.all_closed) drain();
    while (work_item* const one = taken.completed.pop()) static_cast<connection&>(*one).on_completed();
}

TOLLGATE_COLD void event_loop::arm(deadline_wheel::entry& one, milliseconds from_now) noexcept {
    if (!ticking_) begin_ticking();
    wheel_.arm(one, ticks_due(clock::now()) + to_ticks(from_now));
}

TOLLGATE_DECL std::uint64_t event_loop::to_ticks(milliseconds time) const noexcept {
    return static_cast<std::uint64_t>((std::max)(time, milliseconds{0}) / tick_length_) + 1;
}

TOLLGATE_COLD void event_loop::begin_ticking() noexcept {
    next_tick_ = clock::now() + tick_length_;
    update_date();
    ticking_ = start_ticking();
}

TOLLGATE_COLD void event_loop::update_date() noexcept {
    date_ = to_http_date(std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()));
}

TOLLGATE_COLD bool event_loop::tick(clock::time_point now) noexcept {
    update_date();
    workspaces_.trim();
    tls_keepers_.release();
    collect();
    context_->workers.withdraw_older_than(now - (std::min)(context_->settings.queue_wait_max, for_ever));
    for (; next_tick_ <= now; next_tick_ += tick_length_)
        if (!wheel_.empty()) wheel_.advance();
    ticking_ = !wheel_.empty() || !connections_.empty();
    return ticking_;
}

TOLLGATE_DECL void event_loop::add(connection& one) noexcept {
    connections_.add(one);
    if (!ticking_) begin_ticking();
}

TOLLGATE_DECL void event_loop::remove(connection& one) noexcept {
    connections_.remove(one);
    wheel_.disarm(one);
    report_if_drained();
}

TOLLGATE_DECL void event_loop::add_connection(socket_handle socket, const ip_address& peer, admission admitted) noexcept {
    if (admitted == admission::full) {
        connection* replaced = connections_.longest_idle();
        if (replaced == nullptr && context_->settings.replace_unfinished) replaced = connections_.oldest_unfinished();
        if (replaced != nullptr) {
            admitted = context_->limiter.replace(peer);
            if (admitted == admission::accepted) replaced->interrupt(interruption::replaced);
        }
    }
    if (connection* const accepted = make_connection(socket, peer, admitted)) accepted->begin();
    else context_->limiter.release(peer, admitted);
}

TOLLGATE_COLD void event_loop::begin_drain(const drain_times& within) noexcept {
    if (drained_reported_) return;
    if (!ticking_) begin_ticking();
    if (!ticking_ || within.deadline <= milliseconds{0}) return cut_off();
    const std::uint64_t now = ticks_due(clock::now());
    wheel_.arm_no_later(drain_end_, now + to_ticks(within.deadline));
    if (within.grace <= milliseconds{0}) end_grace();
    else if (!closed_) {
        wheel_.arm_no_later(last_handshakes_, now + to_ticks(within.grace - (std::min)(within.grace / 4, last_handshakes_wait)));
        wheel_.arm_no_later(grace_end_, now + to_ticks(within.grace));
    }
}

TOLLGATE_COLD void event_loop::end_grace() noexcept { close_own_listeners(last_connections::accepted); }

TOLLGATE_COLD void event_loop::close_own_listeners(last_connections what) noexcept {
    if (std::exchange(closed_, true)) return;
    wheel_.disarm(last_handshakes_);
    wheel_.disarm(grace_end_);
    close_listeners(what);
    // A loop drains when none accepts any more: until then, any of them may hand it a connection.
    if (!drain_count_->one_closed()) return;
    for (event_loop* each = next_; each != this; each = each->next_) each->report_all_closed();
    report_all_closed();  // last: while this loop has not drained, the others exist
}

TOLLGATE_COLD void event_loop::drain() noexcept {
    if (std::exchange(draining_, true)) return;
    connections_.interrupt_all(interruption::draining);
    report_if_drained();
}

TOLLGATE_COLD void event_loop::cut_off() noexcept {
    close_own_listeners(last_connections::reset);
    drain();
    connections_.interrupt_all(interruption::cut_off);
    context_->workers.withdraw_all();
}

TOLLGATE_COLD void event_loop::report_if_drained() noexcept {
    if (!drained() || std::exchange(drained_reported_, true)) return;
    wheel_.disarm(drain_end_);
    stop_ticking();
    drain_count_->one_drained();
}

TOLLGATE_COLD listener::listener(event_loop& loop, socket_handle socket, bool is_shared) noexcept
    : loop_{loop}, socket_{socket}, shared_{is_shared} {}

TOLLGATE_COLD listener::~listener() { loop_.disarm(*this); }

TOLLGATE_DECL void listener::listen() noexcept {
    constexpr milliseconds retry_pause{100};
    if (!wait_readable()) loop_.arm(*this, retry_pause);
}

TOLLGATE_DECL void listener::accept_all() noexcept {
    constexpr int batch_max = 64;  // afterwards open connections get their turn
    constexpr milliseconds exhausted_pause{100};
    for (int i = 0; i < batch_max; ++i) {
        const accept_result accepted = accept_one(socket_);
        if (accepted.state == accept_state::none) break;
        if (accepted.state == accept_state::exhausted && !refuse_one()) {
            pause();  // an immediate retry would spin
            return loop_.arm(*this, exhausted_pause);
        }
        if (accepted.state == accept_state::accepted) distribute(accepted);
    }
    listen();
}

TOLLGATE_COLD void listener::ignore_new() noexcept {
    if (!shared_) ignore_new_clients(socket_);
}

TOLLGATE_COLD void listener::accept_last() noexcept {
    if (shared_) return;
    ignore_new();
    refuse_new_clients_at_path(socket_);
    const int count_max = loop_.context().settings.backlog;  // the kernel has no more, except for handshakes that end meanwhile
    for (int i = 0; i < count_max; ++i) {
        const accept_result accepted = accept_one(socket_);
        if (accepted.state == accept_state::none || (accepted.state == accept_state::exhausted && !refuse_one())) return;
        if (accepted.state == accept_state::accepted) distribute(accepted);
    }
}

TOLLGATE_COLD bool listener::refuse_one() noexcept {
    server_context& context = loop_.context();
    context.warn_exhausted(event_loop::clock::now());
    const server_context::spare_use spare{context, socket_};
    if (spare.accepted.state != accept_state::accepted) return false;
    context.counters.count_refused();
    if (context.settings.tls) return true;  // a TLS client cannot read a response before a handshake
    try {
        http1_session session{context.parsing()};
        session.begin(spare.accepted.peer, false);
        loop_.update_date();
        session.refuse(http::status::service_unavailable, "The server has too many open files. Try again in a moment.",
                       loop_.responding());
        (void)send(spare.accepted.socket, session.output());
        std::array<char, 4096> ignored;  // unread bytes would turn the close into a reset, which destroys the response
        end_sending(spare.accepted.socket);
        (void)receive(spare.accepted.socket, ignored);
    } catch (...) {
        return true;  // closed without a response
    }
    return true;
}

TOLLGATE_DECL void listener::distribute(const accept_result& accepted) noexcept {
    connection_limiter& limiter = loop_.context().limiter;
    const admission admitted = limiter.admit(accepted.peer);
    if (admitted == admission::dropped) {
        loop_.context().counters.count_refused();
        return close_socket(accepted.socket);
    }
    last_ = &last_->next();
    event_loop& to = *last_;
    if (&to == &loop_) return to.add_connection(accepted.socket, accepted.peer, admitted);
    if (to.enqueue_accepted(accepted.socket, accepted.peer, admitted)) return;
    close_socket(accepted.socket);
    limiter.release(accepted.peer, admitted);
}

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_EVENT_LOOP_IPP
