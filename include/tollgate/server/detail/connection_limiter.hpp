#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_CONNECTION_LIMITER_HPP
#define TOLLGATE_SERVER_DETAIL_CONNECTION_LIMITER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/ip_address.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tollgate::inline v0::server_detail {

enum class admission : std::uint8_t {
    accepted,
    full,          ///< too many connections: replace the longest idle one, or answer 503 and close
    address_full,  ///< too many from this address: answer 503 and close
    dropped,       ///< over a bound, with too many refusals in progress: close at once
};

/// What a client has not taken yet of a connection's responses.
struct unsent_output {
    std::size_t bytes = 0;
    std::optional<user_id> user{};  ///< the user for whom the responses are, if known

    friend bool operator==(const unsent_output&, const unsent_output&) = default;
};

/// Counts connections, and the bytes that their clients have not taken yet, against the bounds, in total and by client address (an IPv6
/// address by its /64, which one subscriber controls); the bytes also by user. Thread-safe.
class connection_limiter {
public:
    /// Refusals in progress. Further connections are closed without a response, which bounds the cost of a flood.
    static constexpr std::size_t refusals_max = 256;
    /// The number of these refusals that are for addresses over their own bound: such an address cannot use up the refusals and
    /// replacements of others.
    static constexpr std::size_t address_refusals_max = refusals_max / 2;

    /// The bound of an address does not apply to those in `shared_addresses`. Throws std::runtime_error if OpenSSL returns no random bytes.
    connection_limiter(std::size_t connections_max, std::size_t per_address_max, std::vector<ip_network> shared_addresses = {},
                       std::size_t unsent_bytes_max = (std::numeric_limits<std::size_t>::max)())
        : connections_max_{connections_max},
          per_address_max_{per_address_max},
          shared_addresses_{std::move(shared_addresses)},
          unsent_bytes_max_{unsent_bytes_max} {}

    /// Each admission except `dropped` is returned with `release` when the connection ends. Never throws: without memory
    /// to count, the result is `dropped`.
    [[nodiscard]] TOLLGATE_DECL admission admit(const ip_address& from) noexcept;
    TOLLGATE_DECL void release(const ip_address& from, admission admitted) noexcept;

    /// Counts the unsent output of an accepted connection, which was `before`, as `after`. False, and nothing changes: it is more than
    /// before, and too much, or there is no memory to count it. An address may have a quarter of all, and so may a user, so that three
    /// cannot take the memory of a fourth.
    [[nodiscard]] TOLLGATE_DECL bool hold_unsent(const ip_address& from, const unsent_output& before, const unsent_output& after) noexcept;

    /// Turns an admission `full` into accepted, because another connection is closed in its place.
    [[nodiscard]] TOLLGATE_DECL admission replace(const ip_address& from) noexcept;

private:
    using key = std::array<std::uint8_t, 16>;
    /// Uses a random key: the owner of many networks could choose some that share a bucket, and each search of it would hold the lock.
    struct key_hash {
        [[nodiscard]] std::size_t operator()(const key& one) const noexcept {
            return hash({reinterpret_cast<const char*>(one.data()), one.size()});
        }
        tollgate::detail::keyed_hash hash;
    };
    struct counts {
        std::size_t connections = 0;
        std::size_t unsent_bytes = 0;
    };
    static TOLLGATE_DECL key key_of(const ip_address& from) noexcept;
    /// Returns true if connections from there are counted by address.
    [[nodiscard]] TOLLGATE_DECL bool is_counted(const ip_address& from) const noexcept;
    [[nodiscard]] std::size_t unsent_share_max() const noexcept { return unsent_bytes_max_ / 4; }
    [[nodiscard]] TOLLGATE_DECL bool hold_for_user(const unsent_output& before, const unsent_output& after) noexcept;
    TOLLGATE_DECL admission admit_below(std::size_t connections_max, const ip_address& from) noexcept;

    const std::size_t connections_max_;
    const std::size_t per_address_max_;
    const std::vector<ip_network> shared_addresses_;
    const std::size_t unsent_bytes_max_;
    std::mutex mutex_;
    std::size_t connections_ = 0;
    std::size_t unsent_bytes_ = 0;
    std::size_t refusals_ = 0;
    std::size_t address_refusals_ = 0;  // refusals of addresses over their own bound
    std::unordered_map<key, counts, key_hash> by_address_;  // at most one entry per connection
    std::unordered_map<user_id, std::size_t, tollgate::detail::keyed_hash> unsent_by_user_;  // never zero
};

}  // namespace tollgate::server_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/server/detail/connection_limiter.ipp>
#endif

#endif  // TOLLGATE_SERVER_DETAIL_CONNECTION_LIMITER_HPP
