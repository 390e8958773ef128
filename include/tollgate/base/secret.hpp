#pragma once
#ifndef TOLLGATE_BASE_SECRET_HPP
#define TOLLGATE_BASE_SECRET_HPP

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

/// The kind of a secret, which tells what it grants. The prefix of a secret tells its kind to people and to scanners for leaked secrets.
enum class secret_kind : std::uint8_t {
    personal_token,      ///< `tgp_`
    access_token,        ///< `tga_`
    refresh_token,       ///< `tgr_`
    authorization_code,  ///< `tgc_`
    client_secret,       ///< `tgs_`
    session,             ///< `tgw_`, in a cookie
    device_code,         ///< `tgd_`, with which a device polls (RFC 8628)
};

/// A secret is `prefix digits checksum`: 4 characters for the kind, 43 base-62 digits for 256 random bits, and 6 for their CRC-32. It
/// contains only `[A-Za-z0-9_]`, so it needs no escaping in a URL, a form, a shell or a header, and a double click selects it.
using secret_text = detail::inline_text<limits::secret_text_bytes_max>;
inline constexpr std::size_t secret_text_bytes = 53;
static_assert(secret_text_bytes <= secret_text::bytes_max);

/// Returns the secret that consists of these bytes. Take them from a random_source and use them once, because equal bytes result in equal
/// secrets. Any thread may call it.
[[nodiscard]] TOLLGATE_DECL secret_text make_secret(secret_kind kind, std::span<const std::byte, 32> random) noexcept;

/// Returns true if `text` has the prefix, the characters and the checksum of this kind. Rejects mistyped and invented secrets without a
/// digest or a store lookup.
[[nodiscard]] TOLLGATE_DECL bool is_well_formed(secret_kind kind, std::string_view text) noexcept;

/// Returns the digest that stores keep of a secret. Throws as `sha256` does.
[[nodiscard]] inline digest digest_of(std::string_view secret) { return sha256(secret); }

/// Returns the part that all secrets that replace one another have in common: about 125 random bits. It is a view of `secret`.
/// Precondition: `secret` is well-formed.
[[nodiscard]] TOLLGATE_DECL std::string_view family_of(std::string_view secret) noexcept;

/// Returns the secret of the same kind and family that replaces `secret`. About 128 of its bits are derived from both arguments, so that
/// nobody can compute it from only one of the arguments. Precondition: `secret` is well-formed. Throws as `sha256` does.
[[nodiscard]] TOLLGATE_DECL secret_text make_successor(std::string_view secret, const digest& seed);

/// The kind of object that a public id identifies.
enum class public_id_kind : std::uint8_t {
    username,   ///< `tgu_`, the user name of a personal token
    client_id,  ///< `tgi_`, an OAuth application (RFC 6749 section 2.2)
    message,    ///< `msg_`, a webhook's `webhook-id`
};

/// A unique, unguessable name that is not secret: a prefix and 22 base-62 digits for 128 random bits.
using public_id = detail::inline_text<limits::token_username_bytes_max>;
/// Returns the public id that consists of these bytes. Take them from a random_source and use them once.
[[nodiscard]] TOLLGATE_DECL public_id make_public_id(public_id_kind kind,
                                                     std::span<const std::byte, 16> random) noexcept;

/// Overwrites the bytes. Compilers do not remove the call.
TOLLGATE_DECL void secure_wipe(std::span<std::byte> bytes) noexcept;
/// Overwrites the text with zeros and empties it.
TOLLGATE_DECL void secure_wipe(std::string& text) noexcept;

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/secret.ipp>
#endif

#endif  // TOLLGATE_BASE_SECRET_HPP
