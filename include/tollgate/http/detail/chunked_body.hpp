#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/http/response.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tollgate::inline v0::http::detail {

enum class chunk_step : std::uint8_t { needs_more, complete, too_large, refused };

/// Decodes the chunked coding (RFC 9112 section 7.1) in place: the data of all chunks is moved together, starting where
/// the first chunk line was, which is always before the undecoded input. Keeps offsets, never pointers.
///
/// Chunk extensions and trailers are checked and discarded: a trailer must not change a request.
class chunked_body {
public:
    /// Starts with the first chunk line at `offset`.
    void start(std::size_t offset) noexcept;

    /// Continues with `bytes`, the whole message so far. `too_large` as soon as the chunks announce more than
    /// `bytes_max`.
    [[nodiscard]] TOLLGATE_DECL chunk_step step(std::span<char> bytes, std::size_t bytes_max) noexcept;

    /// The decoded data so far is [begin(), begin() + size()).
    [[nodiscard]] std::size_t begin() const noexcept { return begin_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// The end of the consumed input; after `complete`, the start of the next message.
    [[nodiscard]] std::size_t at() const noexcept { return at_; }

    [[nodiscard]] status refused_status() const noexcept { return refused_status_; }
    [[nodiscard]] std::string_view refused_reason() const noexcept { return refused_reason_; }

private:
    /// What the next byte belongs to.
    enum class state : std::uint8_t {
        size_first,         // start of a chunk line
        size_more,
        before_semicolon,   // blanks, which only an extension may follow
        extension_begin,    // after a semicolon: blanks, then a name
        extension_name,
        before_equals,      // blanks after a name
        value_begin,        // after an equals sign: blanks, then a value
        value_token,
        value_quoted,
        value_escaped,      // after a backslash in a quoted value
        value_end,          // after the closing quote
        line_lf,
        data,
        data_cr,
        data_lf,
        trailers,
    };

    [[nodiscard]] bool read_line_byte(char c) noexcept;
    [[nodiscard]] chunk_step read_trailers(std::span<char> bytes) noexcept;
    void take_data(std::span<char> bytes) noexcept;
    [[nodiscard]] chunk_step refuse(status code, std::string_view reason) noexcept;

    std::size_t begin_ = 0;
    std::size_t size_ = 0;
    std::size_t at_ = 0;
    std::size_t overhead_ = 0;        // bytes of chunk lines and line ends so far
    std::size_t line_bytes_ = 0;      // of the current chunk line
    std::uint64_t chunk_bytes_ = 0;   // of the current chunk, still to come
    unsigned size_digits_ = 0;
    unsigned trailer_count_ = 0;
    field_line_reader trailers_;
    std::string_view refused_reason_;
    status refused_status_ = status::bad_request;
    state state_ = state::size_first;
};

inline void chunked_body::start(std::size_t offset) noexcept {
    *this = {};
    begin_ = at_ = offset;
}

}  // namespace tollgate::http::detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/chunked_body.ipp>
#endif
