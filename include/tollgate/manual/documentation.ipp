#pragma once
#ifndef TOLLGATE_MANUAL_DOCUMENTATION_IPP
#define TOLLGATE_MANUAL_DOCUMENTATION_IPP

#include <tollgate/manual/detail/pages.hpp>
#include <tollgate/manual/detail/style.hpp>
#include <tollgate/http/detail/request_id.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/manual/documentation.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/web/html_writer.hpp>

#include <utility>

namespace tollgate::inline v0 {

namespace manual {

// The pages are the same for all clients, so caches may keep them. They load nothing but our style sheet.
inline constexpr std::string_view page_field_lines =
    "Content-Type: text/html; charset=utf-8\r\n"
    "Cache-Control: public, max-age=300\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n";

inline constexpr std::string_view style_field_lines =
    "Content-Type: text/css; charset=utf-8\r\n"
    "Cache-Control: public, max-age=300\r\n"
    "X-Content-Type-Options: nosniff\r\n";

inline constexpr std::string_view refusal_field_lines =
    "Content-Type: text/html; charset=utf-8\r\n"
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n";

}  // namespace manual

TOLLGATE_DECL api_documentation::api_documentation(const account_service_settings& settings, const route_table& routes)
    : auth_url_{settings.auth_url}, root_{http::url::root(settings.auth_url, "auth_url").path + "/docs"} {
    const manual::page_writer writer{settings, routes, root_};
    for (auto& each : writer.write_all())
        pages_.push_back({std::string{root_}.append("/").append(each.path), manual::page_field_lines, std::move(each.html)});
    pages_.push_back({root_ + "/style.css", manual::style_field_lines, std::string{manual::style_sheet}});
    not_found_ = writer.write_error("Page not found", "This page does not exist. Use the navigation to find the other pages.");
    constexpr std::string_view reason = "$REASON";
    refused_before_ = writer.write_error("Request refused", reason);
    const auto at = refused_before_.rfind(reason);
    refused_behind_ = refused_before_.substr(at + reason.size());
    refused_before_.resize(at);
    method_not_allowed_ = writer.write_error("Method not allowed", "Documentation pages support GET and HEAD only.");
}

TOLLGATE_DECL void api_documentation::handle(const http::request& request, http::response& response) const noexcept {
    handle(request, response, http::unique_id::make());
}

TOLLGATE_DECL void api_documentation::handle(const http::request& request, http::response& response,
                                             const http::unique_id& generated) const noexcept {
    pipeline::write_or_status(response, http::status::internal_server_error, [&] {
        respond(request, response);
        pipeline::add_transport_security(response, auth_url_);
        http::add_request_id(response, http::request_id_of(request, generated));
    });
}

TOLLGATE_DECL void api_documentation::handle(const http::refusal& refused, http::response& response) const noexcept {
    handle(refused, response, http::unique_id::make());
}

TOLLGATE_DECL void api_documentation::handle(const http::refusal& refused, http::response& response,
                                             const http::unique_id& generated) const noexcept {
    pipeline::write_or_status(response, refused.status, [&] {
        response.set_status(refused.status);
        response.add_prepared_lines(manual::refusal_field_lines);
        pipeline::add_transport_security(response, auth_url_);
        const bool has_id = refused.request != nullptr;
        http::add_request_id(response, has_id ? http::request_id_of(*refused.request, generated) : generated.view());
        response.body() = refused_before_;
        html_writer{response.body()}.add("{}", refused.reason);
        response.body().append(refused_behind_);
    });
}

TOLLGATE_DECL void api_documentation::respond(const http::request& request, http::response& response) const {
    if (!http::is_read(request.method)) {
        if (!http::refuse_method(request, response, "GET, HEAD, OPTIONS")) return;
        response.add_prepared_lines(manual::page_field_lines);
        response.body() = method_not_allowed_;
        return;
    }

    const std::string_view path = request.target.path;
    for (const page& each : pages_) {
        if (each.path == path) {
            response.add_prepared_lines(each.field_lines);
            response.body() = each.body;
            return;
        }
        // A page's name without its last slash: only a page that exists is redirected to.
        if (each.path.ends_with('/') && std::string_view{each.path}.substr(0, each.path.size() - 1) == path) {
            if (const auto location = http::field_value::from(each.path)) response.add("Location", *location);
            response.set_status(http::status::found);
            return;
        }
    }
    response.set_status(http::status::not_found);
    response.add_prepared_lines(manual::page_field_lines);
    response.body() = not_found_;
}

}  // namespace tollgate

#endif  // TOLLGATE_MANUAL_DOCUMENTATION_IPP
