#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_PKCE_HPP
#define TOLLGATE_OAUTH_DETAIL_PKCE_HPP

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/digest.hpp>

#include <string>
#include <string_view>

namespace tollgate::inline v0::oauth {

/// Proof Key for Code Exchange (RFC 7636), S256 only: `plain` does not protect if the request was disclosed.
inline constexpr std::string_view challenge_method = "S256";

/// A code_challenge of S256 is the base64url of 32 bytes: 43 characters (section 4.2).
[[nodiscard]] inline bool is_code_challenge(std::string_view text) {
    const auto decoded = tollgate::detail::base64url_decode(text);
    return decoded && decoded->size() == digest::size_bytes;
}

/// 43 to 128 unreserved characters (section 4.1).
[[nodiscard]] constexpr bool is_code_verifier(std::string_view text) noexcept {
    if (text.size() < 43 || text.size() > 128) return false;
    for (char c : text)
        if (!tollgate::detail::is_alphanumeric(c) && c != '-' && c != '.' && c != '_' && c != '~') return false;
    return true;
}

[[nodiscard]] inline std::string challenge_of(std::string_view verifier) {
    return tollgate::detail::base64url_encode(sha256(verifier).raw());
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_PKCE_HPP
