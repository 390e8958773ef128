#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// What a secret grants. Its prefix identifies the kind to people and to scanners for leaked secrets.
enum class secret_kind : std::uint8_t {
    personal_token,      ///< `tgp_`
    access_token,        ///< `tga_`
    refresh_token,       ///< `tgr_`
    authorization_code,  ///< `tgc_`
    client_secret,       ///< `tgs_`
    session,             ///< `tgw_`, in a cookie
    device_code,         ///< `tgd_`, with which a device polls (RFC 8628)
};

/// `prefix digits checksum`: 4 characters for the kind, 43 base-62 digits for 256 random bits, and 6 for their CRC-32.
/// Only `[A-Za-z0-9_]`, so it needs no escaping in a URL, a form, a shell or a header, and a double click selects it.
using secret_text = inline_text<limits::secret_text_bytes_max>;
inline constexpr std::size_t secret_text_bytes = 53;
static_assert(secret_text_bytes <= secret_text::bytes_max);

/// The same bytes make the same secret: take them from a random_source and use them once.
[[nodiscard]] TOLLGATE_DECL secret_text make_secret(secret_kind kind, std::span<const std::byte, 32> random) noexcept;

/// Whether `text` has the prefix, characters and checksum of this kind. Rejects mistyped and invented secrets without a
/// digest or a store lookup.
[[nodiscard]] TOLLGATE_DECL bool is_well_formed(secret_kind kind, std::string_view text) noexcept;

/// The digest that stores keep of a secret. Throws as `sha256` does.
[[nodiscard]] inline digest digest_of(std::string_view secret) { return sha256(secret); }

/// The part that all secrets that replace one another have in common: about 125 random bits. Precondition: well-formed.
[[nodiscard]] TOLLGATE_DECL std::string_view family_of(std::string_view secret) noexcept;

/// The secret of the same kind and family that replaces this one. About 128 bits of it are derived from both arguments, so
/// that it cannot be made from only one of them. Precondition: well-formed. Throws as `sha256` does.
[[nodiscard]] TOLLGATE_DECL secret_text make_successor(std::string_view secret, const digest& seed);

/// What a public id identifies.
enum class public_id_kind : std::uint8_t {
    username,   ///< `tgu_`, the user name of a personal token
    client_id,  ///< `tgi_`, an OAuth application (RFC 6749 section 2.2)
    message,    ///< `msg_`, a webhook's `webhook-id`
};

/// A unique, unguessable name that is not secret: prefix and 22 base-62 digits for 128 random bits.
using public_id = inline_text<limits::token_username_bytes_max>;
[[nodiscard]] TOLLGATE_DECL public_id make_public_id(public_id_kind kind,
                                                     std::span<const std::byte, 16> random) noexcept;

/// Keys that encrypt secrets that must be readable, such as those of webhooks: AES-256-GCM (NIST SP 800-38D).
///
/// The operator keeps the keys outside of the database, so that a copy of the database does not reveal the secrets. The
/// `context` names what a secret belongs to. It is not stored with the secret, but decrypting requires the same one, so
/// that an encrypted secret cannot be moved to another row.
///
/// Thread rule: after construction, any thread.
class secret_keys {
public:
    /// No key: `encrypt` returns its text unchanged, and encrypted secrets cannot be read.
    secret_keys() noexcept = default;

    /// Reads a key file: one key per line, as 64 hexadecimal digits (`openssl rand -hex 32`). The first key encrypts. A second one, the
    /// previous or the next key, only decrypts. Blank lines and lines that start with `#` are ignored. Error (invalid) with the number of
    /// the line, but never its text.
    [[nodiscard]] static TOLLGATE_DECL result<secret_keys> parse(std::string_view key_file);

    /// The text to store instead of the secret: aes256gcm, the id of the key, and base64url, with dots in between. The same
    /// secret and context give the same text. Without a key, the secret itself. Error: internal, if OpenSSL fails.
    [[nodiscard]] TOLLGATE_DECL result<std::string> encrypt(std::string_view secret, std::string_view context) const;

    /// The secret. A text that is not encrypted is returned unchanged. Errors: unavailable if the key is missing, internal
    /// if the text was damaged or belongs to another context; the cause names the id of the key.
    [[nodiscard]] TOLLGATE_DECL result<std::string> decrypt(std::string_view stored, std::string_view context) const;

    /// The beginning of each text that `encrypt` returns; empty without a key.
    [[nodiscard]] std::string_view prefix() const noexcept {
        return keys_.empty() ? std::string_view{} : std::string_view{keys_.front().prefix};
    }

private:
    struct key {
        std::string prefix;  // `aes256gcm.<id>.`; the id follows from the key
        digest encrypting;
        digest making_nonces;
    };

    std::vector<key> keys_;  // the one that encrypts comes first
};

/// Overwrites bytes; compilers do not optimize it away.
TOLLGATE_DECL void secure_wipe(std::span<std::byte> bytes) noexcept;
/// Overwrites the text and empties it.
TOLLGATE_DECL void secure_wipe(std::string& text) noexcept;

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/secret.ipp>
#endif
