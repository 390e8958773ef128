#pragma once
#ifndef TOLLGATE_POLICY_TOKEN_AUTHENTICATORS_HPP
#define TOLLGATE_POLICY_TOKEN_AUTHENTICATORS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/contract/authenticator.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/policy/detail/last_used_throttle.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

namespace detail {

/// Returns the key by which stores find the token. The token must outlive it.
[[nodiscard]] inline credential_key key_of(const presented_token& token) noexcept {
    if (token.kind == credential_kind::personal_token) return personal_token_key{token.username.view()};
    return access_token_key{token.secret_digest};
}

/// Returns true if the stored token is the presented token and still valid. Compares digests in constant time.
[[nodiscard]] inline bool accepts(const token_credential& stored, const presented_token& token, instant now) noexcept {
    if (token.kind == credential_kind::personal_token && stored.secret_digest != token.secret_digest) return false;
    return !stored.expires_at || now < *stored.expires_at;
}

/// Sets `into` to the caller of an accepted token.
inline void make_caller(std::optional<caller>& into, const token_credential& stored, credential_kind kind) noexcept {
    into.emplace(stored.user, stored.scopes, kind, std::nullopt, stored.owner, stored.token);
    if (kind == credential_kind::access_token) into->application = stored.application;
}

/// Records a use. No failure refuses the request. `client` is null if it is not known. Precondition: store.records_uses().
[[gnu::cold]] inline void record_use(const credential_source_ref& store, const presented_token& token, instant now,
                                     const ip_address* client = nullptr) noexcept {
    try {
        static_cast<void>(store.record_use(key_of(token), now, client == nullptr ? std::string{} : network_of(*client)));
    } catch (...) {
    }
}

/// The common part of the authenticators of stored tokens, which look up a token and record its use at a bounded rate.
template <class Authenticator>
class stored_token_authenticator {
public:
    /// Implements `token_authenticator`.
    [[nodiscard]] bool use_is_due(const std::optional<instant>& last_used_at, instant now) const noexcept {
        return throttle_.is_due(last_used_at, now);
    }

    static constexpr bool blocking = false;  // the authenticator itself does not block; the store may

    /// Implements `authenticator`.
    [[nodiscard]] result<std::optional<caller>> identify(std::string_view credentials, const credential_source_ref& store,
                                                         instant now) const {
        std::optional<caller> identified;
        presented_token token;
        if (!static_cast<const Authenticator&>(*this).read(credentials, token)) return identified;
        const auto found = store.find_credential(key_of(token));
        if (!found) return found.error();
        if (!*found || !accepts(**found, token, now)) return identified;
        if (store.records_uses() && use_is_due((*found)->last_used_at, now)) record_use(store, token, now);
        make_caller(identified, **found, token.kind);
        return identified;
    }

private:
    mutable detail::last_used_throttle throttle_;
};

}  // namespace detail

/// Authenticates `Authorization: Basic` with a personal token: its username is the user-id, and its secret is the password (RFC 7617).
/// Records the use of a token at a bounded rate, if the store supports it. Thread rule: any thread.
class basic_token : public detail::stored_token_authenticator<basic_token> {
public:
    /// The authentication scheme, compared case-insensitively (RFC 9110 section 11.1).
    static constexpr std::string_view scheme = "Basic";
    /// The value of WWW-Authenticate in a 401.
    static constexpr std::string_view challenge = "Basic realm=\"api\", charset=\"UTF-8\"";

    /// Implements `token_authenticator`. Throws as `sha256` does.
    [[nodiscard]] TOLLGATE_DECL bool read(std::string_view credentials, presented_token& into) const;
};

/// Authenticates `Authorization: Bearer` with an OAuth 2.0 access token (RFC 6750 section 2.1). Records the use of a token at a bounded
/// rate, if the store supports it. Thread rule: any thread.
class bearer_token : public detail::stored_token_authenticator<bearer_token> {
public:
    /// The authentication scheme, compared case-insensitively (RFC 9110 section 11.1).
    static constexpr std::string_view scheme = "Bearer";
    /// The value of WWW-Authenticate in a 401.
    static constexpr std::string_view challenge = "Bearer realm=\"api\"";

    /// Implements `token_authenticator`. Throws as `sha256` does.
    [[nodiscard]] TOLLGATE_DECL bool read(std::string_view credentials, presented_token& into) const;
};

static_assert(authenticator<basic_token> && authenticator<bearer_token>);
static_assert(token_authenticator<basic_token> && token_authenticator<bearer_token>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/policy/token_authenticators.ipp>
#endif

#endif  // TOLLGATE_POLICY_TOKEN_AUTHENTICATORS_HPP
