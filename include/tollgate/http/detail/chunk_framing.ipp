#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_CHUNK_FRAMING_IPP
#define TOLLGATE_HTTP_DETAIL_CHUNK_FRAMING_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/detail/chunk_framing.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/http/detail/scan.hpp>

namespace tollgate::inline v0::http::detail {

TOLLGATE_DECL chunk_part chunk_framing::read(char c) noexcept {
    if (++bytes_ > limits::chunk_overhead_bytes_max)
        return refuse("The chunks of the body have too much framing for their data.");
    switch (state_) {
        case state::data_cr:
            if (c != '\r') return refuse("A chunk is not followed by CRLF.");
            state_ = state::data_lf;
            return chunk_part::framing;
        case state::data_lf:
            if (c != '\n') return refuse("A chunk is not followed by CRLF.");
            state_ = state::size_first;
            chunk_bytes_ = 0;
            return chunk_part::framing;
        case state::line_lf:
            if (c != '\n') return refuse("A chunk line does not end in CRLF.");
            line_bytes_ = 0;
            size_digits_ = 0;
            state_ = state::data_cr;
            return chunk_bytes_ == 0 ? chunk_part::trailers : chunk_part::data;
        default:
            if (++line_bytes_ > limits::chunk_line_bytes_max) return refuse("A chunk line is too long.");
            if (!read_line_byte(c)) return refuse("A chunk line is not a hexadecimal size and extensions.");
            return chunk_part::framing;
    }
}

/// One byte of a chunk line before its LF:
/// `chunk-size *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] ) CR` (RFC 9112 section 7.1.1).
TOLLGATE_DECL bool chunk_framing::read_line_byte(char c) noexcept {
    constexpr std::uint8_t size_digits_max = 16;  // 64 bits
    const bool blank = c == ' ' || c == '\t';
    const auto go = [this](state next) {
        state_ = next;
        return true;
    };
    switch (state_) {
        case state::size_first:
        case state::size_more:
            if (const int digit = tollgate::detail::hex_value(c); digit >= 0) {
                if (++size_digits_ > size_digits_max) return false;
                chunk_bytes_ = chunk_bytes_ << 4 | static_cast<unsigned>(digit);
                return go(state::size_more);
            }
            if (state_ == state::size_first) return false;
            return c == '\r'  ? go(state::line_lf)
                   : c == ';' ? go(state::extension_begin)
                              : blank && go(state::before_semicolon);
        case state::before_semicolon: return c == ';' ? go(state::extension_begin) : blank;
        case state::extension_begin: return blank || (tollgate::detail::is_token_char(c) && go(state::extension_name));
        case state::extension_name:
            if (tollgate::detail::is_token_char(c)) return true;
            if (blank) return go(state::before_equals);
            return c == '='   ? go(state::value_begin)
                   : c == ';' ? go(state::extension_begin)
                              : c == '\r' && go(state::line_lf);
        case state::before_equals:
            return blank || (c == '=' ? go(state::value_begin) : c == ';' && go(state::extension_begin));
        case state::value_begin:
            return blank || (c == '"' ? go(state::value_quoted) : tollgate::detail::is_token_char(c) && go(state::value_token));
        case state::value_token:
            if (tollgate::detail::is_token_char(c)) return true;
            [[fallthrough]];
        case state::value_end:
            return c == '\r'  ? go(state::line_lf)
                   : c == ';' ? go(state::extension_begin)
                              : blank && go(state::before_semicolon);
        case state::value_quoted:
            return c == '"' ? go(state::value_end) : c == '\\' ? go(state::value_escaped) : !tollgate::detail::holds(value_ends, c);
        case state::value_escaped: return !tollgate::detail::holds(value_ends, c) && go(state::value_quoted);
        default: return false;
    }
}

TOLLGATE_DECL chunk_part chunk_framing::refuse(std::string_view reason) noexcept {
    refused_reason_ = reason;
    return chunk_part::refused;
}

}  // namespace tollgate::http::detail

#endif  // TOLLGATE_HTTP_DETAIL_CHUNK_FRAMING_IPP
