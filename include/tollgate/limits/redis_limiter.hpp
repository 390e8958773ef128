#pragma once
#ifndef TOLLGATE_LIMITS_REDIS_LIMITER_HPP
#define TOLLGATE_LIMITS_REDIS_LIMITER_HPP

#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/rate_limiter.hpp>
#include <tollgate/limits/window_limiter.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// The way in which requests are decided while Redis is unavailable.
enum class without_redis : std::uint8_t {
    count_here,  ///< each node counts requests separately, in a `window_limiter`: N nodes admit up to N times the quota
    admit,       ///< all requests are admitted and nothing is counted
    refuse,      ///< all requests are refused with 429 and a reset in one second, because a limiter has no other way to refuse
};

/// Settings of a `redis_limiter`.
struct redis_limiter_settings {
    /// Prefix of every key. Limiters with the same prefix share windows.
    std::string prefix = "tollgate:";
    without_redis when_down = without_redis::count_here;
    /// The capacity of `count_here`.
    key_capacity counted_here{};
    /// Time limit for connecting, including TLS and AUTH: above zero, at most an hour.
    milliseconds connect_wait_max{200};
    /// Time limit for the reply: above zero, at most an hour.
    milliseconds response_wait_max{100};
    /// The PEM file of the trusted authorities, for `rediss`. Empty: the authorities of the system.
    std::string authorities_file{};
    /// Called once when Redis becomes unavailable (also if it is unavailable from the start), and once when it is available again. It runs
    /// on the thread that noticed the change, must return quickly, and must not call the limiter.
    std::function<void(bool up, std::string_view reason)> on_state{};
};

/// Counts in Redis, so that any number of nodes share one exact window. Like a window of `window_limiter`, it starts with a key's first
/// request, at any node.
///
/// **A request is one round trip** of a script that checks and counts atomically, so all nodes together admit exactly
/// the quota. Requests that arrive while a round trip is in progress share the next one, and its command, unless the
/// server refuses several keys in a command, as Redis Cluster does. A node repeats its refusals for up to 100 ms without
/// a round trip, but never after their window or under another quota, so a client that retries at once after a 429 does
/// not load Redis.
///
/// **Time** is the server's: `now` is ignored while Redis is available, and `resets_at` is server time, which is the same on every node.
/// Windows expire by themselves.
///
/// **A changed quota** applies at once. A window that has ended stays ended even if the new quota's window is longer,
/// because its key is gone. (`window_limiter` may still have the key, and then continues the window.)
///
/// **Without Redis** nothing fails and nothing waits: the first call to Redis that fails marks it as unavailable. From then on, `when_down`
/// decides requests, and one request at a time probes Redis: after 100 ms at first, later every 2 s at most. If a key holds a value of
/// another type (WRONGTYPE), `when_down` decides for that key alone.
///
/// It needs Redis 5 or later, with `maxmemory-policy noeviction`: the window of an evicted key starts again.
///
/// **Threads**: any number. Nothing is thrown. Move or destroy the limiter only while no call is running.
class redis_limiter {
public:
    /// Calls may wait for Redis.
    static constexpr bool blocking = true;

    /// Parses `redis://[user[:password]@]host[:port][/database]`, or `rediss://` for TLS; an IPv6 address is in
    /// brackets, and user and password are percent-encoded. Does not connect. Error (invalid) for any other URL, for an `authorities_file`
    /// that cannot be read, and for a time limit outside its bounds; the message never quotes the URL, which may contain a password.
    [[nodiscard]] static TOLLGATE_DECL result<redis_limiter> open(std::string_view url,
                                                                  const redis_limiter_settings& settings = {});

    /// Checks a URL as `open` does.
    [[nodiscard]] static TOLLGATE_DECL result<void> validate(std::string_view url);

    /// Movable while no other thread uses the limiter. A limiter that was moved from can only be destroyed or assigned to.
    TOLLGATE_DECL redis_limiter(redis_limiter&&) noexcept;
    TOLLGATE_DECL redis_limiter& operator=(redis_limiter&&) noexcept;
    TOLLGATE_DECL ~redis_limiter();

    /// Implements `rate_limiter`.
    [[nodiscard]] TOLLGATE_DECL limit_decision take(const limit_key& key, const quota& allowed, instant now) noexcept;
    [[nodiscard]] TOLLGATE_DECL limit_decision peek(const limit_key& key, const quota& allowed, instant now) noexcept;

    /// `take` and `peek` without a round trip: the refusal that `take` got at most 100 ms ago; empty if there is none.
    [[nodiscard]] TOLLGATE_DECL std::optional<limit_decision> try_take(const limit_key& key, const quota& allowed, instant now) noexcept;
    [[nodiscard]] TOLLGATE_DECL std::optional<limit_decision> try_peek(const limit_key& key, const quota& allowed, instant now) noexcept;

    /// Reads the certificate authorities again: those of the system, or of `authorities_file`. They apply to the next connection. Error
    /// (invalid), and nothing changes: they cannot be used. Without TLS, does nothing.
    [[nodiscard]] TOLLGATE_DECL result<void> reload_authorities() noexcept;

    /// Tests Redis by counting once under a separate key; returns whether that succeeded. Call it at the start, so that `on_state` reports
    /// a Redis that is down, and in health checks. It also fails if Redis refuses writes. Waits at most for `connect_wait_max` plus
    /// `response_wait_max`.
    TOLLGATE_DECL bool try_now() noexcept;
    /// Returns true if the last contact with Redis succeeded, and before the first contact.
    [[nodiscard]] TOLLGATE_DECL bool is_up() const noexcept;
    /// Returns the uses of the connections, and the number of windows of requests that `when_down` decided. Each call of `take` counts, and
    /// each refused call of `peek`, because no `take` follows it.
    [[nodiscard]] TOLLGATE_DECL backend_statistics statistics() const noexcept;

private:
    struct state;
    explicit redis_limiter(std::unique_ptr<state> initial) noexcept;

    std::unique_ptr<state> state_;
};

static_assert(rate_limiter<redis_limiter>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/redis_limiter.ipp>
#endif

#endif  // TOLLGATE_LIMITS_REDIS_LIMITER_HPP
