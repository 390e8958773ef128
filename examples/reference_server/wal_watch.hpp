#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>

struct sqlite3;

namespace reference {

/// What the metrics report about the write-ahead log of SQLite.
struct wal_state {
    std::uintmax_t bytes = 0;
    std::chrono::steady_clock::duration oldest_reader{};  ///< how long a reader has kept the log from being copied into the database
};

/// How long a reader has kept the log from being copied: SQLite copies it up to the oldest reader's place. Until the log is longer than
/// that, a reader is not noticed, and does no harm.
class reader_age {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// What a checkpoint returned: frames in the log, and how many of them are in the database.
    void observe(int frames, int copied, time_point now) noexcept {
        if (frames < 0 || copied < 0) return;  // another process makes a checkpoint
        if (copied >= frames) since_.reset();
        else if (!since_ || copied != copied_) since_ = now;
        copied_ = copied;
    }
    [[nodiscard]] std::chrono::steady_clock::duration at(time_point now) const noexcept {
        return since_ ? now - *since_ : std::chrono::steady_clock::duration{};
    }

private:
    std::optional<time_point> since_;
    int copied_ = 0;
};

/// Observes the write-ahead log of a database, on a connection of its own.
class wal_watch {
public:
    explicit wal_watch(const std::filesystem::path& database);
    wal_watch(const wal_watch&) = delete;
    wal_watch& operator=(const wal_watch&) = delete;
    ~wal_watch();

    /// Makes a checkpoint, which does not wait for readers and writers, if the log has changed or a reader held the last one up.
    void check() noexcept;
    /// As of the last check.
    [[nodiscard]] wal_state state() const;

private:
    const std::filesystem::path log_;
    sqlite3* connection_ = nullptr;
    std::optional<std::filesystem::file_time_type> checked_;  // the log, when it was last checked
    mutable std::mutex mutex_;
    std::uintmax_t bytes_ = 0;
    reader_age age_;
};

}  // namespace reference
