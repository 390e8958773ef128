#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_CONNECTION_IPP
#define TOLLGATE_SERVER_DETAIL_CONNECTION_IPP

#include <tollgate/server/detail/connection.hpp>
#include <tollgate/server/detail/event_loop.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL connection::connection(event_loop& loop, socket_handle socket, const ip_address& peer, admission admitted) noexcept
    : loop_{loop}, peer_{peer}, local_{local_address_of(socket)}, socket_{socket}, admitted_{admitted} {
    loop_.add(*this);
    server_counters::add(loop_.context().counters.connections);
    server_counters::add(loop_.context().counters.connections_accepted);
}

TOLLGATE_DECL connection::~connection() {
    if (workspace_) close_workspace();
    if (keeps_tls_buffers_) loop_.tls_keepers().remove(*this);
    hold_unsent({});
    loop_.context().limiter.release(peer_, admitted_);
    server_counters::remove(loop_.context().counters.connections);
    loop_.remove(*this);
}

TOLLGATE_DECL void connection::begin() noexcept { handle(event::accepted); }

TOLLGATE_DECL void connection::on_ready() noexcept {
    waiting_ = false;
    switch (std::exchange(interruption_, interruption::none)) {
        case interruption::none: break;
        case interruption::draining: return handle(event::draining);
        case interruption::replaced: return handle(event::replaced);
        case interruption::timed_out: return handle(event::timed_out);
        case interruption::cut_off: return handle(event::cut_off);
    }
    handle(event::ready);
}

TOLLGATE_DECL void connection::on_completed() noexcept {
    const bool withdrawn = std::exchange(withdrawn_, false);
    if (std::exchange(interruption_, interruption::none) == interruption::cut_off) return handle(event::cut_off);
    handle(withdrawn ? event::withdrawn : event::completed);
}

TOLLGATE_DECL void connection::interrupt(interruption reason) noexcept {
    if (reason <= interruption_) return;
    interruption_ = reason;
    if (waiting_) cancel();
}

TOLLGATE_DECL void connection::on_deadline() noexcept {
    // While a worker has the connection, no deadline counts; what follows gets one of its own.
    if (state_ == connection_state::working) deadline_ = deadline::none;
    else interrupt(interruption::timed_out);
}

TOLLGATE_DECL void connection::handle(event current) noexcept {
    while (current != event::none) {
        const connection_transition next = transition_of(state_, current);
        state_ = next.to;
        if (next.action == connection_action::close) {
            delete this;
            return;
        }
        try {
            current = perform(next.action);
        } catch (...) {
            current = event::broken;  // out of memory: only this connection is lost
        }
    }
}

TOLLGATE_DECL connection_event connection::perform(connection_action action) {
    switch (action) {
        case connection_action::choose_protocol: return begin_tls();
        case connection_action::await_next_request: deadline_ = deadline::none; [[fallthrough]];
        case connection_action::await_input:
            arm_deadline();
            release_tls_buffers();
            return await(wait_readable());
        case connection_action::await_output:
            arm_deadline();
            release_tls_buffers();
            return await(wait_writable());
        case connection_action::receive: return receive_input();
        case connection_action::decrypt: return decrypt();
        case connection_action::submit:
            release_tls_buffers();
            return submit();
        case connection_action::report_work: return resume_output(sent_);
        case connection_action::send: return resume_output(transmit());
        case connection_action::refuse_connection:
            server_counters::add(loop_.context().counters.connections_refused);
            return refuse(http::status::service_unavailable, "The server has too many connections. Try again in a moment.");
        case connection_action::refuse_busy:
            server_counters::add(loop_.context().counters.dropped);
            return refuse(http::status::service_unavailable, "The server is busy. Try again in a moment.");
        case connection_action::refuse_slow:
            if (workspace_->session.has_only_empty_line()) return event::session_over;
            return refuse(http::status::request_timeout, "The request took too long to arrive.");
        case connection_action::finish: return finish();
        case connection_action::linger_anew: arm_linger(); [[fallthrough]];
        case connection_action::linger: return discard_input();
        case connection_action::extend_linger: return extend_linger();
        case connection_action::none:
        case connection_action::close: break;
    }
    return event::none;
}

TOLLGATE_DECL connection_event connection::await(bool wait_started) noexcept {
    if (!wait_started) return event::broken;
    waiting_ = true;
    if (interruption_ != interruption::none) cancel();  // a handler called on this connection stopped the server
    return event::none;
}

TOLLGATE_DECL connection_event connection::begin_tls() {
    if (const auto context = loop_.context().tls()) {
        tls_ = context->new_stream();
        return event::tls;
    }
    return admitted_ == admission::accepted ? event::plain : event::over_limit;
}

TOLLGATE_DECL io_result connection::receive_into(std::span<char> space) noexcept {
    const io_result received = receive(socket_, space);
    may_have_input_ = received.state == io_state::done && received.bytes == space.size();
    return received;
}

TOLLGATE_DECL connection_event connection::receive_input() {
    if (!workspace_) open_workspace();
    if (tls_) return receive_ciphertext();
    const std::span<char> space = workspace_->session.input_space();
    if (space.empty()) return event::broken;
    const io_result received = receive_into(space);
    if (received.state == io_state::closed) return event::broken;
    workspace_->session.received(received.bytes);
    return serve();
}

TOLLGATE_DECL connection_event connection::receive_ciphertext() {
    tls_wire& wire = workspace_->wire;
    const io_result received = receive_into(wire.input_space());
    if (received.state == io_state::closed) return event::broken;
    wire.end = received.bytes;
    if (tls_->handshake_done()) return decrypt();
    switch (tls_->handshake(wire)) {
        case tls_step::done: return admitted_ == admission::accepted ? event::handshake_done : event::over_limit;
        case tls_step::wants_bytes: return outcome(http1_session::state::idle, transmit());
        case tls_step::plain_http:
            tls_.reset();
            wire.begin = wire.end = 0;
            workspace_->session.begin(peer_, false, local_);
            return refuse(http::status::bad_request, "This port speaks TLS: use https.");
        case tls_step::closed:
        case tls_step::failed: break;
    }
    (void)transmit();  // the alert
    return event::broken;
}

TOLLGATE_DECL connection_event connection::decrypt() {
    // Reads all ciphertext at once, so that all requests in it are answered in one batch. OpenSSL may have all but the end of a record
    // from earlier reads.
    static_assert(http1_session::input_slack_bytes >= tls_wire::input_bytes + tls_record_bytes_max);
    do {
        const std::span<char> space = workspace_->session.input_space();
        if (space.empty()) return event::broken;
        const auto received = tls_->read(workspace_->wire, space);
        if (received.step == tls_step::wants_bytes) break;
        if (received.step == tls_step::closed) break;  // requests before the close_notify are still answered
        if (received.step != tls_step::done) {
            (void)transmit();
            return event::broken;
        }
        workspace_->session.received(received.bytes);
    } while (tls_->has_input(workspace_->wire));
    return serve();
}

TOLLGATE_DECL connection_event connection::serve() {
    for (;;) {
        const http1_session::state now = workspace_->session.serve(loop_.responding(), http::thread_kind::io);
        if (now == http1_session::state::needs_worker) {
            workspace_->date = loop_.date();
            // Responses to earlier requests do not wait for this response. Output that cannot be sent now is sent with the next responses.
            return transmit() == io_state::closed ? event::broken : event::worker_needed;
        }
        const io_state sent = transmit();
        if (now != http1_session::state::output_full || sent != io_state::done) return outcome(now, sent);
    }
}

TOLLGATE_DECL connection_event connection::outcome(http1_session::state session, io_state sent) {
    if (sent == io_state::closed) return event::broken;
    if (sent == io_state::would_block) {
        after_output_ = session;
        return event::output_pending;
    }
    if (session == http1_session::state::closing || (tls_ && tls_->ended())) return event::session_over;
    if (!workspace_->empty())
        return session == http1_session::state::in_body ? event::body_pending : event::head_pending;
    const bool answered = workspace_->session.responses() > 0;
    close_workspace();
    // The first request of a connection may be on its way.
    if (loop_.draining() && (answered || state_ == connection_state::idle)) return event::session_over;
    if (answered && tls_ && !keeps_tls_buffers_) keeps_tls_buffers_ = loop_.tls_keepers().add(*this);
    if (answered) return event::all_answered;
    return tls_ && !tls_->handshake_done() ? event::handshake_pending : event::nothing_new;
}

TOLLGATE_DECL connection_event connection::resume_output(io_state sent) {
    if (sent == io_state::done && deadline_ == deadline::write) deadline_ = deadline::none;  // the next batch has its own time
    if (after_output_ == http1_session::state::output_full && sent == io_state::done) return serve();
    return outcome(after_output_, sent);
}

TOLLGATE_DECL connection_event connection::submit() {
    server_context& context = loop_.context();
    queued_at_ = std::chrono::steady_clock::now();
    taken_up_ = false;
    return context.workers.submit(*this, workspace_->session.waits_for(), queued_at_) ? event::none : event::queue_full;
}

TOLLGATE_DECL void connection::count_work(bool has_queued) noexcept {
    server_counters& counters = loop_.context().counters;
    if (has_queued) counters.waited.fetch_add((std::chrono::steady_clock::now() - queued_at_).count(), std::memory_order_relaxed);
    if (!std::exchange(taken_up_, true)) server_counters::add(counters.taken_up);
}

TOLLGATE_DECL std::optional<http::work_kind> connection::work(bool has_queued) noexcept {
    count_work(has_queued);
    if (has_queued && is_broken(socket_)) {  // the client has reset the connection while the request waited
        sent_ = io_state::closed;
        return std::nullopt;
    }
    const server_context& context = loop_.context();
    const serving_scope mark{context};
    const response_context worker_context{context.handler, workspace_->date.view(), context.stopping};
    try {
        const auto responses = workspace_->session.responses();
        after_output_ = workspace_->session.serve(worker_context, http::thread_kind::worker);
        if (after_output_ == http1_session::state::needs_worker) {
            queued_at_ = std::chrono::steady_clock::now();
            if (workspace_->session.responses() != responses) {  // a pipelined request, which waits from now on
                if (sent_ = transmit(); sent_ == io_state::closed) return std::nullopt;
                begin_anew(queued_at_);
                taken_up_ = false;
            }
            return workspace_->session.waits_for();
        }
        sent_ = transmit();
    } catch (...) {
        sent_ = io_state::closed;
    }
    return std::nullopt;
}

TOLLGATE_DECL bool connection::stop_keeping_tls_buffers() noexcept {
    if (!waiting_) return false;  // a worker may have it
    keeps_tls_buffers_ = false;
    release_tls_buffers();
    return true;
}

TOLLGATE_DECL void connection::release_tls_buffers() noexcept {
    if (tls_ && !keeps_tls_buffers_) tls_->release_buffers();
}

TOLLGATE_DECL void connection::complete(bool worked) noexcept {
    withdrawn_ = !worked;
    loop_.enqueue_completed(*this);
}

TOLLGATE_DECL connection_event connection::refuse(http::status status, std::string_view reason) {
    if (!workspace_) open_workspace();
    workspace_->session.refuse(status, reason, loop_.responding());
    return outcome(http1_session::state::closing, transmit());
}

TOLLGATE_DECL connection_event connection::finish() {
    const bool client_may_send = workspace_ && workspace_->session.needs_linger();
    if (tls_) {
        if (!workspace_) open_workspace();
        tls_->close_notify(workspace_->wire);
        (void)transmit();
    }
    if (!client_may_send) return event::finished;
    // Closing now would make the kernel reset the connection when more data arrives, and the client would lose the
    // response.
    end_sending(socket_);
    close_workspace();
    arm_linger();
    return discard_input();
}

TOLLGATE_DECL connection_event connection::discard_input() {
    constexpr std::size_t reads_max = 16;                            // afterwards other connections get their turn
    constexpr std::uint32_t discarded_bytes_max = 16 * 1024 * 1024;  // a client that sends more does not read the response
    std::array<char, 16 * 1024> ignored;
    for (std::size_t i = 0; i < reads_max; ++i) {
        const io_result received = receive_into(ignored);
        if (received.state == io_state::closed) return event::finished;
        if (received.state == io_state::would_block) break;
        discarded_bytes_ += static_cast<std::uint32_t>(received.bytes);
        if (discarded_bytes_ > discarded_bytes_max) return event::finished;
    }
    return event::client_may_send;
}

TOLLGATE_DECL connection_event connection::extend_linger() noexcept {
    const milliseconds waited = ++linger_extensions_ * linger_while_stopping;
    if (!loop_.draining() || waited >= loop_.context().settings.linger_timeout || !is_sending(socket_)) return event::finished;
    arm_linger();
    return discard_input();
}

TOLLGATE_DECL io_state connection::transmit() {
    const io_state state = send_output();
    const tls_wire& wire = workspace_->wire;
    const bool is_left = state == io_state::would_block;
    const unsent_output left{workspace_->session.output().size() + wire.output.size() - wire.sent, workspace_->session.user()};
    if (hold_unsent(is_left ? left : unsent_output{})) return state;
    server_counters::add(loop_.context().counters.unsent_closed);
    return io_state::closed;
}

TOLLGATE_DECL bool connection::hold_unsent(const unsent_output& now) noexcept {
    if (now == unsent_ || admitted_ != admission::accepted) return true;  // a refusal is short
    server_context& context = loop_.context();
    if (!context.limiter.hold_unsent(peer_, unsent_, now)) return false;
    context.counters.unsent_bytes.fetch_add(now.bytes - unsent_.bytes, std::memory_order_relaxed);  // modulo 2^64
    unsent_ = now;
    return true;
}

TOLLGATE_DECL io_state connection::send_output() {
    http1_session& session = workspace_->session;
    if (!tls_) {
        const std::string_view output = session.output();
        if (output.empty()) return io_state::done;
        const io_result went = send(socket_, output);
        if (went.state != io_state::done) return went.state;
        session.sent(went.bytes);
        return went.bytes == output.size() ? io_state::done : io_state::would_block;
    }
    tls_wire& wire = workspace_->wire;
    // Piece by piece: the ciphertext of a long response would take as much memory again.
    constexpr std::size_t piece_bytes_max = 3 * tls_record_bytes_max;
    for (;;) {
        const std::size_t space = piece_bytes_max - (std::min)(piece_bytes_max, wire.output.size());
        if (const std::string_view plain = session.output().substr(0, space); !plain.empty()) {
            if (!tls_->write(wire, plain)) return io_state::closed;
            session.sent(plain.size());
        }
        const std::string_view output = std::string_view{wire.output}.substr(wire.sent);
        if (output.empty()) return io_state::done;
        const io_result went = send(socket_, output);
        if (went.state != io_state::done) return went.state;
        wire.sent += went.bytes;
        if (wire.sent < wire.output.size()) return io_state::would_block;
        wire.sent = 0;
        wire.output.clear();
    }
}

TOLLGATE_DECL void connection::open_workspace() {
    workspace_ = loop_.workspaces().take();
    workspace_->session.begin(peer_, tls_ != nullptr, local_);
}

TOLLGATE_DECL void connection::close_workspace() noexcept { loop_.workspaces().give(std::move(workspace_)); }

TOLLGATE_DECL void connection::arm_deadline() noexcept {
    deadline next = deadline::none;
    switch (state_) {
        case connection_state::handshaking: next = loop_.draining() ? deadline::last_request : deadline::handshake; break;
        case connection_state::fresh: next = loop_.draining() ? deadline::last_request : deadline::head; break;
        case connection_state::in_head: next = deadline::head; break;
        case connection_state::in_body: next = deadline::body; break;
        case connection_state::idle: next = deadline::idle; break;
        case connection_state::sending: next = deadline::write; break;
        case connection_state::connected:
        case connection_state::working:
        case connection_state::lingering:
        case connection_state::closed:
        case connection_state::count_: return;
    }
    if (next == deadline::idle) {
        if (deadline_ == next) return;
        loop_.move_to_front(*this);
    } else {
        const std::uint64_t message = workspace_ && next != deadline::write ? workspace_->session.message() : 0;
        if (deadline_ == next && message_at_arming_ == message) return;
        message_at_arming_ = message;
    }
    deadline_ = next;
    loop_.arm(*this, next);
}

TOLLGATE_DECL void connection::arm_linger() noexcept {
    deadline_ = deadline::linger;
    const milliseconds patience = loop_.context().settings.linger_timeout;
    loop_.arm(*this, loop_.draining() ? (std::min)(patience, linger_while_stopping) : patience);
}

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_CONNECTION_IPP
