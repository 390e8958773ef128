#pragma once

#include <tollgate/base/digest.hpp>
#include <tollgate/base/secret_keys.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Files that only their owner may read.
namespace reference {

/// Creates the directory, mode 0700, if it does not exist. Throws `run_error` if it cannot be created or is not a directory.
void make_private_directory(const std::filesystem::path& directory);

/// Whether there is such a file. Throws `run_error`, which begins with the flag that names it, if that cannot be found out.
[[nodiscard]] bool file_exists(const std::filesystem::path& file, std::string_view flag);

/// A lock on the directory for its lifetime: processes that start at the same time create files one after the other, and
/// later ones find them. Throws `run_error`.
class directory_lock {
public:
    /// Waits for other processes, which need it for well under a second each; throws `run_error` after this time.
    static constexpr std::chrono::seconds wait_max{5};
    explicit directory_lock(const std::filesystem::path& directory);
    directory_lock(const directory_lock&) = delete;
    directory_lock& operator=(const directory_lock&) = delete;
    ~directory_lock();

private:
    int descriptor_;
};

enum class existing_file { replaced, refused };

/// A file of mode 0600 that is written whole or not at all: until `finish` it has another name beside `file`. Each function throws
/// `run_error`.
class private_file {
public:
    explicit private_file(std::filesystem::path file);
    private_file(const private_file&) = delete;
    private_file& operator=(const private_file&) = delete;
    /// Removes a file that is not finished.
    ~private_file();

    void write(std::string_view content);
    /// Afterwards the file is on disk. A reader sees the old content or the new one, also after a crash.
    void finish(existing_file old);

private:
    std::filesystem::path file_;
    std::filesystem::path unfinished_;
    int descriptor_ = -1;
};

/// Writes a private file whole or not at all, and replaces the old one. Throws `run_error`.
void write_private_file(const std::filesystem::path& file, std::string_view content);

/// The content of a file, or of a shell's pipe, `<(command)`; none if the file does not exist. Throws `run_error` if it
/// exists and cannot be read, or is larger than 1 MiB.
[[nodiscard]] std::optional<std::string> read_small_file(const std::filesystem::path& file);

/// The digest of the token in the file of `--dynamic-registration`. Warns on stderr when other users can read the file. Throws
/// `usage_error`.
[[nodiscard]] tollgate::digest read_initial_access_token(const std::filesystem::path& file);

/// The keys of `--secret-key-file`; none for an empty path. Warns on stderr when other users can read the file. Throws
/// `usage_error`.
[[nodiscard]] tollgate::secret_keys read_secret_keys(const std::filesystem::path& file);

}  // namespace reference
