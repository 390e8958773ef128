#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_CHANGE_STAMP_HPP
#define TOLLGATE_STORE_DETAIL_SQLITE_CHANGE_STAMP_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>
#include <tollgate/store/detail/sqlite/opened_file.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace tollgate::inline v0::sqlite {

/// A number that identifies the content of a database: equal marks mean equal content.
struct change_mark {
    std::uint64_t counter;   ///< number of commits, combined with the page size and the flag for a complete index
    std::uint64_t log_end;   ///< the last frame of the log, and the size of the database
    std::uint64_t checksum;  ///< checksum of the log up to this commit
    std::uint64_t salts;     ///< random, new each time the log starts over

    friend bool operator==(const change_mark&, const change_mark&) noexcept = default;
};

/// Tells in a few nanoseconds, without a system call, whether any connection of any process has committed to a database
/// file since the last check.
///
/// Reads what SQLite itself reads for this purpose: the header of the write-ahead log's index, 48 bytes of shared
/// memory that every commit rewrites with a new change counter, the end of the log, a checksum over the whole log and
/// the log's salts (https://www.sqlite.org/walformat.html section 2.1). A commit becomes visible here when it becomes
/// visible to a SELECT.
///
/// The rule for caches: read the mark BEFORE the query, and use the result only while the mark is equal, as `row_cache`
/// does. A concurrent commit can then only make a valid result look old, never the reverse.
///
/// Thread rule: `read` from any thread. Movable; addresses of the mapping stay.
class change_stamp {
public:
    using mark = change_mark;

    /// Takes ownership of a connection: SQLite unmaps the header with the last connection of the process. A connection
    /// that may write makes an empty commit if the log is new, so that there is a mark from the start.
    static TOLLGATE_DECL result<change_stamp> watch(database connection);

    /// The result is empty if the mark is unknown: a commit is in progress, the log has never been written to, the file system has no
    /// shared memory, or the file is no longer in place. Query the database then.
    [[nodiscard]] std::optional<change_mark> read() const noexcept {
        return file_ == nullptr || file_->was_in_place() ? read_header() : std::nullopt;
    }
    /// For `row_cache`: what `read` will return in the next moments without waiting for the file system, if nothing is committed.
    [[nodiscard]] std::optional<change_mark> read_ahead() const noexcept {
        return file_ == nullptr || file_->is_known_in_place() ? read_header() : std::nullopt;
    }

    /// From now on there are marks only while this file is in place: commits to another one are not seen here. Must outlive the stamp.
    void set_file(opened_file& file) noexcept { file_ = &file; }

    /// For `row_cache`: with equal content every row is valid.
    template <class Key, class Row>
    [[nodiscard]] bool holds(const mark& stored, const mark& now, std::size_t, const Key&, const Row&) const noexcept {
        return stored == now;
    }

private:
    /// The header is struct WalIndexHdr: iVersion, unused, iChange, isInit, bigEndCksum, szPage, mxFrame, nPage,
    /// aFrameCksum[2], aSalt[2], aCksum[2]; 32-bit numbers but for two bytes and a 16-bit number after iChange.
    static constexpr std::size_t words_per_copy = 6;
    static constexpr std::size_t is_init_offset_bytes = 4;  // within the word of iChange

    change_stamp(database connection, const std::uint64_t* header) noexcept
        : connection_{std::move(connection)}, header_{header} {}

    [[nodiscard]] std::optional<change_mark> read_header() const noexcept {
        if (header_ == nullptr) return std::nullopt;
        // There are two copies; a writer stores the second one first, so two equal copies are consistent (SQLite's
        // walIndexTryHdr).
        const change_mark first = copy(0);
        if (first != copy(words_per_copy) || !names_content(first)) return std::nullopt;
        return first;
    }

    /// Word by word, because another process may be writing.
    [[nodiscard]] change_mark copy(std::size_t from) const noexcept {
        const auto load = [this, from](std::size_t word) noexcept {
            return __atomic_load_n(header_ + from + word, __ATOMIC_ACQUIRE);  // libc++ has std::atomic_ref from version 19 on
        };
        return {.counter = load(1), .log_end = load(2), .checksum = load(3), .salts = load(4)};
    }

    /// Salts are zero only while the log is empty and its index new. After a crash that state can recur with commits in
    /// between, so it identifies no content.
    [[nodiscard]] static bool names_content(const change_mark& mark) noexcept {
        char bytes[sizeof mark.counter];
        std::memcpy(bytes, &mark.counter, sizeof bytes);
        return bytes[is_init_offset_bytes] != 0 && mark.salts != 0;
    }

    database connection_;
    const std::uint64_t* header_;  // null: no shared memory, so no mark
    opened_file* file_ = nullptr;
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/change_stamp.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_CHANGE_STAMP_HPP
