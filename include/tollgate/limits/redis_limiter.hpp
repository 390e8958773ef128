#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/rate_limiter.hpp>
#include <tollgate/limits/detail/redis/connection.hpp>
#include <tollgate/limits/detail/redis/leases.hpp>
#include <tollgate/limits/detail/redis/pool.hpp>
#include <tollgate/limits/detail/redis/server_address.hpp>
#include <tollgate/limits/detail/redis/window_script.hpp>
#include <tollgate/limits/window_limiter.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// What becomes of requests while Redis cannot be reached.
enum class without_redis : std::uint8_t {
    count_here,  ///< each node counts by itself, in a `window_limiter`: N nodes admit up to N times the quota
    admit,       ///< all are admitted, and nothing is counted
    refuse,      ///< all are refused, for a second at a time; a limiter's only refusal is the one of a full window (429)
};

/// How a `redis_limiter` shares windows, and what it does while Redis is away.
struct redis_limiter_settings {
    /// Begins the name of each key. Whoever shares it shares the windows.
    std::string prefix = "tollgate:";
    /// Units of a key that a node may take ahead of its requests, and then use without asking; 1 takes each by itself,
    /// and with it no unit of a window is ever left over. At most 1,000,000.
    std::uint32_t lease = 1;
    /// For how many keys a node holds leases at a time; others take each unit by itself.
    std::size_t leased_keys_max = std::size_t{1} << 16;
    without_redis when_down = without_redis::count_here;
    /// What `count_here` has room for.
    key_capacity counted_here{};
    /// Connections of one process, opened as they are needed.
    std::size_t connections_max = 8;
    /// How long connecting may take, TLS and password included.
    milliseconds connect_wait_max{200};
    /// How long a request may wait for a connection, and then for its answer.
    milliseconds answer_wait_max{100};
    /// For `rediss`: PEM file of the authorities that are believed; empty: the system's.
    std::string authorities_file{};
    /// Told once when Redis goes out of reach, and once when it is back; also of a Redis that is down from the start.
    /// Called by the thread that found it out. Must be quick, and ask no limiter.
    std::function<void(bool up, std::string_view why)> on_state{};
};

/// Counts in Redis, so that any number of nodes share one exact window: `window_limiter`'s, started by a key's first
/// request at any of them.
///
/// **A request is one round trip**, of a script that looks and counts at once; exactly as many are admitted as there is
/// room for, at all nodes together. With leases most requests make none, and it still holds that never more are admitted
/// than the quota, for units are counted before they are used. What may happen is that fewer are: a node that dies, or
/// has no requests at all any more, keeps up to `lease - 1` units of a key to itself. A node never leases more than an
/// eighth of what remains, so the last units of a window can be had everywhere; one that has other requests hands back
/// what it did not use.
///
/// **Time** is the server's: `now` counts for nothing while Redis answers, and `resets_at` is in the server's time, the
/// same at each node. Windows expire by themselves.
///
/// **A quota that changes** counts at once. A window that was over under the quota it was last asked with stays over:
/// its key is gone (a window_limiter may remember it, and so opens it again for a longer quota).
///
/// **Without Redis** nothing fails and nothing waits: after the first request to find out, the others are decided as
/// `when_down` says, and one at a time tries again, after 100 ms at first and 2 s at last. A key that holds something
/// else than a window (WRONGTYPE) is decided in the same way, for itself.
///
/// Redis 5 or later, with `maxmemory-policy noeviction`: a key that is evicted is a window that begins anew.
///
/// **Threads**: any number. Nothing is thrown. Movable; nothing may be running while it moves or dies.
class redis_limiter {
public:
    /// It may wait for Redis.
    static constexpr bool blocking = true;

    /// `redis://[user[:password]@]host[:port][/database]`, or `rediss://` for TLS; an IPv6 address stands in brackets,
    /// and user and password are percent-encoded. Does not connect yet. Error (invalid) for another URL, or an
    /// `authorities_file` that cannot be used; it does not quote the URL, which may hold a password.
    [[nodiscard]] static TOLLGATE_DECL result<redis_limiter> open(std::string_view url,
                                                                  const redis_limiter_settings& settings = {});

    /// Whether `open` takes the URL.
    [[nodiscard]] static TOLLGATE_DECL result<void> validate(std::string_view url);

    /// Movable while no other thread uses it; not copyable.
    TOLLGATE_DECL redis_limiter(redis_limiter&&) noexcept;
    TOLLGATE_DECL redis_limiter& operator=(redis_limiter&&) noexcept;
    TOLLGATE_DECL ~redis_limiter();

    /// The contract `rate_limiter`.
    [[nodiscard]] TOLLGATE_DECL verdict take(const limit_key& key, const quota& allowed, instant now) noexcept;
    [[nodiscard]] TOLLGATE_DECL verdict peek(const limit_key& key, const quota& allowed, instant now) noexcept;

    /// `take` and `peek` without asking Redis: from a lease, or from a refusal of a moment ago; empty where there is none.
    [[nodiscard]] TOLLGATE_DECL std::optional<verdict> try_take(const limit_key& key, const quota& allowed, instant now) noexcept;
    [[nodiscard]] TOLLGATE_DECL std::optional<verdict> try_peek(const limit_key& key, const quota& allowed, instant now) noexcept;

    /// Asks Redis something of no consequence, so that `on_state` tells now of one that is down. Whether it answered.
    TOLLGATE_DECL bool try_now() noexcept;
    /// Whether the last that was heard of Redis was good. True at the start.
    [[nodiscard]] TOLLGATE_DECL bool is_up() const noexcept;

private:
    struct state;
    explicit redis_limiter(std::unique_ptr<state> made) noexcept;

    std::unique_ptr<state> state_;
};

static_assert(rate_limiter<redis_limiter>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/redis_limiter.ipp>
#endif
