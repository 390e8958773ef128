#pragma once

#include "directory.hpp"
#include "hash_limiter.hpp"

#include <tollgate/base/result.hpp>
#include <tollgate/contract/session_source.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace reference {

/// scrypt (RFC 7914) with a fresh salt, as text that includes its parameters, so that they can be raised later while
/// old hashes remain valid: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>` in base64 without padding (the PHC string format).
/// The password is hashed in Unicode's form NFC, because keyboards send the same letter in different forms (NIST SP 800-63B section
/// 5.1.1.2). Takes about 32 MiB and a tenth of a second, on purpose. Throws `run_error` if memory or random bytes are not available.
[[nodiscard]] std::string hash_password(std::string_view password);

enum class password_check {
    right,
    right_as_typed,  ///< an older hash, of the password as it was typed, not in the form NFC: replace it
    wrong,   ///< also for text that is not such a hash, or whose parameters would need more memory than any hash made here
    failed,  ///< not checked: out of memory
};

/// A password in the form NFC; text that is not UTF-8 as it is.
[[nodiscard]] std::string normalize_password(std::string_view password);

/// Whether the hash is of this password; compared in constant time. A password in another form than NFC takes two hashes.
[[nodiscard]] password_check check_password(std::string_view password, std::string_view hash);

/// Whether a hash was made with parameters that are no longer those of `hash_password`.
[[nodiscard]] bool is_outdated(std::string_view hash);

/// A hash of no known password. Checking against it takes as long as against any other, so that the time does not reveal
/// which logins exist.
[[nodiscard]] std::string decoy_hash();

/// The passwords of a directory's users. A hash with outdated parameters, or of a password that was not normalized, is replaced when
/// its owner signs in: the only time at which the password is known.
///
/// Thread rule: any thread. Blocking: for about a tenth of a second, on purpose.
class user_passwords {
public:
    static constexpr bool blocking = true;

    /// The directory must outlive it.
    explicit user_passwords(directory& users) : users_{users} {}

    tollgate::result<std::optional<tollgate::user_id>> check_password(std::string_view login, std::string_view password);
    /// The contract `versioned_password_source`: the version is the hash, which has a salt of its own.
    tollgate::result<std::optional<tollgate::checked_password>> check_password(const tollgate::sign_in_attempt& attempt);
    tollgate::result<std::string> password_version(std::string_view login);

    /// The contract `password_store`. Its owner has just shown the old one, so this is one of few hashes at a time.
    tollgate::result<void> set_password(const tollgate::checked_password& current, std::string_view password);

    /// Whether the user exists and is not disabled; otherwise their sessions end at once.
    tollgate::result<bool> is_active(tollgate::user_id user) { return users_.is_active(user); }

private:
    /// Replaces the user's hash. If this fails, the old hash stays in use; the password is correct in any case.
    void renew(known_login& known, std::string_view password);

    static hash_bounds bounds();

    directory& users_;
    hash_limiter limiter_{bounds()};
    const std::string decoy_ = decoy_hash();
};

}  // namespace reference
