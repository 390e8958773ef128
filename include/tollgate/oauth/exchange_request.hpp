#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/domain/scope.hpp>
#include <tollgate/oauth/parameters.hpp>

#include <optional>
#include <string>
#include <variant>

namespace tollgate::oauth {

/// grant_type=authorization_code (RFC 6749 section 4.1.3).
struct code_exchange {
    digest code_digest;
    std::optional<std::string> redirect_uri;    ///< as sent
    std::optional<std::string> code_challenge;  ///< S256 of the verifier that was sent (RFC 7636 section 4.6)
};

/// grant_type=refresh_token (RFC 6749 section 6).
struct refresh_exchange {
    digest refresh_digest;
    std::optional<scope_set> narrowed;  ///< the scopes that were asked for; none: as many as were granted
};

using exchange_request = std::variant<code_exchange, refresh_exchange, failure>;

/// What a client wants of the token endpoint (RFC 6749 section 3.2). A code or token that is none of ours is refused
/// without asking the store.
[[nodiscard]] TOLLGATE_DECL exchange_request read_exchange(const parameters& sent);

/// One answer to all that can be wrong with a code: which one it was is of use to nobody but whoever stole it.
[[nodiscard]] TOLLGATE_DECL failure code_is_not_good();
[[nodiscard]] TOLLGATE_DECL failure refresh_token_is_not_good();

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/exchange_request.ipp>
#endif
