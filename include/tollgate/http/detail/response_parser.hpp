#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_RESPONSE_PARSER_HPP
#define TOLLGATE_HTTP_DETAIL_RESPONSE_PARSER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/detail/chunk_framing.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tollgate::inline v0::http {

/// Bounds of one response. The parser never keeps more than `line_bytes_max` and `kept_bytes_max` bytes.
struct response_settings {
    std::size_t line_bytes_max = 8 * 1024;  ///< bound of the status line, and of a field line
    /// Bound of all sections together, including those of interim responses and trailers.
    std::size_t header_bytes_max = limits::header_bytes_default;
    std::size_t field_count_max = limits::field_count_max;          ///< bound of the fields of these sections
    std::size_t kept_bytes_max = limits::attempt_response_bytes_max;  ///< bytes of the body that are kept; further bytes are dropped
    /// Bound of the body, kept or not. Beyond it, the result is `complete` with `body_cut()`.
    std::size_t body_bytes_max = 64 * 1024;
};

enum class response_step : std::uint8_t {
    needs_more,  ///< call again with the following bytes
    complete,    ///< the response is complete; `consumed()` is how many of the last bytes belong to it
    refused,     ///< the response is not HTTP, or exceeds a bound; see `refused_reason()`
};

/// Parses one final HTTP/1.1 or HTTP/1.0 response (RFC 9112), for a client that needs the status and the start of the
/// body. No input or output, no clock.
///
/// The rules between a parser and its host:
///
/// 1. `step` gets each byte once, in pieces of any size; it keeps no reference to a piece.
/// 2. When the peer closes the connection cleanly, `finish` tells whether that was the end of the response.
/// 3. The outcome does not depend on how the bytes are split.
/// 4. Interim responses (1xx) are skipped; 101 is refused, because no upgrade was requested.
/// 5. Anything that two implementations could read differently is refused, never repaired: repeated or unusual lengths,
///    bare CR or LF, folded lines, blanks around names, any coding but a single `chunked`. One exception: a status line
///    may end right after the status. A final status counts all the same once its line was valid (`head_complete()`), also if the
///    line ends in LF, or if the fields after it are malformed or over a bound: receivers with such heads have acted on the request.
/// 6. The connection may be reused exactly if `keep_alive()` and the host has no bytes left after `consumed()`: those
///    would be an unrequested response.
///
/// Only `step` may throw, std::bad_alloc; `start` then resets the parser.
class response_parser {
public:
    response_parser() = default;
    TOLLGATE_DECL explicit response_parser(const response_settings& settings);

    /// Prepares for the first byte of a response, to HEAD or to another method. Keeps its memory.
    TOLLGATE_DECL void start(bool to_head = false) noexcept;

    [[nodiscard]] TOLLGATE_DECL response_step step(std::string_view bytes);
    /// The peer closed the connection: `complete` or `refused`.
    [[nodiscard]] TOLLGATE_DECL response_step finish() noexcept;

    /// After `complete` or `refused`: how many bytes of the last step belonged to the response.
    [[nodiscard]] std::size_t consumed() const noexcept { return consumed_; }

    /// Returns true if a byte of the response has arrived. A reused connection may close without one; the request can then be
    /// sent again on a new connection (RFC 9112 section 9.3.1).
    [[nodiscard]] bool begun() const noexcept { return begun_; }

    // Valid after any step once `head_complete()`. A `refused` is then about the fields or the body: the values remain valid.
    [[nodiscard]] bool head_complete() const noexcept { return head_complete_; }
    [[nodiscard]] unsigned status() const noexcept { return status_; }  ///< 200 to 999; 0 before it is known
    /// The value of `Retry-After` as sent; empty if there is none, more than one, or one that is too long.
    [[nodiscard]] std::string_view retry_after() const noexcept { return retry_after_; }
    /// The values of `Content-Type` and `Cache-Control` as sent, joined by commas if there are several lines; empty if they are too long.
    [[nodiscard]] std::string_view content_type() const noexcept { return content_type_; }
    [[nodiscard]] std::string_view cache_control() const noexcept { return cache_control_; }
    /// The first `kept_bytes_max` bytes of the body, decoded.
    [[nodiscard]] std::string_view body() const noexcept { return body_; }
    /// Returns true if the body was longer than `body()`.
    [[nodiscard]] bool body_cut() const noexcept { return body_cut_; }

    /// After `complete`: whether the connection may carry another request (RFC 9112 section 9.3).
    [[nodiscard]] bool keep_alive() const noexcept { return keep_alive_; }

    /// After `refused`: a message for the operator, with static storage.
    [[nodiscard]] std::string_view refused_reason() const noexcept { return refused_reason_; }

private:
    /// What the next byte belongs to.
    enum class stage : std::uint8_t {
        status_line, fields, known_length, until_close, chunk_framing, chunk_data, trailers, complete, refused,
    };

    /// What the fields of one response say about its end.
    struct framing_fields {
        std::uint64_t content_length = 0;
        unsigned content_lengths = 0;
        unsigned transfer_encodings = 0;
        unsigned retry_afters = 0;
        bool close = false;
        bool keep_alive = false;
        std::string_view fault{};  // the error in them, if any
    };

    [[nodiscard]] bool take_line(std::string_view& bytes, std::string_view& line);
    void read_line(std::string_view line);
    void read_status_line(std::string_view line);
    void read_field_line(std::string_view line);
    void judge_field(std::string_view name, std::string_view value);
    void judge_head();
    void read_chunk_framing(std::string_view& bytes);
    void read_body(std::string_view& bytes);
    void complete() noexcept { stage_ = stage::complete; }
    void cut() noexcept;
    void refuse(std::string_view reason) noexcept;

    response_settings settings_;
    stage stage_ = stage::status_line;
    bool to_head_ = false;
    bool begun_ = false;
    bool head_complete_ = false;  // the head of the final response is complete
    bool older_ = false;  // HTTP/1.0
    bool keep_alive_ = false;
    bool body_cut_ = false;
    unsigned status_ = 0;
    std::size_t consumed_ = 0;
    std::size_t header_bytes_ = 0;
    std::size_t field_count_ = 0;
    std::uint64_t body_bytes_ = 0;   // received, kept or not
    std::uint64_t left_bytes_ = 0;   // rest of the body or the chunk
    framing_fields framing_;
    detail::chunk_framing chunks_;
    std::string line_;  // the start of an incomplete line
    std::string body_;
    tollgate::detail::inline_text<64> retry_after_;  // an HTTP-date has 29 bytes
    tollgate::detail::inline_text<128> content_type_;
    tollgate::detail::inline_text<256> cache_control_;
    std::string_view refused_reason_;
};

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/response_parser.ipp>
#endif

#endif  // TOLLGATE_HTTP_DETAIL_RESPONSE_PARSER_HPP
