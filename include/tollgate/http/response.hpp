#pragma once

#include <tollgate/base/ascii.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/status.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::http {

/// The name of a response field: a literal token, checked while compiling.
class field_name {
public:
    consteval field_name(const char* literal) : text_{literal} {
        if (text_.empty()) throw "a field name is not empty";
        for (char c : text_)
            if (!is_token_char(c)) throw "a field name is a token (RFC 9110 section 5.6.2)";
    }
    [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// The value of a response field. There is no way to make one that holds a control character: a literal is checked while
/// compiling, other text by `from`. So no value that we set can end a line and begin another (response splitting).
class field_value {
public:
    consteval field_value(const char* literal) : text_{literal} {
        if (!is_safe(text_)) throw "a field value holds visible characters, spaces and tabs only (RFC 9110 section 5.5)";
    }

    /// Empty for text with a byte outside visible ASCII, space and tab. The text must outlive the value.
    static constexpr std::optional<field_value> from(std::string_view text) noexcept {
        if (!is_safe(text)) return std::nullopt;
        return field_value{unchecked{}, text};
    }

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

/// One response. The host owns it and uses it again for the next request: after the first few, none allocates.
///
/// Fields are kept as they go on the wire (`Name: value\r\n`). The host adds `Date`, `Content-Length` and `Connection`.
class response {
public:
    /// Empty, 200, and the memory kept, unless one large answer has made it unreasonable to keep.
    void clear() noexcept {
        status_ = http::status::ok;
        keep_reasonable(fields_);
        keep_reasonable(body_);
    }

    [[nodiscard]] http::status status() const noexcept { return status_; }
    void set_status(http::status s) noexcept { status_ = s; }

    void add(field_name name, field_value value) { add_line(name.view(), value.view()); }
    void add(field_name name, std::unsigned_integral auto number) {
        char digits[20];
        const auto done = std::to_chars(digits, digits + sizeof digits, number);
        add_line(name.view(), {digits, static_cast<std::size_t>(done.ptr - digits)});
    }
    void add(field_name name, instant at) { add_line(name.view(), to_iso8601(at).view()); }

    /// Lines that were checked already, ending in CRLF, such as a constant block of security fields.
    /// Precondition: every line is `token: value\r\n`.
    void add_prepared_lines(std::string_view lines) { fields_.append(lines); }

    /// All fields as they go on the wire, each ending in CRLF.
    [[nodiscard]] std::string_view field_block() const noexcept { return fields_; }

    /// Calls `visit(name, value)` for each field: for hosts with a response type of their own.
    template <std::invocable<std::string_view, std::string_view> Visit>
    void for_each_field(Visit&& visit) const;

    /// The first value of a field, in any case; empty when there is none.
    [[nodiscard]] std::string_view find(std::string_view name) const noexcept;

    /// What is sent after the fields: write into it.
    [[nodiscard]] std::string& body() noexcept { return body_; }
    [[nodiscard]] const std::string& body() const noexcept { return body_; }

private:
    static constexpr std::size_t capacity_kept_max = 64 * 1024;  // one odd response must not pin memory for ever

    static void keep_reasonable(std::string& text) noexcept {
        if (text.capacity() > capacity_kept_max) std::string{}.swap(text);
        else text.clear();
    }

    void add_line(std::string_view name, std::string_view value);

    http::status status_ = http::status::ok;
    std::string fields_;
    std::string body_;
};

inline void response::add_line(std::string_view name, std::string_view value) {
    fields_.append(name).append(": ", 2).append(value).append("\r\n", 2);
}

template <std::invocable<std::string_view, std::string_view> Visit>
void response::for_each_field(Visit&& visit) const {
    std::string_view left = fields_;
    while (!left.empty()) {
        const auto colon = left.find(':');
        const auto end = left.find("\r\n", colon);
        visit(left.substr(0, colon), trim_ows(left.substr(colon + 1, end - colon - 1)));
        left.remove_prefix(end + 2);
    }
}

inline std::string_view response::find(std::string_view name) const noexcept {
    std::string_view found;
    for_each_field([&](std::string_view n, std::string_view v) {
        if (found.data() == nullptr && ascii_iequals(n, name)) found = v;
    });
    return found;
}

}  // namespace tollgate::http
