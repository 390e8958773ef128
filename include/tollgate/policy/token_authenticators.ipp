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

// Longer credentials cannot name a token. The extra bytes are for the decoder, which writes groups of three.
inline constexpr std::size_t basic_bytes_max = limits::token_username_bytes_max + 1 + limits::secret_text_bytes_max + 4;

inline bool read_basic(std::string_view credentials, presented_token& into) {
    std::array<char, basic_bytes_max> buffer;
    const auto decoded_bytes = detail::base64_decode_into(credentials, buffer);
    if (!decoded_bytes) return false;
    const std::string_view decoded{buffer.data(), *decoded_bytes};
    // the first one: a password may contain a colon, a username may not (RFC 7617 section 2)
    const auto colon = decoded.find(':');
    if (colon == std::string_view::npos || !into.username.append(decoded.substr(0, colon))) return false;
    const auto secret = decoded.substr(colon + 1);
    if (!is_well_formed(secret_kind::personal_token, secret)) return false;
    into.kind = credential_kind::personal_token;
    into.secret_digest = digest_of(secret);
    return true;
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

TOLLGATE_DECL bool bearer_token::read(std::string_view credentials, presented_token& into) const {
    return detail::read_through_memo(credential_kind::access_token, credentials, into, detail::read_bearer);
}

}  // namespace tollgate

#endif  // TOLLGATE_POLICY_TOKEN_AUTHENTICATORS_IPP
