#pragma once
#ifndef TOLLGATE_HTTP_REQUEST_HPP
#define TOLLGATE_HTTP_REQUEST_HPP

#include <tollgate/base/ip_address.hpp>
#include <tollgate/http/detail/fields.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tollgate::inline v0::http {

/// Methods of RFC 9110 section 9 and RFC 5789 (PATCH); any other token is `other`. Names are case-sensitive.
enum class method : std::uint8_t { get, head, post, put, delete_, patch, options, connect, trace, other };

/// Returns the method with this name, case-sensitively (RFC 9110 section 9.1), or `method::other` for any other token.
[[nodiscard]] constexpr method to_method(std::string_view name) noexcept {
    switch (name.size()) {
        case 3: return name == "GET" ? method::get : name == "PUT" ? method::put : method::other;
        case 4: return name == "POST" ? method::post : name == "HEAD" ? method::head : method::other;
        case 5: return name == "PATCH" ? method::patch : name == "TRACE" ? method::trace : method::other;
        case 6: return name == "DELETE" ? method::delete_ : method::other;
        case 7: return name == "OPTIONS" ? method::options : name == "CONNECT" ? method::connect : method::other;
        default: return method::other;
    }
}

/// Returns the name on the wire; empty for `other`.
[[nodiscard]] constexpr std::string_view to_text(method m) noexcept {
    switch (m) {
        case method::get: return "GET";
        case method::head: return "HEAD";
        case method::post: return "POST";
        case method::put: return "PUT";
        case method::delete_: return "DELETE";
        case method::patch: return "PATCH";
        case method::options: return "OPTIONS";
        case method::connect: return "CONNECT";
        case method::trace: return "TRACE";
        case method::other: break;
    }
    return {};
}

/// A request target (RFC 9112 section 3.2) as sent: nothing is decoded and no dot segment is removed, so routers compare the text that the
/// client wrote.
struct target {
    std::string_view path;       ///< begins with `/`, or is `*` (OPTIONS); the path alone of an absolute-form target
    std::string_view query;      ///< the text after the `?`
    bool has_query = false;      ///< true for `/a?`, false for `/a`
    std::string_view authority;  ///< the authority of an absolute-form target, which replaces `Host`; otherwise empty

    /// Splits text in origin-form, absolute-form or asterisk-form, and checks nothing.
    static constexpr target from(std::string_view text) noexcept {
        if (!text.starts_with('/'))
            if (const auto colon = (std::min)(text.find_first_of(":/?"), text.size()); text.substr(colon, 3) == "://")
                return from_absolute(text, colon + 3);
        return from_path(text);
    }
    /// Splits text in origin-form at the first `?`.
    static constexpr target from_path(std::string_view text) noexcept {
        const auto mark = text.find('?');
        if (mark == std::string_view::npos) return {text, {}, false, {}};
        return {text.substr(0, mark), text.substr(mark + 1), true, {}};
    }

private:
    static constexpr target from_absolute(std::string_view text, std::size_t begin) noexcept {
        const auto end = (std::min)(text.find_first_of("/?", begin), text.size());
        auto split = from_path(text.substr(end));
        split.authority = text.substr(begin, end - begin);
        // An empty path is `/` (RFC 9112 section 3.2.1). The view refers to the second slash of `//`, because it must be part of the text.
        if (split.path.empty()) split.path = text.substr(begin - 1, 1);
        return split;
    }
};

/// The version in the request line (RFC 9112 section 2.3). HTTP/1.2 to HTTP/1.9 are `http_1_1` (RFC 9110 section 2.5).
enum class version : std::uint8_t { http_1_0, http_1_1 };

/// The part of a request's body that has arrived when a handler receives the request.
enum class body_state : std::uint8_t {
    complete,   ///< `body` is complete (it may be empty)
    pending,    ///< only the head has arrived completely: `body` is empty
    too_large,  ///< the body exceeds the host's bound: `body` is empty, and the connection is closed after the response
};

/// A request, as views of the host's memory. The views are valid during `handle` and must not be kept.
///
/// A host other than `tollgate::server` sets `method`, `target`, `fields`, `body`, `peer` and `secure`, and may set `local`.
struct request {
    http::method method = http::method::get;
    std::string_view method_name;  ///< the name as sent; set for every method, needed only for `method::other`
    http::target target;
    http::version version = http::version::http_1_1;
    bool secure = false;           ///< true if the request was received over TLS
    http::body_state body_state = http::body_state::complete;
    field_lines fields;
    std::string_view body;
    ip_address peer;               ///< the peer of the connection; header fields do not change it
    ip_address local;              ///< the server's own end of the connection; `ip_address{}` if it has no IP address

    /// Returns the host that the client addresses: `host` or `host:port` (RFC 9112 section 3.3). Empty if the client named no host
    /// (HTTP/1.0).
    [[nodiscard]] std::string_view authority() const noexcept {
        return target.authority.empty() ? fields.find(field_id::host) : target.authority;
    }

    /// Returns true if the client is known to send a body. Returns false for a chunked body that has not arrived, because it may turn out
    /// to be empty, unless there is an `Expect` field.
    [[nodiscard]] bool has_body() const noexcept {
        if (body_state == http::body_state::pending)
            return fields.count(field_id::content_length) != 0 || fields.count(field_id::expect) != 0;
        return !body.empty();
    }

    /// Updates all views after the bytes moved from address `from` to `to`.
    void relocate(std::uintptr_t from, const char* to) noexcept {
        for (std::string_view* view : {&method_name, &target.path, &target.query, &target.authority, &body})
            *view = relocated(*view, from, to);
        fields.relocate(from, to);
    }

    /// Prepares for the next request on the connection; `peer`, `local` and `secure` stay.
    void clear() noexcept {
        method = http::method::get;
        method_name = {};
        target = {};
        version = http::version::http_1_1;
        body_state = http::body_state::complete;
        fields.clear();
        body = {};
    }
};

/// Returns the value of a cookie (RFC 6265 section 5.4), as a view of the request. Returns an empty optional if there is no cookie of this
/// name, or if there are several with different values: another site (on another subdomain or path) has set one of them, and the server
/// cannot find out which. Names are case-sensitive.
[[nodiscard]] inline std::optional<std::string_view> find_cookie(const field_lines& fields, std::string_view name) noexcept {
    std::optional<std::string_view> found;
    if (fields.count(field_id::cookie) == 0) return found;
    for (const field& line : fields) {
        if (to_field_id(line.name) != field_id::cookie) continue;
        std::string_view left = line.value;
        while (!left.empty()) {
            const std::string_view pair = tollgate::detail::trim_ows(left.substr(0, left.find(';')));
            left.remove_prefix((std::min)(left.find(';'), left.size() - 1) + 1);
            const auto equals = pair.find('=');
            if (equals == std::string_view::npos || tollgate::detail::trim_ows(pair.substr(0, equals)) != name) continue;
            const auto value = tollgate::detail::trim_ows(pair.substr(equals + 1));
            if (found && *found != value) return std::nullopt;
            found = value;
        }
    }
    return found;
}

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_REQUEST_HPP
