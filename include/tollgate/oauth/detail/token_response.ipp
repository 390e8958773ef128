#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_TOKEN_RESPONSE_IPP
#define TOLLGATE_OAUTH_DETAIL_TOKEN_RESPONSE_IPP

#include <tollgate/http/json_writer.hpp>
#include <tollgate/oauth/detail/token_response.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>

#include <string>

namespace tollgate::inline v0::oauth {

TOLLGATE_DECL void write_failure(http::response& response, const failure_response& failed) {
    response.set_status(failed.status);
    add_no_store_fields(response);
    http::json_writer body{response.body()};
    body.begin_object();
    body.member("error").string(to_text(failed.failure.code));
    body.member("error_description").string(failed.failure.description);
    body.member("message").string(failed.failure.description);
    body.member("documentation_url").string(pipeline::topic_url(failed.documentation_url, failed.about));
    body.end_object();
}

TOLLGATE_DECL void write_server_error(http::response& response, const error& error, std::string_view documentation_url) {
    const auto status = status_of_server_error(error);
    response.clear();
    http::add_retry_after(response, status);
    const auto described = to_failure(error);
    write_failure(response, {.status = status, .failure = described, .documentation_url = documentation_url});
}

TOLLGATE_DECL void write_tokens(http::response& response, const token_response& issued) {
    add_no_store_fields(response);
    http::json_writer body{response.body()};
    body.begin_object();
    body.member("access_token").string(issued.access_token);
    body.member("expires_in").integer(issued.expires_in.count());
    body.member("token_type").string("bearer");
    body.member("scope").string(issued.scopes.text());
    if (issued.refresh_token) body.member("refresh_token").string(*issued.refresh_token);
    body.end_object();
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_TOKEN_RESPONSE_IPP
