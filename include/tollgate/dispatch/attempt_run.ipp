#pragma once

#include <tollgate/dispatch/attempt_run.hpp>
#include <tollgate/dispatch/hook_client.hpp>

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/post.hpp>

#include <algorithm>
#include <utility>

namespace tollgate::dispatching {

namespace detail {

/// What this machine has run out of, which says nothing of the other one.
inline bool is_shortage(const std::error_code& failed) noexcept {
    for (const auto each : {std::errc::too_many_files_open, std::errc::too_many_files_open_in_system,
                            std::errc::no_buffer_space, std::errc::not_enough_memory})
        if (failed == each) return true;
    return false;
}

inline std::string message_head(const outgoing& request, const std::string& user_agent) {
    std::string made;
    constexpr std::size_t around_bytes = 128;
    made.reserve(around_bytes + request.target.path.size() + request.target.query.size() + request.fields.size() +
                 request.body.size());
    made.append("POST ").append(request.target.request_target()).append(" HTTP/1.1\r\nHost: ");
    made.append(request.target.authority()).append("\r\nUser-Agent: ").append(user_agent).append("\r\n");
    made.append(request.fields)
        .append("Content-Length: ")
        .append(std::to_string(request.body.size()))
        .append("\r\n\r\n");
    return made;
}

}  // namespace detail

TOLLGATE_DECL attempt_run::attempt_run(std::shared_ptr<hook_client> home, outgoing request)
    : home_{std::move(home)},
      request_{std::move(request)},
      origin_{request_.target.origin()},
      message_{detail::message_head(request_, home_->settings_.user_agent)},
      ends_at_{began_ + home_->settings_.attempt_timeout},
      timer_{home_->strand_},
      parser_{home_->settings_.answer} {
    message_ += request_.body;
    request_.body = {};
    request_.fields = {};
}

TOLLGATE_DECL void attempt_run::begin() {
    while (auto kept = home_->idle_.take(origin_)) {
        if (!home_->owner_->allows(kept->peer)) {  // what may be reached can change
            kept->close();
            continue;
        }
        line_ = std::move(kept);
        used_before_ = true;
        return send();
    }
    connect_anew();
}

TOLLGATE_DECL void attempt_run::cut_off() {
    if (!over_) end({.number = request_.number, .tried = false});
}

/// From now on there is so much time for the next step, and never more than is left of all.
TOLLGATE_DECL void attempt_run::allow(milliseconds time) {
    const std::uint64_t round = ++timer_round_;
    timer_.expires_at((std::min)(clock::now() + time, ends_at_));
    timer_.async_wait([self = shared_from_this(), round](const std::error_code& cancelled) {
        if (!cancelled && !self->over_ && round == self->timer_round_) self->on_time_out();
    });
}

TOLLGATE_DECL void attempt_run::on_time_out() {
    if (connecting_) {
        last_fault_ = "no answer to the attempt to connect";
        if (clock::now() < ends_at_ && next_address_ < addresses_.size()) return connect_next();
    }
    end_as(attempt_end::timed_out, last_fault_);
}

TOLLGATE_DECL void attempt_run::connect_anew() {
    if (request_.target.address) return on_addresses({*request_.target.address});
    allow(home_->settings_.lookup_timeout);
    last_fault_ = "the name was not found in time";
    // Weak: a server of names that never answers must not keep what has timed out.
    home_->names_.ask(request_.target.host, [waiting = weak_from_this(), strand = home_->strand_](const auto& found) {
        asio::post(strand, [waiting, found] {
            if (const auto self = waiting.lock(); self && !self->over_) self->on_addresses(found);
        });
    });
}

/// The rule is asked here, of the very addresses that are connected to: a name that was harmless when the hook was
/// made, or a moment ago, cannot lead inside.
TOLLGATE_DECL void attempt_run::on_addresses(const std::vector<ip_address>& found) {
    if (found.empty()) return end_as(attempt_end::no_address, "no such host");
    addresses_.clear();
    next_address_ = 0;
    for (const ip_address& each : found)
        if (addresses_.size() < home_->settings_.addresses_max && home_->owner_->allows(each))
            addresses_.push_back(each);
    if (addresses_.empty()) return end_as(attempt_end::refused_address, found.front().to_text());
    connect_next();
}

TOLLGATE_DECL void attempt_run::connect_next() {
    const auto left = static_cast<milliseconds::rep>(addresses_.size() - next_address_);
    const ip_address address = addresses_[next_address_++];
    if (line_) line_->close();
    line_ = std::make_shared<hook_connection>(home_->strand_);
    line_->peer = address;
    line_->made_at = clock::now();
    used_before_ = false;
    connecting_ = true;
    // An address that is dead leaves time for those behind it.
    allow(home_->settings_.connect_timeout / left);
    line_->socket().async_connect(to_endpoint(address, request_.target.port),
                                  [self = shared_from_this(), line = line_](const std::error_code& failed) {
                                      if (!self->over_ && line == self->line_ && self->connecting_)
                                          self->on_connected(failed);
                                  });
}

TOLLGATE_DECL void attempt_run::on_connected(const std::error_code& failed) {
    if (failed) {
        last_fault_ = failed.message();
        if (detail::is_shortage(failed)) return end({.number = request_.number, .tried = false, .why = last_fault_});
        if (next_address_ < addresses_.size()) return connect_next();
        return end_as(failed == std::errc::timed_out ? attempt_end::timed_out : attempt_end::no_connection,
                      last_fault_);
    }
    connecting_ = false;
    std::error_code ignored;
    line_->socket().set_option(asio::ip::tcp::no_delay{true}, ignored);  // one message, one answer: nothing to gather
    if (request_.target.scheme == http::url_scheme::https) return shake_hands();
    send();
}

TOLLGATE_DECL void attempt_run::shake_hands() {
    if (!line_->use_tls(*home_->tls_, request_.target)) return end_as(attempt_end::no_tls, "no memory for TLS");
    last_fault_ = "no answer to the TLS handshake";
    allow(home_->settings_.handshake_timeout);
    line_->shake_hands([self = shared_from_this(), line = line_](const std::error_code& failed) {
        if (self->over_) return;
        if (failed) return self->end_as(attempt_end::no_tls, line->tls_fault(failed));
        self->send();
    });
}

/// Reads while it writes: a receiver may refuse a request before it has all of it, and go.
TOLLGATE_DECL void attempt_run::send() {
    last_fault_ = "no answer to the request";
    allow(home_->settings_.attempt_timeout);
    parser_.start();
    written_ = false;
    line_->write(message_, [self = shared_from_this(), line = line_](const std::error_code& failed, std::size_t) {
        // Where writing failed, reading says more: an answer perhaps, or why there is none.
        if (!self->over_ && line == self->line_ && !failed) self->written_ = true;
    });
    read();
}

TOLLGATE_DECL void attempt_run::read() {
    line_->read_some(asio::buffer(input_), [self = shared_from_this(), line = line_](const std::error_code& failed,
                                                                                     std::size_t bytes) {
        if (!self->over_ && line == self->line_) self->on_read(failed, bytes);
    });
}

TOLLGATE_DECL void attempt_run::on_read(const std::error_code& failed, std::size_t bytes) {
    const bool ended = failed == asio::error::eof || failed == asio::ssl::error::stream_truncated;
    if (failed && !ended) return on_lost(failed.message());

    const auto step = ended ? parser_.finish() : parser_.step({input_.data(), bytes});
    if (step == http::response_step::needs_more) return read();
    if (step == http::response_step::refused) {
        if (ended) return on_lost(std::string{parser_.refused_reason()});
        return end_as(attempt_end::bad_answer, std::string{parser_.refused_reason()});
    }
    if (!ended && written_ && parser_.keep_alive() && parser_.consumed() == bytes)
        home_->keep(origin_, std::move(line_));
    end_as(attempt_end::answered, {});
}

/// A connection that was used before may end at any time; its host may not even have seen the request. So it is sent
/// once more, on a new connection, if not a byte of an answer has come. RFC 9110 section 9.2.2 allows that for a POST
/// whose client knows that it does no harm: the `webhook-id` is the same, and a receiver must expect to see one twice
/// anyway.
TOLLGATE_DECL void attempt_run::on_lost(std::string why) {
    if (!used_before_ || parser_.begun()) return end_as(attempt_end::broken_off, std::move(why));
    line_->close();
    line_.reset();
    used_before_ = false;
    connect_anew();
}

TOLLGATE_DECL void attempt_run::end_as(attempt_end how, std::string why) {
    incoming made{.number = request_.number, .end = how, .why = std::move(why)};
    if (parser_.head_complete()) {
        made.status = parser_.status();
        made.answer = parser_.body();
        made.retry_after = parser_.retry_after();
    }
    end(std::move(made));
}

TOLLGATE_DECL void attempt_run::end(incoming what) {
    over_ = true;
    timer_.cancel();
    if (line_) line_->close();
    line_.reset();
    what.duration = std::chrono::ceil<milliseconds>(clock::now() - began_);
    home_->end(std::move(what));
}

}  // namespace tollgate::dispatching
