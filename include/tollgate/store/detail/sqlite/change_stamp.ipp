#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_CHANGE_STAMP_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_CHANGE_STAMP_IPP

#include <tollgate/store/detail/sqlite/change_stamp.hpp>
#include <tollgate/store/detail/sqlite/failure.hpp>

#include <sqlite3.h>

#include <string>

namespace tollgate::inline v0::sqlite {

namespace detail {

/// Writes a value over itself, which is a regular commit.
inline result<void> commit_nothing(database& connection) {
    auto change = transaction::begin(connection);
    if (!change) return std::move(change).error();
    const auto version = sql::read_value<std::int64_t>(connection.prepare("PRAGMA user_version"));
    if (!version) return version.error();
    if (!*version) return {};
    const std::string same = "PRAGMA user_version = " + std::to_string(**version);
    const int code = sqlite3_exec(connection.handle(), same.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return failure(connection.handle(), code, same);
    return change->commit();
}

}  // namespace detail

TOLLGATE_DECL result<change_stamp> change_stamp::watch(database connection) {
    // The first read makes SQLite map the index, and build it if no other connection has it open.
    if (auto read = connection.run("SELECT count(*) FROM sqlite_schema"); !read) return std::move(read).error();

    sqlite3_file* file = nullptr;
    constexpr int page_bytes = 32 * 1024;  // WALINDEX_PGSZ: the unit in which every process maps the index
    constexpr std::uint32_t known_version = 3'007'000;
    volatile void* mapped = nullptr;
    if (sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
        file != nullptr && file->pMethods != nullptr && file->pMethods->iVersion >= 2 &&
        file->pMethods->xShmMap != nullptr)
        // Not extended (0): it exists already, or is unavailable.
        if (file->pMethods->xShmMap(file, 0, page_bytes, 0, &mapped) != SQLITE_OK) mapped = nullptr;

    auto* header = static_cast<std::uint64_t*>(const_cast<void*>(mapped));
    if (header != nullptr) {
        std::uint32_t version = 0;
        std::memcpy(&version, header, sizeof version);
        if (version != known_version) header = nullptr;  // an unknown layout
    }
    change_stamp stamp{std::move(connection), header};
    // If this fails (read-only, full disk), there are no marks until another commit.
    if (header != nullptr && !stamp.read()) static_cast<void>(detail::commit_nothing(stamp.connection_));
    return stamp;
}

}  // namespace tollgate::sqlite

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_CHANGE_STAMP_IPP
