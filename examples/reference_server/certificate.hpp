#pragma once

#include <filesystem>

namespace reference {

struct certificate_files {
    std::filesystem::path certificate;
    std::filesystem::path key;
};

/// A certificate that this machine signs for itself, for `127.0.0.1`, `::1` and `localhost`: the one in `directory`, or
/// a new one where there is none, it does not fit its key, or it ends within a month. Both files are the owner's alone.
/// Throws `run_error`.
[[nodiscard]] certificate_files self_signed_certificate(const std::filesystem::path& directory);

}  // namespace reference
