#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_STAGES_IPP
#define TOLLGATE_PIPELINE_DETAIL_STAGES_IPP

#include <tollgate/pipeline/detail/stages.hpp>

#include <algorithm>
#include <string_view>

namespace tollgate::inline v0::pipeline {

TOLLGATE_DECL bool is_json_media_type(std::string_view content_type) noexcept {
    const auto end = content_type.find(';');
    if (!ascii_iequals(trim_ows(content_type.substr(0, end)), "application/json")) return false;
    std::string_view parameters = end == std::string_view::npos ? "" : content_type.substr(end);
    while (!parameters.empty()) {
        parameters.remove_prefix(1);  // the semicolon
        const auto next = (std::min)(parameters.find(';'), parameters.size());
        const auto parameter = trim_ows(parameters.substr(0, next));
        // Parameters may be empty (RFC 9110 section 5.6.6).
        if (!parameter.empty() && !ascii_iequals(parameter, "charset=utf-8") && !ascii_iequals(parameter, "charset=\"utf-8\""))
            return false;
        parameters.remove_prefix(next);
    }
    return true;
}

TOLLGATE_DECL std::uint64_t body_bytes_of(const http::request& request) noexcept {
    if (request.body_state != http::body_state::pending) return request.body.size();
    return parse_decimal(request.fields.find(http::field_id::content_length)).value_or(0);
}

TOLLGATE_DECL std::optional<rejection> check_body(const http::request& request, bool reads_body,
                                                   std::size_t body_bytes_max) noexcept {
    if (request.body_state == http::body_state::too_large ||
        (body_bytes_max != no_body_bound && body_bytes_of(request) > body_bytes_max))
        return rejection{http::status::content_too_large, "The request body is too large.", about_requests};
    if (!reads_body) return std::nullopt;
    // A chunked body is not awaited if what the head says of it is wrong, although it may turn out to be empty.
    const bool may_have_body =
        request.body_state == http::body_state::pending || request.fields.count(http::field_id::transfer_encoding) != 0;
    const bool is_described = may_have_body &&
                              (request.fields.count(http::field_id::content_type) != 0 || http::detail::has_content_coding(request.fields));
    if (!request.has_body() && !is_described) return std::nullopt;
    if (http::detail::has_content_coding(request.fields))
        return rejection{http::status::unsupported_media_type, http::detail::content_coding_reason, about_requests};
    if (request.fields.count(http::field_id::content_type) != 1 ||
        !is_json_media_type(request.fields.find(http::field_id::content_type)))
        return rejection{http::status::unsupported_media_type, "Send the body with Content-Type: application/json.", about_requests};
    return std::nullopt;
}

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_STAGES_IPP
