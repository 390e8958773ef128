#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_REGISTRATION_HPP
#define TOLLGATE_OAUTH_DETAIL_REGISTRATION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/oauth/detail/client_metadata.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/policy/policies.hpp>

#include <optional>
#include <string_view>

namespace tollgate::inline v0::oauth {

/// The endpoint where applications register themselves (RFC 7591), read their registration and delete it (RFC 7592). Refers to members of
/// an authorization server, for the duration of a call.
class registration_endpoint {
public:
    registration_endpoint(const account_service_settings& settings, const oauth_store_ref& store, const tollgate::policies& policies,
                          window_limiter& limiter, std::string_view documentation_url, pipeline::observed_request observed,
                          request_state& state) noexcept
        : settings_{settings},
          store_{store},
          policies_{policies},
          limiter_{limiter},
          documentation_url_{documentation_url},
          observed_{observed},
          state_{state} {}

    TOLLGATE_DECL void respond(const http::request& request, http::response& response) const;

    /// Returns true if a registration is refused whatever its body says: it is not JSON, or the initial access token is missing or wrong.
    [[nodiscard]] static TOLLGATE_DECL bool is_refused_by_head(const http::request& request, const account_service_settings& settings);

private:
    void create(const http::request& request, http::response& response) const;
    void read_or_delete(const http::request& request, http::response& response) const;
    void fail(const failure& failed, http::response& response, http::status status = http::status::bad_request) const;
    void fail_token(const http::request& request, http::response& response, std::string_view description) const;
    void respond_error(const error& error, http::response& response) const;

    const account_service_settings& settings_;
    const oauth_store_ref& store_;
    const tollgate::policies& policies_;
    window_limiter& limiter_;
    std::string_view documentation_url_;
    pipeline::observed_request observed_;
    request_state& state_;
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/registration.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_REGISTRATION_HPP
