#pragma once

#include <tollgate/base/outcome.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/random_source.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/oauth/failure.hpp>
#include <tollgate/oauth/parameters.hpp>
#include <tollgate/oauth/pkce.hpp>
#include <tollgate/oauth/settings.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tollgate::oauth {

/// What a client gets (RFC 6749 section 5.1). The only place where these texts ever are.
struct token_response {
    secret_text access_token;
    seconds expires_in{};
    scope_set scopes;
    std::optional<secret_text> refresh_token;  ///< of a code exchange only

    void write(http::json_writer out) const;
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

[[nodiscard]] inline problem no_random_bytes() { return internal_error("the random source gave nothing"); }

/// grant_type=authorization_code (RFC 6749 section 4.1.3): a code for a pair of tokens, in one verb of the store.
template <grant_store Grants, random_source Random>
[[nodiscard]] outcome<judged_exchange> exchange_code(const parameters& sent, const application& client, Grants& grants,
                                                     const Random& random, const oauth_settings& settings, instant now) {
    const auto code = sent.find("code");
    if (!code) return judged_exchange{failure{error::invalid_request, "code is missing."}};
    const auto verifier = sent.find("code_verifier");
    if (verifier && !is_code_verifier(*verifier))
        return judged_exchange{failure{error::invalid_grant, "code_verifier is no verifier of RFC 7636."}};
    if (!is_well_formed(secret_kind::authorization_code, *code))
        return judged_exchange{failure{error::invalid_grant, "The code is not good, not any more, or not for this."}};

    const auto access = new_secret(secret_kind::access_token, random);
    const auto refresh = new_secret(secret_kind::refresh_token, random);
    if (!access || !refresh) return no_random_bytes();
    const auto redeemed = grants.redeem_code({
        .code_digest = digest_of(*code),
        .application = client.id,
        .redirect_uri = sent.find("redirect_uri"),
        .code_challenge = verifier ? std::optional{challenge_of(*verifier)} : std::nullopt,
        .now = now,
        .tokens = {.access_digest = digest_of(*access),
                   .access_expires_at = now + settings.access_token_lifetime,
                   .refresh_digest = digest_of(*refresh),
                   .refresh_expires_at = now + settings.refresh_token_lifetime,
                   .refresh_ends_at = now + settings.refresh_token_end},
    });
    if (!redeemed) return redeemed.error();
    // One answer to all of it: which one it was is of use to nobody but whoever stole a code.
    if (redeemed->result != redemption_result::redeemed)
        return judged_exchange{failure{error::invalid_grant, "The code is not good, not any more, or not for this."}};
    return judged_exchange{token_response{*access, settings.access_token_lifetime, redeemed->scopes, *refresh}};
}

/// grant_type=refresh_token (RFC 6749 section 6): a new access token; the refresh token stays as it is.
template <grant_store Grants, random_source Random>
[[nodiscard]] outcome<judged_exchange> refresh_tokens(const parameters& sent, const application& client, Grants& grants,
                                                      const Random& random, const oauth_settings& settings, instant now) {
    const auto token = sent.find("refresh_token");
    if (!token) return judged_exchange{failure{error::invalid_request, "refresh_token is missing."}};
    std::optional<scope_set> narrowed;
    if (const auto scope = sent.find("scope")) {
        narrowed = scope_set::parse(*scope);
        if (!narrowed || narrowed->empty()) return judged_exchange{failure{error::invalid_scope, "scope names one that there is not."}};
    }
    constexpr auto not_good = "The refresh token is not good, or not any more.";
    if (!is_well_formed(secret_kind::refresh_token, *token)) return judged_exchange{failure{error::invalid_grant, not_good}};

    const auto access = new_secret(secret_kind::access_token, random);
    if (!access) return no_random_bytes();
    const auto refreshed = grants.refresh_access_token({.refresh_digest = digest_of(*token),
                                                        .application = client.id,
                                                        .narrowed = narrowed,
                                                        .now = now,
                                                        .access_digest = digest_of(*access),
                                                        .access_expires_at = now + settings.access_token_lifetime,
                                                        .refresh_lifetime = settings.refresh_token_lifetime});
    if (!refreshed) return refreshed.error();
    switch (refreshed->result) {
        case refresh_result::refreshed: break;
        case refresh_result::unknown: return judged_exchange{failure{error::invalid_grant, not_good}};
        case refresh_result::too_wide: return judged_exchange{failure{error::invalid_scope, "scope asks for more than was granted."}};
    }
    return judged_exchange{token_response{*access, settings.access_token_lifetime, refreshed->scopes, std::nullopt}};
}

/// Whatever grant_type says (RFC 6749 section 3.2).
template <grant_store Grants, random_source Random>
[[nodiscard]] outcome<judged_exchange> issue_tokens(const parameters& sent, const application& client, Grants& grants,
                                                    const Random& random, const oauth_settings& settings, instant now) {
    const auto grant_type = sent.find("grant_type");
    if (!grant_type) return judged_exchange{failure{error::invalid_request, "grant_type is missing."}};
    if (*grant_type == "authorization_code") return exchange_code(sent, client, grants, random, settings, now);
    if (*grant_type == "refresh_token") return refresh_tokens(sent, client, grants, random, settings, now);
    return judged_exchange{failure{error::unsupported_grant_type, "grant_type must be authorization_code or refresh_token."}};
}

inline void token_response::write(http::json_writer out) const {
    out.begin_object();
    out.member("access_token").string(access_token);
    out.member("expires_in").integer(expires_in.count());
    out.member("token_type").string("bearer");
    out.member("scope").string(scopes.text());
    if (refresh_token) out.member("refresh_token").string(*refresh_token);
    out.end_object();
}

}  // namespace tollgate::oauth
