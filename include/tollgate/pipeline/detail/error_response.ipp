#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_ERROR_RESPONSE_IPP
#define TOLLGATE_PIPELINE_DETAIL_ERROR_RESPONSE_IPP

#include <tollgate/http/json_writer.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>

#include <algorithm>
#include <array>

namespace tollgate::inline v0::pipeline {

TOLLGATE_DECL void write_error(http::response& response, http::status status, std::string_view message,
                               std::string_view documentation_url, topic about) {
    response.set_status(status);
    response.add_prepared_lines(json_field_lines);
    http::json_writer body{response.body()};
    body.begin_object();
    body.member("message").string(message);
    body.member("documentation_url").string(topic_url(documentation_url, about));
    body.end_object();
}

TOLLGATE_DECL void add_rate_limit_fields(http::response& response, const limit_decision& limit,
                                         std::string_view request_id) {
    // Every response has these three: assembled here, they are one append instead of fourteen.
    std::array<char, 112 + http::request_id_bytes_max> prepared;
    char* end = prepared.data();
    const auto put = [&](std::string_view text) { end = std::copy_n(text.data(), text.size(), end); };
    const auto put_number = [&](std::uint32_t number) { end = detail::put_decimal(end, number); };
    put("X-RateLimit-Limit: ");
    put_number(limit.limit);
    put("\r\nX-RateLimit-Remaining: ");
    put_number(limit.remaining);
    put("\r\n");
    if (!request_id.empty()) {
        put("X-Request-Id: ");
        put(request_id);
        put("\r\n");
    }
    response.add_prepared_lines({prepared.data(), static_cast<std::size_t>(end - prepared.data())});
    if (limit.remaining == 0) response.add("X-RateLimit-Reset", round_up_to_seconds(limit.resets_at));
}

TOLLGATE_COLD void add_allow(http::response& response, method_set allowed) {
    if (allowed.contains(http::method::get)) allowed.add(http::method::head);
    allowed.add(http::method::options);
    std::string list;
    for (const auto each : {http::method::get, http::method::head, http::method::post, http::method::put, http::method::patch,
                            http::method::delete_, http::method::options})
        if (allowed.contains(each)) list.append(list.empty() ? "" : ", ").append(to_text(each));
    if (const auto value = http::field_value::from(list)) response.add("Allow", *value);
}

}  // namespace tollgate::pipeline

#endif  // TOLLGATE_PIPELINE_DETAIL_ERROR_RESPONSE_IPP
