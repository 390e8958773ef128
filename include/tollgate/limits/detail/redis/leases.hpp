#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_REDIS_LEASES_HPP
#define TOLLGATE_LIMITS_DETAIL_REDIS_LEASES_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/hash.hpp>
#include <tollgate/limits/detail/redis/window_script.hpp>
#include <tollgate/limits/detail/window_set.hpp>
#include <tollgate/model/quota.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace tollgate::inline v0::redis {

struct lease_settings {
    std::uint32_t units_max = 1;  ///< per key and lease
    std::size_t keys_max = std::size_t{1} << 16;
};

/// Units that were already counted in Redis and can be used without a round trip, by key.
///
/// A unit is counted before it is used, so all nodes together never admit more than the quota. The cost of a lease is
/// unused units. Leases stay small where that could matter: a key starts with one unit, and its next lease is
/// four times larger if the last one was used up within 2 s; the script grants at most an eighth of what remains;
/// what is left of a lease after 8 s is returned with one of the node's next requests. A lease ends no later than its
/// window. For a large lease that is used quickly, one thread requests the next one when a quarter is left, sized so
/// that the key never holds more than `units_max`.
///
/// **Memory** is bounded: sets of eight keys, 448 bytes each, allocated at the start and touched on first use. A key
/// whose set is full of leases in use takes each unit by a round trip.
///
/// **Threads**: any number. A call holds one of many small locks for a few dozen instructions and does not allocate.
/// When several threads find a lease used up, one requests the next lease and the others one unit each.
///
/// Times are milliseconds since this machine was booted, suspension included.
class leases {
public:
    TOLLGATE_DECL leases(const lease_settings& settings, const siphash_key& seed);
    leases(const leases&) = delete;
    leases& operator=(const leases&) = delete;
    TOLLGATE_DECL ~leases();

    /// Takes a unit from a lease, or repeats a refusal that is at most 100 ms old.
    [[nodiscard]] TOLLGATE_DECL std::optional<limit_decision> try_take(const limit_key& key,
                                                                    const tollgate::detail::bounded_quota& allowed,
                                                                    std::int64_t boot_time) noexcept;

    /// A request to send to the server when no unit is available here.
    struct pending_request {
        window_request request;
        bool is_for_lease = false;  ///< then `complete` must follow
    };

    /// Like `try_take`, for when another thread may have added units. Otherwise sets `next` to the request to send.
    [[nodiscard]] TOLLGATE_DECL std::optional<limit_decision> take(const limit_key& key,
                                                            const tollgate::detail::bounded_quota& allowed,
                                                            std::int64_t boot_time, pending_request& next) noexcept;
    /// What `take` would return, without using a unit.
    [[nodiscard]] TOLLGATE_DECL std::optional<limit_decision> peek(const limit_key& key,
                                                            const tollgate::detail::bounded_quota& allowed,
                                                            std::int64_t boot_time) const noexcept;

    /// Adds the granted units, except the one that is used now. `reply` is null when there was none; then a unit that
    /// is still leased is used, and without one the result is not admitted. `sent_at` was taken before the request was
    /// sent.
    TOLLGATE_DECL limit_decision complete(const pending_request& sent, const window_reply* reply, std::int64_t sent_at) noexcept;

    /// Removes what is left of one lease that was granted at least 8 s ago and not renewed since, and returns the request
    /// that gives it back; empty if there is none.
    [[nodiscard]] TOLLGATE_DECL std::optional<window_request> reclaim(std::int64_t boot_time) noexcept;

    [[nodiscard]] TOLLGATE_DECL std::size_t memory_bytes() const noexcept;

private:
    struct table;
    std::unique_ptr<table> table_;
};

}  // namespace tollgate::redis

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/detail/redis/leases.ipp>
#endif

#endif  // TOLLGATE_LIMITS_DETAIL_REDIS_LEASES_HPP
