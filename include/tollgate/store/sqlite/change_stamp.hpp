#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/outcome.hpp>
#include <tollgate/store/sqlite/database.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace tollgate::sqlite {

/// What a database holds, as a number that no other content has: equal marks, equal content.
struct change_mark {
    std::array<std::uint64_t, 6> words{};

    friend bool operator==(const change_mark&, const change_mark&) noexcept = default;
};

/// Says in a few nanoseconds, without a system call, whether anything was committed to a database file since the last
/// time one asked, by any connection of any process.
///
/// It reads what SQLite itself reads to find out: the header of the write-ahead log's index, 48 bytes of shared memory
/// that every commit rewrites with a new change counter, the new end of the log, a checksum over the whole log and the
/// log's salts (https://www.sqlite.org/walformat.html section 2.1). A commit shows here the moment it shows to a SELECT.
///
/// The rule for whoever keeps what they read: ask for the mark BEFORE the query, and use the answer again only while the
/// mark is equal. A commit in between then makes a good answer look old, never an old one look good. `row_cache` does so.
///
/// Thread rule: `read` from any thread. Movable; addresses of the mapping stay.
class change_stamp {
public:
    /// Takes a connection of its own, and keeps it: SQLite unmaps the header with the last connection of the process.
    /// One that may write makes an empty commit where the log is new, so that there is a mark from the start.
    static TOLLGATE_DECL outcome<change_stamp> watch(database connection);

    /// None when it cannot be known now: a commit is being published, the log has never been written to, or the file
    /// system has no shared memory. Ask the database then.
    [[nodiscard]] std::optional<change_mark> read() const noexcept {
        if (header_ == nullptr) return std::nullopt;
        // Two copies; a writer stores the second first, so that two equal ones are whole (SQLite's walIndexTryHdr).
        const change_mark first = copy(0);
        const change_mark second = copy(1);
        if (first != second || !names_content(first)) return std::nullopt;
        return first;
    }

private:
    /// The header's layout (struct WalIndexHdr): iVersion, unused, iChange, isInit, bigEndCksum, szPage, mxFrame, nPage,
    /// aFrameCksum[2], aSalt[2], aCksum[2].
    static constexpr std::size_t words_per_copy = 6;
    static constexpr std::size_t is_init_offset_bytes = 12;
    static constexpr std::size_t salts_word = 4;

    change_stamp(database connection, std::uint64_t* header) noexcept
        : connection_{std::move(connection)}, header_{header} {}

    /// Word by word and in order: another process may be writing.
    [[nodiscard]] change_mark copy(std::size_t which) const noexcept {
        change_mark made;
        for (std::size_t i = 0; i < words_per_copy; ++i)
            made.words[i] = std::atomic_ref{header_[which * words_per_copy + i]}.load(std::memory_order_acquire);
        return made;
    }

    /// Salts are zero only while the log is empty and its index new. After a crash at the wrong moment that can be twice
    /// with commits in between, so it names no content.
    [[nodiscard]] static bool names_content(const change_mark& mark) noexcept {
        char bytes[sizeof mark.words];
        std::memcpy(bytes, mark.words.data(), sizeof bytes);
        return bytes[is_init_offset_bytes] != 0 && mark.words[salts_word] != 0;
    }

    database connection_;
    std::uint64_t* header_;  // null: no shared memory, so no mark; never written, but an atomic_ref takes no const before C++26
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/sqlite/change_stamp.ipp>
#endif
