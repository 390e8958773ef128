#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_REQUEST_PARSER_HPP
#define TOLLGATE_HTTP_DETAIL_REQUEST_PARSER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/detail/chunked_body.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tollgate::inline v0::http {

/// Bounds of one request. Exceeding one is answered at once, not after a timeout.
struct parser_settings {
    /// A larger bound is reduced to this value, so that sums of bounds and offsets cannot overflow.
    static constexpr std::size_t bytes_max = 1024 * 1024 * 1024;

    std::size_t target_bytes_max = limits::target_bytes_max;      ///< more: 414
    std::size_t header_bytes_max = limits::header_bytes_default;  ///< bound of all field lines and the empty line; beyond it: 431
    std::size_t field_count_max = limits::field_count_max;        ///< more: 431; at most `field_lines::size_max`
    std::size_t body_bytes_max = limits::body_bytes_default;      ///< more: `body_state::too_large`, not a refusal

    /// The longest message: the size to which a host's buffer may have to grow.
    [[nodiscard]] constexpr std::size_t message_bytes_max() const noexcept;
};

/// The state of a message after the bytes so far.
enum class parse_step : std::uint8_t {
    needs_more,     ///< call again with more bytes
    head_complete,  ///< like needs_more; returned once, when the head is complete and the body is not
    complete,       ///< the request is filled; `consumed()` is where the next message starts
    refused,        ///< respond with `refused_status()` and close: the following bytes cannot be delimited
};

/// Parses one HTTP/1.1 or HTTP/1.0 request (RFC 9112). No input or output, no clock, no allocation.
///
/// The rules between a parser and its host:
///
/// 1. The host owns the bytes. Each `step` gets all of them from the first byte of the message, including those already
///    seen; bytes of later messages may follow. The buffer may have moved since the last call; its bytes may not have
///    changed, except by the parser.
/// 2. The parser writes to the buffer: a chunked body is decoded in place, before the undecoded input.
/// 3. The request holds views of the buffer. Its head is valid after `head_complete` and all of it after `complete`, until the
///    buffer changes. The same request is passed to every step of one message.
/// 4. Each byte is examined at most twice, however the message is split into steps, and the outcome does not depend on
///    the split.
/// 5. Every refusal is an error of the client and final: later steps return the same until `start`.
/// 6. A body over its bound is not a refusal, so that the handler can still authenticate the request: the request is
///    complete at once, with `body_state::too_large` and no body. `keep_alive()` is then false.
/// 7. Anything that two implementations could read differently is refused, never repaired: repeated or unusual lengths,
///    bare CR or LF, folded lines, blanks around names, any coding but a single `chunked`.
///
/// An idle connection needs no parser: take one (and a request) from a pool at the first byte of a message.
class request_parser {
public:
    request_parser() noexcept = default;
    TOLLGATE_DECL explicit request_parser(const parser_settings& settings) noexcept;

    /// Prepares for the first byte of a message.
    TOLLGATE_DECL void start() noexcept;

    /// Continues with the message that starts at `bytes[0]`. Fills `into`, which the first step clears. Flattened, because calls
    /// between its parts would take a tenth of its time.
    [[nodiscard, gnu::flatten]] TOLLGATE_DECL parse_step step(std::span<char> bytes, request& into) noexcept;

    /// Updates the views of a request whose message now starts at `begin`, as each step does.
    void relocate(const char* begin, request& into) noexcept {
        const auto base = reinterpret_cast<std::uintptr_t>(begin);
        if (base != base_ && stage_ != stage::nothing) into.relocate(base_, begin);
        base_ = base;
    }

    /// After `complete`: the length of the message in bytes.
    [[nodiscard]] std::size_t consumed() const noexcept { return at_; }

    /// After `head_complete`: the length of the whole message in bytes if it was declared, so that the host can grow
    /// its buffer once; otherwise 0.
    [[nodiscard]] std::size_t message_bytes() const noexcept { return message_bytes_; }

    /// After `head_complete` or `complete`: whether another message may follow on this connection (RFC 9112
    /// section 9.3).
    [[nodiscard]] bool keep_alive() const noexcept { return keep_alive_; }

    /// After `head_complete`: a lower bound for this message's chunked body; a declared length is known to the host already.
    void bound_body(std::size_t bytes_max) noexcept { body_bytes_max_ = (std::min)(body_bytes_max_, bytes_max); }

    /// After `head_complete`: whether the client waits for `100 Continue` before it sends the body (RFC 9110 section
    /// 10.1.1) and has not started to send it anyway.
    [[nodiscard]] bool expects_continue() const noexcept { return expects_continue_; }

    /// Returns true if this message has a complete head without a fault, also after its body was refused.
    [[nodiscard]] bool has_head() const noexcept { return has_head_; }
    /// Returns true if the request has any part of this message. After a refusal, its target and fields are what precedes the fault.
    [[nodiscard]] bool has_begun() const noexcept { return stage_ != stage::nothing; }

    /// After `refused`: the status, and a message for the client with static storage.
    [[nodiscard]] status refused_status() const noexcept { return refused_status_; }
    [[nodiscard]] std::string_view refused_reason() const noexcept { return refused_reason_; }

private:
    /// The part of the message that the next byte belongs to.
    enum class stage : std::uint8_t {
        nothing, method, target, version, fields, known_length, chunked, complete, refused,
    };

    // Each reads its part and moves to the next stage; `needs_more` means that the part is incomplete. What few requests need is
    // compiled out of line.
    [[nodiscard]] parse_step begin(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] parse_step read_method(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] parse_step read_target(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] parse_step read_version(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] parse_step read_fields(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] parse_step read_known_length(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] parse_step read_chunked(std::span<char> bytes, request& into) noexcept;

    [[nodiscard]] std::size_t read_usual_fields(std::string_view bytes, std::size_t at,
                                                field_lines& into) const noexcept;

    [[nodiscard]] parse_step judge_target(std::string_view text, request& into) noexcept;
    void note_target(std::string_view text, request& into) noexcept;
    [[nodiscard]] parse_step judge_absolute_target(std::string_view text, request& into) noexcept;
    [[nodiscard]] parse_step judge_head(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] bool names_good_host(const request& into) noexcept;
    [[nodiscard]] parse_step judge_transfer_encoding(const request& into) noexcept;
    [[nodiscard]] parse_step judge_content_length(const request& into) noexcept;
    [[nodiscard]] parse_step judge_expectation(const request& into) noexcept;
    void judge_connection(const request& into) noexcept;

    [[nodiscard]] parse_step go_on(stage next, std::size_t at) noexcept;
    [[nodiscard]] parse_step finish_too_large(request& into) noexcept;
    [[nodiscard]] parse_step refuse(std::string_view reason, status code = status::bad_request) noexcept;

    parser_settings settings_;
    std::uintptr_t base_ = 0;        // address of the message's first byte in the last step
    std::size_t at_ = 0;             // start of the current part
    std::size_t examined_ = 0;       // end of the examined bytes of the part
    std::size_t section_begin_ = 0;  // start of the field lines
    std::size_t message_bytes_ = 0;
    std::size_t body_bytes_max_ = 0;  // bound of this message's body
    detail::field_line_reader lines_;
    detail::chunked_body chunks_;
    tollgate::detail::inline_text<64> good_host_;      // the last valid one, if it fits; empty at first
    std::string_view refused_reason_;
    status refused_status_ = status::bad_request;
    stage stage_ = stage::nothing;
    bool has_head_ = false;
    bool keep_alive_ = false;
    bool expects_continue_ = false;
};

constexpr std::size_t parser_settings::message_bytes_max() const noexcept {
    constexpr std::size_t request_line_rest = 64;  // a preceding empty line, the method, two spaces, the version, CRLF
    return request_line_rest + (std::min)(target_bytes_max, bytes_max) + (std::min)(header_bytes_max, bytes_max) +
           (std::min)(body_bytes_max, bytes_max) + limits::chunk_overhead_bytes_max;
}

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/request_parser.ipp>
#endif

#endif  // TOLLGATE_HTTP_DETAIL_REQUEST_PARSER_HPP
