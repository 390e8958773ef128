#pragma once

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/oauth/detail/client_authentication.hpp>

#include <utility>

namespace tollgate::inline v0::oauth {

namespace detail {

/// `Basic` with both parts form-encoded before they are joined (RFC 6749 section 2.3.1).
inline std::optional<client_credentials> read_basic(std::string_view authorization) {
    constexpr std::string_view scheme = "Basic ";
    if (!ascii_iequals(authorization.substr(0, scheme.size()), scheme)) return std::nullopt;
    authorization.remove_prefix(scheme.size());
    while (authorization.starts_with(' ')) authorization.remove_prefix(1);
    const auto decoded = base64_decode(authorization);
    if (!decoded) return std::nullopt;
    const auto colon = decoded->find(':');
    if (colon == std::string::npos) return std::nullopt;
    auto client_id = percent_decode(std::string_view{*decoded}.substr(0, colon), plus_sign::space);
    auto client_secret = percent_decode(std::string_view{*decoded}.substr(colon + 1), plus_sign::space);
    if (!client_id || !client_secret) return std::nullopt;
    return client_credentials{std::move(*client_id), std::move(*client_secret)};
}

}  // namespace detail

TOLLGATE_DECL std::variant<client_credentials, failure> read_client_credentials(const http::request& request,
                                                                         const parameters& sent) {
    const auto client_id = sent.find("client_id");
    const auto client_secret = sent.find("client_secret");
    const auto lines = request.fields.count(http::field_id::authorization);
    if (lines > 1) return failure{error_code::invalid_request, "Send exactly one Authorization header."};
    if (lines == 0) return client_credentials{client_id.value_or(""), client_secret.value_or("")};

    auto basic = detail::read_basic(request.fields.find(http::field_id::authorization));
    if (!basic) return client_credentials{};
    if ((client_id && *client_id != basic->client_id) || (client_secret && *client_secret != basic->client_secret))
        return failure{error_code::invalid_request, "The Authorization header and the body name different credentials."};
    return std::move(*basic);
}

TOLLGATE_DECL bool are_well_formed(const client_credentials& credentials) noexcept {
    return !credentials.client_id.empty() && credentials.client_id.size() <= limits::client_id_bytes_max &&
           is_well_formed(secret_kind::client_secret, credentials.client_secret);
}

}  // namespace tollgate::oauth
