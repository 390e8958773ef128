#pragma once
#ifndef TOLLGATE_BASE_DETAIL_SYSTEM_UNIX_SOCKET_HPP
#define TOLLGATE_BASE_DETAIL_SYSTEM_UNIX_SOCKET_HPP

#include <tollgate/base/detail/system/sockets.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#if !defined(TOLLGATE_SYSTEM_WINDOWS)
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#endif

/// Unix domain sockets at paths. On Windows there are none.
namespace tollgate::inline v0::detail {

/// A listening socket, or the call that failed and its error.
struct opened_path {
    native_socket socket = no_socket;
    const char* failed = nullptr;
    int error = 0;
};

#if defined(TOLLGATE_SYSTEM_WINDOWS)

class socket_file {
public:
    explicit socket_file(std::string_view) {}
    void identify() noexcept {}
    void remove() noexcept {}
    [[nodiscard]] opened_path listen(int, unsigned) const noexcept { return {no_socket, "Unix domain sockets", WSAEAFNOSUPPORT}; }
};

[[nodiscard]] inline bool is_path_socket(const sockaddr&) noexcept { return false; }
[[nodiscard]] inline std::string path_of(const sockaddr&, std::size_t) { return {}; }
[[nodiscard]] constexpr std::size_t path_bytes_max() noexcept { return 108; }

#else

// Linux distinguishes a full backlog (EAGAIN) from a socket on which no process listens (ECONNREFUSED). Elsewhere both are refused, so a
// lock on a file beside the socket tells whether a server listens.
#if defined(TOLLGATE_SYSTEM_LINUX)
inline constexpr bool locks_socket_files = false;
#else
inline constexpr bool locks_socket_files = true;
#endif

/// The size that a path must not reach.
[[nodiscard]] constexpr std::size_t path_bytes_max() noexcept { return sizeof(sockaddr_un{}.sun_path); }

/// The file of a Unix domain socket that this process listens at. Its inode is not used again while it listens.
template <bool Locks>
class basic_socket_file {
public:
    explicit basic_socket_file(std::string_view path) : path_{path} {}
    basic_socket_file(basic_socket_file&& from) noexcept
        : path_{std::move(from.path_)}, device_{from.device_}, inode_{from.inode_}, lock_{std::exchange(from.lock_, -1)} {}
    basic_socket_file& operator=(basic_socket_file&&) = delete;
    ~basic_socket_file() { unlock(); }

    /// Makes the file and listens. A file that a crash has left is replaced if no process listens at it. Precondition: the path is not
    /// empty, has no NUL, and is shorter than `path_bytes_max`.
    [[nodiscard]] opened_path listen(int backlog, unsigned mode) noexcept {
        if (Locks && !lock()) return {no_socket, "lock", errno};
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        std::memcpy(name.sun_path, path_.data(), path_.size());
        const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size() + 1);
        const native_socket opened = open_socket(AF_UNIX);
        if (opened == no_socket) return {no_socket, "socket", errno};
        const auto failure = [opened](const char* call) {
            const int error = errno;
            close_handle(opened);
            return opened_path{no_socket, call, error};
        };
        int bound = ::bind(opened, reinterpret_cast<const sockaddr*>(&name), bytes);
        if (bound != 0 && errno == EADDRINUSE) {
            if (!is_socket()) errno = EEXIST;
            else if (remove_stale(name, bytes)) bound = ::bind(opened, reinterpret_cast<const sockaddr*>(&name), bytes);
            else errno = EADDRINUSE;
        }
        if (bound != 0) return failure("bind");
        const char* failed = nullptr;
        // Set before `listen`, so that only permitted users can connect.
        if (::chmod(path_.c_str(), number_as<mode_t>(mode)) != 0) failed = "chmod";
        else if (::listen(opened, backlog) != 0) failed = "listen";
        if (failed == nullptr) return {opened, nullptr, 0};
        const int reason = errno;
        ::unlink(path_.c_str());
        errno = reason;
        return failure(failed);
    }
    /// Records which file it is, when it has been made.
    void identify() noexcept {
        struct stat found{};
        if (::lstat(path_.c_str(), &found) != 0) return;
        device_ = number_as<std::uint64_t>(found.st_dev);
        inode_ = number_as<std::uint64_t>(found.st_ino);
    }
    /// Does nothing if there was no file, or the path now names another one, such as that of another server.
    void remove() noexcept {
        struct stat found{};
        if (inode_ != 0 && ::lstat(path_.c_str(), &found) == 0 && number_as<std::uint64_t>(found.st_dev) == device_ &&
            number_as<std::uint64_t>(found.st_ino) == inode_)
            ::unlink(path_.c_str());
        unlock();
    }

private:
    [[nodiscard]] bool is_socket() const noexcept {
        struct stat found{};
        return ::lstat(path_.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
    }
    /// Removes the file if no process listens at it. False if one listens.
    [[nodiscard]] bool remove_stale(const sockaddr_un& name, socklen_t bytes) const noexcept {
        const native_socket asking = open_socket(AF_UNIX);
        if (asking == no_socket) return false;
        const bool is_refused = ::connect(asking, reinterpret_cast<const sockaddr*>(&name), bytes) != 0 && errno == ECONNREFUSED;
        close_handle(asking);
        return is_refused && ::unlink(path_.c_str()) == 0;
    }

    /// False if another server has the lock, or it cannot be made; `errno` tells why.
    [[nodiscard]] bool lock() noexcept {
        char path[sizeof(sockaddr_un{}.sun_path) + 8];
        lock_path(path);
        constexpr int tries_max = 10;
        for (int i = 0; i < tries_max; ++i) {
            const int opened = ::open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
            if (opened < 0) return false;
            if (::flock(opened, LOCK_EX | LOCK_NB) != 0) {
                if (would_block(errno)) errno = EADDRINUSE;
                const int error = errno;
                ::close(opened);
                errno = error;
                return false;
            }
            // The server that had the lock may have removed the file meanwhile.
            struct stat locked{}, named{};
            if (::fstat(opened, &locked) == 0 && ::lstat(path, &named) == 0 && locked.st_dev == named.st_dev &&
                locked.st_ino == named.st_ino) {
                lock_ = opened;
                return true;
            }
            ::close(opened);
        }
        errno = EADDRINUSE;
        return false;
    }
    void unlock() noexcept {
        if (lock_ < 0) return;
        char path[sizeof(sockaddr_un{}.sun_path) + 8];
        lock_path(path);
        ::unlink(path);
        ::close(std::exchange(lock_, -1));
    }
    void lock_path(char* into) const noexcept {
        std::memcpy(into, path_.data(), path_.size());
        std::memcpy(into + path_.size(), ".lock", sizeof ".lock");
    }

    std::string path_;
    std::uint64_t device_ = 0;
    std::uint64_t inode_ = 0;
    int lock_ = -1;
};

using socket_file = basic_socket_file<locks_socket_files>;

[[nodiscard]] inline bool is_path_socket(const sockaddr& name) noexcept { return name.sa_family == AF_UNIX; }
/// The path of a name, of which the system has told `bytes`.
[[nodiscard]] inline std::string path_of(const sockaddr& name, std::size_t bytes) {
    if (bytes <= offsetof(sockaddr_un, sun_path)) return {};
    const char* const path = reinterpret_cast<const sockaddr_un&>(name).sun_path;
    return {path, ::strnlen(path, bytes - offsetof(sockaddr_un, sun_path))};
}

#endif

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_SYSTEM_UNIX_SOCKET_HPP
