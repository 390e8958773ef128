#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_METADATA_IPP
#define TOLLGATE_OAUTH_DETAIL_METADATA_IPP

#include <tollgate/http/json_writer.hpp>
#include <tollgate/oauth/detail/metadata.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/oauth/detail/pkce.hpp>
#include <tollgate/oauth/detail/token_response.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>

#include <initializer_list>
#include <span>
#include <string_view>

namespace tollgate::inline v0::oauth {

TOLLGATE_DECL std::string make_metadata(const account_service_settings& settings, std::span<const std::string_view> languages) {
    std::string text;
    http::json_writer json{text};
    const auto at = [&](std::string_view path) { return settings.auth_url + std::string{path}; };
    const auto write_list = [&](http::json_name name, std::initializer_list<std::string_view> values) {
        json.member(name).begin_array();
        for (const auto each : values) json.string(each);
        json.end_array();
    };

    json.begin_object();
    json.member("issuer").string(settings.auth_url);
    json.member("authorization_endpoint").string(at(authorization_path));
    json.member("token_endpoint").string(at(token_path));
    json.member("revocation_endpoint").string(at(revocation_path));
    json.member("introspection_endpoint").string(at(introspection_path));
    json.member("device_authorization_endpoint").string(at(device_authorization_path));
    if (settings.oauth.registration != dynamic_registration::off) json.member("registration_endpoint").string(at(registration_path));
    json.member("scopes_supported").begin_array();
    for (const auto& scope : settings.services.scopes()) json.string(scope);
    json.end_array();
    write_list("response_types_supported", {"code"});
    write_list("response_modes_supported", {"query"});
    write_list("grant_types_supported", {"authorization_code", "refresh_token", "client_credentials", device_grant_type});
    write_list("token_endpoint_auth_methods_supported", {"client_secret_basic", "client_secret_post", "none"});
    write_list("revocation_endpoint_auth_methods_supported", {"client_secret_basic", "client_secret_post", "none"});
    write_list("introspection_endpoint_auth_methods_supported", {"client_secret_basic", "client_secret_post"});
    write_list("code_challenge_methods_supported", {challenge_method});
    write_list("prompt_values_supported", {"none", "login", "consent", "select_account"});
    json.member("authorization_response_iss_parameter_supported").boolean(true);
    if (settings.oauth.fetch_client_document) json.member("client_id_metadata_document_supported").boolean(true);
    if (!settings.documentation_url.empty()) json.member("service_documentation").string(settings.documentation_url);
    json.member("ui_locales_supported").begin_array();
    for (const auto each : languages) json.string(each);
    json.end_array();
    json.end_object();
    return text;
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_METADATA_IPP
