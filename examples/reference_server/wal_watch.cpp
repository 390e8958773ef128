#include "wal_watch.hpp"

#include <sqlite3.h>

#include <string>
#include <system_error>

namespace reference {

wal_watch::wal_watch(const std::filesystem::path& database) : log_{database.string() + "-wal"} {
    // Without a connection, only the size is known. It notices the log when it reads.
    if (::sqlite3_open_v2(database.c_str(), &connection_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) == SQLITE_OK &&
        ::sqlite3_exec(connection_, "PRAGMA schema_version", nullptr, nullptr, nullptr) == SQLITE_OK)
        return;
    ::sqlite3_close(connection_);
    connection_ = nullptr;
}

wal_watch::~wal_watch() { ::sqlite3_close(connection_); }

void wal_watch::check() noexcept {
    std::error_code failed;
    const auto bytes = std::filesystem::file_size(log_, failed);
    const auto written = failed ? std::filesystem::file_time_type{} : std::filesystem::last_write_time(log_, failed);
    const bool is_held_up = state().oldest_reader > std::chrono::steady_clock::duration{};
    int frames = -1, copied = -1;
    // Without the mutex: a disk that hangs must not delay the metrics.
    if (!failed && connection_ != nullptr && (checked_ != written || is_held_up)) {
        checked_ = written;
        if (::sqlite3_wal_checkpoint_v2(connection_, nullptr, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied) != SQLITE_OK) frames = -1;
    }
    const std::lock_guard hold{mutex_};
    bytes_ = failed ? 0 : bytes;
    age_.observe(frames, copied, std::chrono::steady_clock::now());
}

wal_state wal_watch::state() const {
    const std::lock_guard hold{mutex_};
    return {bytes_, age_.at(std::chrono::steady_clock::now())};
}

}  // namespace reference
