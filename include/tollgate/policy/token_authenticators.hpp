#pragma once

#include <tollgate/base/detail/digest_memo.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/authenticator.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/policy/detail/last_used_throttle.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// `Authorization: Basic` with a personal token: its username, and its secret as the password (RFC 7617). Says now and then
/// that the token was used, to a store that keeps it.
struct basic_token {
    static constexpr std::string_view scheme = "Basic";
    static constexpr std::string_view challenge = "Basic realm=\"api\", charset=\"UTF-8\"";
    static constexpr bool only_finds_credentials = true;

    /// The contract `authenticator`.
    template <credential_source Store>
    [[nodiscard]] result<std::optional<caller>> identify(std::string_view credentials, Store& store, instant now) const;

private:
    // Longer credentials name no token of ours; the last few bytes are the decoder's, which thinks in groups of three.
    static constexpr std::size_t decoded_bytes_max = limits::token_username_bytes_max + 1 + limits::secret_text_bytes_max + 4;

    mutable last_used_throttle pace_;
};

template <credential_source Store>
result<std::optional<caller>> basic_token::identify(std::string_view credentials, Store& store, instant now) const {
    std::array<char, decoded_bytes_max> buffer;
    const auto decoded_bytes = base64_decode_into(credentials, buffer);
    if (!decoded_bytes) return std::optional<caller>{};
    const std::string_view decoded{buffer.data(), *decoded_bytes};
    const auto colon = decoded.find(':');  // the first one: a username has none, a password may (RFC 7617 section 2)
    if (colon == std::string_view::npos) return std::optional<caller>{};
    const auto username = decoded.substr(0, colon);
    const auto secret = decoded.substr(colon + 1);
    if (!is_well_formed(secret_kind::personal_token, secret)) return std::optional<caller>{};

    auto found = store.find_personal_token(username);
    if (!found) return std::move(found).error();
    if (!*found || (*found)->secret_digest != recall_digest_of(secret)) return std::optional<caller>{};
    if ((*found)->expires_at && *(*found)->expires_at <= now) return std::optional<caller>{};
    detail::record_use(pace_, store, (*found)->last_used_at, now,
                       [&](auto& to) { return to.record_personal_token_use(username, now); });
    // In place: a caller put together elsewhere and moved here costs GCC a kilobyte of zeros first.
    return result<std::optional<caller>>{
        std::optional<caller>{std::in_place, (*found)->user, (*found)->scopes, credential_kind::personal_token,
                              std::nullopt, (*found)->owner_quota}};
}

/// `Authorization: Bearer` with an OAuth 2.0 access token (RFC 6750 section 2.1). Says now and then that the token was used,
/// to a store that keeps it.
struct bearer_token {
    static constexpr std::string_view scheme = "Bearer";
    static constexpr std::string_view challenge = "Bearer realm=\"api\"";
    static constexpr bool only_finds_credentials = true;

    /// The contract `authenticator`.
    template <credential_source Store>
    [[nodiscard]] result<std::optional<caller>> identify(std::string_view credentials, Store& store, instant now) const;

private:
    mutable last_used_throttle pace_;
};

template <credential_source Store>
result<std::optional<caller>> bearer_token::identify(std::string_view credentials, Store& store, instant now) const {
    if (!is_well_formed(secret_kind::access_token, credentials)) return std::optional<caller>{};
    auto found = store.find_access_token(recall_digest_of(credentials));
    if (!found) return std::move(found).error();
    if (!*found || ((*found)->expires_at && *(*found)->expires_at <= now)) return std::optional<caller>{};
    detail::record_use(pace_, store, (*found)->last_used_at, now,
                       [&](auto& to) { return to.record_access_token_use((*found)->secret_digest, now); });
    return result<std::optional<caller>>{
        std::optional<caller>{std::in_place, (*found)->user, (*found)->scopes, credential_kind::access_token,
                              (*found)->application, (*found)->owner_quota}};
}

}  // namespace tollgate
