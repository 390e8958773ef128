#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_CHUNKED_BODY_HPP
#define TOLLGATE_HTTP_DETAIL_CHUNKED_BODY_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/http/detail/chunk_framing.hpp>
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
/// Trailers are checked and discarded: a trailer must not change a request.
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
    [[nodiscard]] chunk_step read_trailers(std::span<char> bytes) noexcept;
    void take_data(std::span<char> bytes) noexcept;
    [[nodiscard]] chunk_step refuse(status code, std::string_view reason) noexcept;

    std::size_t begin_ = 0;
    std::size_t size_ = 0;
    std::size_t at_ = 0;
    std::uint64_t left_bytes_ = 0;  // rest of the data of the current chunk
    chunk_framing framing_;
    chunk_part next_ = chunk_part::framing;
    unsigned trailer_count_ = 0;
    field_line_reader trailers_;
    std::string_view refused_reason_;
    status refused_status_ = status::bad_request;
};

inline void chunked_body::start(std::size_t offset) noexcept {
    *this = {};
    begin_ = at_ = offset;
}

}  // namespace tollgate::http::detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/chunked_body.ipp>
#endif

#endif  // TOLLGATE_HTTP_DETAIL_CHUNKED_BODY_HPP
