#pragma once
#ifndef TOLLGATE_API_DETAIL_OPENAPI_IPP
#define TOLLGATE_API_DETAIL_OPENAPI_IPP

#include <tollgate/api/detail/openapi.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/http/url.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace tollgate::inline v0::detail {
namespace openapi {

inline constexpr std::string_view version = "3.1.0";

/// A refusal that operations share: described once in the components, and referenced by name.
struct shared_refusal {
    std::string_view status;  ///< the status as OpenAPI writes it
    std::string_view name;
    std::string_view description;
    std::string_view field{};  ///< a field in addition to the rate limit fields
};

inline constexpr std::array refusals = {
    shared_refusal{"400", "BadRequest", "Malformed HTTP or JSON, or more than one Authorization field."},
    shared_refusal{"401", "Unauthorized", "Credentials are required and missing, or are invalid.", "WWW-Authenticate"},
    shared_refusal{"403", "Forbidden", "The User-Agent field is missing, or the token's scopes do not cover the request.",
                   "WWW-Authenticate"},
    shared_refusal{"404", "NotFound", "The resource does not exist or does not belong to the caller."},
    shared_refusal{"405", "MethodNotAllowed", "The path does not support this method.", "Allow"},
    shared_refusal{"413", "ContentTooLarge", "The body is too large."},
    shared_refusal{"415", "UnsupportedMediaType", "The body is not application/json, or has a Content-Encoding."},
    shared_refusal{"422", "UnprocessableContent",
                   "A member of the body or a parameter of the query is missing or invalid; the message names it."},
    shared_refusal{"429", "TooManyRequests", "The rate limit is exceeded.", "Retry-After"},
    shared_refusal{"503", "ServiceUnavailable", "The service is temporarily unavailable.", "Retry-After"},
    shared_refusal{"default", "OtherError", "Any other refusal."},
};

inline constexpr std::string_view error_schema =
    R"({"type":"object","required":["message","documentation_url"],"properties":{)"
    R"("message":{"type":"string"},"documentation_url":{"type":"string","format":"uri"}}})";

/// A header field as components describe it.
struct shared_field {
    std::string_view name;
    std::string_view description;
    std::string_view schema;
};

inline constexpr std::string_view text_schema = R"({"type":"string"})";

inline constexpr std::array rate_limit_fields = {
    shared_field{"X-RateLimit-Limit", "Requests permitted in the current window.", R"({"type":"integer"})"},
    shared_field{"X-RateLimit-Remaining", "Requests left in the current window.", R"({"type":"integer"})"},
    shared_field{"X-RateLimit-Reset", "When the window resets; sent only when no requests are left.",
                 R"({"type":"string","format":"date-time"})"},
};
inline constexpr std::array other_fields = {
    shared_field{"Retry-After", "Seconds to wait.", R"({"type":"integer","minimum":1})"},
    shared_field{"WWW-Authenticate", "The accepted schemes, or the missing scope.", text_schema},
    shared_field{"Allow", "The methods that the path supports.", text_schema},
};

/// `v1` of `https://api.example.com/v1`, and of a URL without a path.
[[nodiscard]] inline std::string version_of(std::string_view base_url) {
    const std::string path = http::url::root(base_url).path;
    return path.empty() ? "v1" : path.substr(path.rfind('/') + 1);
}

/// Written in words, because the scope of a service's route depends on the requested path.
[[nodiscard]] inline std::string describe_access(const access_rule& access) {
    switch (access.callers) {
        case access_rule::kind::open: return "Needs no credentials.";
        case access_rule::kind::any_caller: return "Needs any valid credentials.";
        case access_rule::kind::scope: return "Needs the scope `" + std::string{access.scope} + "`.";
        case access_rule::kind::service_read: return "Needs the scope `{service}:read` of the service in the path.";
        case access_rule::kind::service_write: return "Needs the scope `{service}` of the service in the path.";
    }
    return {};
}

[[nodiscard]] inline bool applies(const shared_refusal& refusal, const route& route) noexcept {
    if (refusal.status == "404") return !route.parameters.empty();
    if (refusal.status == "422") return !route.notes.request_body.empty() || !route.query_parameters.empty();
    if (refusal.status == "415") return !route.notes.request_body.empty();
    return true;
}

/// The key of an operation in a path item: its method in lower case.
[[nodiscard]] inline std::string operation_key(http::method method) {
    std::string key{http::to_text(method)};
    for (char& c : key) c = ascii_lower(c);
    return key;
}

/// Writes one document. Each function writes a part, after the part that contains it.
class document {
public:
    document(const account_service_settings& settings, std::string& out) : settings_{settings}, json_{out} {}

    void write(const route_table& routes) {
        json_.begin_object();
        json_.member("openapi").string(version);
        write_info();
        json_.member("servers").begin_array().begin_object();
        json_.member("url").string(settings_.base_url);
        json_.end_object().end_array();
        if (!settings_.documentation_url.empty()) {
            json_.member("externalDocs").begin_object();
            json_.member("url").string(settings_.documentation_url);
            json_.end_object();
        }
        write_paths(routes);
        write_components();
        json_.end_object();
    }

private:
    void write_info() {
        json_.member("info").begin_object();
        json_.member("title").string("Account API");
        json_.member("version").string(version_of(settings_.base_url));
        json_.member("description").string("Every request must have a User-Agent field that names the program. Every response has the "
                                           "rate limit fields, and every response with a status of 400 or above has the Error object.");
        json_.member("license").begin_object();
        json_.member("name").string(settings_.license.name);
        if (!settings_.license.url.empty()) json_.member("url").string(settings_.license.url);
        json_.end_object();
        json_.end_object();
    }

    void write_paths(const route_table& routes) {
        json_.member("paths").begin_object();
        for (auto each = routes.begin(); each != routes.end(); ++each) {
            const auto same_path = [each](const route& other) { return other.path == each->path; };
            if (std::any_of(routes.begin(), each, same_path)) continue;  // written with its first row
            json_.member_named(each->path).begin_object();
            for (auto other = each; other != routes.end(); ++other)
                if (same_path(*other)) write_operation(*other);
            json_.end_object();
        }
        json_.end_object();
    }

    void write_operation(const route& route) {
        json_.member_named(operation_key(route.method)).begin_object();
        if (!route.notes.operation.empty()) json_.member("operationId").string(route.notes.operation);
        if (!route.notes.summary.empty()) json_.member("summary").string(route.notes.summary);
        if (!route.notes.description.empty()) json_.member("description").string(route.notes.description);
        if (!route.notes.tag.empty()) json_.member("tags").begin_array().string(route.notes.tag).end_array();
        json_.member("description").string(describe_access(route.access));
        write_parameters(route);
        write_request_body(route);
        write_responses(route);
        write_security(route.access);
        json_.end_object();
    }

    void write_parameters(const route& route) {
        if (route.parameters.empty() && route.query_parameters.empty()) return;
        json_.member("parameters").begin_array();
        for (const auto& each : route.parameters) write_parameter(each, true);
        for (const auto& each : route.query_parameters) write_parameter(each, false);
        json_.end_array();
    }

    void write_parameter(const route::parameter& each, bool in_path) {
        json_.begin_object();
        json_.member("name").string(each.name);
        json_.member("in").string(in_path ? "path" : "query");
        json_.member("required").boolean(in_path);
        if (!each.description.empty()) json_.member("description").string(each.description);
        json_.member("schema").begin_object();
        switch (each.kind) {
            case route::parameter_kind::service:
                json_.member("type").string("string");
                // A schema's enum is never empty, and an API may have no services.
                if (settings_.services.services().empty()) break;
                json_.member("enum").begin_array();
                for (const service& known : settings_.services.services()) json_.string(known.name);
                json_.end_array();
                break;
            case route::parameter_kind::id:
            case route::parameter_kind::integer:
                json_.member("type").string("integer");
                json_.member("format").string("int64");
                if (each.minimum != INT64_MIN) json_.member("minimum").integer(each.minimum);
                if (each.maximum != INT64_MAX) json_.member("maximum").integer(each.maximum);
                break;
            case route::parameter_kind::text:
                json_.member("type").string("string");
                if (each.values.empty()) break;
                json_.member("enum").begin_array();
                for (const auto value : each.values) json_.string(value);
                json_.end_array();
                break;
        }
        json_.end_object().end_object();
    }

    void write_request_body(const route& route) {
        if (route.notes.request_body.empty()) return;
        json_.member("requestBody").begin_object();
        if (route.notes.request_body_required) json_.member("required").boolean(true);
        if (route.notes.request_body_bytes_max != 0)
            json_.member("description").string("At most " + std::to_string(route.notes.request_body_bytes_max) + " bytes.");
        write_json_content(route.notes.request_body);
        json_.end_object();
    }

    void write_responses(const route& route) {
        json_.member("responses").begin_object();
        json_.member_named(std::to_string(http::to_number(route.notes.success_status))).begin_object();
        json_.member("description").string(http::to_reason(route.notes.success_status));
        json_.member("headers").begin_object();
        write_rate_limit_fields();
        if (!route.notes.success_field.empty()) {
            json_.member_named(route.notes.success_field).begin_object();
            json_.member("schema").value(text_schema);
            json_.end_object();
        }
        json_.end_object();
        if (!route.notes.success_body.empty()) write_json_content(route.notes.success_body);
        json_.end_object();

        for (const auto& each : refusals) {
            if (!applies(each, route)) continue;
            json_.member_named(each.status).begin_object();
            write_reference("responses", each.name);
            json_.end_object();
        }
        json_.end_object();
    }

    void write_security(const access_rule& access) {
        json_.member("security").begin_array();
        switch (access.callers) {
            case access_rule::kind::open: json_.begin_object().end_object(); [[fallthrough]];
            case access_rule::kind::any_caller: write_alternative({}); break;
            case access_rule::kind::scope: write_alternative(access.scope); break;
            // An alternative per service, because OpenAPI has no scope that depends on a path parameter.
            case access_rule::kind::service_read:
                for (const service& each : settings_.services.services()) write_alternative(each.read_scope);
                break;
            case access_rule::kind::service_write:
                for (const service& each : settings_.services.services()) write_alternative(each.write_scope);
                break;
        }
        json_.end_array();
    }

    void write_alternative(std::string_view scope) {
        const auto write_one = [&](std::string_view scheme) {
            json_.begin_object();
            json_.member_named(scheme).begin_array();
            if (!scope.empty()) json_.string(scope);
            json_.end_array().end_object();
        };
        write_one("personalToken");
        if (settings_.has_authorization_server) write_one("oauth");
    }

    void write_components() {
        json_.member("components").begin_object();

        json_.member("schemas").begin_object();
        json_.member("Error").value(error_schema);
        json_.end_object();

        json_.member("headers").begin_object();
        const auto write_field = [&](const shared_field& field) {
            json_.member_named(field.name).begin_object();
            json_.member("description").string(field.description);
            json_.member("schema").value(field.schema);
            json_.end_object();
        };
        for (const auto& each : rate_limit_fields) write_field(each);
        for (const auto& each : other_fields) write_field(each);
        json_.end_object();

        json_.member("responses").begin_object();
        for (const auto& each : refusals) {
            json_.member_named(each.name).begin_object();
            json_.member("description").string(each.description);
            json_.member("headers").begin_object();
            write_rate_limit_fields();
            if (!each.field.empty()) {
                json_.member_named(each.field).begin_object();
                write_reference("headers", each.field);
                json_.end_object();
            }
            json_.end_object();
            write_json_content({R"({"$ref":"#/components/schemas/Error"})"});
            json_.end_object();
        }
        json_.end_object();

        write_security_schemes();
        json_.end_object();
    }

    void write_security_schemes() {
        json_.member("securitySchemes").begin_object();

        json_.member("personalToken").begin_object();
        json_.member("type").string("http");
        json_.member("scheme").string("basic");
        json_.member("description").string("A personal API token: its username, and its secret as the password.");
        json_.end_object();

        if (settings_.has_authorization_server) write_oauth_scheme();
        json_.end_object();
    }

    void write_oauth_scheme() {
        json_.member("oauth").begin_object();
        json_.member("type").string("oauth2");
        json_.member("description").string("An OAuth 2.0 access token, sent as Bearer.");
        json_.member("flows").begin_object();
        const auto write_flow_end = [&] {
            json_.member("tokenUrl").string(settings_.auth_url + "/user/oauth_token/");
            json_.member("refreshUrl").string(settings_.auth_url + "/user/oauth_token/");
            json_.member("scopes").begin_object();
            const auto write_scope = [&](std::string_view scope, std::string_view grants) { json_.member_named(scope).string(grants); };
            write_scope(balance_scope, "Read the user's balance.");
            for (const service& each : settings_.services.services()) {
                const std::string name{each.name.view()};
                write_scope(each.read_scope, "Read the user's " + name + " accounts, and manage their webhooks.");
                write_scope(each.write_scope, "Read and change the user's " + name + " accounts.");
                for (const service_scope& own : each.own_scopes) write_scope(own.name, own.text);
            }
            json_.end_object().end_object();
        };
        json_.member("authorizationCode").begin_object();
        json_.member("authorizationUrl").string(settings_.auth_url + "/en/user/oauth/");
        write_flow_end();
        json_.member("clientCredentials").begin_object();
        write_flow_end();
        // OpenAPI 3.1 has no device flow; this is its name in 3.2, as an extension.
        json_.member("x-deviceAuthorization").begin_object();
        json_.member("deviceAuthorizationUrl").string(settings_.auth_url + "/user/oauth_device/");
        write_flow_end();
        json_.end_object().end_object();
    }

    void write_rate_limit_fields() {
        for (const auto& each : rate_limit_fields) {
            json_.member_named(each.name).begin_object();
            write_reference("headers", each.name);
            json_.end_object();
        }
    }

    void write_json_content(const json_shape& shape) {
        json_.member("content").begin_object().member("application/json").begin_object();
        json_.member("schema").value(shape.schema);
        if (!shape.example.empty()) json_.member("example").value(fill_example(shape, settings_.services));
        json_.end_object().end_object();
    }

    void write_reference(std::string_view kind, std::string_view name) {
        json_.member("$ref").string(std::string{"#/components/"}.append(kind).append("/").append(name));
    }

    const account_service_settings& settings_;
    http::json_writer json_;
};

}  // namespace openapi

TOLLGATE_DECL std::string make_openapi(const account_service_settings& settings, const route_table& routes) {
    std::string text;
    openapi::document{settings, text}.write(routes);
    return text;
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_API_DETAIL_OPENAPI_IPP
