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
    std::optional<scope_set> narrowed;  ///< the requested scopes; empty: all that were granted
};

using exchange_request = std::variant<code_exchange, refresh_exchange, failure>;

/// Parses a token request (RFC 6749 section 3.2). Malformed codes and tokens are refused without a look-up.
[[nodiscard]] TOLLGATE_DECL exchange_request read_exchange(const parameters& sent);

/// An application without a registered redirect URL must repeat the one of the authorization request (RFC 6749 section
/// 4.1.3). A text that no redirect URL can be is refused without asking the store, which may not be able to hold it.
[[nodiscard]] TOLLGATE_DECL std::optional<failure> check_redirect_uri(const code_exchange& wanted,
                                                                      const application& client);

/// Why a code is refused. The client is authenticated, so the reason helps its developer only.
[[nodiscard]] TOLLGATE_DECL failure invalid_code(redemption_result why);
[[nodiscard]] TOLLGATE_DECL failure invalid_refresh_token();

/// Removes up to twice as many expired rows as were added, so that a store stays bounded without a background thread. A
/// failure does not change the response; the observer gets it.
template <grant_store Grants, observer Observer>
void remove_expired(Grants& grants, const Observer& watching, instant now, std::size_t rows_added) noexcept {
    try {
        if (const auto swept = grants.sweep_expired(now, 2 * rows_added); !swept) watching.on_problem(swept.error());
    } catch (...) {
        // The adapter violated its contract by throwing.
    }
}

/// A successful response (RFC 6749 section 5.1).
struct token_response {
    secret_text access_token;
    seconds expires_in{};
    scope_set scopes;
    std::optional<secret_text> refresh_token;  ///< of a code exchange only
};

using judged_exchange = std::variant<token_response, failure>;

/// A new secret; empty if the random source fails.
template <random_source Random>
[[nodiscard]] std::optional<secret_text> new_secret(secret_kind kind, const Random& random) {
    std::array<std::byte, 32> bytes;
    if (!random.fill(bytes)) return std::nullopt;
    const auto made = make_secret(kind, bytes);
    secure_wipe(bytes);
    return made;
}

[[nodiscard]] inline error random_source_error() { return internal_error("the random source failed"); }

/// What an exchange is checked with.
struct exchange_context {
    const application& client;  ///< authenticated
    const oauth_settings& settings;
    instant now;
};

/// Exchanges a code for a pair of tokens in one store verb, so that any failure before leaves the code as it was.
template <grant_store Grants, random_source Random>
[[nodiscard]] result<judged_exchange> exchange_code(const code_exchange& wanted, const exchange_context& context,
                                                    Grants& grants, const Random& random) {
    if (const auto failed = check_redirect_uri(wanted, context.client)) return judged_exchange{*failed};
    const auto access = new_secret(secret_kind::access_token, random);
    const auto refresh = new_secret(secret_kind::refresh_token, random);
    if (!access || !refresh) return random_source_error();
    const auto& lifetimes = context.settings;
    const auto redeemed = grants.redeem_code({
        .code_digest = wanted.code_digest,
        .application = context.client.id,
        .redirect_uri = wanted.redirect_uri,
        .code_challenge = wanted.code_challenge,
        .now = context.now,
        .tokens = {.access_digest = digest_of(*access),
                   .access_expires_at = context.now + lifetimes.access_token_lifetime,
                   .refresh_digest = digest_of(*refresh),
                   .refresh_expires_at = context.now + lifetimes.refresh_token_lifetime,
                   .refresh_ends_at = context.now + lifetimes.refresh_token_end},
    });
    if (!redeemed) return redeemed.error();
    if (redeemed->result != redemption_result::redeemed) return judged_exchange{invalid_code(redeemed->result)};
    return judged_exchange{token_response{*access, lifetimes.access_token_lifetime, redeemed->scopes, *refresh}};
}

/// A new access token for a refresh token, which is not changed.
template <grant_store Grants, random_source Random>
[[nodiscard]] result<judged_exchange> refresh_tokens(const refresh_exchange& wanted, const exchange_context& context,
                                                     Grants& grants, const Random& random) {
    const auto access = new_secret(secret_kind::access_token, random);
    if (!access) return random_source_error();
    const auto& lifetimes = context.settings;
    const auto refreshed = grants.refresh_access_token({
        .refresh_digest = wanted.refresh_digest,
        .application = context.client.id,
        .narrowed = wanted.narrowed,
        .now = context.now,
        .access_digest = digest_of(*access),
        .access_expires_at = context.now + lifetimes.access_token_lifetime,
        .refresh_lifetime = lifetimes.refresh_token_lifetime,
    });
    if (!refreshed) return refreshed.error();
    switch (refreshed->result) {
        case refresh_result::refreshed: break;
        case refresh_result::unknown: return judged_exchange{invalid_refresh_token()};
        case refresh_result::too_wide:
            return judged_exchange{failure{error_code::invalid_scope, "scope exceeds the granted scopes."}};
    }
    return judged_exchange{token_response{*access, lifetimes.access_token_lifetime, refreshed->scopes, std::nullopt}};
}

/// Any grant_type (RFC 6749 section 3.2).
template <grant_store Grants, random_source Random>
[[nodiscard]] result<judged_exchange> issue_tokens(const parameters& sent, const exchange_context& context,
                                                   Grants& grants, const Random& random) {
    auto wanted = read_exchange(sent);
    if (const auto* code = std::get_if<code_exchange>(&wanted)) return exchange_code(*code, context, grants, random);
    if (const auto* refresh = std::get_if<refresh_exchange>(&wanted))
        return refresh_tokens(*refresh, context, grants, random);
    return judged_exchange{std::get<failure>(std::move(wanted))};
}

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/token_endpoint.ipp>
#endif
