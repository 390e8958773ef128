#pragma once

#include <tollgate/webhooks/detail/attempt_run.hpp>
#include <tollgate/webhooks/detail/hook_client.hpp>

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/post.hpp>

#include <algorithm>
#include <utility>

namespace tollgate::inline v0::webhooks {

namespace detail {

/// What this machine has run out of, which says nothing of the other one.
inline bool is_shortage(const std::error_code& failed, const ip_address& to) noexcept {
    for (const auto each : {std::errc::too_many_files_open, std::errc::too_many_files_open_in_system,
                            std::errc::no_buffer_space, std::errc::not_enough_memory})
        if (failed == each) return true;
    // No port is free. Over IPv6 it may as well be that this machine has no address there, for good.
    return failed == std::errc::address_not_available && to.is_v4();
}

inline std::string message_head(const outgoing_request& request, const std::string& user_agent) {
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

TOLLGATE_DECL attempt_run::attempt_run(std::shared_ptr<hook_client> home, outgoing_request request)
    : home_{std::move(home)},
      request_{std::move(request)},
      origin_{request_.target.origin()},
      message_{detail::message_head(request_, home_->settings_.user_agent)},
      ends_at_{(std::min)(began_ + home_->settings_.attempt_timeout, request_.done_by)},
      timer_{home_->strand_},
      parser_{home_->settings_.answer} {
    message_ += request_.body;
    request_.body = {};
    request_.fields = {};
}

TOLLGATE_DECL void attempt_run::begin(ended_attempts blank) noexcept {
    result_ = std::move(blank);
    guarded([this] { start(); });
}

TOLLGATE_DECL void attempt_run::start() {
    // With half of its time gone, the receiver would be blamed for what was lost on the way here.
    if (ends_at_ - began_ < home_->settings_.attempt_timeout / 2) return end_untried({});
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

TOLLGATE_DECL void attempt_run::cut_off() noexcept {
    if (over_) return;
    if (!written_) return end_untried({});
    result_.front().cut_off = !parser_.head_complete();
    end_as(attempt_end::broken_off, {});
}

/// From now on there is so much time for the next step, and never more than is left of all.
TOLLGATE_DECL void attempt_run::allow(milliseconds time) {
    const std::uint64_t round = ++timer_round_;
    timer_.expires_at((std::min)(clock::now() + time, ends_at_));
    timer_.async_wait([self = shared_from_this(), round](const std::error_code& cancelled) {
        if (!cancelled && round == self->timer_round_) self->guarded([&] { self->on_time_out(); });
    });
}

TOLLGATE_DECL void attempt_run::on_time_out() {
    // A name that waited for others all the time was not asked for.
    if (looking_up_ && !home_->names_.is_asking_for(request_.target.host))
        return end_untried("too many names that nobody knows are looked up");
    if (connecting_) {
        last_fault_ = "no answer to the attempt to connect";
        if (clock::now() < (std::min)(ends_at_, connected_by_) && next_address_ < addresses_.size())
            return connect_next();
    }
    end_as(attempt_end::timed_out, last_fault_);
}

TOLLGATE_DECL void attempt_run::connect_anew() {
    if (request_.target.address) return on_addresses({*request_.target.address});
    allow(home_->settings_.lookup_timeout);
    last_fault_ = "the name was not found in time";
    // Weak: a server of names that never answers must not keep what has timed out.
    looking_up_ = true;
    home_->names_.ask(request_.target.host, [waiting = weak_from_this(), strand = home_->strand_](const auto& heard) {
        asio::post(strand, [waiting, heard] {
            if (const auto self = waiting.lock()) self->guarded([&] { self->on_looked_up(heard); });
        });
    });
}

TOLLGATE_DECL void attempt_run::on_looked_up(const lookup_answer& heard) {
    looking_up_ = false;
    switch (heard.end) {
        case lookup_end::short_of_something: return end_as_short(heard.why);
        case lookup_end::no_answer: return end_as(attempt_end::timed_out, "no server of names answered");
        case lookup_end::answered: break;
    }
    on_addresses(heard.addresses);
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
    connected_by_ = clock::now() + home_->settings_.connect_timeout;
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
    allow((std::max)(std::chrono::ceil<milliseconds>(connected_by_ - clock::now()) / left, milliseconds{1}));
    line_->socket().async_connect(to_endpoint(address, request_.target.port),
                                  [self = shared_from_this(), line = line_](const std::error_code& failed) {
                                      if (line == self->line_ && self->connecting_)
                                          self->guarded([&] { self->on_connected(failed); });
                                  });
}

TOLLGATE_DECL void attempt_run::on_connected(const std::error_code& failed) {
    if (failed) {
        last_fault_ = failed.message();
        if (detail::is_shortage(failed, line_->peer)) return end_as_short(last_fault_);
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
        self->guarded([&] {
            if (failed) self->end_as(attempt_end::no_tls, line->tls_fault(failed));
            else self->send();
        });
    });
}

/// Reads while it writes: a receiver may refuse a request before it has all of it, and go.
TOLLGATE_DECL void attempt_run::send() {
    last_fault_ = "no answer to the request";
    allow(home_->settings_.attempt_timeout);
    parser_.start();
    written_ = in_body_ = false;
    line_->write(message_, [self = shared_from_this(), line = line_](const std::error_code& failed, std::size_t) {
        // Where writing failed, reading says more: an answer perhaps, or why there is none.
        if (!self->over_ && line == self->line_ && !failed) self->written_ = true;
    });
    read();
}

TOLLGATE_DECL void attempt_run::read() {
    line_->read_some(asio::buffer(input_), [self = shared_from_this(), line = line_](const std::error_code& failed,
                                                                                     std::size_t bytes) {
        if (line == self->line_) self->guarded([&] { self->on_read(failed, bytes); });
    });
}

TOLLGATE_DECL void attempt_run::on_read(const std::error_code& failed, std::size_t bytes) {
    const bool ended = failed == asio::error::eof || failed == asio::ssl::error::stream_truncated;
    if (failed && !ended) return on_lost(failed.message());

    const auto step = ended ? parser_.finish() : parser_.step({input_.data(), bytes});
    if (step == http::response_step::needs_more) {
        if (parser_.head_complete() && !in_body_) {
            in_body_ = true;
            allow(home_->settings_.body_timeout);
        }
        return read();
    }
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

/// Once the head is here the receiver has answered, whatever becomes of the body: many write one without saying where
/// it ends, and leave the connection open.
TOLLGATE_DECL void attempt_run::end_as(attempt_end how, std::string why) noexcept {
    ended_attempt& made = result_.front();
    made.end = parser_.head_complete() ? attempt_end::answered : how;
    made.why = std::move(why);
    if (parser_.head_complete()) {
        made.status = parser_.status();
        try {
            made.retry_after = parser_.retry_after();
            made.answer = parser_.body();
        } catch (const std::exception&) {  // the status is what counts
        }
    }
    end();
}

TOLLGATE_DECL void attempt_run::end_as_short(std::string_view of_what) noexcept {
    if (parser_.head_complete()) return end_as(attempt_end::answered, {});
    result_.front().shortage = true;
    try {
        end_untried(std::string{of_what});
    } catch (const std::exception&) {
        end_untried({});
    }
}

TOLLGATE_DECL void attempt_run::end_untried(std::string why) noexcept {
    result_.front().tried = false;
    result_.front().why = std::move(why);
    end();
}

TOLLGATE_DECL void attempt_run::end() noexcept {
    over_ = true;
    timer_.cancel();
    if (line_) line_->close();
    line_.reset();
    result_.front().duration = std::chrono::ceil<milliseconds>(clock::now() - began_);
    home_->end(std::move(result_));
}

}  // namespace tollgate::webhooks
