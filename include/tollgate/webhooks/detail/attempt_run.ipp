#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_ATTEMPT_RUN_IPP
#define TOLLGATE_WEBHOOKS_DETAIL_ATTEMPT_RUN_IPP

#include <tollgate/base/detail/system/sockets.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/webhooks/detail/asio.hpp>
#include <tollgate/webhooks/detail/attempt_run.hpp>
#include <tollgate/webhooks/detail/hook_client.hpp>

#include <algorithm>
#include <utility>

namespace tollgate::inline v0::webhooks {

namespace detail {

/// The system's error number; 0 for another kind of error. Asio's category may not compare equal to `std::errc`.
inline int system_error_number(const asio_error& failed) noexcept {
    return failed.category() == asio::error::get_system_category() ? failed.value() : 0;
}

/// Returns true if this machine has run out of a resource, which does not depend on the receiver.
inline bool is_shortage(const asio_error& failed, const ip_address& to) noexcept {
    const int number = system_error_number(failed);
    // Without an address, no port is free. Over IPv6 the same error may mean that this machine has no IPv6 address at all.
    return tollgate::detail::is_exhausted(number) || (tollgate::detail::has_no_address(number) && to.is_v4());
}

inline attempt_cause connect_cause(const asio_error& failed) noexcept {
    switch (system_error_number(failed)) {
        case asio::error::timed_out: return attempt_cause::connect_timeout;
        case asio::error::connection_refused: return attempt_cause::connection_refused;
        case asio::error::network_unreachable:
        case asio::error::host_unreachable: return attempt_cause::unreachable;
        default: return attempt_cause::none;
    }
}

/// The time to wait for an address before the next address is tried, too (RFC 8305 section 5).
inline constexpr milliseconds connection_attempt_delay{250};

inline std::string message_head(const outgoing_request& request, const std::string& user_agent) {
    std::string message;
    constexpr std::size_t around_bytes = 128;
    message.reserve(around_bytes + request.target.path.size() + request.target.query.size() + request.fields.size() +
                    request.body.size());
    message.append(request.method).append(" ").append(request.target.request_target()).append(" HTTP/1.1\r\nHost: ");
    message.append(request.target.authority()).append("\r\nUser-Agent: ").append(user_agent).append("\r\n");
    message.append(request.fields);
    if (request.method != "GET") message.append("Content-Length: ").append(std::to_string(request.body.size())).append("\r\n");
    return message.append("\r\n");
}

}  // namespace detail

TOLLGATE_DECL attempt_run::attempt_run(std::shared_ptr<hook_client> client, outgoing_request request)
    : client_{std::move(client)},
      request_{std::move(request)},
      origin_{request_.target.origin()},
      message_{detail::message_head(request_, client_->settings_.user_agent)},
      ends_at_{(std::min)(started_at_ + client_->settings_.attempt_timeout, request_.done_by)},
      timer_{client_->strand_},
      parser_{client_->settings_.response} {
    message_ += request_.body;
    request_.body = {};
    request_.fields = {};
}

TOLLGATE_DECL void attempt_run::begin(ended_attempts blank) noexcept {
    result_ = std::move(blank);
    guarded([this] { start(); });
}

TOLLGATE_DECL void attempt_run::start() {
    // Less than half of the time is left: a timeout would blame the receiver for a delay on this side.
    if (ends_at_ - started_at_ < client_->settings_.attempt_timeout / 2) return end_not_attempted({});
    while (auto idle = client_->idle_.take(origin_)) {
        if (!client_->owner_->allows(idle->peer)) {  // the target rule may have changed
            idle->close();
            continue;
        }
        connection_ = std::move(idle);
        used_before_ = true;
        return send();
    }
    connect();
}

TOLLGATE_DECL void attempt_run::cut_off() noexcept {
    if (ended_) return;
    if (!written_ && !parser_.head_complete()) return end_not_attempted({});
    if (!parser_.head_complete()) result_.front().progress = attempt_progress::cut_off;
    end_as(attempt_end::broken_off, {});
}

/// Sets the timeout of the next step, bounded by the attempt's.
TOLLGATE_DECL void attempt_run::allow(milliseconds time) {
    const std::uint64_t round = ++timer_round_;
    timer_.expires_at((std::min)(clock::now() + time, ends_at_));
    timer_.async_wait([self = shared_from_this(), round](const asio_error& cancelled) {
        if (!cancelled && round == self->timer_round_) self->guarded([&] { self->on_time_out(); });
    });
}

TOLLGATE_DECL void attempt_run::on_time_out() {
    // A name that only waited for a thread was never looked up.
    if (looking_up_ && client_->names_.withdraw(request_.target.host, lookup_))
        return end_not_attempted("too many other names are being looked up");
    if (!connecting_.empty() && clock::now() < (std::min)(ends_at_, connected_by_) && next_address_ < addresses_.size())
        return connect_next();
    end_as(attempt_end::timed_out, last_fault_, time_out_cause_);
}

TOLLGATE_DECL void attempt_run::connect() {
    if (request_.target.address) return on_addresses({*request_.target.address});
    allow(client_->settings_.lookup_timeout);
    last_fault_ = "the name lookup timed out";
    time_out_cause_ = attempt_cause::no_name_server;
    // Weak: a lookup that never ends must not keep an attempt that has timed out.
    looking_up_ = true;
    lookup_ = client_->names_.resolve(
        request_.target.host, [waiting = weak_from_this(), strand = client_->strand_](const auto& looked_up) {
            asio::post(strand, [waiting, looked_up] {
                if (const auto self = waiting.lock()) self->guarded([&] { self->on_looked_up(looked_up); });
            });
        });
}

TOLLGATE_DECL void attempt_run::on_looked_up(const lookup_result& looked_up) {
    looking_up_ = false;
    switch (looked_up.end) {
        case lookup_end::local_failure: return end_with_shortage(looked_up.reason);
        case lookup_end::no_response:
            return end_as(attempt_end::timed_out, "no name server responded", attempt_cause::no_name_server);
        case lookup_end::resolved: break;
    }
    on_addresses(looked_up.addresses);
}

/// The target rule is checked for the addresses that are connected to. A name that was harmless when the hook was
/// created may resolve to a private address now.
TOLLGATE_DECL void attempt_run::on_addresses(const std::vector<ip_address>& found) {
    if (found.empty()) return end_as(attempt_end::no_address, "no such host", attempt_cause::name_not_found);
    std::vector<ip_address> allowed;
    for (const ip_address& each : found)
        if (client_->owner_->allows(each)) allowed.push_back(each);
    if (allowed.empty()) return end_as(attempt_end::refused_address, found.front().to_text());
    addresses_ = client_->addresses_.in_order(request_.target.host, std::move(allowed), client_->settings_.addresses_max);
    next_address_ = 0;
    connected_by_ = clock::now() + client_->settings_.connect_timeout;
    connect_next();
}

/// Connects to the next address while it waits for the earlier addresses (RFC 8305 section 5): the first connection is used.
TOLLGATE_DECL void attempt_run::connect_next() {
    const auto left = static_cast<milliseconds::rep>(addresses_.size() - next_address_);
    const ip_address address = addresses_[next_address_++];
    connecting_.reserve(addresses_.size());
    const auto one = std::make_shared<hook_connection>(client_->strand_);
    if (!connecting_.empty() && !client_->take_extra_connection()) {
        connecting_.front()->close();
        connecting_.erase(connecting_.begin());
    }
    connecting_.push_back(one);
    one->peer = address;
    one->made_at = clock::now();
    last_fault_ = "no response to the connection attempt";
    time_out_cause_ = attempt_cause::connect_timeout;
    // With little time, it is divided, so that each address is tried.
    const auto time = std::chrono::ceil<milliseconds>(connected_by_ - clock::now());
    allow((std::max)(left == 1 ? time : (std::min)(time / left, detail::connection_attempt_delay), milliseconds{1}));
    one->socket().async_connect(to_endpoint(address, request_.target.port),
                                [self = shared_from_this(), one](const asio_error& failed) {
                                    const auto& all = self->connecting_;
                                    if (std::find(all.begin(), all.end(), one) != all.end())
                                        self->guarded([&] { self->on_connected(one, failed); });
                                });
}

TOLLGATE_DECL void attempt_run::on_connected(const std::shared_ptr<hook_connection>& one, const asio_error& failed) {
    if (failed) {
        one->close();
        if (connecting_.size() > 1) client_->return_extra_connections(1);
        connecting_.erase(std::find(connecting_.begin(), connecting_.end(), one));
        if (detail::is_shortage(failed, one->peer) && connecting_.empty()) return end_with_shortage(failed.message());
        if (next_address_ < addresses_.size()) return connect_next();
        if (!connecting_.empty()) return;
        const attempt_cause cause = detail::connect_cause(failed);
        return end_as(cause == attempt_cause::connect_timeout ? attempt_end::timed_out : attempt_end::no_connection,
                      failed.message(), cause);
    }
    connection_ = one;
    stop_connecting();
    used_before_ = false;
    if (addresses_.size() > 1) client_->addresses_.remember(request_.target.host, one->peer);
    asio_error ignored;
    // one message, one response: nothing to coalesce
    connection_->socket().set_option(asio::ip::tcp::no_delay{true}, ignored);
    if (request_.target.scheme == http::url_scheme::https) return start_tls();
    send();
}

/// Closes all connections that are being made but the one in use.
TOLLGATE_DECL void attempt_run::stop_connecting() noexcept {
    for (const auto& each : connecting_)
        if (each != connection_) each->close();
    if (connecting_.size() > 1) client_->return_extra_connections(connecting_.size() - 1);
    connecting_.clear();
}

TOLLGATE_DECL void attempt_run::start_tls() {
    if (!connection_->use_tls(*client_->tls_, request_.target)) return end_as(attempt_end::no_tls, "out of memory");
    last_fault_ = "no response to the TLS handshake";
    time_out_cause_ = attempt_cause::handshake_timeout;
    allow(client_->settings_.handshake_timeout);
    connection_->handshake([self = shared_from_this(), connection = connection_](const asio_error& failed) {
        self->guarded([&] {
            if (failed) self->end_as(attempt_end::no_tls, connection->tls_fault(failed), connection->tls_cause());
            else self->send();
        });
    });
}

/// Reads while it writes: a receiver may refuse a request before it has received all of it.
TOLLGATE_DECL void attempt_run::send() {
    last_fault_ = "no response to the request";
    time_out_cause_ = attempt_cause::response_timeout;
    result_.front().request.assign(message_, 0, limits::attempt_request_bytes_max);
    allow(client_->settings_.attempt_timeout);
    parser_.start();
    written_ = in_body_ = false;
    connection_->write(
        message_, [self = shared_from_this(), connection = connection_](const asio_error& failed, std::size_t) {
            // If writing failed, reading gives more information: perhaps a response, or the reason.
            if (!self->ended_ && connection == self->connection_ && !failed) self->written_ = true;
        });
    read();
}

TOLLGATE_DECL void attempt_run::read() {
    connection_->read_some(asio::buffer(input_), [self = shared_from_this(), connection = connection_](
                                                     const asio_error& failed, std::size_t bytes) {
        if (connection == self->connection_) self->guarded([&] { self->on_read(failed, bytes); });
    });
}

TOLLGATE_DECL void attempt_run::on_read(const asio_error& failed, std::size_t bytes) {
    const bool ended = failed == asio::error::eof || failed == asio::ssl::error::stream_truncated;
    if (failed && !ended) return on_lost(failed.message());

    const auto step = ended ? parser_.finish() : parser_.step({input_.data(), bytes});
    if (step == http::response_step::needs_more) {
        if (parser_.head_complete() && !in_body_) {
            in_body_ = true;
            allow(client_->settings_.body_timeout);
        }
        return read();
    }
    if (step == http::response_step::refused) {
        if (ended) return on_lost(std::string{parser_.refused_reason()});
        return end_as(attempt_end::bad_response, std::string{parser_.refused_reason()});
    }
    result_.front().is_whole = !parser_.body_cut();
    if (!ended && written_ && parser_.keep_alive() && parser_.consumed() == bytes)
        client_->keep(origin_, std::move(connection_));
    end_as(attempt_end::answered, {});
}

/// A reused connection may close at any time, possibly before the host has seen the request. If no byte of a response
/// has arrived, the request is sent once more on a new connection. RFC 9110 section 9.2.2 allows that for a POST that
/// the client knows to be harmless: the `webhook-id` is the same, and receivers must expect duplicates anyway.
TOLLGATE_DECL void attempt_run::on_lost(std::string reason) {
    if (!used_before_ || parser_.begun()) return end_as(attempt_end::broken_off, std::move(reason));
    connection_->close();
    connection_.reset();
    used_before_ = false;
    connect();
}

/// Once the head is complete, the receiver has responded, even if the body is cut off: many receivers send a body without a
/// length and leave the connection open.
TOLLGATE_DECL void attempt_run::end_as(attempt_end end_kind, std::string reason, attempt_cause cause) noexcept {
    ended_attempt& ended = result_.front();
    ended.end = parser_.head_complete() ? attempt_end::answered : end_kind;
    ended.cause = parser_.head_complete() ? attempt_cause::none : cause;
    ended.reason = std::move(reason);
    if (parser_.head_complete()) {
        ended.status = parser_.status();
        try {
            ended.retry_after = parser_.retry_after();
            ended.response = parser_.body();
            ended.content_type = parser_.content_type();
            ended.cache_control = parser_.cache_control();
        } catch (const std::exception&) {  // only the status matters
        }
    }
    end();
}

TOLLGATE_DECL void attempt_run::end_with_shortage(std::string_view of_what) noexcept {
    if (parser_.head_complete()) return end_as(attempt_end::answered, {});
    ended_attempt& ended = result_.front();
    ended.progress = attempt_progress::shortage;
    try {
        ended.reason = of_what;
    } catch (const std::exception&) {  // the reason is only for the log
    }
    end();
}

TOLLGATE_DECL void attempt_run::end_not_attempted(std::string reason) noexcept {
    result_.front().progress = attempt_progress::postponed;
    result_.front().reason = std::move(reason);
    end();
}

TOLLGATE_DECL void attempt_run::end() noexcept {
    ended_ = true;
    timer_.cancel();
    if (connection_) connection_->close();
    connection_.reset();
    stop_connecting();
    result_.front().duration = std::chrono::ceil<milliseconds>(clock::now() - started_at_);
    client_->end(std::move(result_));
}

}  // namespace tollgate::inline v0::webhooks

#endif  // TOLLGATE_WEBHOOKS_DETAIL_ATTEMPT_RUN_IPP
