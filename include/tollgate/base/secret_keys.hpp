#pragma once
#ifndef TOLLGATE_BASE_SECRET_KEYS_HPP
#define TOLLGATE_BASE_SECRET_KEYS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

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

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/secret_keys.ipp>
#endif

#endif  // TOLLGATE_BASE_SECRET_KEYS_HPP
