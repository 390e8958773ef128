#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/random_source.hpp>
#include <tollgate/domain/session.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::pipeline {

/// Makes one page's forms differ from every other's: 12 random bytes, and the second that it was made in.
using form_nonce = std::array<std::byte, 16>;

namespace detail {

TOLLGATE_DECL void put_second(form_nonce& made, instant now) noexcept;

}  // namespace detail

/// None without random bytes.
template <random_source Random>
[[nodiscard]] std::optional<form_nonce> new_form_nonce(const Random& random, instant now) noexcept {
    form_nonce made;
    if (!random.fill(made)) return std::nullopt;
    detail::put_second(made, now);
    return made;
}

/// Whole seconds since 1970.
[[nodiscard]] TOLLGATE_DECL instant made_at(const form_nonce& nonce) noexcept;

/// As a form carries it by itself, and back; none for every other text.
[[nodiscard]] TOLLGATE_DECL std::string form_nonce_text(const form_nonce& nonce);
[[nodiscard]] TOLLGATE_DECL std::optional<form_nonce> parse_form_nonce(std::string_view text);

/// What a form token is bound to: it is good for this session, this purpose and these words alone.
struct form_seal {
    const session& who;
    std::string_view purpose;       ///< what the form does, such as `tokens/create`
    std::string_view covered = {};  ///< what else must come back as it was, such as the parameters of a request
};

/// The name of the hidden field.
inline constexpr std::string_view form_token_name = "form_token";

/// What a form of ours carries, so that no other site can send it in a person's name (OWASP, "HMAC based token
/// pattern"): the nonce, and an HMAC by the session's secret. `[A-Za-z0-9_.-]` only.
[[nodiscard]] TOLLGATE_DECL std::string make_form_token(const form_seal& seal, const form_nonce& nonce);

/// The nonce of a token that was made with this seal; none for every other text, and where a session has no secret.
[[nodiscard]] TOLLGATE_DECL std::optional<form_nonce> check_form_token(const form_seal& seal, std::string_view shown);

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/form_token.ipp>
#endif
