#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace tollgate::inline v0::server_detail {

/// Counts connections against their bounds, in all and by address (an IPv6 address by its /64, which one household or
/// one attacker has whole). May be used by several threads at the same time.
class connection_limiter {
public:
    enum class decision : std::uint8_t {
        accepted,
        refused,  ///< over a bound: answer 503 and close
        dropped,  ///< over a bound, and too many are being told so already: close at once
    };

    connection_limiter(std::size_t connections_max, std::size_t per_address_max) noexcept
        : connections_max_{connections_max}, per_address_max_{per_address_max} {}

    /// Each decision but `dropped` is given back with `release` when the connection ends. Never throws: without memory to
    /// count with, the decision is `dropped`.
    [[nodiscard]] TOLLGATE_DECL decision admit(const ip_address& from) noexcept;
    TOLLGATE_DECL void release(const ip_address& from, decision as) noexcept;

private:
    static constexpr std::size_t refused_max = 256;  // a courtesy to clients in good faith, not to a flood

    using key = std::array<std::uint8_t, 16>;
    struct key_hash {
        [[nodiscard]] TOLLGATE_DECL std::size_t operator()(const key& one) const noexcept;
    };
    static TOLLGATE_DECL key key_of(const ip_address& from) noexcept;

    const std::size_t connections_max_;
    const std::size_t per_address_max_;  // 0: not counted
    std::mutex mutex_;
    std::size_t connections_ = 0;
    std::size_t refused_ = 0;
    std::unordered_map<key, std::size_t, key_hash> by_address_;  // at most connections_max_ entries
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/connection_limiter.ipp>
#endif
