#pragma once

#include <tollgate/server/detail/connection.hpp>
#include <tollgate/server/detail/event_loop.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL connection::connection(event_loop& loop, socket_handle socket, const ip_address& peer,
                                     connection_limiter::decision decision) noexcept
    : loop_{loop}, peer_{peer}, socket_{socket}, admitted_as_{decision} {
    loop_.enter(*this);
}

TOLLGATE_DECL connection::~connection() {
    if (workspace_) close_workspace();
    loop_.context().connections.release(peer_, admitted_as_);
    loop_.leave(*this);
}

TOLLGATE_DECL void connection::begin() noexcept {
    proceed([this] { return first_step(); });
}

TOLLGATE_DECL void connection::on_ready() noexcept {
    waiting_ = false;
    proceed([this] { return resume(); });
}

TOLLGATE_DECL void connection::on_completed() noexcept {
    proceed([this] {
        phase_ = phase::reading;
        if (interruption_ == interruption::cut_off) return next::end;
        interruption_ = interruption::none;
        const next then = after_send(after_output_, sent_);
        return then == next::again ? serve() : then;
    });
}

TOLLGATE_DECL void connection::interrupt(interruption why) noexcept {
    if (why <= interruption_) return;
    interruption_ = why;
    if (waiting_) cancel();
}

TOLLGATE_DECL void connection::on_deadline() noexcept {
    // A worker takes the time that the handler needs; ends of that are the handler's own business.
    if (phase_ != phase::working) interrupt(interruption::timed_out);
}

template <class Step>
TOLLGATE_DECL void connection::proceed(Step step) noexcept {
    const auto guarded = [](auto&& one) noexcept {
        try {
            return one();
        } catch (...) {
            return next::end;  // out of memory: this connection is lost, the others go on
        }
    };
    next then = guarded(step);
    while (then == next::work) {
        phase_ = phase::working;
        if (loop_.context().workers.submit(*this)) return;
        phase_ = phase::reading;
        then = guarded([this] { return refuse(http::status::service_unavailable, "The server is busy. Try again in a moment."); });
    }
    switch (then) {
        case next::wait_readable:
            waiting_ = true;
            return wait_readable();
        case next::wait_writable:
            waiting_ = true;
            return wait_writable();
        case next::again:
        case next::work:
        case next::end: delete this;
    }
}

TOLLGATE_DECL connection::next connection::first_step() {
    if (const auto context = loop_.context().tls()) tls_ = std::make_unique<tls_stream>(context);
    // A TLS client can read what we say only after a handshake.
    else if (admitted_as_ == connection_limiter::decision::refused) return reject_overload();
    expect(tls_ ? deadline::handshake : deadline::head);
    return next::wait_readable;
}

TOLLGATE_DECL connection::next connection::resume() {
    switch (std::exchange(interruption_, interruption::none)) {
        case interruption::none: break;
        case interruption::stopping:
            // A request may have come at the last moment; if not, `await_bytes` ends the connection.
            if (phase_ == phase::lingering) expect_end();
            break;
        case interruption::cut_off: return next::end;
        case interruption::timed_out:
            if (phase_ == phase::lingering && lingers_on()) break;
            if (phase_ == phase::reading && (deadline_ == deadline::head || deadline_ == deadline::body) && workspace_)
                return refuse(http::status::request_timeout, "The request took too long to arrive.");
            return next::end;
    }
    switch (phase_) {
        case phase::lingering: return linger();
        case phase::writing: {
            const next then = after_send(after_output_, transmit());
            return then == next::again ? serve() : then;
        }
        case phase::reading:
        case phase::working: break;
    }
    return read();
}

TOLLGATE_DECL connection::next connection::read() {
    if (!workspace_) open_workspace();
    if (tls_) return read_ciphertext();
    const std::span<char> space = workspace_->session.input_space();
    if (space.empty()) return next::end;
    const io_result got = receive(socket_, space);
    if (got.state == io_state::closed) return next::end;
    workspace_->session.received(got.bytes);
    return serve();
}

TOLLGATE_DECL connection::next connection::read_ciphertext() {
    tls_wire& wire = workspace_->wire;
    const io_result got = receive(socket_, wire.input_space());
    if (got.state == io_state::closed) return next::end;
    wire.end = got.bytes;

    if (!tls_->handshake_done()) {
        switch (tls_->handshake(wire)) {
            case tls_step::done: break;
            case tls_step::wants_bytes: return after_send(http1_session::state::idle, transmit());
            case tls_step::plain_http:
                tls_.reset();
                workspace_->wire.begin = workspace_->wire.end = 0;
                workspace_->session.begin(peer_, false);
                return refuse(http::status::bad_request, "This port speaks TLS: use https.");
            case tls_step::closed:
            case tls_step::failed:
                (void)transmit();  // the alert
                return next::end;
        }
        if (admitted_as_ == connection_limiter::decision::refused) return reject_overload();
        expect(deadline::head);
    }
    return decrypt();
}

TOLLGATE_DECL connection::next connection::decrypt() {
    // All of the wire's bytes at once, so that all their requests are answered in one batch.
    do {
        const std::span<char> space = workspace_->session.input_space();
        if (space.empty()) return next::end;
        const auto got = tls_->read(workspace_->wire, space);
        if (got.step == tls_step::wants_bytes) break;
        if (got.step == tls_step::closed) break;  // what came before the goodbye still wants its answer
        if (got.step != tls_step::done) {
            (void)transmit();
            return next::end;
        }
        workspace_->session.received(got.bytes);
    } while (tls_->holds(workspace_->wire));
    return serve();
}

TOLLGATE_DECL connection::next connection::serve() {
    for (;;) {
        const http1_session::state now = workspace_->session.serve(loop_.responding(), http::thread_kind::io);
        if (now == http1_session::state::needs_worker) {
            workspace_->date = loop_.date();
            return next::work;
        }
        const next then = after_send(now, transmit());
        if (then != next::again) return then;
    }
}

TOLLGATE_DECL void connection::work() noexcept {
    const server_context& of = loop_.context();
    const serving_scope mark{of};
    const response_context with{of.handler, workspace_->date.view(), of.stopping};
    try {
        after_output_ = workspace_->session.serve(with, http::thread_kind::worker);
        sent_ = transmit();
    } catch (...) {
        sent_ = io_state::closed;
    }
}

TOLLGATE_DECL completion_target& connection::complete() noexcept {
    event_loop& loop = loop_;
    loop.complete(*this);
    return loop;
}

TOLLGATE_DECL connection::next connection::after_send(http1_session::state then, io_state sent) {
    switch (sent) {
        case io_state::closed: return next::end;
        case io_state::would_block:
            // Nothing is read as long as the client does not take what it asked for.
            after_output_ = then;
            if (phase_ != phase::writing) expect(deadline::write);
            phase_ = phase::writing;
            return next::wait_writable;
        case io_state::done: break;
    }
    phase_ = phase::reading;
    if (then == http1_session::state::closing) return finish();
    if (then == http1_session::state::output_full) return next::again;
    return await_bytes(then);
}

TOLLGATE_DECL connection::next connection::refuse(http::status status, std::string_view reason) {
    if (!workspace_) open_workspace();
    workspace_->session.refuse(status, reason, loop_.responding());
    return after_send(http1_session::state::closing, transmit());
}

TOLLGATE_DECL connection::next connection::reject_overload() {
    return refuse(http::status::service_unavailable, "The server has too many connections. Try again in a moment.");
}

TOLLGATE_DECL connection::next connection::await_bytes(http1_session::state then) {
    const bool responded = workspace_->session.responses() > 0;
    answered_before_ = answered_before_ || responded;
    if (tls_ && tls_->ended()) return finish();
    if (workspace_->empty()) {
        close_workspace();
        if (loop_.context().stopping.load(std::memory_order_relaxed)) return finish();
        // Only an answer begins a new rest: bytes that came to nothing, as parts of TLS records may, buy no time.
        if (answered_before_ && (deadline_ != deadline::idle || responded)) expect(deadline::idle);
    } else {
        // Absolute for one message: the trickle of a byte now and then buys no time.
        const deadline what = then == http1_session::state::in_body ? deadline::body : deadline::head;
        const std::uint64_t count = workspace_->session.responses();
        if (deadline_ != what || expected_since_ != count) expect(what);
        expected_since_ = count;
    }
    return next::wait_readable;
}

TOLLGATE_DECL connection::next connection::finish() {
    const bool lingers = workspace_ && workspace_->session.needs_linger();
    if (tls_) {
        if (!workspace_) open_workspace();
        tls_->close_notify(workspace_->wire);
        (void)transmit();
    }
    if (!lingers) return next::end;
    // Closing now would make the kernel answer what the client still sends with a reset, which destroys our answer.
    end_sending(socket_);
    close_workspace();
    phase_ = phase::lingering;
    expect_end();
    return linger();
}

TOLLGATE_DECL connection::next connection::linger() {
    constexpr std::size_t reads_max = 16;                           // then other connections have their turn
    constexpr std::uint32_t lingered_bytes_max = 16 * 1024 * 1024;  // more is not a client on its way to our answer
    std::array<char, 16 * 1024> ignored;
    for (std::size_t i = 0; i < reads_max; ++i) {
        const io_result got = receive(socket_, ignored);
        if (got.state == io_state::closed) return next::end;
        if (got.state == io_state::would_block) break;
        lingered_bytes_ += static_cast<std::uint32_t>(got.bytes);
        if (lingered_bytes_ > lingered_bytes_max) return next::end;
    }
    return next::wait_readable;
}

TOLLGATE_DECL io_state connection::transmit() {
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
    if (const std::string_view plain = session.output(); !plain.empty()) {
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
    return io_state::done;
}

TOLLGATE_DECL void connection::open_workspace() {
    workspace_ = loop_.workspaces().take();
    workspace_->session.begin(peer_, tls_ != nullptr);
}

TOLLGATE_DECL void connection::close_workspace() noexcept { loop_.workspaces().give(std::move(workspace_)); }

TOLLGATE_DECL void connection::expect_end() noexcept {
    deadline_ = deadline::linger;
    const milliseconds patience = loop_.context().settings.linger_timeout;
    loop_.arm(*this, loop_.context().stopping ? (std::min)(patience, linger_while_stopping) : patience);
}

/// Whether a client that is still taking its last answers gets more time; patience is short only in a server that stops.
TOLLGATE_DECL bool connection::lingers_on() noexcept {
    const milliseconds had = ++lingered_times_ * linger_while_stopping;
    if (!loop_.context().stopping || had >= loop_.context().settings.linger_timeout || !is_sending(socket_)) return false;
    expect_end();
    return true;
}

TOLLGATE_DECL void connection::expect(deadline what) noexcept {
    deadline_ = what;
    expected_since_ = 0;
    loop_.arm(*this, what);
}

}  // namespace tollgate::server_detail
