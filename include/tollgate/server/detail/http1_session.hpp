#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_HTTP1_SESSION_HPP
#define TOLLGATE_SERVER_DETAIL_HTTP1_SESSION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/http/detail/request_parser.hpp>
#include <tollgate/http/detail/response_writer.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/base/detail/system/page_buffer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tollgate::inline v0::server_detail {

using tollgate::detail::page_buffer;

/// What a response depends on besides the request.
struct response_context {
    http::handler_ref handler;
    std::string_view date;              ///< IMF-fixdate of now
    const std::atomic<bool>& draining;  ///< true: the server is stopping, and every response has `Connection: close`
};

/// The HTTP/1.1 messages of one connection while it is not idle: bytes in, handler, bytes out. Uses no socket and no
/// clock. Used by one thread at a time.
class http1_session {
public:
    enum class state : std::uint8_t {
        idle,           ///< no byte of a next message has arrived
        in_head,        ///< part of a message's head has arrived
        in_body,        ///< a head has arrived, and part of its body
        needs_worker,   ///< the handler needs a worker: call `serve` there
        output_full,    ///< more requests may be ready; continue when the output has been sent
        closing,        ///< no more requests are read: send the output, then close
    };

    /// What fits into the input beside the longest message: at least one read.
    static constexpr std::size_t input_slack_bytes = 40 * 1024;

    explicit http1_session(const http::parser_settings& settings) : settings_{settings}, parser_{settings} {}

    /// Prepares for a connection's next message, whatever the last connection left.
    TOLLGATE_DECL void begin(const ip_address& peer, bool secure, const ip_address& local = {}) noexcept;

    /// Space for the next input; empty if the buffer has its largest size and is full. Throws `std::bad_alloc`.
    [[nodiscard]] TOLLGATE_DECL std::span<char> input_space();
    void received(std::size_t bytes) noexcept { end_ += bytes; }

    /// Parses, calls the handler and appends its responses, as long as there are requests and capacity for responses. Returns
    /// `needs_worker` when a handler has to wait; the next call, on a worker that may wait for `waits_for`, continues there.
    /// Flattened for the same reason as the parser's `step`.
    [[gnu::flatten]] TOLLGATE_DECL state serve(const response_context& context, http::thread_kind thread);

    /// What the request that needs a worker waits for.
    [[nodiscard]] http::work_kind waits_for() const noexcept { return handler_state_.waits_for(); }

    /// Appends a refusal by the server itself and ends the session.
    void refuse(http::status status, std::string_view reason, const response_context& context);

    /// The output that was not sent yet; `sent` removes its first `bytes`.
    [[nodiscard]] std::string_view output() const noexcept { return {output_.data() + sent_, output_end_ - sent_}; }
    TOLLGATE_DECL void sent(std::size_t bytes) noexcept;

    [[nodiscard]] bool closing() const noexcept { return closing_; }
    /// Returns true if nothing of a message has arrived but an empty line, which some clients send after a body (RFC 9112 section 2.2).
    [[nodiscard]] bool has_only_empty_line() const noexcept {
        return begin_ != end_ && !in_body_ && !suspended_ && std::string_view{"\r\n"}.starts_with({input_.data() + begin_, end_ - begin_});
    }
    /// Returns true if the client may still be sending: closing at once would reset the connection and lose the response.
    [[nodiscard]] bool needs_linger() const noexcept { return needs_linger_ || begin_ != end_; }
    /// Returns true if there is no partial message and no output: the session may return to its pool.
    [[nodiscard]] bool empty() const noexcept { return begin_ == end_ && body_bytes_to_skip_ == 0 && output_end_ == 0; }
    [[nodiscard]] std::uint64_t responses() const noexcept { return responses_; }
    /// The user of the last response: before a large one, at most `output_bytes_max` can be unsent.
    [[nodiscard]] std::optional<user_id> user() const noexcept { return user_; }
    /// A different number for each message, also for a body that is skipped after its response: each has its own deadline.
    [[nodiscard]] std::uint64_t message() const noexcept { return 2 * responses_ + (body_bytes_to_skip_ != 0 ? 1 : 0); }

    /// Releases the handler's state and the memory of a large message before the session returns to its pool.
    TOLLGATE_DECL void shrink() noexcept;

private:
    /// Parses the input. Empty when there is a new head or a complete request for the handler; malformed input is
    /// refused here and ends the session.
    [[nodiscard]] TOLLGATE_DECL std::optional<state> parse(const response_context& context);
    /// Space for this much more output. Throws `std::bad_alloc`.
    [[nodiscard]] TOLLGATE_DECL char* output_space(std::size_t bytes);
    /// Appends the response.
    TOLLGATE_DECL void append(const http::framing& framing);
    /// Forgets what a connection left that ended within a message.
    TOLLGATE_DECL void reset() noexcept;
    /// Appends the handler's response and prepares for the next request.
    TOLLGATE_DECL void respond(const response_context& context);
    /// Discards the body of a request that was already answered; false while part of it is missing.
    [[nodiscard]] TOLLGATE_DECL bool skip_body() noexcept;

    // Holds several requests, so that pipelined requests arrive in one read.
    static constexpr std::size_t input_bytes_initial = 8 * 1024;
    static constexpr std::size_t input_bytes_kept_max = 16 * 1024;
    static constexpr std::size_t input_space_bytes_min = 1024;    // less is not worth a system call
    static constexpr std::size_t skipped_bytes_max = 16 * 1024;   // rest of a refused body, before the next request
    // Beyond it, no request is handled until the client has read.
    static constexpr std::size_t output_bytes_max = 64 * 1024;
    static constexpr std::size_t output_bytes_initial = 4 * 1024;
    static constexpr std::size_t output_bytes_kept_max = 64 * 1024;

    http::parser_settings settings_;
    http::request_parser parser_;
    std::size_t begin_ = 0;  // begin of the current message in input_
    std::size_t end_ = 0;    // end of the input
    page_buffer input_;
    page_buffer output_;
    std::size_t sent_ = 0;        // sent bytes of the output
    std::size_t output_end_ = 0;  // 0 when everything was sent
    std::uint64_t responses_ = 0;
    std::optional<user_id> user_;
    std::size_t body_bytes_to_skip_ = 0;  // rest of the body of a request that was answered from its head
    bool in_body_ = false;
    bool suspended_ = false;              // the handler waits for a worker
    bool closing_ = false;
    bool needs_linger_ = false;
    http::response response_;
    http::request request_;
    http::handler_state handler_state_;
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/http1_session.ipp>
#endif

#endif  // TOLLGATE_SERVER_DETAIL_HTTP1_SESSION_HPP
