#pragma once

#include <string>
#include <string_view>

namespace reference {

/// scrypt (RFC 7914) with a fresh salt, as text that carries its own parameters, so that they can rise later without
/// making old hashes useless: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>` in base64 without padding (the PHC string format).
/// Takes about 32 MiB and a tenth of a second, on purpose. Throws `run_error` when memory or randomness is missing.
[[nodiscard]] std::string hash_password(std::string_view password);

/// Whether this password made that hash; compared in constant time. False for text that is no such hash, or one whose
/// parameters would cost more memory than any hash of ours.
[[nodiscard]] bool verify_password(std::string_view password, std::string_view hash);

}  // namespace reference
