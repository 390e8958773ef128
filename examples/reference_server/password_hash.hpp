#pragma once

#include <string>
#include <string_view>

namespace reference {

/// scrypt (RFC 7914) with a fresh salt, as text that carries its own parameters, so that they can rise later without
/// making old hashes useless: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>` in base64 without padding (the PHC string format).
/// Takes about 32 MiB and a tenth of a second, on purpose. Throws `run_error` when memory or randomness is missing.
[[nodiscard]] std::string hash_password(std::string_view password);

enum class password_check {
    right,
    wrong,   ///< also for text that is no such hash, or one whose parameters would cost more memory than any hash of ours
    failed,  ///< it could not be found out: memory is missing
};

/// Whether this password made that hash; compared in constant time.
[[nodiscard]] password_check check_password(std::string_view password, std::string_view hash);

/// Whether a hash was made with parameters that are no longer those of `hash_password`.
[[nodiscard]] bool is_outdated(std::string_view hash);

/// A hash that no password is known to make: checking against it takes as long as against any other, so that time tells
/// nobody which logins there are.
[[nodiscard]] std::string decoy_hash();

}  // namespace reference
