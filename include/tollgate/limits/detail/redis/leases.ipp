#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_REDIS_LEASES_IPP
#define TOLLGATE_LIMITS_DETAIL_REDIS_LEASES_IPP

#include <tollgate/limits/detail/locked_sets.hpp>
#include <tollgate/limits/detail/redis/leases.hpp>

#include <algorithm>
#include <mutex>

namespace tollgate::inline v0::redis {

struct leases::table {
    static constexpr std::int64_t quick_milliseconds = 2000;   // a lease should be used up within this time
    static constexpr std::int64_t stale_milliseconds = 8000;   // what is left of a lease is returned after this time
    static constexpr std::int64_t refusal_milliseconds = 100;  // how long a refusal is repeated without a round trip
    static constexpr std::uint32_t early_size_min = 64;        // leases of this size and above are renewed early

    struct slot {
        std::int64_t began_at;    // start of the window, server time
        std::int64_t ends_at;     // end of the window, since boot; 0 in a free slot
        std::int64_t leased_at;   // time of the last lease or refusal
        std::uint32_t units;      // left of the lease
        std::uint32_t remaining;  // of the window, not leased by this node
        std::uint32_t requests;   // the quota of the lease
        std::uint32_t window_seconds;
        std::uint32_t size;  // of the last lease; 0 after a refusal
        limit_kind kind;
        bool is_pending;  // a request is under way; the slot must not be reused
    };
    struct alignas(64) set {
        static constexpr std::size_t ways = 8;
        std::uint64_t keys[ways];
        slot entries[ways];
    };
    struct queued_lease {
        limit_key key;
        std::int64_t since;
    };

    table(const lease_settings& settings, const siphash_key& seed_)
        : units_max{settings.units_max},
          seed{seed_},
          sets{settings.keys_max, std::size_t{1} << 28},
          reclaim_queue{std::make_unique<std::optional<queued_lease>[]>(queue_max)} {}

    [[nodiscard]] std::size_t set_of(const limit_key& key) const noexcept {
        const std::uint64_t kind = key.kind() == limit_kind::user ? 0 : 0x9e37'79b9'7f4a'7c15U;
        return sets.index_of(siphash(seed, key.value() ^ kind));
    }

    static slot* find(set& in, const limit_key& key) noexcept {
        for (std::size_t place = 0; place < set::ways; ++place)
            if (in.keys[place] == key.value() && in.entries[place].ends_at != 0 && in.entries[place].kind == key.kind())
                return &in.entries[place];
        return nullptr;
    }

    /// Chooses a slot for a new key: one that is free, expired or used up, the oldest of several. Null if all are in
    /// use.
    static slot* choose_slot(set& in, const limit_key& key, std::int64_t now) noexcept {
        slot* chosen = nullptr;
        for (slot& each : in.entries) {
            if (each.is_pending || (each.units > 0 && now < each.ends_at)) continue;
            if (chosen == nullptr || each.leased_at < chosen->leased_at) chosen = &each;
        }
        if (chosen == nullptr) return nullptr;
        in.keys[static_cast<std::size_t>(chosen - in.entries)] = key.value();
        *chosen = {};
        chosen->kind = key.kind();
        return chosen;
    }

    static bool is_valid_for(const slot& known, const tollgate::detail::bounded_quota& allowed,
                          std::int64_t now) noexcept {
        return now < known.ends_at && known.requests == allowed.requests &&
               known.window_seconds == allowed.window_seconds;
    }

    /// Whether one thread should request the next lease while the others use up this one. Without this, every thread
    /// that finds no unit requests one, and at a high rate those are many.
    static bool is_nearly_used_up(const slot& known, std::int64_t now) noexcept {
        return known.size >= early_size_min && known.units <= known.size / 4 && known.remaining > 0 &&
               !known.is_pending && now <= known.leased_at + quick_milliseconds;
    }

    /// Whether the slot has a unit, or a recent refusal.
    static bool can_decide(const slot& known, const tollgate::detail::bounded_quota& allowed,
                           std::int64_t now) noexcept {
        if (!is_valid_for(known, allowed, now)) return false;
        if (known.units > 0) return !is_nearly_used_up(known, now);
        return known.size == 0 && known.remaining == 0 && !known.is_pending &&
               now < known.leased_at + refusal_milliseconds;
    }

    static std::optional<limit_decision> take_from(slot& known, const tollgate::detail::bounded_quota& allowed,
                                            std::int64_t now) noexcept {
        if (!can_decide(known, allowed, now)) return std::nullopt;
        const bool admitted = known.units > 0;
        if (admitted) --known.units;
        return to_decision(known, admitted);
    }

    static limit_decision to_decision(const slot& known, bool admitted) noexcept {
        return {admitted, known.requests, known.remaining + known.units,
                from_unix_milliseconds(known.began_at + std::int64_t{known.window_seconds} * 1000)};
    }

    /// The size of the next lease, from how quickly the last one was used.
    [[nodiscard]] std::uint32_t next_size(const slot& known, std::int64_t now) const noexcept {
        const std::int64_t took = now - known.leased_at;
        if (known.size == 0 || took > 4 * quick_milliseconds) return (std::max)(known.size / 4, 1U);
        if (took > quick_milliseconds) return known.size;
        return (std::min)(known.size > units_max / 4 ? units_max : known.size * 4, units_max);
    }

    void queue_for_reclaim(const limit_key& key, std::int64_t now) noexcept {
        const std::scoped_lock held{queue_mutex};
        if (queue_size == queue_max) return;  // the lease is kept until its window ends
        reclaim_queue[(queue_first + queue_size++) % queue_max] = queued_lease{key, now};
    }

    const std::uint32_t units_max;
    const siphash_key seed;
    const tollgate::detail::locked_sets<set> sets;

    // Leases of several units, oldest first, that may have to be returned. 4,096 is what a node creates in 8 s at 500 a
    // second; further leases are kept until their windows end.
    static constexpr std::size_t queue_max = 4096;
    std::mutex queue_mutex;  // never held together with a set's lock
    const std::unique_ptr<std::optional<queued_lease>[]> reclaim_queue;
    std::size_t queue_first = 0;
    std::size_t queue_size = 0;
};

TOLLGATE_DECL leases::leases(const lease_settings& settings, const siphash_key& seed)
    : table_{std::make_unique<table>(settings, seed)} {}

TOLLGATE_DECL leases::~leases() = default;

TOLLGATE_DECL std::optional<limit_decision> leases::try_take(const limit_key& key,
                                                          const tollgate::detail::bounded_quota& allowed,
                                                          std::int64_t boot_time) noexcept {
    const std::size_t index = table_->set_of(key);
    const std::scoped_lock held{table_->sets.lock_of(index)};
    auto* const known = table::find(table_->sets[index], key);
    return known == nullptr ? std::nullopt : table::take_from(*known, allowed, boot_time);
}

TOLLGATE_DECL std::optional<limit_decision> leases::take(const limit_key& key, const tollgate::detail::bounded_quota& allowed,
                                                  std::int64_t boot_time, pending_request& next) noexcept {
    const std::size_t index = table_->set_of(key);
    const std::scoped_lock held{table_->sets.lock_of(index)};
    auto& set = table_->sets[index];
    auto* known = table::find(set, key);
    if (known != nullptr)
        if (auto decision = table::take_from(*known, allowed, boot_time)) return decision;
    next.request = {key, allowed, 1, 0, 0};
    if (known != nullptr && known->is_pending) return std::nullopt;
    if (known == nullptr) {
        known = table::choose_slot(set, key, boot_time);
        if (known == nullptr) return std::nullopt;
    } else {
        next.request.requested = table_->next_size(*known, boot_time);
        if (known->units > 0 && table::is_valid_for(*known, allowed, boot_time)) {  // it is renewed early
            next.request.requested -= (std::min)(known->units, next.request.requested - 1);
            known->is_pending = true;
            next.is_for_lease = true;
            return std::nullopt;
        }
        if (known->units > 0 && boot_time < known->ends_at) {  // leased under another quota
            next.request.returned = known->units;
            next.request.returned_of = known->began_at;
        }
    }
    known->units = 0;
    if (known->ends_at == 0) known->ends_at = 1;  // in use, but expired
    known->is_pending = true;
    next.is_for_lease = true;
    return std::nullopt;
}

TOLLGATE_DECL std::optional<limit_decision> leases::peek(const limit_key& key,
                                                  const tollgate::detail::bounded_quota& allowed,
                                                  std::int64_t boot_time) const noexcept {
    const std::size_t index = table_->set_of(key);
    const std::scoped_lock held{table_->sets.lock_of(index)};
    const auto* known = table::find(table_->sets[index], key);
    if (known == nullptr) return std::nullopt;
    const bool has_unit = known->units > 0 && table::is_valid_for(*known, allowed, boot_time);
    if (!has_unit && !table::can_decide(*known, allowed, boot_time)) return std::nullopt;
    return table::to_decision(*known, has_unit);
}

TOLLGATE_DECL limit_decision leases::complete(const pending_request& sent, const window_reply* reply,
                                     std::int64_t sent_at) noexcept {
    const limit_key& key = sent.request.key;
    const auto& allowed = sent.request.allowed;
    const std::size_t index = table_->set_of(key);
    limit_decision decision{};
    bool is_reclaimable = false;
    {
        const std::scoped_lock held{table_->sets.lock_of(index)};
        auto* known = table::find(table_->sets[index], key);
        if (known == nullptr) return decision;  // unreachable: a slot with a pending request is kept
        known->is_pending = false;
        if (reply == nullptr) {
            if (known->units == 0 || !table::is_valid_for(*known, allowed, sent_at)) return decision;
            --known->units;
            return table::to_decision(*known, true);
        }
        const bool same = known->ends_at != 1 && known->began_at == reply->began_at_milliseconds &&
                          known->requests == allowed.requests && known->window_seconds == allowed.window_seconds;
        const std::uint32_t units_before = same ? known->units : 0;
        const std::uint32_t remaining_before = known->remaining;
        known->began_at = reply->began_at_milliseconds;
        // Counted from before the request was sent, the window ends here no later than at the server.
        known->ends_at = sent_at + allowed.end_of(reply->began_at_milliseconds) - reply->now_milliseconds;
        known->leased_at = sent_at;
        known->requests = allowed.requests;
        known->window_seconds = allowed.window_seconds;
        known->size = reply->granted > 0 ? units_before + reply->granted : 0;
        known->units = units_before + reply->granted;
        const bool admitted = known->units > 0;
        known->units -= admitted ? 1 : 0;
        known->remaining = reply->remaining;
        // Units returned by other nodes must not raise `remaining` within a window.
        if (same && known->remaining + reply->granted > remaining_before)
            known->remaining = remaining_before > reply->granted ? remaining_before - reply->granted : 0;
        decision = table::to_decision(*known, admitted);
        is_reclaimable = known->units > 0;
    }
    if (is_reclaimable) table_->queue_for_reclaim(key, sent_at);
    return decision;
}

TOLLGATE_DECL std::optional<window_request> leases::reclaim(std::int64_t boot_time) noexcept {
    std::optional<table::queued_lease> oldest;
    {
        const std::scoped_lock held{table_->queue_mutex};
        if (table_->queue_size == 0) return std::nullopt;
        oldest = table_->reclaim_queue[table_->queue_first];
        if (boot_time < oldest->since + table::stale_milliseconds) return std::nullopt;
        table_->queue_first = (table_->queue_first + 1) % table::queue_max;
        --table_->queue_size;
    }
    const std::size_t index = table_->set_of(oldest->key);
    const std::scoped_lock held{table_->sets.lock_of(index)};
    auto* known = table::find(table_->sets[index], oldest->key);
    // If the lease was used up and replaced, its successor has its own entry in the queue.
    if (known == nullptr || known->is_pending || known->units == 0 || boot_time >= known->ends_at ||
        known->leased_at != oldest->since)
        return std::nullopt;
    window_request back{oldest->key,
                         tollgate::detail::bounded_quota{{known->requests, seconds{known->window_seconds}}}, 0,
                         known->units, known->began_at};
    known->remaining += known->units;  // available to every node again
    known->units = 0;
    known->size = 1;  // the next lease starts small
    return back;
}

TOLLGATE_DECL std::size_t leases::memory_bytes() const noexcept { return table_->sets.memory_bytes(); }

}  // namespace tollgate::redis

#endif  // TOLLGATE_LIMITS_DETAIL_REDIS_LEASES_IPP
