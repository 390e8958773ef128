#pragma once

#include <tollgate/base/ascii.hpp>
#include <tollgate/oauth/parameters.hpp>

namespace tollgate::oauth {

TOLLGATE_DECL std::variant<parameters, failure> parameters::from_form(std::string_view bytes) {
    const auto form = http::parse_form(bytes);
    if (!form) return failure{error::invalid_request, "The parameters are no form: " + form.error().message};
    return parameters{{form->begin(), form->end()}};
}

TOLLGATE_DECL std::variant<parameters, failure> parameters::from_query(const http::request& asked) {
    return from_form(asked.target.query);
}

TOLLGATE_DECL std::variant<parameters, failure> parameters::from_body(const http::request& asked) {
    const auto content_type = asked.fields.find(http::field_id::content_type);
    const auto media_type = trim_ows(content_type.substr(0, content_type.find(';')));
    if (asked.body_state == http::body_state::too_large) return failure{error::invalid_request, "The request's body is too large."};
    if (ascii_iequals(media_type, "application/x-www-form-urlencoded")) return from_form(asked.body);
    if (!ascii_iequals(media_type, "application/json"))
        return failure{error::invalid_request,
                       "Send the parameters as application/x-www-form-urlencoded or as application/json."};

    const auto object = http::parse_json_object(asked.body);
    if (!object) return failure{error::invalid_request, "The body is no JSON object: " + object.error().message};
    std::vector<http::form_member> sent;
    for (const http::json_member& member : *object) {
        if (member.kind == http::json_kind::null) continue;
        if (member.kind != http::json_kind::text && member.kind != http::json_kind::integer)
            return failure{error::invalid_request, "A parameter's value is a string."};
        sent.push_back({member.name, member.value});
    }
    return parameters{std::move(sent)};
}

TOLLGATE_DECL std::optional<std::string> parameters::find(std::string_view name) const {
    for (const http::form_member& each : sent_)
        if (each.name == name && !each.value.empty()) return each.value;
    return std::nullopt;
}

TOLLGATE_DECL bool parameters::is_repeated(std::string_view name) const noexcept {
    std::size_t times = 0;
    for (const http::form_member& each : sent_) times += each.name == name ? 1 : 0;
    return times > 1;
}

TOLLGATE_DECL std::string_view parameters::repeated() const noexcept {
    for (const http::form_member& each : sent_)
        if (is_repeated(each.name)) return each.name;
    return {};
}

}  // namespace tollgate::oauth
