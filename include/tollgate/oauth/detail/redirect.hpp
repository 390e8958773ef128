#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_REDIRECT_HPP
#define TOLLGATE_OAUTH_DETAIL_REDIRECT_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/oauth/detail/failure.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0::oauth {

/// Returns true if a text can be a redirect URL in a `Location` header: visible ASCII without a fragment (RFC 6749 section
/// 3.1.2), so that a query can be appended.
[[nodiscard]] TOLLGATE_DECL bool is_redirect_text(std::string_view text) noexcept;

/// Returns true if `redirect_uri` equals the registered URL, as it was registered or in its normalized form, byte for byte (RFC 6749
/// section 3.1.2.3, RFC 9700 section 2.1).
[[nodiscard]] TOLLGATE_DECL bool equals_registered(std::string_view registered, std::string_view redirect_uri);

/// Returns true if `redirect_uri` equals the registered URL, except for the port of `http` to the address 127.0.0.1 or ::1 (RFC 8252
/// section 7.3).
[[nodiscard]] TOLLGATE_DECL bool matches_registered(std::string_view registered, std::string_view redirect_uri);

/// Returns true if an application without a registered redirect URL may use `redirect_uri`: an absolute URL without user info, fragment and
/// response parameters, with the origin of the application's website.
[[nodiscard]] TOLLGATE_DECL bool matches_website(std::string_view website, std::string_view redirect_uri);

/// The URL to redirect to: `redirect_uri` if the application allows it, or the only registered one if the request has none.
/// A public client has to register all (RFC 9700 section 2.1). Empty: show an error page and do not redirect.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> choose_redirect(const application& client,
                                                                       const std::optional<std::string>& redirect_uri);

struct redirect_parameter {
    std::string_view name;
    std::string_view value;
};

/// Appends parameters to the query of `url`, which has no fragment, percent-encoded and in this order.
[[nodiscard]] TOLLGATE_DECL std::string with_parameters(std::string_view url,
                                                        std::span<const redirect_parameter> parameters);

/// Where to redirect, and what every response includes.
struct redirect_target {
    std::string_view redirect;
    const std::optional<std::string>& state;  ///< the state as sent; omitted if it was not sent
    std::string_view issuer;                  ///< RFC 9207
};

/// RFC 6749 section 4.1.2.
[[nodiscard]] TOLLGATE_DECL std::string code_url(const redirect_target& to, std::string_view code);

/// RFC 6749 section 4.1.2.1.
[[nodiscard]] TOLLGATE_DECL std::string failure_url(const redirect_target& to, const failure& error);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/redirect.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_REDIRECT_HPP
