#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_OPENED_FILE_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_OPENED_FILE_IPP

#include <tollgate/store/detail/sqlite/opened_file.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace tollgate::inline v0::sqlite {

namespace detail {

/// The program may change its directory. Other texts, such as `:memory:`, name no file.
inline std::string absolute_path(const std::string& path) {
    std::error_code failed;
    const auto full = std::filesystem::absolute(path, failed);
    return !failed && std::filesystem::exists(full, failed) ? full.string() : path;
}

/// SQLite keeps the log beside the file, not beside a symbolic link to it.
inline std::string resolved_path(const std::string& path) {
    std::error_code failed;
    const auto real = std::filesystem::canonical(path, failed);
    return failed ? path : real.string();
}

}  // namespace detail

TOLLGATE_DECL opened_file::opened_file(const std::string& path)
    : path_{detail::absolute_path(path)},
      files_{watch(path_, false), watch(detail::resolved_path(path) + "-wal", true), watch(detail::resolved_path(path) + "-shm", true)} {}

TOLLGATE_DECL bool opened_file::is_in_place() noexcept {
    // First, so that not all threads look.
    next_look_.store((std::chrono::steady_clock::now() + std::chrono::seconds{1}).time_since_epoch().count(), std::memory_order_relaxed);
    const bool all = std::all_of(files_.begin(), files_.end(), [](const watched& each) {
        return !each.opened || tollgate::detail::identity_of_file(each.path, each.may_be_empty) == each.opened;
    });
    was_in_place_.store(all, std::memory_order_relaxed);
    return all;
}

TOLLGATE_DECL opened_file::watched opened_file::watch(std::string path, bool may_be_empty) {
    watched file{std::move(path), may_be_empty};
    file.opened = tollgate::detail::identity_of_file(file.path, may_be_empty);
    return file;
}

}  // namespace tollgate::sqlite

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_OPENED_FILE_IPP
