#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_CHUNK_FRAMING_HPP
#define TOLLGATE_HTTP_DETAIL_CHUNK_FRAMING_HPP

#include <tollgate/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tollgate::inline v0::http::detail {

/// What the next byte of a chunked body belongs to.
enum class chunk_part : std::uint8_t { framing, data, trailers, refused };

/// Reads the framing of the chunked coding (RFC 9112 section 7.1), for requests and responses: the chunk lines and the CRLF
/// behind the data of a chunk. The caller reads data and trailers. Chunk extensions are checked and discarded.
class chunk_framing {
public:
    /// Reads one byte of framing and returns what follows it: after `data`, the next byte of framing comes behind
    /// `chunk_bytes()` bytes; after `refused`, see `refused_reason()`.
    [[nodiscard]] TOLLGATE_DECL chunk_part read(char c) noexcept;

    /// The size of the current chunk.
    [[nodiscard]] std::uint64_t chunk_bytes() const noexcept { return chunk_bytes_; }
    /// The bytes read so far, at most `limits::chunk_overhead_bytes_max` unless they were refused for that.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    /// A message with static storage.
    [[nodiscard]] std::string_view refused_reason() const noexcept { return refused_reason_; }

private:
    /// What the next byte of framing belongs to.
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
        data_cr,            // behind the data
        data_lf,
    };

    [[nodiscard]] bool read_line_byte(char c) noexcept;
    [[nodiscard]] chunk_part refuse(std::string_view reason) noexcept;

    // Narrow, because each connection has one.
    std::uint64_t chunk_bytes_ = 0;
    std::string_view refused_reason_;
    std::uint32_t bytes_ = 0;
    std::uint16_t line_bytes_ = 0;  // length of the current chunk line
    std::uint8_t size_digits_ = 0;
    state state_ = state::size_first;
};

}  // namespace tollgate::http::detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/chunk_framing.ipp>
#endif

#endif  // TOLLGATE_HTTP_DETAIL_CHUNK_FRAMING_HPP
