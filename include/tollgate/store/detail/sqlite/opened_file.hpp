#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_OPENED_FILE_HPP
#define TOLLGATE_STORE_DETAIL_SQLITE_OPENED_FILE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/system/files.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>

namespace tollgate::inline v0::sqlite {

/// True if the paths still name the opened database, its log and the log's index, by which processes coordinate. If one was deleted or
/// replaced, or the database emptied, writes would succeed and be lost.
///
/// Thread rule: any thread.
class opened_file {
public:
    /// Precondition: a connection is open that has read.
    TOLLGATE_DECL explicit opened_file(const std::string& path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// Returns true if the file is in place, and where files cannot be distinguished. Takes three system calls of a microsecond.
    [[nodiscard]] TOLLGATE_DECL bool is_in_place() noexcept;
    /// Returns the result of `is_in_place`, which it calls no more than once a second.
    [[nodiscard]] bool was_in_place() noexcept {
        const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
        return now < next_look_.load(std::memory_order_relaxed) ? was_in_place_.load(std::memory_order_relaxed) : is_in_place();
    }
    /// Returns true if `was_in_place` will be true in the next moments without asking the file system, which may hang.
    [[nodiscard]] bool is_known_in_place() const noexcept {
        const auto soon = (std::chrono::steady_clock::now() + ahead).time_since_epoch().count();
        return soon < next_look_.load(std::memory_order_relaxed) && was_in_place_.load(std::memory_order_relaxed);
    }

private:
    static constexpr std::chrono::milliseconds ahead{20};  // longer than threads are usually interrupted

    struct watched {
        std::string path;
        bool may_be_empty;  // not a database, which has at least a page
        std::optional<tollgate::detail::file_identity> opened = {};  // empty: there was no such file
    };
    static TOLLGATE_DECL watched watch(std::string path, bool may_be_empty);

    const std::string path_;
    const std::array<watched, 3> files_;
    std::atomic<std::chrono::steady_clock::rep> next_look_{0};
    std::atomic<bool> was_in_place_{true};
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/opened_file.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_OPENED_FILE_HPP
