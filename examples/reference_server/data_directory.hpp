#pragma once

#include <tollgate/base/secret.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Files that only their owner may read.
namespace reference {

/// Makes the directory, mode 0700, if it is not there. Throws `run_error` when it cannot be made or is something else.
void make_private_directory(const std::filesystem::path& directory);

/// While it lives, no other process has one for this directory: what several starts would make at once, they make one after
/// the other, and the later ones find it made. Throws `run_error`.
class directory_lock {
public:
    explicit directory_lock(const std::filesystem::path& directory);
    directory_lock(const directory_lock&) = delete;
    directory_lock& operator=(const directory_lock&) = delete;
    ~directory_lock();

private:
    int descriptor_;
};

/// Writes a file of mode 0600 whole or not at all: a reader sees the old content or the new one, a crash leaves one of
/// them. Throws `run_error`.
void write_private_file(const std::filesystem::path& file, std::string_view content);

/// The content; none when there is no such file. Throws `run_error` when it is there and cannot be read.
[[nodiscard]] std::optional<std::string> read_private_file(const std::filesystem::path& file);

/// The keys of `--secret-key-file`; none for an empty path. Warns on stderr when other users can read the file. Throws
/// `usage_error`.
[[nodiscard]] tollgate::secret_keys read_secret_keys(const std::filesystem::path& file);

}  // namespace reference
