#pragma once
#ifndef TOLLGATE_LIMITS_WINDOW_LIMITER_HPP
#define TOLLGATE_LIMITS_WINDOW_LIMITER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/hash.hpp>
#include <tollgate/contract/rate_limiter.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tollgate::inline v0 {

/// The number of keys that a window_limiter counts at once: 1 to 2^31. A smaller or larger number counts as the nearest bound, and each
/// number is rounded up to a power of two. A key takes 24 bytes, allocated at the start and touched on first use: 6 MiB for each default,
/// which is enough for 73 new addresses a second with a window of one hour.
struct key_capacity {
    std::size_t users = std::size_t{1} << 18;
    std::size_t addresses = std::size_t{1} << 18;
};

/// The default limiter. It has an exact fixed window that starts with a key's first request.
///
/// **Memory** is bounded and never grows. Users and addresses have separate tables, so a flood of addresses evicts no user. A table
/// consists of sets of eight keys; a keyed hash selects the set. When a set is full, a new key replaces a key whose window has ended, or
/// otherwise the key with the fewest requests; of several with equally few, the oldest. The evicted key starts a new window, so overflow
/// can only admit too many requests, never too few, and keys close to their limit are kept.
///
/// **Time** may go backwards: a window then ends at most one length after the present and keeps its count. A new quota,
/// including its window length, applies from the next call.
///
/// **Threads**: any number. A call holds one of many small locks for a few dozen instructions and does not allocate.
class window_limiter {
public:
    /// The counts are in memory.
    static constexpr bool blocking = false;

    /// Constructs a limiter with the default or given capacity, and a random hash key from OpenSSL. Throws std::runtime_error when OpenSSL
    /// has no random bytes, and std::bad_alloc.
    TOLLGATE_COLD window_limiter();
    TOLLGATE_COLD explicit window_limiter(const key_capacity& capacity);
    /// Constructs a limiter with the hash key `seed`, which must be secret; otherwise, clients could choose addresses that evict others.
    /// Use a fixed seed only in tests.
    TOLLGATE_COLD window_limiter(const key_capacity& capacity, const detail::siphash_key& seed);

    /// Moves the tables. A moved-from limiter may only be destroyed or assigned to.
    TOLLGATE_COLD window_limiter(window_limiter&&) noexcept;
    TOLLGATE_DECL window_limiter& operator=(window_limiter&&) noexcept;
    TOLLGATE_COLD ~window_limiter();

    /// Implements `rate_limiter`. Any thread may call it. It never blocks.
    [[nodiscard]] TOLLGATE_DECL limit_decision take(const limit_key& key, const quota& allowed, instant now) noexcept;
    [[nodiscard]] TOLLGATE_DECL limit_decision peek(const limit_key& key, const quota& allowed, instant now) const noexcept;

    /// Returns the size of the tables in bytes, which does not change.
    [[nodiscard]] TOLLGATE_DECL std::size_t memory_bytes() const noexcept;

private:
    class table;

    std::unique_ptr<table> users_;
    std::unique_ptr<table> addresses_;
};

static_assert(rate_limiter<window_limiter>);

/// Admits every request, for an API behind a gateway that already limits requests. The response fields report the whole quota as remaining.
struct unlimited {
    static constexpr bool blocking = false;

    /// Implements `rate_limiter`.
    [[nodiscard]] constexpr limit_decision take(const limit_key& key, const quota& allowed, instant now) const noexcept {
        return peek(key, allowed, now);
    }
    /// Implements `rate_limiter`.
    [[nodiscard]] constexpr limit_decision peek(const limit_key&, const quota& allowed, instant now) const noexcept {
        return limit_decision::unused(allowed, now);
    }
};

static_assert(rate_limiter<unlimited>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/window_limiter.ipp>
#endif

#endif  // TOLLGATE_LIMITS_WINDOW_LIMITER_HPP
