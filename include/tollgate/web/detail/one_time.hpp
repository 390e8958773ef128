#pragma once
#ifndef TOLLGATE_WEB_DETAIL_ONE_TIME_HPP
#define TOLLGATE_WEB_DETAIL_ONE_TIME_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/aes_gcm.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/model/session.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Pages that show what only the redirect to them says.
namespace tollgate::inline v0::web {

/// The time for which a sealed text can be opened: enough for a decision of a user on its page.
inline constexpr seconds sealed_text_lifetime{300};
/// The time for which a sealed text with a secret can be opened. Its page can be reloaded until then.
inline constexpr seconds sealed_secret_lifetime{120};

using seal_nonce = tollgate::detail::aes_gcm_nonce;

/// Encrypts and authenticates a text (AES-256-GCM) with a key of the session, so that a redirect can carry it in its
/// URL: only this session can read it, on any node. `[A-Za-z0-9_-]` only. Empty if OpenSSL fails, or the session has no
/// secret.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> seal(const session& session, std::string_view text,
                                                            const seal_nonce& nonce, instant now);

/// The difference between the clocks of two nodes up to which one can open what the other has just sealed.
inline constexpr seconds sealed_in_future_max{60};

/// The text that was sealed for this session; empty for any other, after `lifetime`, and more than `sealed_in_future_max` before it was
/// sealed.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string> open_sealed(const session& session, std::string_view sealed, instant now,
                                                                   seconds lifetime = sealed_text_lifetime);

}  // namespace tollgate::web

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/detail/one_time.ipp>
#endif

#endif  // TOLLGATE_WEB_DETAIL_ONE_TIME_HPP
