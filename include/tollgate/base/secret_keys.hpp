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
/// The operator keeps the keys outside of the database, so that a copy of the database does not reveal the secrets. The `context` names the
/// object that a secret belongs to. It is not stored with the secret, but decryption fails with another context, so that an encrypted
/// secret cannot be moved to another row.
///
/// Thread rule: after construction, any thread may call any function.
class secret_keys {
public:
    /// Constructs an object without a key: `encrypt` returns its text unchanged, and encrypted secrets cannot be read.
    secret_keys() noexcept = default;

    /// Reads a key file, which has a key per line as 64 hexadecimal digits (`openssl rand -hex 32`). The first key encrypts. A second key,
    /// the previous or the next one, only decrypts. Blank lines and lines that start with `#` are ignored. The error (invalid) contains the
    /// number of the line, but never its text.
    [[nodiscard]] static TOLLGATE_DECL result<secret_keys> parse(std::string_view key_file);

    /// Returns the text to store instead of the secret: aes256gcm, the id of the key, and base64url, with dots in between. The same secret
    /// and context result in the same text. Without a key, returns the secret. Error: internal, if OpenSSL fails.
    [[nodiscard]] TOLLGATE_DECL result<std::string> encrypt(std::string_view secret, std::string_view context) const;

    /// Returns the secret that `encrypt` received. A text that is not encrypted is returned unchanged. Errors: unavailable if the key is
    /// missing, internal if the text was damaged or belongs to another context. The cause names the id of the key.
    [[nodiscard]] TOLLGATE_DECL result<std::string> decrypt(std::string_view stored, std::string_view context) const;

    /// Returns the beginning of each text that `encrypt` returns, or an empty text without a key.
    [[nodiscard]] std::string_view prefix() const noexcept {
        return keys_.empty() ? std::string_view{} : std::string_view{keys_.front().prefix};
    }

private:
    struct key {
        std::string prefix;  // `aes256gcm.<id>.`; the id is derived from the key
        digest encrypting;
        digest making_nonces;
    };

    std::vector<key> keys_;  // the key that encrypts comes first
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/base/secret_keys.ipp>
#endif

#endif  // TOLLGATE_BASE_SECRET_KEYS_HPP
