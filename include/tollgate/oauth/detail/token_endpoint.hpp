#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/random_source.hpp>
#include <tollgate/model/scope.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/oauth/detail/parameters.hpp>
#include <tollgate/oauth/detail/settings.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <variant>

namespace tollgate::inline v0::oauth {

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

/// Twice as many rows are looked through for expired ones as were added, so a store stays bounded without a thread of
/// its own. What was issued is issued: a failure here is the operator's to hear of, and changes no answer.
template <grant_store Grants, observer Observer>
void sweep(Grants& grants, const Observer& watching, instant now, std::size_t rows_added) noexcept {
    try {
        if (const auto swept = grants.sweep_expired(now, 2 * rows_added); !swept) watching.on_problem(swept.error());
    } catch (...) {
        // An adapter that breaks its contract: it said nothing that could be passed on.
    }
}

/// What a client gets (RFC 6749 section 5.1). The only place where these texts ever are.
struct token_response {
    secret_text access_token;
    seconds expires_in{};
    scope_set scopes;
    std::optional<secret_text> refresh_token;  ///< of a code exchange only
};

using judged_exchange = std::variant<token_response, failure>;

/// A new secret; none without random bytes.
template <random_source Random>
[[nodiscard]] std::optional<secret_text> new_secret(secret_kind kind, const Random& random) {
    std::array<std::byte, 32> bytes;
    if (!random.fill(bytes)) return std::nullopt;
    const auto made = make_secret(kind, bytes);
    secure_wipe(bytes);
    return made;
}

[[nodiscard]] inline error no_random_bytes() { return internal_error("the random source gave nothing"); }

/// What an exchange is judged with.
struct exchange_terms {
    application_id client;  ///< who asks, and proved it
    const oauth_settings& settings;
    instant now;
};

/// A code for a pair of tokens, in one verb of the store: whatever fails before it leaves the code as it was.
template <grant_store Grants, random_source Random>
[[nodiscard]] result<judged_exchange> exchange_code(const code_exchange& wanted, const exchange_terms& terms,
                                                     Grants& grants, const Random& random) {
    const auto access = new_secret(secret_kind::access_token, random);
    const auto refresh = new_secret(secret_kind::refresh_token, random);
    if (!access || !refresh) return no_random_bytes();
    const auto& lifetimes = terms.settings;
    const auto redeemed = grants.redeem_code({
        .code_digest = wanted.code_digest,
        .application = terms.client,
        .redirect_uri = wanted.redirect_uri,
        .code_challenge = wanted.code_challenge,
        .now = terms.now,
        .tokens = {.access_digest = digest_of(*access),
                   .access_expires_at = terms.now + lifetimes.access_token_lifetime,
                   .refresh_digest = digest_of(*refresh),
                   .refresh_expires_at = terms.now + lifetimes.refresh_token_lifetime,
                   .refresh_ends_at = terms.now + lifetimes.refresh_token_end},
    });
    if (!redeemed) return redeemed.error();
    if (redeemed->result != redemption_result::redeemed) return judged_exchange{code_is_not_good()};
    return judged_exchange{token_response{*access, lifetimes.access_token_lifetime, redeemed->scopes, *refresh}};
}

/// A new access token out of a refresh token, which stays as it is.
template <grant_store Grants, random_source Random>
[[nodiscard]] result<judged_exchange> refresh_tokens(const refresh_exchange& wanted, const exchange_terms& terms,
                                                      Grants& grants, const Random& random) {
    const auto access = new_secret(secret_kind::access_token, random);
    if (!access) return no_random_bytes();
    const auto& lifetimes = terms.settings;
    const auto refreshed = grants.refresh_access_token({
        .refresh_digest = wanted.refresh_digest,
        .application = terms.client,
        .narrowed = wanted.narrowed,
        .now = terms.now,
        .access_digest = digest_of(*access),
        .access_expires_at = terms.now + lifetimes.access_token_lifetime,
        .refresh_lifetime = lifetimes.refresh_token_lifetime,
    });
    if (!refreshed) return refreshed.error();
    switch (refreshed->result) {
        case refresh_result::refreshed: break;
        case refresh_result::unknown: return judged_exchange{refresh_token_is_not_good()};
        case refresh_result::too_wide:
            return judged_exchange{failure{error_code::invalid_scope, "scope asks for more than was granted."}};
    }
    return judged_exchange{token_response{*access, lifetimes.access_token_lifetime, refreshed->scopes, std::nullopt}};
}

/// Whatever grant_type says (RFC 6749 section 3.2).
template <grant_store Grants, random_source Random>
[[nodiscard]] result<judged_exchange> issue_tokens(const parameters& sent, const exchange_terms& terms, Grants& grants,
                                                    const Random& random) {
    auto wanted = read_exchange(sent);
    if (const auto* code = std::get_if<code_exchange>(&wanted)) return exchange_code(*code, terms, grants, random);
    if (const auto* refresh = std::get_if<refresh_exchange>(&wanted))
        return refresh_tokens(*refresh, terms, grants, random);
    return judged_exchange{std::get<failure>(std::move(wanted))};
}

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/token_endpoint.ipp>
#endif
