#pragma once

#include <tollgate/http/detail/response_writer.hpp>
#include <tollgate/server/detail/http1_session.hpp>

#include <algorithm>
#include <cstring>

namespace tollgate::inline v0::server_detail {

TOLLGATE_DECL void http1_session::begin(const ip_address& peer, bool secure) noexcept {
    begin_ = end_ = sent_ = 0;
    responses_ = 0;
    in_body_ = closing_ = needs_linger_ = false;
    output_.clear();
    response_.clear();
    request_.peer = peer;
    request_.secure = secure;
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

TOLLGATE_DECL http1_session::state http1_session::parse(const response_context& with) {
    if (closing_) return state::closing;
    if (begin_ == end_) {
        begin_ = end_ = 0;
        return state::idle;
    }
    switch (parser_.step({input_.data() + begin_, end_ - begin_}, request_)) {
        case http::parse_step::needs_more: break;
        case http::parse_step::head_complete:
            in_body_ = true;
            if (parser_.expects_continue()) http::append_continue(output_);
            break;
        case http::parse_step::complete: return state::request_ready;
        case http::parse_step::refused:
            refuse(parser_.refused_status(), parser_.refused_reason(), with);
            return state::closing;
    }
    return in_body_ ? state::in_body : state::in_head;
}

TOLLGATE_DECL void http1_session::respond(const response_context& with) {
    with.handler.handle(request_, response_);
    const bool keep_alive = parser_.keep_alive() && !with.draining.load(std::memory_order_relaxed);
    http::append_response(response_,
                          {.date = with.date,
                           .version = request_.version,
                           .keep_alive = keep_alive,
                           .head_only = request_.method == http::method::head},
                          output_);
    response_.clear();
    ++responses_;
    begin_ += parser_.consumed();
    in_body_ = false;
    if (keep_alive) {
        parser_.start();
        return;
    }
    closing_ = true;
    // A body that was refused may still be on its way, and so may a next request if it is the server that closes.
    needs_linger_ = request_.body_state == http::body_state::too_large || parser_.keep_alive();
}

TOLLGATE_DECL http1_session::state http1_session::serve(const response_context& with, blocking allowed) {
    for (;;) {
        if (output_.size() - sent_ >= output_bytes_max) return state::output_full;
        const state now = parse(with);
        if (now != state::request_ready) return now;
        request_.is_followed = begin_ + parser_.consumed() < end_;
        if (allowed == blocking::forbidden && with.handler.may_block(request_)) return now;
        respond(with);
    }
}

TOLLGATE_DECL void http1_session::refuse(http::status status, std::string_view reason, const response_context& with) {
    response_.clear();
    response_.set_status(status);
    with.handler.handle(http::refusal{status, reason, request_.peer, request_.secure}, response_);
    if (status == http::status::service_unavailable && response_.find("Retry-After").empty())
        response_.add("Retry-After", 1U);
    http::append_response(response_, {.date = with.date, .keep_alive = false}, output_);
    response_.clear();
    ++responses_;
    closing_ = needs_linger_ = true;
}

TOLLGATE_DECL void http1_session::sent(std::size_t bytes) noexcept {
    sent_ += bytes;
    if (sent_ < output_.size()) return;
    sent_ = 0;
    output_.clear();
}

TOLLGATE_DECL void http1_session::shrink() noexcept {
    if (input_.size() > input_bytes_kept_max) input_ = page_buffer{};
    if (output_.capacity() > output_bytes_kept_max) std::string{}.swap(output_);
}

}  // namespace tollgate::server_detail
