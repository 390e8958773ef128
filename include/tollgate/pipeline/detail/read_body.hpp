#pragma once

#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/pipeline/detail/refused.hpp>

#include <optional>
#include <string_view>

namespace tollgate::inline v0::pipeline {

/// `application/json`, with no parameter but a charset of UTF-8 (RFC 8259 section 8.1 leaves no other).
[[nodiscard]] constexpr bool is_json_media_type(std::string_view content_type) noexcept {
    const auto end = content_type.find(';');
    if (!ascii_iequals(trim_ows(content_type.substr(0, end)), "application/json")) return false;
    if (end == std::string_view::npos) return true;
    const auto parameter = trim_ows(content_type.substr(end + 1));
    return parameter.empty() || ascii_iequals(parameter, "charset=utf-8") || ascii_iequals(parameter, "charset=\"utf-8\"");
}

/// 413 and 415: what can be said of a body without reading it. A body where none is expected is not looked at.
[[nodiscard]] inline std::optional<refused> check_body(const http::request& asked, bool reads_body) noexcept {
    if (asked.body_state == http::body_state::too_large)
        return refused{http::status::content_too_large, "The request's body is too large.", about_requests};
    if (!reads_body || asked.body.empty()) return std::nullopt;
    if (asked.fields.count(http::field_id::content_type) != 1 || !is_json_media_type(asked.fields.find(http::field_id::content_type)))
        return refused{http::status::unsupported_media_type, "Send the body with Content-Type: application/json.", about_requests};
    return std::nullopt;
}

}  // namespace tollgate::pipeline
