#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/limits.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// What a secret lets its holder do. Its prefix says so to people, and to scanners that look for leaked secrets.
enum class secret_kind : std::uint8_t {
    personal_token,      ///< `tgp_`
    access_token,        ///< `tga_`
    refresh_token,       ///< `tgr_`
    authorization_code,  ///< `tgc_`
    client_secret,       ///< `tgs_`
    session,             ///< `tgw_`, a cookie's
};

/// `prefix digits checksum`: 4 characters for the kind, 43 base-62 digits for 256 random bits, and 6 for their
/// CRC-32. `[A-Za-z0-9_]` only, so it needs no escaping in a URL, a form, a shell or a header, and is picked with a
/// double click.
using secret_text = inline_text<limits::secret_text_bytes_max>;
inline constexpr std::size_t secret_text_bytes = 53;
static_assert(secret_text_bytes <= secret_text::bytes_max);

/// The same bytes make the same secret, so they come from a random_source and are used once.
[[nodiscard]] TOLLGATE_DECL secret_text make_secret(secret_kind kind, std::span<const std::byte, 32> random) noexcept;

/// Whether `text` could be a secret of this kind: right prefix, characters and checksum. Quick, so that what somebody
/// mistyped or made up is refused without a digest and without asking a store.
[[nodiscard]] TOLLGATE_DECL bool is_well_formed(secret_kind kind, std::string_view text) noexcept;

/// What is kept of a secret. Throws as `sha256` does.
[[nodiscard]] inline digest digest_of(std::string_view secret) { return sha256(secret); }

/// What a public name names.
enum class public_id_kind : std::uint8_t {
    username,   ///< `tgu_`, the user name of a personal token
    client_id,  ///< `tgi_`, an OAuth application (RFC 6749 section 2.2)
    message,    ///< `msg_`, a webhook's `webhook-id`
};

/// A name that nobody else has and nobody guesses, but no secret: prefix and 22 base-62 digits for 128 random bits.
using public_id = inline_text<limits::token_username_bytes_max>;
[[nodiscard]] TOLLGATE_DECL public_id make_public_id(public_id_kind kind,
                                                     std::span<const std::byte, 16> random) noexcept;

/// Overwrites bytes in a way that no compiler leaves out, although nobody reads them again.
TOLLGATE_DECL void secure_wipe(std::span<std::byte> bytes) noexcept;
/// The same for text, which is empty afterwards.
TOLLGATE_DECL void secure_wipe(std::string& text) noexcept;

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/secret.ipp>
#endif
