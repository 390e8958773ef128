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

/// The chunked coding (RFC 9112 section 7.1), decoded in place: the data of all chunks is moved together at the place
/// where the first chunk line began, which is always in front of what is still to be read. Keeps offsets, never a
/// pointer.
///
/// Chunk extensions and trailers are checked and dropped: nobody asked for them, and a trailer must not change a
/// request.
class chunked_body {
public:
    /// The first chunk line begins at `offset`.
    void start(std::size_t offset) noexcept;

    /// Goes on with `bytes`, all of the message so far. `too_large` as soon as the chunks announce more than
    /// `bytes_max`.
    [[nodiscard]] TOLLGATE_DECL chunk_step step(std::span<char> bytes, std::size_t bytes_max) noexcept;

    /// The data so far is at [begin(), begin() + size()).
    [[nodiscard]] std::size_t begin() const noexcept { return begin_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Behind everything that was read: after `complete`, where the next message begins.
    [[nodiscard]] std::size_t at() const noexcept { return at_; }

    [[nodiscard]] status refused_status() const noexcept { return refused_status_; }
    [[nodiscard]] std::string_view refused_reason() const noexcept { return refused_reason_; }

private:
    /// What the next byte is read as.
    enum class state : std::uint8_t {
        size_first,         // a chunk line begins
        size_more,
        before_semicolon,   // blanks that only an extension may follow
        extension_begin,    // behind a semicolon: blanks, then a name
        extension_name,
        before_equals,      // blanks behind a name
        value_begin,        // behind an equals sign: blanks, then a value
        value_token,
        value_quoted,
        value_escaped,      // behind a backslash in a quoted value
        value_end,          // behind the closing quote
        line_lf,
        data,
        data_cr,
        data_lf,
        trailers,
    };

    [[nodiscard]] bool read_line_byte(char c) noexcept;
    [[nodiscard]] chunk_step read_trailers(std::span<char> bytes) noexcept;
    void take_data(std::span<char> bytes) noexcept;
    [[nodiscard]] chunk_step refuse(status with, std::string_view reason) noexcept;

    std::size_t begin_ = 0;
    std::size_t size_ = 0;
    std::size_t at_ = 0;
    std::size_t overhead_ = 0;        // bytes of chunk lines and line ends so far
    std::size_t line_bytes_ = 0;      // of the chunk line that is being read
    std::uint64_t chunk_bytes_ = 0;   // of the present chunk, still to come
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
