#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_RESPONSE_PARSER_IPP
#define TOLLGATE_HTTP_DETAIL_RESPONSE_PARSER_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/detail/response_parser.hpp>
#include <tollgate/http/detail/scan.hpp>
#include <tollgate/http/detail/fields.hpp>

#include <algorithm>

namespace tollgate::inline v0::http {

namespace detail {

/// Returns true if the text contains no control character but HTAB (RFC 9110 section 5.5).
[[nodiscard]] inline bool is_field_text(std::string_view text) noexcept {
    const char* const end = text.data() + text.size();
    return find_value_end(text.data(), end) == end;
}

}  // namespace detail

TOLLGATE_DECL response_parser::response_parser(const response_settings& settings) : settings_{settings} {}

TOLLGATE_DECL void response_parser::start(bool to_head) noexcept {
    stage_ = stage::status_line;
    to_head_ = to_head;
    begun_ = head_complete_ = older_ = keep_alive_ = body_cut_ = false;
    status_ = 0;
    consumed_ = header_bytes_ = field_count_ = 0;
    body_bytes_ = left_bytes_ = 0;
    framing_ = {};
    chunks_ = {};
    line_.clear();
    body_.clear();
    retry_after_.clear();
    content_type_.clear();
    cache_control_.clear();
    refused_reason_ = {};
}

TOLLGATE_DECL response_step response_parser::step(std::string_view bytes) {
    const std::size_t input_bytes = bytes.size();
    begun_ = begun_ || input_bytes != 0;
    bool waits = false;
    while (!waits && stage_ != stage::complete && stage_ != stage::refused) {
        switch (stage_) {
            case stage::known_length:
            case stage::until_close:
            case stage::chunk_data:
                waits = bytes.empty();
                if (!waits) read_body(bytes);
                break;
            case stage::chunk_framing:
                waits = bytes.empty();
                if (!waits) read_chunk_framing(bytes);
                break;
            default:
                if (std::string_view line; take_line(bytes, line)) {
                    read_line(line);
                    line_.clear();  // only now: `line` may be a view of it
                } else {
                    waits = true;
                }
        }
    }
    consumed_ = input_bytes - bytes.size();
    return stage_ == stage::complete  ? response_step::complete
           : stage_ == stage::refused ? response_step::refused
                                      : response_step::needs_more;
}

TOLLGATE_DECL response_step response_parser::finish() noexcept {
    consumed_ = 0;
    if (stage_ == stage::until_close) complete();
    if (stage_ == stage::complete) return response_step::complete;
    if (stage_ == stage::refused) return response_step::refused;
    const bool had_head = head_complete_;
    refuse("The connection ended before the response did.");
    head_complete_ = had_head;  // a head without its end may have lost fields, or be that of something else
    return response_step::refused;
}

/// Removes the next line from `bytes`, without its CRLF; false if it is incomplete or refused. The length is checked as
/// the line arrives and the content when it is complete, so that the result does not depend on the split.
TOLLGATE_DECL bool response_parser::take_line(std::string_view& bytes, std::string_view& line) {
    const std::size_t left_bytes = settings_.header_bytes_max - header_bytes_;
    const auto end = bytes.find('\n');
    const std::size_t more = end == std::string_view::npos ? bytes.size() : end + 1;
    const std::size_t size = line_.size() + more;
    if (size > (std::min)(settings_.line_bytes_max, left_bytes)) {
        refuse(settings_.line_bytes_max <= left_bytes ? "A line is too long." : "The header fields are too large.");
        return false;
    }
    if (end == std::string_view::npos || !line_.empty()) {
        line_.append(bytes.substr(0, more));
        line = line_;
    } else {
        line = bytes.substr(0, more);
    }
    bytes.remove_prefix(more);
    if (end == std::string_view::npos) return false;
    header_bytes_ += size;
    if (size < 2 || line[size - 2] != '\r') {
        if (stage_ == stage::status_line) read_status_line(line.substr(0, size - 1));
        if (stage_ != stage::refused) refuse("A line ends in LF without CR.");
        return false;
    }
    line.remove_suffix(2);
    return true;
}

TOLLGATE_DECL void response_parser::read_line(std::string_view line) {
    if (stage_ == stage::status_line) return read_status_line(line);
    if (!line.empty()) return read_field_line(line);
    if (stage_ == stage::trailers) complete();
    else judge_head();
}

TOLLGATE_DECL void response_parser::read_status_line(std::string_view line) {
    constexpr std::size_t version_bytes = 9, status_bytes = 3;
    older_ = line.starts_with("HTTP/1.0 ");
    if (!older_ && !line.starts_with("HTTP/1.1 ")) return refuse("The response does not begin with HTTP/1.1 or HTTP/1.0.");
    const std::string_view digits = line.substr(version_bytes, status_bytes);
    const std::string_view reason = line.substr(version_bytes + digits.size());
    if (digits.size() != status_bytes || !tollgate::detail::is_digit(digits[0]) || digits[0] == '0' ||
        !tollgate::detail::is_digit(digits[1]) || !tollgate::detail::is_digit(digits[2]) ||
        (!reason.empty() && reason.front() != ' '))
        return refuse("The status is not three digits.");
    if (!detail::is_field_text(reason)) return refuse("The status line contains a control character.");
    status_ = static_cast<unsigned>((digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0'));
    if (status_ == 101) return refuse("The server switched protocols, which was not requested.");
    framing_ = {};
    retry_after_.clear();
    content_type_.clear();
    cache_control_.clear();
    stage_ = stage::fields;
}

TOLLGATE_DECL void response_parser::read_field_line(std::string_view line) {
    if (++field_count_ > settings_.field_count_max) return refuse("There are too many header fields.");
    if (line.front() == ' ' || line.front() == '\t') return refuse("A field line begins with whitespace.");
    const char* const begin = line.data();
    const auto name_bytes = static_cast<std::size_t>(detail::find_token_end(begin, begin + line.size()) - begin);
    if (name_bytes == 0 || name_bytes == line.size() || line[name_bytes] != ':')
        return refuse("A field line does not begin with a name and a colon.");
    const std::string_view value = line.substr(name_bytes + 1);
    if (!detail::is_field_text(value)) return refuse("A field value contains a control character.");
    if (stage_ == stage::fields) judge_field(line.substr(0, name_bytes), value);
}

/// Appends the value of a field line (RFC 9110 section 5.3). A value that does not fit is left out.
template <std::size_t BytesMax>
void join_lines(tollgate::detail::inline_text<BytesMax>& into, std::string_view value) noexcept {
    if (!into.view().empty() && !into.append(",")) return into.clear();
    if (!into.append(value)) into.clear();
}

TOLLGATE_DECL void response_parser::judge_field(std::string_view name, std::string_view value) {
    const std::string_view text = tollgate::detail::trim_ows(value);
    switch (to_field_id(name)) {
        case field_id::content_length:
            if (++framing_.content_lengths > 1) framing_.fault = "There is more than one Content-Length field.";
            else if (const auto length = tollgate::detail::parse_decimal(text)) framing_.content_length = *length;
            else framing_.fault = "The Content-Length is not a plain decimal number.";
            return;
        case field_id::transfer_encoding:
            // No tabs around it: some implementations read them as part of the name.
            if (++framing_.transfer_encodings > 1 || !tollgate::detail::ascii_iequals(text, "chunked") || value.find('\t') != value.npos)
                framing_.fault = "The Transfer-Encoding must be exactly 'chunked'.";
            return;
        case field_id::connection:
            framing_.close = framing_.close || detail::list_holds(text, "close");
            framing_.keep_alive = framing_.keep_alive || detail::list_holds(text, "keep-alive");
            return;
        case field_id::content_type: return join_lines(content_type_, text);
        default: break;
    }
    if (tollgate::detail::ascii_iequals(name, "cache-control")) return join_lines(cache_control_, text);
    if (!tollgate::detail::ascii_iequals(name, "retry-after")) return;
    retry_after_.clear();
    if (++framing_.retry_afters == 1) retry_after_.append(text);
}

/// Where the body ends (RFC 9112 section 6.3).
TOLLGATE_DECL void response_parser::judge_head() {
    head_complete_ = status_ >= 200;
    if (!framing_.fault.empty()) return refuse(framing_.fault);
    if (framing_.transfer_encodings != 0 && older_) return refuse("HTTP/1.0 does not support Transfer-Encoding.");
    if (framing_.transfer_encodings != 0 && framing_.content_lengths != 0)
        return refuse("There are both Transfer-Encoding and Content-Length.");
    if (status_ < 200) {
        status_ = 0;
        stage_ = stage::status_line;
        return;
    }
    keep_alive_ = !framing_.close && (!older_ || framing_.keep_alive);
    if (to_head_ || status_ == 204 || status_ == 304) {
        // A 204 has no body, but a server that announces one may also send it.
        if (status_ == 204 && (framing_.content_length != 0 || framing_.transfer_encodings != 0)) keep_alive_ = false;
        return complete();
    }
    if (framing_.transfer_encodings != 0) {
        stage_ = stage::chunk_framing;
        return;
    }
    if (framing_.content_lengths == 0) {
        keep_alive_ = false;
        stage_ = stage::until_close;
        return;
    }
    left_bytes_ = framing_.content_length;
    stage_ = stage::known_length;
    if (left_bytes_ == 0) return complete();
    // Do not wait for a body that will not be read to its end.
    if (left_bytes_ > settings_.body_bytes_max && settings_.kept_bytes_max == 0) cut();
}

/// Precondition: `bytes` is not empty.
TOLLGATE_DECL void response_parser::read_chunk_framing(std::string_view& bytes) {
    const detail::chunk_part next = chunks_.read(bytes.front());
    bytes.remove_prefix(1);
    switch (next) {
        case detail::chunk_part::framing: return;
        case detail::chunk_part::data:
            left_bytes_ = chunks_.chunk_bytes();
            stage_ = stage::chunk_data;
            return;
        case detail::chunk_part::trailers: stage_ = stage::trailers; return;
        case detail::chunk_part::refused: return refuse(chunks_.refused_reason());
    }
}

/// Precondition: `bytes` is not empty.
TOLLGATE_DECL void response_parser::read_body(std::string_view& bytes) {
    const bool endless = stage_ == stage::until_close;
    const bool beyond = stage_ == stage::known_length && framing_.content_length > settings_.body_bytes_max;
    const std::uint64_t accepted_max = (beyond ? settings_.kept_bytes_max : settings_.body_bytes_max) - body_bytes_;
    if (accepted_max == 0) return cut();
    std::uint64_t taken = (std::min)(std::uint64_t{bytes.size()}, accepted_max);
    if (!endless) taken = (std::min)(taken, left_bytes_);

    const std::size_t capacity = settings_.kept_bytes_max - body_.size();
    const std::size_t size = taken;
    body_.append(bytes.substr(0, (std::min)(size, capacity)));
    if (size > capacity) body_cut_ = true;
    bytes.remove_prefix(size);
    body_bytes_ += taken;
    if (endless) return;
    left_bytes_ -= taken;
    if (left_bytes_ == 0) stage_ = stage_ == stage::known_length ? stage::complete : stage::chunk_framing;
    else if (beyond && body_bytes_ == settings_.kept_bytes_max) cut();
}

/// Ends a response early. Its remaining bytes would be taken for the next response, so the connection cannot be reused.
TOLLGATE_DECL void response_parser::cut() noexcept {
    body_cut_ = true;
    keep_alive_ = false;
    complete();
}

TOLLGATE_DECL void response_parser::refuse(std::string_view reason) noexcept {
    if (stage_ == stage::fields && status_ >= 200) head_complete_ = true;
    refused_reason_ = reason;
    keep_alive_ = false;
    stage_ = stage::refused;
}

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_DETAIL_RESPONSE_PARSER_IPP
