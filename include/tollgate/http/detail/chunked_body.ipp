#pragma once

#include <tollgate/http/detail/chunked_body.hpp>

#include <algorithm>
#include <cstring>

namespace tollgate::inline v0::http::detail {

TOLLGATE_DECL chunk_step chunked_body::step(std::span<char> bytes, std::size_t bytes_max) noexcept {
    // The bound may be lower than in the last step.
    if (size_ > bytes_max || (state_ == state::data && chunk_bytes_ > bytes_max - size_)) return chunk_step::too_large;
    while (at_ < bytes.size() && state_ != state::trailers) {
        if (state_ == state::data) {
            take_data(bytes);
            continue;
        }
        if (++overhead_ > limits::chunk_overhead_bytes_max)
            return refuse(status::bad_request, "The chunks of the body have too much framing for their data.");
        const char c = bytes[at_++];
        switch (state_) {
            case state::data_cr:
                if (c != '\r') return refuse(status::bad_request, "A chunk is not followed by CRLF.");
                state_ = state::data_lf;
                break;
            case state::data_lf:
                if (c != '\n') return refuse(status::bad_request, "A chunk is not followed by CRLF.");
                state_ = state::size_first;
                break;
            case state::line_lf:
                if (c != '\n') return refuse(status::bad_request, "A chunk line does not end in CRLF.");
                if (chunk_bytes_ > bytes_max - size_) return chunk_step::too_large;
                line_bytes_ = 0;
                size_digits_ = 0;
                state_ = chunk_bytes_ == 0 ? state::trailers : state::data;
                if (state_ == state::trailers) trailers_.start(at_);
                break;
            default:
                if (++line_bytes_ > limits::chunk_line_bytes_max)
                    return refuse(status::bad_request, "A chunk line is too long.");
                if (!read_line_byte(c))
                    return refuse(status::bad_request, "A chunk line is not a hexadecimal size and extensions.");
        }
    }
    return state_ == state::trailers ? read_trailers(bytes) : chunk_step::needs_more;
}

/// One byte of a chunk line before its LF:
/// `chunk-size *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] ) CR` (RFC 9112 section 7.1.1).
TOLLGATE_DECL bool chunked_body::read_line_byte(char c) noexcept {
    constexpr unsigned size_digits_max = 16;  // 64 bits
    const bool blank = c == ' ' || c == '\t';
    const auto go = [this](state next) {
        state_ = next;
        return true;
    };
    switch (state_) {
        case state::size_first:
        case state::size_more:
            if (const int digit = hex_value(c); digit >= 0) {
                if (++size_digits_ > size_digits_max) return false;
                chunk_bytes_ = chunk_bytes_ << 4 | static_cast<unsigned>(digit);
                return go(state::size_more);
            }
            if (state_ == state::size_first) return false;
            return c == '\r'  ? go(state::line_lf)
                   : c == ';' ? go(state::extension_begin)
                              : blank && go(state::before_semicolon);
        case state::before_semicolon: return c == ';' ? go(state::extension_begin) : blank;
        case state::extension_begin: return blank || (is_token_char(c) && go(state::extension_name));
        case state::extension_name:
            if (is_token_char(c)) return true;
            if (blank) return go(state::before_equals);
            return c == '='   ? go(state::value_begin)
                   : c == ';' ? go(state::extension_begin)
                              : c == '\r' && go(state::line_lf);
        case state::before_equals:
            return blank || (c == '=' ? go(state::value_begin) : c == ';' && go(state::extension_begin));
        case state::value_begin:
            return blank || (c == '"' ? go(state::value_quoted) : is_token_char(c) && go(state::value_token));
        case state::value_token:
            if (is_token_char(c)) return true;
            [[fallthrough]];
        case state::value_end:
            return c == '\r'  ? go(state::line_lf)
                   : c == ';' ? go(state::extension_begin)
                              : blank && go(state::before_semicolon);
        case state::value_quoted:
            return c == '"' ? go(state::value_end) : c == '\\' ? go(state::value_escaped) : !holds(value_ends, c);
        case state::value_escaped: return !holds(value_ends, c) && go(state::value_quoted);
        default: return false;
    }
}

TOLLGATE_DECL void chunked_body::take_data(std::span<char> bytes) noexcept {
    const auto available = static_cast<std::size_t>((std::min)(chunk_bytes_, std::uint64_t{bytes.size() - at_}));
    std::memmove(bytes.data() + begin_ + size_, bytes.data() + at_, available);
    size_ += available;
    at_ += available;
    chunk_bytes_ -= available;
    if (chunk_bytes_ == 0) state_ = state::data_cr;
}

TOLLGATE_DECL chunk_step chunked_body::read_trailers(std::span<char> bytes) noexcept {
    const std::size_t bound = at_ + (limits::chunk_overhead_bytes_max - overhead_);
    for (;;) {
        field_id id;
        field line;
        const line_result result = trailers_.read(bytes.data(), (std::min)(bytes.size(), bound), id, line);
        switch (result) {
            case line_result::field:
                if (++trailer_count_ <= limits::field_count_max) break;
                return refuse(status::header_fields_too_large, "There are too many trailer fields.");
            case line_result::section_end: at_ = trailers_.at(); return chunk_step::complete;
            case line_result::unfinished:
                if (bytes.size() < bound) return chunk_step::needs_more;
                return refuse(status::header_fields_too_large, "The trailer fields are too large.");
            default: return refuse(status::bad_request, to_reason(result));
        }
    }
}

TOLLGATE_DECL chunk_step chunked_body::refuse(status code, std::string_view reason) noexcept {
    refused_status_ = code;
    refused_reason_ = reason;
    return chunk_step::refused;
}

}  // namespace tollgate::http::detail
