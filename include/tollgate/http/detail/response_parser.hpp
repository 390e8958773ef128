#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/limits.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tollgate::inline v0::http {

/// Bounds of one answer. Whatever a server sends, a parser keeps `line_bytes_max` and `kept_bytes_max` at the most.
struct response_settings {
    std::size_t line_bytes_max = 8 * 1024;  ///< of the status line, and of a field line
    /// Of all sections together, those of interim answers and trailers included.
    std::size_t header_bytes_max = limits::header_bytes_default;
    std::size_t field_count_max = limits::field_count_max;          ///< the same
    std::size_t kept_bytes_max = limits::attempt_answer_bytes_max;  ///< of the body; what is behind them is dropped
    std::size_t body_bytes_max = 64 * 1024;  ///< read in the hope of an end: then `complete`, and `body_cut()`
};

enum class response_step : std::uint8_t {
    needs_more,  ///< call again with the bytes that come next
    complete,    ///< the answer is here; `consumed()` says how many of the last bytes were its own
    refused,     ///< no HTTP, or beyond a bound; `refused_reason()` says why
};

/// One final HTTP/1.1 or HTTP/1.0 answer (RFC 9112) out of bytes, for a client that wants to know the status and a little
/// of the body. No input or output, no clock.
///
/// The rules between a parser and its host:
///
/// 1. `step` gets each byte once, in whatever pieces they come; nothing of the piece is looked at after the call.
/// 2. When the peer ends the connection in an orderly way, `finish` says whether that was the answer's end.
/// 3. The outcome does not depend on how the bytes were cut.
/// 4. Interim answers (1xx) are skipped; 101 is refused, for nobody asked to switch.
/// 5. What two parties could read in two ways is refused, never repaired: doubled or odd lengths, bare CR or LF, folded
///    lines, blanks around names, any coding but one `chunked`. One liberty is taken: a status line may end right behind
///    the status.
/// 6. The connection may be used again exactly if `keep_alive()`, and the host has nothing left behind `consumed()`: that
///    would be what nobody asked for.
///
/// May throw std::bad_alloc, from `step` alone; `start` makes it as new.
class response_parser {
public:
    response_parser() = default;
    TOLLGATE_DECL explicit response_parser(const response_settings& settings);

    /// Ready for the first byte of an answer, to HEAD or to anything else. Memory is kept.
    TOLLGATE_DECL void start(bool to_head = false) noexcept;

    [[nodiscard]] TOLLGATE_DECL response_step step(std::string_view bytes);
    /// The peer has ended the connection: `complete` or `refused`.
    [[nodiscard]] TOLLGATE_DECL response_step finish() noexcept;

    /// After `complete` or `refused`: how many bytes of the last step belonged to the answer.
    [[nodiscard]] std::size_t consumed() const noexcept { return consumed_; }

    /// Whether a byte of the answer has come. A connection that was used before may end without one, and then the request
    /// can be sent again on another (RFC 9112 section 9.3.1).
    [[nodiscard]] bool begun() const noexcept { return begun_; }

    // After any step once `head_complete()`. `refused` after it is about the body and where it ends: what the answer says
    // is known all the same.
    [[nodiscard]] bool head_complete() const noexcept { return head_complete_; }
    [[nodiscard]] unsigned status() const noexcept { return status_; }  ///< 200 to 999; 0 before it is known
    /// Of `Retry-After`, as sent; empty when there is none, two, or one too long to mean anything.
    [[nodiscard]] std::string_view retry_after() const noexcept { return retry_after_; }
    /// The first `kept_bytes_max` bytes of the body, decoded.
    [[nodiscard]] std::string_view body() const noexcept { return body_; }
    /// Whether there was more of it than `body()`.
    [[nodiscard]] bool body_cut() const noexcept { return body_cut_; }

    /// After `complete`: whether the connection may carry another request (RFC 9112 section 9.3).
    [[nodiscard]] bool keep_alive() const noexcept { return keep_alive_; }

    /// After `refused`: a sentence for the operator, of static storage.
    [[nodiscard]] std::string_view refused_reason() const noexcept { return refused_reason_; }

private:
    /// What the next byte belongs to.
    enum class stage : std::uint8_t {
        status_line, fields, known_length, until_close, chunk_line, chunk_data, chunk_end, trailers, complete, refused,
    };

    /// What the fields of one answer say about its end.
    struct framing_fields {
        std::uint64_t content_length = 0;
        unsigned content_lengths = 0;
        unsigned transfer_encodings = 0;
        unsigned retry_afters = 0;
        bool close = false;
        bool keep_alive = false;
        std::string_view fault{};  // what speaks against them
    };

    [[nodiscard]] bool take_line(std::string_view& bytes, std::string_view& line);
    void read_line(std::string_view line);
    void read_status_line(std::string_view line);
    void read_field_line(std::string_view line);
    void judge_field(std::string_view name, std::string_view value);
    void judge_head();
    void read_chunk_line(std::string_view line);
    void read_body(std::string_view& bytes);
    void complete() noexcept { stage_ = stage::complete; }
    void cut() noexcept;
    void refuse(std::string_view reason) noexcept;

    response_settings settings_;
    stage stage_ = stage::status_line;
    bool to_head_ = false;
    bool begun_ = false;
    bool head_complete_ = false;  // of the final answer
    bool older_ = false;  // HTTP/1.0
    bool keep_alive_ = false;
    bool body_cut_ = false;
    unsigned status_ = 0;
    std::size_t consumed_ = 0;
    std::size_t header_bytes_ = 0;
    std::size_t field_count_ = 0;
    std::size_t framing_bytes_ = 0;  // of chunk lines
    std::uint64_t body_bytes_ = 0;   // that came, kept or not
    std::uint64_t left_bytes_ = 0;   // of the body or the chunk
    framing_fields said_;
    std::string line_;  // the beginning of a line whose end has not come
    std::string body_;
    inline_text<64> retry_after_;  // an HTTP-date has 29
    std::string_view refused_reason_;
};

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/response_parser.ipp>
#endif
