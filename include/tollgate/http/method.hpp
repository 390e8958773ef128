#pragma once

#include <cstdint>
#include <string_view>

namespace tollgate::http {

/// Methods of RFC 9110 section 9 and RFC 5789 (PATCH); any other token is `other`. Names are case-sensitive.
enum class method : std::uint8_t { get, head, post, put, delete_, patch, options, connect, trace, other };

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

/// The name on the wire; empty for `other`.
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

}  // namespace tollgate::http
