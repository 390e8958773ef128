#pragma once

#include <tollgate/base/detail/bounded_time.hpp>
#include <tollgate/store/detail/sqlite/migrations.hpp>
#include <tollgate/store/sqlite_database.hpp>

#if !defined(_WIN32)
#include <sys/stat.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

namespace tollgate::inline v0 {

namespace sqlite {

/// Whether the paths still name the opened database, its log and the log's index, by which processes coordinate. If one was deleted or
/// replaced, writes would succeed and be lost.
class opened_file {
public:
    /// Precondition: a connection is open that has read.
    explicit opened_file(const std::string& path)
        : path_{absolute(path)}, files_{watch(path_), watch(resolved(path) + "-wal"), watch(resolved(path) + "-shm")} {}

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// Three system calls of a microsecond. True where files cannot be distinguished.
    [[nodiscard]] bool is_in_place() const noexcept {
        return std::all_of(files_.begin(), files_.end(),
                           [](const watched& each) { return !each.opened || identity_of(each.path) == each.opened; });
    }
    /// The same, but looked at no more than once a second.
    [[nodiscard]] bool was_in_place() noexcept {
        const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
        if (now >= next_check_.load(std::memory_order_relaxed)) {
            next_check_.store(now + std::chrono::steady_clock::duration{std::chrono::seconds{1}}.count(), std::memory_order_relaxed);
            was_in_place_.store(is_in_place(), std::memory_order_relaxed);
        }
        return was_in_place_.load(std::memory_order_relaxed);
    }

private:
    using identity = std::pair<std::uint64_t, std::uint64_t>;  // device and number
    struct watched {
        std::string path;
        std::optional<identity> opened;  // empty: there was no such file
    };

    static watched watch(std::string path) {
        const auto opened = identity_of(path);
        return {std::move(path), opened};
    }
    /// The program may change its directory. Other texts, such as `:memory:`, name no file.
    static std::string absolute(const std::string& path) {
        std::error_code failed;
        const auto full = std::filesystem::absolute(path, failed);
        return !failed && std::filesystem::exists(full, failed) ? full.string() : path;
    }
    /// SQLite keeps the log beside the file, not beside a symbolic link to it.
    static std::string resolved(const std::string& path) {
        std::error_code failed;
        const auto real = std::filesystem::canonical(path, failed);
        return failed ? path : real.string();
    }
    static std::optional<identity> identity_of([[maybe_unused]] const std::string& path) noexcept {
#if !defined(_WIN32)
        struct stat found{};
        if (::stat(path.c_str(), &found) == 0)
            return identity{found.st_dev, found.st_ino};
#endif
        return std::nullopt;
    }

    const std::string path_;
    const std::array<watched, 3> files_;
    std::atomic<std::chrono::steady_clock::rep> next_check_{0};
    std::atomic<bool> was_in_place_{true};
};

}  // namespace sqlite

struct sqlite_database::state {
    state(const std::string& path, const sqlite_database_settings& settings_, sqlite::change_stamp watched)
        : settings{settings_},
          file{path},
          readers{pool_of(path, settings.readers_max), opener_of(file.path(), true)},
          writers{pool_of(path, 1), opener_of(file.path(), false)},
          changes{std::move(watched)} {}

    static reconnecting_pool_settings pool_of(const std::string& path, std::size_t connections_max) {
        // A file that cannot be opened needs no protection from retries: every caller tries.
        return {.name = "SQLite: " + path, .connections_max = connections_max, .longest_pause = milliseconds{0}};
    }

    [[nodiscard]] connections::opener opener_of(const std::string& path, bool read_only) const {
        return [path, connection_settings = sqlite::database_settings{settings.busy_wait_max, read_only, settings.vfs}]()
                   -> result<std::unique_ptr<sqlite::database>> {
            auto opened = sqlite::database::open(path, connection_settings);
            if (!opened) return std::move(opened).error();
            return std::make_unique<sqlite::database>(*std::move(opened));
        };
    }

    /// The end of a wait that begins now. Beyond the bounds, times could overflow.
    static std::chrono::steady_clock::time_point end_of(milliseconds wait_max) {
        return std::chrono::steady_clock::now() + (std::clamp)(wait_max, milliseconds{0}, detail::bounded_time::longest);
    }

    result<lease> take(connections& from, std::chrono::steady_clock::time_point end) {
        using steady = std::chrono::steady_clock;
        const auto now = steady::now();
        end = (std::clamp)(end, now, now + detail::bounded_time::longest);
        const auto time_left = [end] {
            return (std::max)(std::chrono::ceil<milliseconds>(end - steady::now()), milliseconds{0});
        };
        // Checked for each write, because writes are acknowledged, and before a connection is opened, which could create another file.
        const bool is_in_place = &from == &writers ? file.is_in_place() : file.was_in_place();
        // Rows are returned from caches no longer than that without a look at the file.
        changes.trust_until(is_in_place ? now + std::chrono::seconds{1} : now);
        if (!is_in_place)
            return unavailable(
                "SQLite: the file, or its -wal or -shm file, was deleted or replaced while it was open; put it back, or restart: " +
                file.path());
        auto taken = from.take(time_left());
        if (!taken) return taken;
        // What is left of the time is for the lock of the file.
        (*taken)->set_busy_wait_max(time_left());
        return taken;
    }

    const sqlite_database_settings settings;
    sqlite::opened_file file;
    connections readers;
    connections writers;
    sqlite::change_stamp changes;
};

TOLLGATE_DECL sqlite_database::sqlite_database(std::unique_ptr<state> initial) noexcept : state_{std::move(initial)} {}
TOLLGATE_DECL sqlite_database::sqlite_database(sqlite_database&&) noexcept = default;
TOLLGATE_DECL sqlite_database& sqlite_database::operator=(sqlite_database&&) noexcept = default;
TOLLGATE_DECL sqlite_database::~sqlite_database() = default;

TOLLGATE_DECL result<sqlite_database> sqlite_database::open(const std::string& path,
                                                             const sqlite_database_settings& settings) {
    if (settings.readers_max == 0) return invalid("A database needs at least one reading connection.");
    auto first = sqlite::database::open(path, {start_wait_max, false, settings.vfs});
    if (!first) return std::move(first).error();
    first->set_busy_wait_max(settings.busy_wait_max);
    auto watched = sqlite::change_stamp::watch(*std::move(first));
    if (!watched) return std::move(watched).error();
    return sqlite_database{std::make_unique<state>(path, settings, *std::move(watched))};
}

TOLLGATE_DECL result<void> sqlite_database::migrate(std::string_view component,
                                                     std::span<const sqlite::statement_text> steps, milliseconds wait_max) {
    auto on = state_->take(state_->writers, state::end_of(wait_max));
    if (!on) return std::move(on).error();
    return sqlite::migrate(**on, component, steps);
}

TOLLGATE_DECL result<schema_status> sqlite_database::check_schema(const std::string& path, std::string_view component,
                                                                  std::span<const sqlite::statement_text> steps,
                                                                  const sqlite_database_settings& settings) {
    return sqlite::read_schema_status(path, {settings.busy_wait_max, true, settings.vfs}, component, steps);
}

TOLLGATE_DECL auto sqlite_database::deadline_from_now(milliseconds wait_max) const noexcept -> deadline {
    return state::end_of((std::min)(wait_max, state_->settings.busy_wait_max));
}

TOLLGATE_DECL auto sqlite_database::reader(deadline end) -> result<lease> {
    return state_->take(state_->readers, end ? *end : *deadline_from_now());
}

TOLLGATE_DECL auto sqlite_database::writer(deadline end) -> result<lease> {
    return state_->take(state_->writers, end ? *end : *deadline_from_now());
}

TOLLGATE_DECL backend_statistics sqlite_database::statistics() const noexcept {
    auto all = state_->readers.statistics() + state_->writers.statistics();
    all.is_up = all.is_up && state_->file.was_in_place();
    return all;
}

TOLLGATE_DECL const sqlite::change_stamp& sqlite_database::changes() const noexcept { return state_->changes; }

}  // namespace tollgate
