#pragma once
#ifndef TOLLGATE_BASE_DETAIL_SYSTEM_FILES_HPP
#define TOLLGATE_BASE_DETAIL_SYSTEM_FILES_HPP

#include <tollgate/base/detail/system/kind.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#if defined(TOLLGATE_SYSTEM_WINDOWS)
#include <cstdio>
#include <cstdlib>
#else
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

/// What the standard library does not offer for files: modes, identities, and opening without waiting.
namespace tollgate::inline v0::detail {

/// Device and number of a file.
using file_identity = std::pair<std::uint64_t, std::uint64_t>;

#if defined(TOLLGATE_SYSTEM_WINDOWS)

/// Files cannot be distinguished. Windows does not let a file be removed or replaced while it is open.
[[nodiscard]] inline std::optional<file_identity> identity_of_file(const std::string&, bool) noexcept { return std::nullopt; }
/// A file inherits the rights of its directory.
inline void make_private_file(const std::string&) {}
[[nodiscard]] inline int refusal_of_directory(const std::string&) noexcept { return 0; }
[[nodiscard]] inline int open_null() noexcept { return -1; }  // no descriptors run out
inline void close_null(int) noexcept {}

[[nodiscard]] inline int read_into(const std::string& file, char* into, std::size_t bytes_max, std::size_t& bytes) noexcept {
    bytes = 0;
    std::FILE* const from = std::fopen(file.c_str(), "rb");
    if (from == nullptr) return errno;
    bytes = std::fread(into, 1, bytes_max, from);
    const int error = std::ferror(from) != 0 ? EIO : 0;
    std::fclose(from);
    return error;
}

/// The file that `hosts(5)` describes on other systems.
[[nodiscard]] inline std::string hosts_file() {
    const char* const root = std::getenv("SystemRoot");
    return (root != nullptr ? std::string{root} : "C:\\Windows") + "\\System32\\drivers\\etc\\hosts";
}

#else

/// Empty if there is no such file, or it is empty and must not be.
[[nodiscard]] inline std::optional<file_identity> identity_of_file(const std::string& path, bool may_be_empty) noexcept {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0 || (found.st_size <= 0 && !may_be_empty)) return std::nullopt;
    return file_identity{number_as<std::uint64_t>(found.st_dev), number_as<std::uint64_t>(found.st_ino)};
}

/// Creates an empty file with mode 0600 unless it exists. It is created under another name first, because this process must not close it
/// when others may have locked it: that would drop their locks within this process. If `path` is a link to a file that does not exist,
/// that file is created. Whoever opens the file reports a failure.
inline void make_private_file(std::string path) {
    if (::access(path.c_str(), F_OK) == 0) return;
    char target[4096];
    for (int links = 0; links < 40; ++links) {  // the number of links that Linux follows
        const auto bytes = ::readlink(path.c_str(), target, sizeof target);
        if (bytes < 0) break;
        const std::string_view named{target, static_cast<std::size_t>(bytes)};
        const auto directory = named.starts_with('/') ? std::string::npos : path.rfind('/');
        path.replace(directory == std::string::npos ? 0 : directory + 1, std::string::npos, named);
    }
    std::string unfinished = path + ".new-XXXXXX";
    const int descriptor = ::mkstemp(unfinished.data());  // 0600
    if (descriptor < 0) return;
    ::close(descriptor);
    // Fails if another process was quicker; then its file is used. A file system without hard links has no permissions
    // to preserve either.
    [[maybe_unused]] const int linked = ::link(unfinished.c_str(), path.c_str());
    ::unlink(unfinished.c_str());
}

/// The error if files in this directory cannot be created or written, for want of rights or on a read-only file system; otherwise 0.
[[nodiscard]] inline int refusal_of_directory(const std::string& directory) noexcept {
    const bool refused = ::access(directory.c_str(), W_OK | X_OK) != 0 && (errno == EROFS || errno == EACCES);
    return refused ? errno : 0;
}

/// A descriptor that does nothing but take a place, which `close_null` sets free.
[[nodiscard]] inline int open_null() noexcept { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
inline void close_null(int one) noexcept { ::close(one); }

/// Reads at most `bytes_max` of a file or of a shell's pipe, `<(command)`. Returns the error, or 0.
[[nodiscard]] inline int read_into(const std::string& file, char* into, std::size_t bytes_max, std::size_t& bytes) noexcept {
    bytes = 0;
    // A FIFO that no process writes to is empty. Without O_NONBLOCK, opening it would wait for one.
    const int from = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (from < 0) return errno;
    int error = ::fcntl(from, F_SETFL, O_RDONLY) != 0 ? errno : 0;
    while (error == 0 && bytes < bytes_max) {
        const auto count = ::read(from, into + bytes, bytes_max - bytes);
        if (count == 0) break;
        if (count > 0) bytes += static_cast<std::size_t>(count);
        else if (errno != EINTR) error = errno;
    }
    ::close(from);
    return error;
}

[[nodiscard]] inline std::string hosts_file() { return "/etc/hosts"; }

#endif

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_SYSTEM_FILES_HPP
