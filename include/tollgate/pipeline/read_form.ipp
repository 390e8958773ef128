#pragma once

#include <tollgate/base/ascii.hpp>
#include <tollgate/pipeline/read_form.hpp>

#include <utility>

namespace tollgate::pipeline {

TOLLGATE_DECL std::variant<http::form_fields, http::status> read_form(const http::request& asked) {
    if (asked.body_state == http::body_state::too_large) return http::status::content_too_large;
    const auto type = asked.fields.find(http::field_id::content_type);
    const bool named = asked.fields.count(http::field_id::content_type) != 0;
    if ((named || !asked.body.empty()) &&
        (asked.fields.count(http::field_id::content_type) != 1 ||
         !ascii_iequals(trim_ows(type.substr(0, type.find(';'))), "application/x-www-form-urlencoded")))
        return http::status::unsupported_media_type;
    auto read = http::parse_form(asked.body);
    if (!read) return http::status::bad_request;
    return std::move(*read);
}

}  // namespace tollgate::pipeline
