#pragma once

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
    std::uint32_t units_max = 1;  ///< of one key at a time
    std::size_t keys_max = std::size_t{1} << 16;
};

/// Units that were counted at the server and are here to be used, by key.
///
/// A unit is counted before it is used, so that all nodes together never admit more than the quota; what a lease costs
/// is units that nobody uses. It stays small where they could be missed: a key begins with one unit, and gets four times
/// as many the next time if it used its lease up within two seconds; the script gives an eighth of what remains at most;
/// what was not used for eight seconds is handed back with one of this node's next questions. A lease ends, at the
/// latest, with its window. Of a large one that goes quickly the next is asked for when a quarter is left, by one thread,
/// and for so many that there are never more than `units_max`.
///
/// **Memory** is bounded: sets of eight keys, 480 bytes each, set aside at the start and touched when they are needed. A
/// key that finds its set full of leases that are being used takes each unit by itself.
///
/// **Threads**: any number. A call holds one of many small locks for some dozen instructions, and allocates nothing. Of
/// threads that find a lease used up, one asks for the next, and the others for a unit each.
///
/// Moments are those of this machine's steady clock, in milliseconds.
class leases {
public:
    TOLLGATE_DECL leases(const lease_settings& settings, const siphash_key& seed);
    leases(const leases&) = delete;
    leases& operator=(const leases&) = delete;
    TOLLGATE_DECL ~leases();

    /// A unit that is at hand, or a refusal that was heard a moment ago.
    [[nodiscard]] TOLLGATE_DECL std::optional<verdict> take_at_hand(const limit_key& key,
                                                                    const tollgate::detail::bounded_quota& allowed,
                                                                    std::int64_t steady_now) noexcept;

    /// What to ask the server, where no unit is at hand.
    struct asking {
        window_question question;
        bool is_for_lease = false;  ///< then `settle` must follow
    };

    /// The same, if others have brought some meanwhile; else `next` says what to ask.
    [[nodiscard]] TOLLGATE_DECL std::optional<verdict> take(const limit_key& key,
                                                            const tollgate::detail::bounded_quota& allowed,
                                                            std::int64_t steady_now, asking& next) noexcept;
    /// The same of what a unit would be told, and uses none.
    [[nodiscard]] TOLLGATE_DECL std::optional<verdict> peek(const limit_key& key,
                                                            const tollgate::detail::bounded_quota& allowed,
                                                            std::int64_t steady_now) const noexcept;

    /// Puts the answer's units here, but for the one that is used now; null when there was none. `asked_at` is from
    /// before the question was sent. What is to be told; without an answer, only if it is admitted: there was a unit all
    /// the same.
    TOLLGATE_DECL verdict settle(const asking& asked, const window_answer* answered, std::int64_t asked_at) noexcept;

    /// Takes back what was not used for long; at most one lease a call.
    [[nodiscard]] TOLLGATE_DECL std::optional<window_question> take_back(std::int64_t steady_now) noexcept;

    [[nodiscard]] TOLLGATE_DECL std::size_t memory_bytes() const noexcept;

private:
    struct table;
    std::unique_ptr<table> table_;
};

}  // namespace tollgate::redis

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/detail/redis/leases.ipp>
#endif
