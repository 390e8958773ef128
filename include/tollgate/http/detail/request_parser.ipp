#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_REQUEST_PARSER_IPP
#define TOLLGATE_HTTP_DETAIL_REQUEST_PARSER_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/detail/request_parser.hpp>
#include <tollgate/http/detail/scan.hpp>
#include <tollgate/http/detail/fields.hpp>
#include <tollgate/http/url.hpp>

#include <algorithm>
#include <cstring>

namespace tollgate::inline v0::http {

namespace detail {

// The longest registered method has 17 characters; longer methods are not supported.
inline constexpr std::size_t method_bytes_max = 32;

/// Browsers send these in a query as they are (WHATWG URL Standard, "query percent-encode set"), although RFC 3986 section 3.4 does not
/// allow them. In a path, programs may read them as something else: browsers read `\` as `/`.
inline constexpr tollgate::detail::byte_set unencoded_in_query = tollgate::detail::make_byte_set("[]{}|\\^`");

inline constexpr std::string_view unencoded_byte = "The request target contains a byte that must be percent-encoded.";

/// Returns true if `text` is at this offset. Compared in pieces of constant size, which compilers turn into word comparisons; a
/// comparison of ten bytes would be a call.
template <std::size_t Size>
[[nodiscard]] bool begins_with(std::string_view bytes, std::size_t offset, const char (&text)[Size]) noexcept {
    constexpr std::size_t text_bytes = Size - 1;
    constexpr std::size_t tail_bytes = text_bytes % 8;
    if (bytes.size() - offset < text_bytes) return false;
    const char* const at = bytes.data() + offset;
    for (std::size_t i = 0; i + 8 <= text_bytes; i += 8)
        if (std::memcmp(at + i, text + i, 8) != 0) return false;
    return std::memcmp(at + text_bytes - tail_bytes, text + text_bytes - tail_bytes, tail_bytes) == 0;
}

/// Returns true if the blanks around this value, between the colon and the CR of its field line, contain a tab.
[[nodiscard]] constexpr bool has_tab_around(std::string_view value) noexcept {
    const char* before = value.data() - 1;
    while (*before == ' ') --before;
    const char* behind = value.data() + value.size();
    while (*behind == ' ') ++behind;
    return *before == '\t' || *behind == '\t';
}

/// Returns true if any line of a repeatable field contains this member.
[[nodiscard]] inline bool lines_hold(const field_lines& fields, field_id id, std::string_view member) noexcept {
    if (fields.count(id) == 1) return list_holds(fields.find(id), member);
    for (const field& line : fields)
        if (to_field_id(line.name) == id && list_holds(line.value, member)) return true;
    return false;
}

}  // namespace detail

TOLLGATE_DECL request_parser::request_parser(const parser_settings& settings) noexcept : settings_{settings} {
    for (std::size_t* bound : {&settings_.target_bytes_max, &settings_.header_bytes_max, &settings_.body_bytes_max})
        *bound = (std::min)(*bound, parser_settings::bytes_max);
}

TOLLGATE_DECL void request_parser::start() noexcept {
    stage_ = stage::nothing;
    at_ = examined_ = 0;
    message_bytes_ = 0;
    has_head_ = false;
    keep_alive_ = false;
    expects_continue_ = false;
}

TOLLGATE_DECL parse_step request_parser::step(std::span<char> bytes, request& into) noexcept {
    const std::string_view text{bytes.data(), bytes.size()};
    relocate(bytes.data(), into);

    // Each case falls through when its part is complete, so that a complete message is read in one pass.
    parse_step result = parse_step::complete;
    switch (stage_) {
        case stage::nothing:
            if (result = begin(text, into); result != parse_step::complete) return result;
            [[fallthrough]];
        case stage::method:
            if (result = read_method(text, into); result != parse_step::complete) return result;
            [[fallthrough]];
        case stage::target:
            if (result = read_target(text, into); result != parse_step::complete) return result;
            [[fallthrough]];
        case stage::version:
            if (result = read_version(text, into); result != parse_step::complete) return result;
            [[fallthrough]];
        case stage::fields:
            if (result = read_fields(text, into); result != parse_step::complete) return result;
            has_head_ = true;
            if (stage_ == stage::complete) return result;
            result = stage_ == stage::chunked ? read_chunked(bytes, into) : read_known_length(text, into);
            if (result != parse_step::needs_more) return result;
            into.body_state = body_state::pending;
            return parse_step::head_complete;
        case stage::known_length: return read_known_length(text, into);
        case stage::chunked: return read_chunked(bytes, into);
        case stage::complete: return parse_step::complete;
        case stage::refused: break;
    }
    return parse_step::refused;
}

/// Accepts one empty line before a request (RFC 9112 section 2.2): old clients send one after a body.
TOLLGATE_DECL parse_step request_parser::begin(std::string_view bytes, request& into) noexcept {
    if (bytes.empty()) return parse_step::needs_more;
    into.clear();
    std::size_t first = 0;
    if (bytes[0] == '\r') [[unlikely]] {
        if (bytes.size() < 2) return parse_step::needs_more;
        if (bytes[1] != '\n') return refuse(detail::to_reason(detail::line_result::bare_cr));
        first = 2;
    }
    return go_on(stage::method, first);
}

TOLLGATE_DECL parse_step request_parser::read_method(std::string_view bytes, request& into) noexcept {
    if (examined_ == at_ && detail::begins_with(bytes, at_, "GET ")) [[likely]] {
        into.method_name = bytes.substr(at_, 3);
        return go_on(stage::target, at_ + 4);
    }
    const std::size_t bound = at_ + detail::method_bytes_max + 1;
    const char* const end =
        detail::find_token_end(bytes.data() + examined_, bytes.data() + (std::min)(bytes.size(), bound));
    examined_ = static_cast<std::size_t>(end - bytes.data());
    if (examined_ == bound) return refuse("The request method is not one that this server knows.", status::not_implemented);
    if (examined_ == bytes.size()) return parse_step::needs_more;
    if (*end != ' ' || examined_ == at_) [[unlikely]] {
        if (*end == '\x16' && examined_ == 0) return refuse("A TLS handshake was sent to a plain HTTP port.");
        return refuse("The request line does not begin with a method and one space.");
    }
    into.method_name = bytes.substr(at_, examined_ - at_);
    into.method = to_method(into.method_name);
    return go_on(stage::target, examined_ + 1);
}

TOLLGATE_DECL parse_step request_parser::read_target(std::string_view bytes, request& into) noexcept {
    const std::size_t bound = at_ + settings_.target_bytes_max + 1;
    const char* const stop = bytes.data() + (std::min)(bytes.size(), bound);
    const char* end = detail::find_target_end(bytes.data() + examined_, stop);
    bool in_query = false;  // true if there is a `?` before `end`
    for (const char* from = bytes.data() + at_; end != stop && tollgate::detail::holds(detail::unencoded_in_query, *end);) [[unlikely]] {
        in_query = in_query || std::string_view{from, static_cast<std::size_t>(end - from)}.find('?') != std::string_view::npos;
        // Brackets also enclose an IPv6 address in the host of an absolute target.
        if (!in_query && ((*end != '[' && *end != ']') || bytes[at_] == '/')) break;
        from = end;
        end = detail::find_target_end(end + 1, stop);
    }
    examined_ = static_cast<std::size_t>(end - bytes.data());
    if (examined_ == bound) {
        note_target(bytes.substr(at_, examined_ - at_), into);
        return refuse("The request target is too long.", status::uri_too_long);
    }
    if (examined_ == bytes.size()) return parse_step::needs_more;
    if (*end != ' ') [[unlikely]] {
        note_target(bytes.substr(at_, examined_ - at_), into);
        if (*end == '#') return refuse("The request target contains a fragment.");
        if (*end == '\r' || *end == '\n') return refuse("The request line has no HTTP version.");
        return refuse(detail::unencoded_byte);
    }
    const std::string_view text = bytes.substr(at_, examined_ - at_);
    if (text.starts_with('/') && into.method != method::connect) [[likely]] into.target = target::from_path(text);
    else if (const auto judged = judge_target(text, into); judged != parse_step::complete) return judged;
    return go_on(stage::version, examined_ + 1);
}

/// Keeps what was read of a target that is refused, so that the response suits the path.
[[gnu::noinline]] TOLLGATE_COLD void request_parser::note_target(std::string_view text, request& into) noexcept {
    if (text.starts_with('/')) into.target = target::from_path(text);
}

/// Checks the forms of RFC 9112 section 3.2 other than origin-form. CONNECT and its authority-form are for proxies
/// only.
[[gnu::noinline]] TOLLGATE_DECL parse_step request_parser::judge_target(std::string_view text, request& into) noexcept {
    if (into.method == method::connect) return refuse("CONNECT is not supported: this server is not a proxy.");
    if (text.empty()) return refuse("There is more than one space between the method and the request target.");
    if (text == "*") {
        if (into.method != method::options) return refuse("The request target * is allowed with OPTIONS only.");
        into.target = target::from(text);
        return parse_step::complete;
    }
    return judge_absolute_target(text, into);
}

TOLLGATE_DECL parse_step request_parser::judge_absolute_target(std::string_view text, request& into) noexcept {
    constexpr std::string_view reason = "The request target is neither a path nor an absolute http or https URL.";
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || text.substr(colon, 3) != "://") return refuse(reason);
    const std::string_view scheme = text.substr(0, colon);
    if (!tollgate::detail::ascii_iequals(scheme, "http") && !tollgate::detail::ascii_iequals(scheme, "https")) return refuse(reason);

    into.target = target::from(text);
    const std::string_view authority = into.target.authority;
    if (!is_authority(authority)) return refuse("The request target does not name a valid host.");
    if (into.target.path.find_first_of("[]") != std::string_view::npos) return refuse(detail::unencoded_byte);
    return parse_step::complete;
}

TOLLGATE_DECL parse_step request_parser::read_version(std::string_view bytes, request& into) noexcept {
    static constexpr char expected[] = "HTTP/1.1\r\n";
    static constexpr std::size_t expected_bytes = sizeof expected - 1;
    static constexpr std::size_t minor_at = 7;
    if (detail::begins_with(bytes, at_, expected)) [[likely]] {
        into.version = version::http_1_1;
    } else {
        const std::string_view rest = bytes.substr(at_, expected_bytes);
        for (std::size_t i = 0; i < rest.size(); ++i)
            if (i == minor_at ? !tollgate::detail::is_digit(rest[i]) : rest[i] != expected[i])
                return refuse("The request line does not end in HTTP/1.1 or HTTP/1.0 and CRLF.");
        if (rest.size() < expected_bytes) return parse_step::needs_more;
        // A higher minor version is processed as the highest one that is known (RFC 9110 section 2.5).
        into.version = rest[minor_at] == '0' ? version::http_1_0 : version::http_1_1;
    }
    section_begin_ = at_ + expected_bytes;
    lines_.start(section_begin_);
    return go_on(stage::fields, section_begin_);
}

TOLLGATE_DECL parse_step request_parser::read_fields(std::string_view bytes, request& into) noexcept {
    const std::size_t bound = section_begin_ + settings_.header_bytes_max;
    const std::size_t bytes_end = (std::min)(bytes.size(), bound);
    if (lines_.at_line_begin()) [[likely]] {
        const std::size_t at = read_usual_fields(bytes.substr(0, bytes_end), lines_.at(), into.fields);
        if (bytes_end - at >= 2 && detail::begins_with(bytes, at, "\r\n")) [[likely]] {
            at_ = at + 2;
            return judge_head(bytes, into);
        }
        lines_.start(at);
    }
    for (;;) {
        field_id id;
        field line;
        const auto result = lines_.read(bytes.data(), bytes_end, id, line);
        if (result == detail::line_result::field) {
            if (into.fields.size() < settings_.field_count_max && into.fields.add(id, line.name, line.value)) continue;
            return refuse("There are too many header fields.", status::header_fields_too_large);
        }
        if (result == detail::line_result::section_end) break;
        if (result != detail::line_result::unfinished) return refuse(detail::to_reason(result));
        if (bytes.size() < bound) return parse_step::needs_more;
        return refuse("The header fields are too large.", status::header_fields_too_large);
    }
    at_ = lines_.at();
    return judge_head(bytes, into);
}

/// The fast path for complete lines without anything unusual, which are nearly all. Returns the start of the first
/// other line; the reader starts there and checks every byte.
TOLLGATE_DECL std::size_t request_parser::read_usual_fields(std::string_view bytes, std::size_t at,
                                                            field_lines& into) const noexcept {
    const char* const end = bytes.data() + bytes.size();
    const char* begin = bytes.data() + at;
    while (into.size() < settings_.field_count_max) {
        const char* const colon = detail::find_near_colon(begin, end);
        if (colon == nullptr) break;
        const std::string_view name{begin, static_cast<std::size_t>(colon - begin)};
        const field_id id = to_field_id(name);
        if (id == field_id::other && (name.empty() || detail::find_token_end(begin, colon) != colon)) break;

        const char* value = colon + 1;
        const char* const line_end = detail::find_unusual_in_value(value, end);  // the colon was found in a block before `end`
        if (end - line_end < 2 || std::memcmp(line_end, "\r\n", 2) != 0) break;
        while (*value == ' ') ++value;
        const char* value_end = line_end;
        while (value_end[-1] == ' ' && value_end > value) --value_end;
        if (!into.add(id, name, {value, static_cast<std::size_t>(value_end - value)})) break;
        begin = line_end + 2;
    }
    return static_cast<std::size_t>(begin - bytes.data());
}

/// Evaluates the fields together: the host, the end of the body, the persistence of the connection.
TOLLGATE_DECL parse_step request_parser::judge_head(std::string_view bytes, request& into) noexcept {
    const std::size_t hosts = into.fields.count(field_id::host);
    if (hosts > 1) return refuse("There is more than one Host field.");
    if (hosts == 0 && into.version == version::http_1_1) return refuse("There is no Host field.");
    if (hosts == 1 && !names_good_host(into)) return refuse("The Host field is not a host and an optional port.");

    keep_alive_ = into.version == version::http_1_1;
    if (into.fields.count(field_id::connection) != 0) judge_connection(into);

    stage_ = stage::complete;
    if (into.fields.count(field_id::transfer_encoding) != 0) {
        if (const auto judged = judge_transfer_encoding(into); judged != parse_step::complete) return judged;
    } else if (into.fields.count(field_id::content_length) != 0) {
        if (const auto judged = judge_content_length(into); judged != parse_step::complete) return judged;
    }
    if (into.fields.count(field_id::expect) != 0) {
        if (const auto judged = judge_expectation(into); judged != parse_step::complete) return judged;
        expects_continue_ = into.version == version::http_1_1 && stage_ != stage::complete && bytes.size() == at_;
    }
    if (stage_ == stage::known_length && message_bytes_ - at_ > settings_.body_bytes_max) return finish_too_large(into);
    return parse_step::complete;
}

/// Nearly all requests to a server name the same host, so the last valid one is not checked again.
TOLLGATE_DECL bool request_parser::names_good_host(const request& into) noexcept {
    const std::string_view host = into.fields.find(field_id::host);
    if (!good_host_.empty() && host == good_host_.view()) return true;
    if (!is_authority(host)) return false;
    good_host_.clear();
    good_host_.append(host);
    return true;
}

/// Exactly one `chunked` and no Content-Length: RFC 9112 section 6.1 permits refusing the combination, and parsers that
/// repair it enable request smuggling. No tabs around it either, although RFC 9110 allows them: some proxies read the
/// tab as part of the name, and so as an unknown coding.
[[gnu::noinline]] TOLLGATE_DECL parse_step request_parser::judge_transfer_encoding(const request& into) noexcept {
    if (into.version == version::http_1_0) return refuse("HTTP/1.0 does not support Transfer-Encoding.");
    if (into.fields.count(field_id::content_length) != 0)
        return refuse("There are both Transfer-Encoding and Content-Length.");
    if (into.fields.count(field_id::transfer_encoding) != 1 ||
        !tollgate::detail::ascii_iequals(into.fields.find(field_id::transfer_encoding), "chunked") ||
        detail::has_tab_around(into.fields.find(field_id::transfer_encoding)))
        return refuse("The Transfer-Encoding must be exactly 'chunked'.");
    chunks_.start(at_);
    body_bytes_max_ = settings_.body_bytes_max;
    stage_ = stage::chunked;
    return parse_step::complete;
}

/// One line of decimal digits. Lists of equal lengths and leading zeros are read differently by different
/// implementations, so they are refused (RFC 9112 section 6.3).
[[gnu::noinline]] TOLLGATE_DECL parse_step request_parser::judge_content_length(const request& into) noexcept {
    if (into.fields.count(field_id::content_length) != 1) return refuse("There is more than one Content-Length field.");
    const auto length = tollgate::detail::parse_decimal(into.fields.find(field_id::content_length));
    if (!length) return refuse("The Content-Length is not a plain decimal number.");
    if (*length == 0) return parse_step::complete;
    // Avoids overflow: every length above the bound has the same effect.
    message_bytes_ = at_ + static_cast<std::size_t>((std::min)(*length, std::uint64_t{settings_.body_bytes_max} + 1));
    stage_ = stage::known_length;
    return parse_step::complete;
}

[[gnu::noinline]] TOLLGATE_DECL parse_step request_parser::judge_expectation(const request& into) noexcept {
    if (into.fields.count(field_id::expect) == 1 && tollgate::detail::ascii_iequals(into.fields.find(field_id::expect), "100-continue"))
        return parse_step::complete;
    return refuse("The only supported expectation is 100-continue.", status::expectation_failed);
}

[[gnu::noinline]] TOLLGATE_DECL void request_parser::judge_connection(const request& into) noexcept {
    if (detail::lines_hold(into.fields, field_id::connection, "close")) keep_alive_ = false;
    else if (!keep_alive_) keep_alive_ = detail::lines_hold(into.fields, field_id::connection, "keep-alive");
}

TOLLGATE_DECL parse_step request_parser::read_known_length(std::string_view bytes, request& into) noexcept {
    if (bytes.size() < message_bytes_) return parse_step::needs_more;
    into.body = bytes.substr(at_, message_bytes_ - at_);
    into.body_state = body_state::complete;
    at_ = message_bytes_;
    stage_ = stage::complete;
    return parse_step::complete;
}

[[gnu::noinline]] TOLLGATE_DECL parse_step request_parser::read_chunked(std::span<char> bytes, request& into) noexcept {
    switch (chunks_.step(bytes, body_bytes_max_)) {
        case detail::chunk_step::needs_more: return parse_step::needs_more;
        case detail::chunk_step::refused: return refuse(chunks_.refused_reason(), chunks_.refused_status());
        case detail::chunk_step::too_large: at_ = chunks_.at(); return finish_too_large(into);
        case detail::chunk_step::complete: break;
    }
    into.body = {bytes.data() + chunks_.begin(), chunks_.size()};
    into.body_state = body_state::complete;
    at_ = chunks_.at();
    stage_ = stage::complete;
    return parse_step::complete;
}

TOLLGATE_DECL parse_step request_parser::go_on(stage next, std::size_t at) noexcept {
    stage_ = next;
    at_ = examined_ = at;
    return parse_step::complete;
}

[[gnu::noinline]] TOLLGATE_DECL parse_step request_parser::finish_too_large(request& into) noexcept {
    into.body_state = body_state::too_large;
    keep_alive_ = false;
    stage_ = stage::complete;
    return parse_step::complete;
}

[[gnu::noinline]] TOLLGATE_COLD parse_step request_parser::refuse(std::string_view reason, status code) noexcept {
    refused_reason_ = reason;
    refused_status_ = code;
    keep_alive_ = false;
    stage_ = stage::refused;
    return parse_step::refused;
}

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_DETAIL_REQUEST_PARSER_IPP
