#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_REDIS_RECENT_REFUSALS_HPP
#define TOLLGATE_LIMITS_DETAIL_REDIS_RECENT_REFUSALS_HPP

#include <tollgate/base/detail/hash.hpp>
#include <tollgate/limits/detail/locked_sets.hpp>
#include <tollgate/limits/detail/redis/window_script.hpp>
#include <tollgate/limits/detail/window_set.hpp>
#include <tollgate/model/quota.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace tollgate::inline v0::redis {

/// Refusals of the last 100 ms. They are repeated without a round trip, so that a client that retries at once after a 429 does not load
/// Redis. A refusal is forgotten when its window ends, or when a newer one needs its place, and applies to its quota only.
///
/// Memory: 160 KiB, touched on first use. Thread rule: any thread. Times are milliseconds since this machine was booted.
class recent_refusals {
public:
    /// `seed` must be secret: otherwise, clients could choose addresses that replace the refusals of others.
    explicit recent_refusals(const tollgate::detail::siphash_key& seed) : seed_{seed}, sets_{keys_max, keys_max} {}

    [[nodiscard]] std::optional<limit_decision> find(const limit_key& key, const tollgate::detail::bounded_quota& allowed,
                                                     std::int64_t now) const noexcept {
        const std::size_t index = index_of(key);
        const std::scoped_lock held{sets_.lock_of(index)};
        const refusal& known = sets_[index];
        if (now >= known.ends_at || known.key != key.value() || known.kind != key.kind() || known.requests != allowed.requests ||
            known.window_seconds != allowed.window_seconds)
            return std::nullopt;
        return allowed.to_decision(false, allowed.requests, known.window_began_at);
    }

    /// Adds the refusal that `reply` is. `sent_at`: a time before the request was sent.
    void add(const window_request& refused, const window_reply& reply, std::int64_t sent_at) noexcept {
        const std::int64_t window_left = refused.allowed.end_of(reply.began_at_milliseconds) - reply.now_milliseconds;
        const std::size_t index = index_of(refused.key);
        const std::scoped_lock held{sets_.lock_of(index)};
        sets_[index] = {refused.key.value(), reply.began_at_milliseconds, sent_at + (std::min)(milliseconds_max, window_left),
                        refused.allowed.requests, refused.allowed.window_seconds, refused.key.kind()};
    }

private:
    static constexpr std::size_t keys_max = 4096;
    static constexpr std::int64_t milliseconds_max = 100;

    struct refusal {
        static constexpr std::size_t ways = 1;
        std::uint64_t key;
        std::int64_t window_began_at;  // by the server's clock
        std::int64_t ends_at;          // 0 in a free place
        std::uint32_t requests;
        std::uint32_t window_seconds;
        limit_kind kind;
    };

    [[nodiscard]] std::size_t index_of(const limit_key& key) const noexcept {
        return sets_.index_of(tollgate::detail::siphash(seed_, key.value()));
    }

    tollgate::detail::siphash_key seed_;
    tollgate::detail::locked_sets<refusal> sets_;
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_LIMITS_DETAIL_REDIS_RECENT_REFUSALS_HPP
