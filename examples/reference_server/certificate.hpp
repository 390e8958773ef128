#pragma once

#include <tollgate/base/time.hpp>

#include <filesystem>
#include <string>

namespace reference {

struct certificate_files {
    std::filesystem::path certificate;
    std::filesystem::path key;
    bool is_new = false;  ///< made by this call
};

/// A certificate that this machine signs for itself, for `127.0.0.1`, `::1` and `localhost`: the one in `directory`, or
/// a new one if there is none, it does not match its key, or it expires within a month. Only the owner can read both files.
/// Throws `run_error`.
[[nodiscard]] certificate_files self_signed_certificate(const std::filesystem::path& directory);

/// The path of that certificate.
[[nodiscard]] certificate_files self_signed_files(const std::filesystem::path& directory);

/// When a certificate expires. Throws `run_error` if the file cannot be read.
[[nodiscard]] tollgate::instant end_of(const certificate_files& files);

/// When a certificate expires, as ISO 8601. Throws `run_error` if the files cannot be read, do not match, or the
/// certificate is not valid today.
[[nodiscard]] std::string expiry_of(const certificate_files& files);

}  // namespace reference
