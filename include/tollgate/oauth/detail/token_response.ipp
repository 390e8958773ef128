#pragma once

#include <tollgate/http/json_writer.hpp>
#include <tollgate/oauth/detail/token_response.hpp>
#include <tollgate/pipeline/detail/answer.hpp>

#include <string>

namespace tollgate::inline v0::oauth {

namespace detail {

/// Whoever keeps answers for others keeps none of these (RFC 6749 section 5.1); the second line is for HTTP/1.0.
inline void add_token_fields(http::response& out) {
    out.add_prepared_lines(pipeline::json_field_lines);
    out.add("Pragma", "no-cache");
}

}  // namespace detail

TOLLGATE_DECL void write_failure(http::response& out, const failed_answer& answer) {
    out.set_status(answer.status);
    detail::add_token_fields(out);
    http::json_writer body{out.body()};
    body.begin_object();
    body.member("error").string(to_text(answer.why.code));
    body.member("error_description").string(answer.why.description);
    body.member("message").string(answer.why.description);
    body.member("documentation_url").string(std::string{answer.docs_url}.append(answer.about.slug).append("/"));
    body.end_object();
}

TOLLGATE_DECL void write_problem(http::response& out, const error& why, std::string_view docs_url) {
    const bool unavailable = why.kind == error_kind::unavailable;
    out.clear();
    if (unavailable) out.add("Retry-After", pipeline::retry_after_unavailable_seconds);
    const auto told = to_failure(why);
    write_failure(out, {.status = unavailable ? http::status::service_unavailable : http::status::internal_server_error,
                        .why = told,
                        .docs_url = docs_url});
}

TOLLGATE_DECL void answer_other_method(const http::request& asked, http::response& out, const other_method& place) {
    out.add("Allow", place.allowed);
    if (asked.method == http::method::options) {
        out.set_status(http::status::no_content);
        return;
    }
    const failure why{error_code::invalid_request, "This path does not answer to this method; see the Allow header."};
    write_failure(out, {.status = http::status::method_not_allowed, .why = why, .docs_url = place.docs_url});
}

TOLLGATE_DECL void write_without_agent(http::response& out, const visit& now, std::string_view docs_url) {
    const bool admitted = now.window && now.window->admitted;
    if (!admitted && now.window) out.add("Retry-After", pipeline::seconds_until(now.window->resets_at, now.now));
    const pipeline::refused& said = admitted ? pipeline::no_agent : pipeline::no_room_in_window;
    const failure why{error_code::invalid_request, std::string{said.message}};
    write_failure(out, {.status = said.status, .why = why, .docs_url = docs_url, .about = said.documentation});
}

TOLLGATE_DECL void write_tokens(http::response& out, const token_response& issued) {
    detail::add_token_fields(out);
    http::json_writer body{out.body()};
    body.begin_object();
    body.member("access_token").string(issued.access_token);
    body.member("expires_in").integer(issued.expires_in.count());
    body.member("token_type").string("bearer");
    body.member("scope").string(issued.scopes.text());
    if (issued.refresh_token) body.member("refresh_token").string(*issued.refresh_token);
    body.end_object();
}

}  // namespace tollgate::oauth
