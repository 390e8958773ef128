#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_CLIENT_METADATA_HPP
#define TOLLGATE_OAUTH_DETAIL_CLIENT_METADATA_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/http/json_body.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/oauth/detail/failure.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tollgate::inline v0::oauth {

/// What an application says of itself (RFC 7591 section 2). Members that Tollgate has no use for, such as `logo_uri`, are ignored.
struct client_metadata {
    std::string name;     ///< `client_name`, or the host of the first redirect URL
    std::string website;  ///< `client_uri`; may be empty
    std::vector<std::string> redirect_urls;
    client_type type = client_type::confidential;
    std::string auth_method;   ///< `token_endpoint_auth_method`
    scope_set default_scopes;  ///< the scopes of `scope` that exist
};

enum class metadata_source : std::uint8_t {
    registration,  ///< `client_secret_basic` where no method is named, and the application gets a secret
    document,      ///< public, so it can only use the method `none`
};

/// Reads and checks the metadata of an application. Error: invalid_redirect_uri or invalid_client_metadata.
[[nodiscard]] TOLLGATE_DECL std::variant<client_metadata, failure> read_client_metadata(const http::json_object& sent,
                                                                                        const service_catalog& services,
                                                                                        metadata_source source);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/client_metadata.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_CLIENT_METADATA_HPP
