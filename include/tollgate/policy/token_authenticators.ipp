#pragma once
#ifndef TOLLGATE_POLICY_TOKEN_AUTHENTICATORS_IPP
#define TOLLGATE_POLICY_TOKEN_AUTHENTICATORS_IPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/policy/detail/token_memo.hpp>
#include <tollgate/policy/token_authenticators.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tollgate::inline v0 {
namespace detail {

/// Reads Basic credentials with a secret that `is_secret` accepts. Longer credentials than this cannot name a token.
template <std::size_t SecretBytesMax>
bool read_basic_with(std::string_view credentials, presented_token& into, bool (*is_secret)(std::string_view) noexcept) {
    // The extra bytes are for the decoder, which writes groups of three.
    std::array<char, limits::token_username_bytes_max + 1 + SecretBytesMax + 4> buffer;
    const auto decoded_bytes = detail::base64_decode_into(credentials, buffer);
    if (!decoded_bytes) return false;
    const std::string_view decoded{buffer.data(), *decoded_bytes};
    // the first one: a password may contain a colon, a username may not (RFC 7617 section 2)
    const auto colon = decoded.find(':');
    if (colon == std::string_view::npos || !into.username.append(decoded.substr(0, colon))) return false;
    const auto secret = decoded.substr(colon + 1);
    if (!is_secret(secret)) return false;
    into.kind = credential_kind::personal_token;
    into.secret_digest = digest_of(secret);
    return true;
}

inline bool read_basic(std::string_view credentials, presented_token& into) {
    return read_basic_with<limits::secret_text_bytes_max>(
        credentials, into, [](std::string_view secret) noexcept { return is_well_formed(secret_kind::personal_token, secret); });
}

inline bool read_imported_basic(std::string_view credentials, presented_token& into) {
    return read_basic_with<limits::imported_secret_bytes_max>(
        credentials, into,
        [](std::string_view secret) noexcept { return !secret.empty() && secret.size() <= limits::imported_secret_bytes_max; });
}

inline bool read_bearer(std::string_view credentials, presented_token& into) {
    if (!is_well_formed(secret_kind::access_token, credentials)) return false;
    into.kind = credential_kind::access_token;
    into.secret_digest = digest_of(credentials);
    return true;
}

/// Null when there are no random bytes for a key; then nothing is kept.
inline std::unique_ptr<detail::token_memo> make_token_memo() {
    std::array<std::uint64_t, 3> key;
    const bool has_key = system_random{}.fill(std::as_writable_bytes(std::span{key}));
    return has_key ? std::make_unique<detail::token_memo>(detail::keyed_hash{key}) : nullptr;
}

/// Each thread has its own, because a lock would cost what it saves. It is on the heap, so that threads that never see a token hold only a
/// pointer.
inline bool read_through_memo(credential_kind kind, std::string_view credentials, presented_token& into,
                              bool (*read)(std::string_view, presented_token&)) {
    thread_local const std::unique_ptr<detail::token_memo> memo = make_token_memo();
    return memo ? memo->read(kind, credentials, into, read) : read(credentials, into);
}

}  // namespace detail

TOLLGATE_DECL bool basic_token::read(std::string_view credentials, presented_token& into) const {
    return detail::read_through_memo(credential_kind::personal_token, credentials, into, detail::read_basic);
}

TOLLGATE_DECL bool imported_basic_token::read(std::string_view credentials, presented_token& into) const {
    // Not through the memo, which `basic_token` shares: it must refuse what only this class accepts.
    return detail::read_imported_basic(credentials, into);
}

TOLLGATE_DECL bool bearer_token::read(std::string_view credentials, presented_token& into) const {
    return detail::read_through_memo(credential_kind::access_token, credentials, into, detail::read_bearer);
}

}  // namespace tollgate

#endif  // TOLLGATE_POLICY_TOKEN_AUTHENTICATORS_IPP
