#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/hash.hpp>
#include <tollgate/contract/rate_limiter.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tollgate::inline v0 {

/// How many keys a window_limiter counts at a time; each number is rounded up to a power of two. 24 bytes a key, set
/// aside at the start and touched when they are needed: 6 MiB for each of the defaults, which is room for 73 new
/// addresses every second with a window of an hour.
struct key_capacity {
    std::size_t users = std::size_t{1} << 18;
    std::size_t addresses = std::size_t{1} << 18;
};

/// The default limiter: an exact fixed window that starts with a key's first request.
///
/// **Memory** is bounded and never grows. Users and addresses have a table each, so that a flood of addresses costs no
/// user their window. A table is made of sets of eight keys, and a secret hash says which set a key belongs to. Where a
/// ninth comes, it takes the place of one whose window is over, else of the one with the fewest requests counted, of
/// equals the oldest: whoever is forgotten had used the least, and begins anew. So overflow admits too much, never too
/// little, and who is close to the limit stays counted.
///
/// **Time** may go backwards: a window then ends one length after the present at the latest, and keeps its count. A new
/// quota, its window's length too, counts from the next call on.
///
/// **Threads**: any number. A call holds one of many small locks for some dozen instructions, and allocates nothing.
class window_limiter {
public:
    /// The default capacity, and a seed that OpenSSL gives. Throws std::runtime_error when it gives none.
    TOLLGATE_DECL window_limiter();
    TOLLGATE_DECL explicit window_limiter(const key_capacity& capacity);
    /// `seed` is what strangers must not know; a fixed one is for tests.
    TOLLGATE_DECL window_limiter(const key_capacity& capacity, const siphash_key& seed);

    /// Whoever was moved from may only be destroyed or assigned to.
    TOLLGATE_DECL window_limiter(window_limiter&&) noexcept;
    TOLLGATE_DECL window_limiter& operator=(window_limiter&&) noexcept;
    TOLLGATE_DECL ~window_limiter();

    /// The contract `rate_limiter`.
    [[nodiscard]] TOLLGATE_DECL verdict take(const limit_key& key, const quota& allowed, instant now) noexcept;
    [[nodiscard]] TOLLGATE_DECL verdict peek(const limit_key& key, const quota& allowed, instant now) const noexcept;

    /// All the memory that it will ever use.
    [[nodiscard]] TOLLGATE_DECL std::size_t memory_bytes() const noexcept;

private:
    class table;

    std::unique_ptr<table> users_;
    std::unique_ptr<table> addresses_;
};

static_assert(rate_limiter<window_limiter>);

/// Admits everything: for an API behind a gateway that counts already. The fields say that the whole window remains.
struct unlimited {
    [[nodiscard]] constexpr verdict take(const limit_key& key, const quota& allowed, instant now) const noexcept {
        return peek(key, allowed, now);
    }
    [[nodiscard]] constexpr verdict peek(const limit_key&, const quota& allowed, instant now) const noexcept {
        return {true, allowed.requests, allowed.requests, now + allowed.window};
    }
};

static_assert(rate_limiter<unlimited>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/window_limiter.ipp>
#endif
