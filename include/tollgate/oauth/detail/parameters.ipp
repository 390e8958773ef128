#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_PARAMETERS_IPP
#define TOLLGATE_OAUTH_DETAIL_PARAMETERS_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/oauth/detail/parameters.hpp>

namespace tollgate::inline v0::oauth {

namespace detail {

inline constexpr std::string_view form_type = "application/x-www-form-urlencoded";
inline constexpr std::string_view json_type = "application/json";

/// Returns true if a parameter's name can be in an error_description, whose characters are restricted.
inline bool is_plain_name(std::string_view name) noexcept {
    constexpr std::size_t bytes_max = 32;  // the longest defined one has 21
    if (name.empty() || name.size() > bytes_max) return false;
    for (char c : name)
        if (!(c >= 'a' && c <= 'z') && c != '_') return false;
    return true;
}

}  // namespace detail

TOLLGATE_DECL std::variant<parameters, failure> parameters::from_form(std::string_view bytes) {
    const auto form = http::parse_form(bytes);
    if (!form) return failure{error_code::invalid_request, form.error().message};
    return parameters{*form};
}

TOLLGATE_DECL std::variant<parameters, failure> parameters::from_json(std::string_view bytes) {
    const auto object = http::parse_json_object(bytes);
    if (!object) return failure{error_code::invalid_request, object.error().message};
    // The bound is that of a form, because the search for repeated parameters takes quadratic time.
    if (object->size() > limits::form_members_max) return failure{error_code::invalid_request, "There are too many parameters."};
    std::vector<http::form_member> sent;
    for (const http::json_member& member : *object) {
        if (member.kind == http::json_kind::null) continue;
        if (member.kind != http::json_kind::text && member.kind != http::json_kind::integer)
            return failure{error_code::invalid_request, "Parameter values must be strings."};
        sent.push_back({member.name, member.value});
    }
    return parameters{std::move(sent)};
}

TOLLGATE_DECL std::optional<failure> parameters::check_head(const http::request& request) {
    if (request.fields.count(http::field_id::content_type) == 0 && !request.has_body()) return std::nullopt;
    if (request.has_body() && http::detail::has_content_coding(request.fields))
        return failure{error_code::invalid_request, std::string{http::detail::content_coding_reason}};
    const auto type = http::detail::media_type_of(request.fields);
    if (tollgate::detail::ascii_iequals(type, detail::form_type) ||
        tollgate::detail::ascii_iequals(type, detail::json_type))
        return std::nullopt;
    return failure{error_code::invalid_request,
                   "Send the parameters as application/x-www-form-urlencoded or as application/json."};
}

TOLLGATE_DECL std::variant<parameters, failure> parameters::from_body(const http::request& request) {
    if (auto refused = check_head(request)) return std::move(*refused);
    if (tollgate::detail::ascii_iequals(http::detail::media_type_of(request.fields), detail::json_type)) return from_json(request.body);
    // The name of no parameter begins with a brace.
    if (tollgate::detail::trim_ows(request.body).starts_with('{'))
        return failure{error_code::invalid_request, "The body is JSON, but its Content-Type is application/x-www-form-urlencoded."};
    return from_form(request.body);
}

TOLLGATE_DECL std::optional<std::string> parameters::find(std::string_view name) const {
    for (const http::form_member& each : sent_)
        if (each.name == name && !each.value.empty()) return each.value;
    return std::nullopt;
}

TOLLGATE_DECL std::size_t parameters::times(std::string_view name) const noexcept {
    std::size_t found = 0;
    for (const http::form_member& each : sent_) found += each.name == name ? 1U : 0U;
    return found;
}

TOLLGATE_DECL std::optional<failure> parameters::repeated() const {
    for (const http::form_member& each : sent_) {
        if (each.name == "resource" || !is_repeated(each.name)) continue;
        const std::string name = detail::is_plain_name(each.name) ? each.name : "A parameter";
        return failure{error_code::invalid_request, name + " was sent more than once."};
    }
    return std::nullopt;
}

TOLLGATE_DECL std::optional<scope_set> parse_known_scopes(std::string_view sent, const service_catalog& services) {
    auto scopes = scope_set::parse(sent);
    const auto exists = [&](std::string_view each) { return services.has_scope(each); };
    if (!scopes || scopes->empty() || !scopes->for_each(exists)) return std::nullopt;
    return scopes;
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_PARAMETERS_IPP
