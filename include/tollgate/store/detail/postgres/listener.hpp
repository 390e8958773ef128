#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/store/detail/cache_invalidation_feed.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

namespace tollgate::inline v0::postgres {

/// Hears (LISTEN) when deliveries become due, and what is changed of the rows that are remembered, whoever did it: on
/// one connection and one thread of its own, which come with the first question, or at once where rows are remembered.
/// A connection that broke is opened again, as a pool's are.
///
/// **Changes** are told by triggers in the database, on the channel `tollgate_changes`: `users 7 12 ...` (whose rows),
/// or `all`. So those are heard that another node makes, an older release, or somebody by hand. Tables of an
/// integrator's own may tell theirs in the same way: `pg_notify('tollgate_changes', 'users ' || id)`.
///
/// **How old a row may be** that is given out although somebody has changed it: `trusted_for` after the change was
/// committed, and mostly some milliseconds. Each quarter of a second the server is asked for a sign of life, on the very
/// connection on which it tells of changes. It tells in the order in which it committed, and a backend hands out what it
/// was told before it answers the next question. So with the answer to a question asked at a moment `t` there has come
/// what was committed before `t`; only then is it relied on, until `t + trusted_for`. See `cache_invalidation_feed` for why
/// nothing that is older than that is ever given out: not when the connection is cut or hangs, the server stops or
/// sleeps, or this process does. (All of it rests on the server waking listeners when it commits, which it does within
/// microseconds, and without waiting for anything.) After a new LISTEN all is forgotten before anything is relied on.
///
/// Thread rule: any thread.
class listener {
public:
    /// A tenth less than the second that is promised, for what a busy machine needs between looking and giving out.
    static constexpr milliseconds trusted_for{900};
    /// So that two signs of life in a row may be late before anything is forgotten.
    static constexpr milliseconds asked_every{250};

    explicit listener(postgres_database& connections) noexcept : connections_{connections} {}
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    TOLLGATE_DECL ~listener();

    /// From now on what is heard of rows is told to `changes`. To be called before anything else, if at all.
    TOLLGATE_DECL void feed(std::shared_ptr<cache_invalidation_feed> changes) noexcept;

    /// Another number whenever deliveries were heard of, or may have been missed; none while nothing can be heard.
    [[nodiscard]] TOLLGATE_DECL std::optional<std::uint64_t> changes_seen() noexcept;

private:
    using steady = std::chrono::steady_clock;

    TOLLGATE_DECL void start() noexcept;
    TOLLGATE_DECL void listen_until_stopped() noexcept;
    TOLLGATE_DECL void listen_while_connected();
    TOLLGATE_DECL void take_notices(connection& from);
    TOLLGATE_DECL void take_changes(std::string_view told) noexcept;
    /// True when it is time to stop.
    TOLLGATE_DECL bool pause(milliseconds length) noexcept;

    postgres_database& connections_;
    std::shared_ptr<cache_invalidation_feed> changes_;  // null: no rows are remembered
    std::once_flag started_;
    std::atomic<bool> listens_{false};
    std::atomic<bool> stops_{false};
    std::atomic<std::uint64_t> heard_{0};
    int wake_reading_ = -1;
    int wake_writing_ = -1;
    std::thread thread_;
};

}  // namespace tollgate::postgres

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/postgres/listener.ipp>
#endif
