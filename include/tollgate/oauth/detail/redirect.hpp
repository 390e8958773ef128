#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/oauth/detail/failure.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0::oauth {

/// Whether `redirect_uri` is the registered one: byte for byte (RFC 6749 section 3.1.2.3, RFC 9700 section 2.1), except
/// that the port of `http://127.0.0.1` and `http://[::1]` may be any (RFC 8252 section 7.3): a program on a person's
/// machine takes the one that is free.
[[nodiscard]] TOLLGATE_DECL bool matches_registered(std::string_view registered, std::string_view redirect_uri);

/// Whether `redirect_uri` may be used by an application that registered none: an absolute URL without user info and
/// fragment, with the origin of the application's website.
[[nodiscard]] TOLLGATE_DECL bool matches_website(std::string_view website, std::string_view redirect_uri);

/// Where the browser goes back to, if that can be told safely: what the request asks for where the application allows
/// it, or the registered URL where the request asks for nothing. None: the person is shown a page, and not sent
/// anywhere.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> choose_redirect(const application& client,
                                                                       const std::optional<std::string>& redirect_uri);

struct redirect_parameter {
    std::string_view name;
    std::string_view value;
};

/// `url`, which has no fragment, with these parameters behind its own query, percent-encoded, in this order.
[[nodiscard]] TOLLGATE_DECL std::string with_parameters(std::string_view url,
                                                        std::span<const redirect_parameter> parameters);

/// Where the browser goes back to, and what it takes along whatever the answer is.
struct return_address {
    std::string_view redirect;
    const std::optional<std::string>& state;  ///< as sent; none sent, none returned
    std::string_view issuer;                  ///< RFC 9207
};

/// RFC 6749 section 4.1.2.
[[nodiscard]] TOLLGATE_DECL std::string code_url(const return_address& to, std::string_view code);

/// RFC 6749 section 4.1.2.1.
[[nodiscard]] TOLLGATE_DECL std::string failure_url(const return_address& to, const failure& why);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/redirect.ipp>
#endif
