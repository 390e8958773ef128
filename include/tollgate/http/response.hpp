#pragma once
#ifndef TOLLGATE_HTTP_RESPONSE_HPP
#define TOLLGATE_HTTP_RESPONSE_HPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/time.hpp>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tollgate::inline v0::http {

/// The statuses that Tollgate sends (RFC 9110 section 15, RFC 6585).
enum class status : std::uint16_t {
    ok = 200,
    created = 201,
    accepted = 202,
    no_content = 204,
    found = 302,
    see_other = 303,
    bad_request = 400,
    unauthorized = 401,
    forbidden = 403,
    not_found = 404,
    method_not_allowed = 405,
    request_timeout = 408,
    conflict = 409,
    content_too_large = 413,
    uri_too_long = 414,
    unsupported_media_type = 415,
    expectation_failed = 417,
    misdirected_request = 421,
    unprocessable_content = 422,
    too_many_requests = 429,
    header_fields_too_large = 431,
    internal_server_error = 500,
    not_implemented = 501,
    service_unavailable = 503,
    version_not_supported = 505,
};

/// Returns the three digits of a status (RFC 9110 section 15).
[[nodiscard]] constexpr unsigned to_number(status s) noexcept { return static_cast<unsigned>(s); }

/// Returns the registered reason phrase, or "Status" for a number without an enumerator.
[[nodiscard]] constexpr std::string_view to_reason(status s) noexcept {
    switch (s) {
        case status::ok: return "OK";
        case status::created: return "Created";
        case status::accepted: return "Accepted";
        case status::no_content: return "No Content";
        case status::found: return "Found";
        case status::see_other: return "See Other";
        case status::bad_request: return "Bad Request";
        case status::unauthorized: return "Unauthorized";
        case status::forbidden: return "Forbidden";
        case status::not_found: return "Not Found";
        case status::method_not_allowed: return "Method Not Allowed";
        case status::request_timeout: return "Request Timeout";
        case status::conflict: return "Conflict";
        case status::content_too_large: return "Content Too Large";
        case status::uri_too_long: return "URI Too Long";
        case status::unsupported_media_type: return "Unsupported Media Type";
        case status::expectation_failed: return "Expectation Failed";
        case status::misdirected_request: return "Misdirected Request";
        case status::unprocessable_content: return "Unprocessable Content";
        case status::too_many_requests: return "Too Many Requests";
        case status::header_fields_too_large: return "Request Header Fields Too Large";
        case status::internal_server_error: return "Internal Server Error";
        case status::not_implemented: return "Not Implemented";
        case status::service_unavailable: return "Service Unavailable";
        case status::version_not_supported: return "HTTP Version Not Supported";
    }
    return "Status";
}

/// The name of a response field: a literal of which the compiler checks that it is a token.
class field_name {
public:
    /// Constructs the name from a literal that is a token (RFC 9110 section 5.6.2). Any other literal does not compile.
    consteval field_name(const char* literal) : text_{literal} {
        if (text_.empty()) throw "a field name is not empty";
        for (char c : text_)
            if (!tollgate::detail::is_token_char(c)) throw "a field name is a token (RFC 9110 section 5.6.2)";
    }
    /// Returns the text as sent.
    [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// The value of a response field. It cannot contain a control character: the compiler checks literals, and `from` checks other text. This
/// prevents response splitting.
class field_value {
public:
    /// Constructs the value from a literal without control characters. Any other literal does not compile.
    consteval field_value(const char* literal) : text_{literal} {
        if (!is_safe(text_)) throw "a field value contains visible characters, spaces and tabs only (RFC 9110 section 5.5)";
    }

    /// Returns the value with this text, or an empty optional for text with a byte outside visible ASCII, space and tab. The text must
    /// outlive the value.
    static constexpr std::optional<field_value> from(std::string_view text) noexcept {
        if (!is_safe(text)) return std::nullopt;
        return field_value{unchecked{}, text};
    }

    /// Returns the text as sent.
    [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

private:
    struct unchecked {};
    constexpr field_value(unchecked, std::string_view text) noexcept : text_{text} {}

    static constexpr bool is_safe(std::string_view text) noexcept {
        for (char c : text)
            if ((c < ' ' && c != '\t') || c > '~') return false;
        return true;
    }

    std::string_view text_;
};

/// A response. The host owns it and reuses it for the next request, so that after the first few requests no response allocates memory.
///
/// Fields are stored in wire format (`Name: value\r\n`). The host adds `Date`, `Content-Length` and `Connection`.
class response {
public:
    /// Resets to an empty 200. Keeps the memory, unless a large response has taken too much to keep.
    void clear() noexcept {
        status_ = http::status::ok;
        user_.reset();
        keep_reasonable(fields_);
        keep_reasonable(body_);
    }

    /// Returns the status, which is 200 unless `set_status` was called.
    [[nodiscard]] http::status status() const noexcept { return status_; }
    /// Sets the status.
    void set_status(http::status s) noexcept { status_ = s; }

    /// Returns the user for whom the response is, if the handler has set one. `server` bounds the unsent responses of a user
    /// (`server_settings::unsent_bytes_max`). The user is not sent.
    [[nodiscard]] std::optional<user_id> user() const noexcept { return user_; }
    /// Sets the user. Tollgate's handlers do this when they know the caller of a request.
    void set_user(user_id user) noexcept { user_ = user; }

    /// Appends a field with a text, a number, or a time in ISO 8601. For HTTP's own dates, such as Last-Modified, pass the result of
    /// `to_http_date`. Existing fields of that name stay.
    void add(field_name name, field_value value) { add_line(name.view(), value.view()); }
    /// Appends a field with a text that is known at run time only. Throws std::invalid_argument for text that `field_value::from` refuses.
    template <std::same_as<std::string> Text>
    void add(field_name name, const Text& value) {
        const auto checked = field_value::from(value);
        if (!checked) throw std::invalid_argument{"tollgate: the value of a response field has a control character or one outside ASCII"};
        add_line(name.view(), checked->view());
    }
    void add(field_name name, std::unsigned_integral auto number) { add_number(name.view(), number); }
    void add(field_name name, instant at) { add_line(name.view(), to_iso8601(at).view()); }
    void add(field_name name, const http_date_text& date) { add_line(name.view(), date.view()); }

    /// Appends checked lines, such as a constant block of security fields. Precondition: every line is `token: value\r\n`.
    void add_prepared_lines(std::string_view prepared) { fields_.append(prepared); }

    /// Returns all fields in wire format, each ending in CRLF. The view is valid until the response changes.
    [[nodiscard]] std::string_view field_block() const noexcept { return fields_; }

    /// Calls `visit(name, value)` for each field, for hosts with their own response type.
    template <std::invocable<std::string_view, std::string_view> Visit>
    void for_each_field(Visit&& visit) const;

    /// Returns the first value of a field, whose name is compared case-insensitively, or an empty text if there is none.
    [[nodiscard]] std::string_view find(std::string_view name) const noexcept;

    /// Returns the body, which the handler may change.
    [[nodiscard]] std::string& body() noexcept { return body_; }
    [[nodiscard]] const std::string& body() const noexcept { return body_; }

private:
    static constexpr std::size_t capacity_kept_max = 64 * 1024;  // one large response must not keep its memory forever

    static void keep_reasonable(std::string& text) noexcept {
        text.clear();
        if (text.capacity() > capacity_kept_max) [[unlikely]] shrink(text);
    }
    [[gnu::noinline]] static void shrink(std::string& text) noexcept { text.shrink_to_fit(); }

    void add_line(std::string_view name, std::string_view value);
    void add_number(std::string_view name, std::uint64_t number);

    http::status status_ = http::status::ok;
    std::optional<user_id> user_;
    std::string fields_;
    std::string body_;
};

inline void response::add_line(std::string_view name, std::string_view value) {
    fields_.append(name).append(": ", 2).append(value).append("\r\n", 2);
}

inline void response::add_number(std::string_view name, std::uint64_t number) {
    char digits[20];
    const auto done = std::to_chars(digits, digits + sizeof digits, number);
    add_line(name, {digits, static_cast<std::size_t>(done.ptr - digits)});
}

template <std::invocable<std::string_view, std::string_view> Visit>
void response::for_each_field(Visit&& visit) const {
    std::string_view left = fields_;
    while (!left.empty()) {
        const auto colon = left.find(':');
        const auto end = left.find("\r\n", colon);
        visit(left.substr(0, colon), tollgate::detail::trim_ows(left.substr(colon + 1, end - colon - 1)));
        left.remove_prefix(end + 2);
    }
}

inline std::string_view response::find(std::string_view name) const noexcept {
    std::string_view found;
    for_each_field([&](std::string_view n, std::string_view v) {
        if (found.data() == nullptr && tollgate::detail::ascii_iequals(n, name)) found = v;
    });
    return found;
}

/// Adds `Retry-After` to a response with status 503: long enough for a database to fail over, short enough for a person not to give up.
/// Adds nothing for any other status.
inline void add_retry_after(response& response, status sent) {
    constexpr unsigned retry_after_seconds = 2;
    if (sent == status::service_unavailable) response.add("Retry-After", retry_after_seconds);
}

/// Adds `Retry-After` to a response with any status: whole seconds, rounded up, at least one.
inline void add_retry_after(response& response, milliseconds wait) {
    response.add("Retry-After", static_cast<std::uint64_t>((std::max)(seconds{1}, std::chrono::ceil<seconds>(wait)).count()));
}

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_RESPONSE_HPP
