#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/detail/sqlite/change_stamp.hpp>
#include <tollgate/store/detail/sqlite/database.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace tollgate::inline v0::sqlite {

struct pool_settings {
    /// Connections that read at the same time, opened as they are needed. A read takes microseconds: more than there
    /// are cores gain nothing, and each costs two file descriptors and up to 2 MB of page cache.
    std::size_t readers_max = 8;
    /// How long a call waits for a connection, and for other processes that write.
    milliseconds busy_wait_max{5000};
    /// The virtual file system to use; empty for the system's own.
    std::string vfs{};
};

/// The connections of one process to one database file: several that read, and one that writes, because SQLite has one
/// writer at a time anyway and here it waits in memory instead of polling a file lock.
///
/// Thread rule: any thread. Blocking. Movable; nothing may be on loan while it moves or dies.
class pool {
public:
    /// A connection on loan; given back at the end of the scope.
    class lease {
    public:
        lease(lease&& other) noexcept
            : from_{std::exchange(other.from_, nullptr)}, lent_{std::exchange(other.lent_, nullptr)} {}
        lease& operator=(lease&&) = delete;
        TOLLGATE_DECL ~lease();

        [[nodiscard]] database& operator*() const noexcept { return *lent_; }
        [[nodiscard]] database* operator->() const noexcept { return lent_; }

    private:
        friend class pool;
        struct shelf;
        lease(shelf& from, database& lent) noexcept : from_{&from}, lent_{&lent} {}

        shelf* from_;
        database* lent_;
    };

    static TOLLGATE_DECL result<pool> open(const std::string& path, const pool_settings& settings = {});

    TOLLGATE_DECL pool(pool&&) noexcept;
    TOLLGATE_DECL pool& operator=(pool&&) noexcept;
    TOLLGATE_DECL ~pool();

    /// Problem (unavailable) when none came free in time.
    [[nodiscard]] TOLLGATE_DECL result<lease> reader();
    [[nodiscard]] TOLLGATE_DECL result<lease> writer();
    /// For what is not worth waiting for: `wait_max` for the connection, and again for other processes. A tenth of a
    /// second is long enough to come after a few commits, and short enough for a request that does something else.
    [[nodiscard]] TOLLGATE_DECL result<lease> writer_soon(milliseconds wait_max = milliseconds{100});

    /// Tells whether anything was committed, by this process or another. Stays where it is when the pool moves.
    [[nodiscard]] TOLLGATE_DECL const change_stamp& changes() const noexcept;

private:
    struct state;
    explicit pool(std::unique_ptr<state> made) noexcept;

    std::unique_ptr<state> state_;
};

}  // namespace tollgate::sqlite

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/sqlite/pool.ipp>
#endif
