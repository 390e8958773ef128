#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_HTTP1_SESSION_IPP
#define TOLLGATE_SERVER_DETAIL_HTTP1_SESSION_IPP

#include <tollgate/server/detail/http1_session.hpp>

#include <algorithm>
#include <cstring>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL void http1_session::begin(const ip_address& peer, bool secure, const ip_address& local) noexcept {
    if (closing_ || end_ != 0 || !empty()) reset();  // otherwise everything was prepared after the last response
    responses_ = 0;
    user_.reset();
    request_.method = http::method::get;  // for a refusal before the first byte; at that byte the parser clears the rest
    request_.peer = peer;
    request_.local = local;
    request_.secure = secure;
}

TOLLGATE_DECL void http1_session::reset() noexcept {
    begin_ = end_ = sent_ = output_end_ = 0;
    body_bytes_to_skip_ = 0;
    in_body_ = suspended_ = closing_ = needs_linger_ = false;
    response_.clear();
    handler_state_.clear();
    parser_.start();
}

TOLLGATE_DECL std::span<char> http1_session::input_space() {
    if (input_.data() == nullptr) input_ = page_buffer{input_bytes_initial};
    if (input_.size() - end_ < input_space_bytes_min && begin_ > 0) {
        std::memmove(input_.data(), input_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (input_.size() - end_ < input_space_bytes_min) {
        const std::size_t bytes = (std::min)(input_.size() * 2, settings_.message_bytes_max() + input_slack_bytes);
        if (bytes > input_.size()) {
            page_buffer larger{bytes};
            std::memcpy(larger.data(), input_.data(), end_);
            input_ = std::move(larger);
        }
    }
    return {input_.data() + end_, input_.size() - end_};
}

TOLLGATE_DECL std::optional<http1_session::state> http1_session::parse(const response_context& context) {
    if (closing_) return state::closing;
    if (!skip_body()) return state::in_body;
    if (begin_ == end_) {
        begin_ = end_ = 0;
        return state::idle;
    }
    switch (parser_.step({input_.data() + begin_, end_ - begin_}, request_)) {
        case http::parse_step::needs_more: return in_body_ ? state::in_body : state::in_head;
        case http::parse_step::head_complete: in_body_ = true; return std::nullopt;
        case http::parse_step::complete: return std::nullopt;
        case http::parse_step::refused: break;
    }
    refuse(parser_.refused_status(), parser_.refused_reason(), context);
    return state::closing;
}

TOLLGATE_DECL bool http1_session::skip_body() noexcept {
    if (body_bytes_to_skip_ == 0) [[likely]] return true;
    const std::size_t bytes = (std::min)(body_bytes_to_skip_, end_ - begin_);
    begin_ += bytes;
    body_bytes_to_skip_ -= bytes;
    if (begin_ == end_) begin_ = end_ = 0;
    return body_bytes_to_skip_ == 0;
}

TOLLGATE_DECL char* http1_session::output_space(std::size_t bytes) {
    if (output_.size() - output_end_ < bytes) {
        page_buffer larger{(std::max)({output_end_ + bytes, output_.size() * 2, output_bytes_initial})};
        if (output_end_ != 0) std::memcpy(larger.data(), output_.data(), output_end_);
        output_ = std::move(larger);
    }
    return output_.data() + output_end_;
}

TOLLGATE_DECL void http1_session::append(const http::framing& framing) {
    const char* const end = http::write_response(response_, framing, output_space(http::response_bytes_max(response_)));
    output_end_ = static_cast<std::size_t>(end - output_.data());
    user_ = response_.user();
    response_.clear();
    ++responses_;
}

TOLLGATE_DECL void http1_session::respond(const response_context& context) {
    const bool body_pending = request_.body_state == http::body_state::pending;
    // A pending body of known length is skipped, unless so much is missing that a new connection costs less. A chunked body
    // would have to be parsed, and after `Expect: 100-continue` a client may or may not send the body, so its end is unknown.
    const bool skips_body = body_pending && parser_.message_bytes() != 0 && !parser_.expects_continue() &&
                            parser_.message_bytes() - (std::min)(parser_.message_bytes(), end_ - begin_) <= skipped_bytes_max;
    const bool next_request_can_be_found = !body_pending || skips_body;
    const bool keep_alive = parser_.keep_alive() && next_request_can_be_found && !context.draining.load(std::memory_order_relaxed);
    append({.date = context.date,
            .version = request_.version,
            .keep_alive = keep_alive,
            .head_only = request_.method == http::method::head});
    handler_state_.clear();
    in_body_ = false;
    const std::size_t message_bytes = body_pending ? parser_.message_bytes() : parser_.consumed();
    const std::size_t received_bytes = (std::min)(message_bytes, end_ - begin_);
    begin_ += received_bytes;
    if (keep_alive) {
        body_bytes_to_skip_ = message_bytes - received_bytes;
        parser_.start();
        return;
    }
    closing_ = true;
    // An unread body may still be on its way, and so may a next request if the server closes.
    needs_linger_ = body_pending || request_.body_state == http::body_state::too_large || parser_.keep_alive();
}

TOLLGATE_DECL http1_session::state http1_session::serve(const response_context& context, http::thread_kind thread) {
    handler_state_.forget_time();
    for (;;) {
        if (!suspended_) {
            if (output_end_ - sent_ >= output_bytes_max) return state::output_full;
            if (const auto now = parse(context)) return *now;
        }
        // A worker may wait for what this request named, not for what the next one on the connection will.
        const bool may_wait = suspended_ && thread == http::thread_kind::worker;
        const http::work_kind waited_for = handler_state_.waits_for();
        const http::handle_step step = context.handler.advance(request_, response_, handler_state_,
                                                               may_wait ? http::thread_kind::worker : http::thread_kind::io);
        suspended_ = step == http::handle_step::needs_worker && !(may_wait && handler_state_.waits_for() == waited_for);
        if (suspended_) return state::needs_worker;
        if (step == http::handle_step::needs_body && request_.body_state == http::body_state::pending) {
            parser_.bound_body(handler_state_.body_bytes_max());
            if (parser_.expects_continue()) {
                const std::string_view text = http::continue_response;
                std::memcpy(output_space(text.size()), text.data(), text.size());
                output_end_ += text.size();
            }
            continue;
        }
        if (step != http::handle_step::done) [[unlikely]] {  // a bug of the handler: it requests what it has
            response_.clear();
            response_.set_status(http::status::internal_server_error);
        }
        respond(context);
        if (thread == http::thread_kind::worker) handler_state_.forget_time();  // the handler may have waited
    }
}

[[gnu::noinline]] TOLLGATE_COLD void http1_session::refuse(http::status status, std::string_view reason, const response_context& context) {
    const bool has_head = parser_.has_head(), has_part = parser_.has_begun();
    closing_ = needs_linger_ = true;
    suspended_ = false;
    handler_state_.clear();
    if (body_bytes_to_skip_ != 0) return;  // this request already has its response
    response_.clear();
    response_.set_status(status);
    if (has_part) parser_.relocate(input_.data() + begin_, request_);  // input that was not parsed may have moved it
    context.handler.handle(http::refusal{status, reason, request_.peer, request_.secure, has_head ? &request_ : nullptr,
                                         has_part && !has_head ? &request_ : nullptr},
                           response_);
    if (response_.find("Retry-After").empty()) http::add_retry_after(response_, status);
    append({.date = context.date, .keep_alive = false, .head_only = request_.method == http::method::head});
}

TOLLGATE_DECL void http1_session::sent(std::size_t bytes) noexcept {
    sent_ += bytes;
    if (sent_ == output_end_) sent_ = output_end_ = 0;
}

TOLLGATE_DECL void http1_session::shrink() noexcept {
    handler_state_.clear();
    if (input_.size() > input_bytes_kept_max) input_ = page_buffer{};
    if (output_.size() > output_bytes_kept_max) output_ = page_buffer{};
}

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_HTTP1_SESSION_IPP
