#pragma once

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

/// Bounds of one request; what is beyond one of them is answered at once, not after a time-out.
struct parser_settings {
    /// A larger bound is taken for this one, so that no sum of bounds and offsets can wrap around.
    static constexpr std::size_t bytes_max = 1024 * 1024 * 1024;

    std::size_t target_bytes_max = limits::target_bytes_max;      ///< more: 414
    std::size_t header_bytes_max = limits::header_bytes_default;  ///< all field lines and the empty one; more: 431
    std::size_t field_count_max = limits::field_count_max;        ///< more: 431; at most `field_lines::size_max`
    std::size_t body_bytes_max = limits::body_bytes_default;      ///< more: `body_state::too_large`, no refusal

    /// The longest message that is ever waited for: how large a host's buffer may have to grow.
    [[nodiscard]] constexpr std::size_t message_bytes_max() const noexcept;
};

/// Where a message stands after the bytes that came so far.
enum class parse_step : std::uint8_t {
    needs_more,     ///< call again when there are more bytes
    head_complete,  ///< the same, but said once, when the head is known and (part of) the body is still to come
    complete,       ///< the request is filled; `consumed()` says where the next message begins
    refused,        ///< answer with `refused_status()` and close: what follows cannot be told from a request
};

/// One HTTP/1.1 or HTTP/1.0 request out of bytes (RFC 9112). No input or output, no clock, no allocation.
///
/// The rules between a parser and its host:
///
/// 1. The host owns the bytes. Each `step` gets all of them from the first byte of the message on, those already seen
///    included, and bytes of later messages may follow. The buffer may have moved since the last call (it grew); the
///    bytes in it may not have changed, but for those that the parser itself rewrote.
/// 2. The parser writes into the buffer: a chunked body is decoded in place, in front of what is still undecoded.
/// 3. The request holds views of the buffer. Its head is valid after `head_complete` and all of it after `complete`, until the
///    buffer changes. The same request is passed to every step of one message.
/// 4. A byte is looked at twice at the most, however the message was cut into steps, and the outcome does not depend on
///    the cuts.
/// 5. Every refusal is the client's fault and final: no later step says anything else until `start`.
/// 6. A body over its bound is no refusal, so that the handler can still say who was asking: the request is complete at
///    once, with `body_state::too_large` and no body. `keep_alive()` is false then.
/// 7. What two parties could read in two ways is refused, never repaired: doubled or odd lengths, bare CR or LF, folded
///    lines, blanks around names, any coding but one `chunked`.
///
/// An idle connection needs no parser: take one (and a request) out of a pool with the first byte of a message.
class request_parser {
public:
    request_parser() noexcept = default;
    TOLLGATE_DECL explicit request_parser(const parser_settings& settings) noexcept;

    /// Ready for the first byte of a message.
    TOLLGATE_DECL void start() noexcept;

    /// Goes on with the message that begins at `bytes[0]`. Fills `into`, which it clears with the first step.
    [[nodiscard]] TOLLGATE_DECL parse_step step(std::span<char> bytes, request& into) noexcept;

    /// After `complete`: how many bytes the message took.
    [[nodiscard]] std::size_t consumed() const noexcept { return at_; }

    /// After `head_complete`, if the length was declared: how many bytes the whole message has, so that the host can
    /// make room once; otherwise 0.
    [[nodiscard]] std::size_t message_bytes() const noexcept { return message_bytes_; }

    /// After `head_complete` or `complete`: whether another message may follow on this connection (RFC 9112
    /// section 9.3).
    [[nodiscard]] bool keep_alive() const noexcept { return keep_alive_; }

    /// After `head_complete`: whether the client waits for `100 Continue` before it sends the body (RFC 9110
    /// section 10.1.1) and has not begun to send it anyway.
    [[nodiscard]] bool expects_continue() const noexcept { return expects_continue_; }

    /// After `refused`: what to answer with, and a sentence for the client, of static storage.
    [[nodiscard]] status refused_status() const noexcept { return refused_status_; }
    [[nodiscard]] std::string_view refused_reason() const noexcept { return refused_reason_; }

private:
    /// The piece of the message that the next byte belongs to.
    enum class stage : std::uint8_t {
        nothing, method, target, version, fields, known_length, chunked, complete, refused,
    };

    // Each reads its piece and moves on to the next stage; `needs_more` is its word for "not all there yet".
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
    [[nodiscard]] parse_step judge_absolute_target(std::string_view text, request& into) noexcept;
    [[nodiscard]] parse_step judge_head(std::string_view bytes, request& into) noexcept;
    [[nodiscard]] bool names_good_host(const request& into) noexcept;
    [[nodiscard]] parse_step judge_transfer_encoding(const request& into) noexcept;
    [[nodiscard]] parse_step judge_content_length(const request& into) noexcept;
    [[nodiscard]] parse_step judge_expectation(const request& into) noexcept;
    void judge_connection(const request& into) noexcept;

    [[nodiscard]] parse_step go_on(stage next, std::size_t at) noexcept;
    [[nodiscard]] parse_step finish_too_large(request& into) noexcept;
    [[nodiscard]] parse_step refuse(std::string_view reason, status with = status::bad_request) noexcept;

    parser_settings settings_;
    std::uintptr_t base_ = 0;        // where the message's first byte was in the last step
    std::size_t at_ = 0;             // where the piece that is being read begins
    std::size_t seen_ = 0;           // everything of it before this offset was looked at
    std::size_t section_begin_ = 0;  // of the field lines
    std::size_t message_bytes_ = 0;
    detail::field_line_reader lines_;
    detail::chunked_body chunks_;
    inline_text<64> good_host_;      // the last valid one, if it fits; empty before the first
    std::string_view refused_reason_;
    status refused_status_ = status::bad_request;
    stage stage_ = stage::nothing;
    bool keep_alive_ = false;
    bool expects_continue_ = false;
};

constexpr std::size_t parser_settings::message_bytes_max() const noexcept {
    constexpr std::size_t request_line_rest = 64;  // an empty line before it, the method, two spaces, the version, CRLF
    return request_line_rest + (std::min)(target_bytes_max, bytes_max) + (std::min)(header_bytes_max, bytes_max) +
           (std::min)(body_bytes_max, bytes_max) + limits::chunk_overhead_bytes_max;
}

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/request_parser.ipp>
#endif
