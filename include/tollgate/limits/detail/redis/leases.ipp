#pragma once

#include <tollgate/limits/detail/redis/leases.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

namespace tollgate::inline v0::redis {

struct leases::table {
    static constexpr std::int64_t quick_milliseconds = 2000;   // a lease should be used up within it
    static constexpr std::int64_t stale_milliseconds = 8000;   // and after this it goes back
    static constexpr std::int64_t refusal_milliseconds = 100;  // for which a refusal is taken for granted
    static constexpr std::uint32_t early_size_min = 64;        // of a lease whose successor is asked for early
    static constexpr std::size_t ways = 8;

    struct slot {
        std::int64_t began_at;    // the window, in the server's time
        std::int64_t ends_at;     // the window, in ours; 0 for a place that is free
        std::int64_t leased_at;   // when the last lease, or refusal, came
        std::uint32_t units;      // left of it
        std::uint32_t remaining;  // for anybody, beside them
        std::uint32_t requests;   // the quota that it was leased under
        std::uint32_t window_seconds;
        std::uint32_t size;  // of the last lease; 0 after a refusal
        limit_kind kind;
        bool is_asked_for;  // a question is under way: the place is kept
    };
    struct alignas(64) set {
        std::uint64_t keys[ways];
        slot slots[ways];
    };
    struct alignas(64) padded_lock {  // a cache line each, so that neighbours do not slow each other down
        std::mutex mutex;
    };
    struct free_memory {
        void operator()(void* block) const noexcept { std::free(block); }
    };
    struct lent {
        limit_key key;
        std::int64_t since;
    };

    table(const lease_settings& settings, const siphash_key& seed_)
        : units_max{std::clamp<std::uint32_t>(settings.units_max, 1, 1'000'000)},
          seed{seed_},
          set_count{std::bit_ceil((std::clamp<std::size_t>(settings.keys_max, 1, std::size_t{1} << 28) - 1) / ways + 1)},
          lock_count{(std::min)(set_count, std::size_t{256})},
          memory{std::calloc(set_count + 1, sizeof(set))},
          locks{std::make_unique<padded_lock[]>(lock_count)},
          line{std::make_unique<std::optional<lent>[]>(line_max)} {
        if (memory == nullptr) throw std::bad_alloc{};
        void* aligned = memory.get();
        std::size_t room = memory_bytes();
        sets = static_cast<set*>(std::align(alignof(set), set_count * sizeof(set), aligned, room));
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept { return (set_count + 1) * sizeof(set); }

    [[nodiscard]] std::size_t set_of(const limit_key& key) const noexcept {
        const std::uint64_t kind = key.kind() == limit_kind::user ? 0 : 0x9e37'79b9'7f4a'7c15U;
        return static_cast<std::size_t>(siphash(seed, key.value() ^ kind)) & (set_count - 1);
    }
    [[nodiscard]] std::mutex& lock_of(std::size_t index) const noexcept {
        return locks[index & (lock_count - 1)].mutex;
    }

    static slot* find(set& in, const limit_key& key) noexcept {
        for (std::size_t place = 0; place < ways; ++place)
            if (in.keys[place] == key.value() && in.slots[place].ends_at != 0 && in.slots[place].kind == key.kind())
                return &in.slots[place];
        return nullptr;
    }

    /// A place for a key that has none: one that is free, over or used up, of several the oldest. None where all are in
    /// use.
    static slot* make_room(set& in, const limit_key& key, std::int64_t now) noexcept {
        slot* chosen = nullptr;
        for (slot& each : in.slots) {
            if (each.is_asked_for || (each.units > 0 && now < each.ends_at)) continue;
            if (chosen == nullptr || each.leased_at < chosen->leased_at) chosen = &each;
        }
        if (chosen == nullptr) return nullptr;
        in.keys[static_cast<std::size_t>(chosen - in.slots)] = key.value();
        *chosen = {};
        chosen->kind = key.kind();
        return chosen;
    }

    static bool holds_for(const slot& known, const tollgate::detail::bounded_quota& allowed,
                          std::int64_t now) noexcept {
        return now < known.ends_at && known.requests == allowed.requests &&
               known.window_seconds == allowed.window_seconds;
    }

    /// Whether one should ask for the next lease while the others use up this one: threads that find no unit all ask
    /// for one, and at a high rate those are many.
    static bool is_nearly_used_up(const slot& known, std::int64_t now) noexcept {
        return known.size >= early_size_min && known.units <= known.size / 4 && known.remaining > 0 &&
               !known.is_asked_for && now <= known.leased_at + quick_milliseconds;
    }

    /// Whether a unit, or a refusal of a moment ago, is here for whoever comes now.
    static bool finds_here(const slot& known, const tollgate::detail::bounded_quota& allowed,
                           std::int64_t now) noexcept {
        if (!holds_for(known, allowed, now)) return false;
        if (known.units > 0) return !is_nearly_used_up(known, now);
        return known.size == 0 && known.remaining == 0 && !known.is_asked_for &&
               now < known.leased_at + refusal_milliseconds;
    }

    static std::optional<verdict> take_from(slot& known, const tollgate::detail::bounded_quota& allowed,
                                            std::int64_t now) noexcept {
        if (!finds_here(known, allowed, now)) return std::nullopt;
        const bool admitted = known.units > 0;
        if (admitted) --known.units;
        return tell(known, admitted);
    }

    static verdict tell(const slot& known, bool admitted) noexcept {
        return {admitted, known.requests, known.remaining + known.units,
                from_unix_milliseconds(known.began_at + std::int64_t{known.window_seconds} * 1000)};
    }

    /// How many units the next lease should have, after how the last one went.
    [[nodiscard]] std::uint32_t next_size(const slot& known, std::int64_t now) const noexcept {
        const std::int64_t took = now - known.leased_at;
        if (known.size == 0 || took > 4 * quick_milliseconds) return (std::max)(known.size / 4, 1U);
        if (took > quick_milliseconds) return known.size;
        return (std::min)(known.size > units_max / 4 ? units_max : known.size * 4, units_max);
    }

    void put_in_line(const limit_key& key, std::int64_t now) noexcept {
        const std::scoped_lock held{line_mutex};
        if (line_size == line_max) return;  // this one does not go back before its window ends
        line[(line_first + line_size++) % line_max] = lent{key, now};
    }

    const std::uint32_t units_max;
    const siphash_key seed;
    const std::size_t set_count;  // powers of two, both
    const std::size_t lock_count;
    // From calloc, because the pages of a large block take no memory until they are written to.
    const std::unique_ptr<void, free_memory> memory;
    set* sets;  // in memory, aligned
    const std::unique_ptr<padded_lock[]> locks;

    // Leases of several units, the oldest first: who may have to go back. As many as a node makes in eight seconds at
    // 500 a second; more would be kept until their windows end.
    static constexpr std::size_t line_max = 4096;
    std::mutex line_mutex;  // never held together with a lock of a set
    const std::unique_ptr<std::optional<lent>[]> line;
    std::size_t line_first = 0;
    std::size_t line_size = 0;
};

TOLLGATE_DECL leases::leases(const lease_settings& settings, const siphash_key& seed)
    : table_{std::make_unique<table>(settings, seed)} {}

TOLLGATE_DECL leases::~leases() = default;

TOLLGATE_DECL std::optional<verdict> leases::take_at_hand(const limit_key& key,
                                                          const tollgate::detail::bounded_quota& allowed,
                                                          std::int64_t steady_now) noexcept {
    const std::size_t index = table_->set_of(key);
    const std::scoped_lock held{table_->lock_of(index)};
    auto* const known = table::find(table_->sets[index], key);
    return known == nullptr ? std::nullopt : table::take_from(*known, allowed, steady_now);
}

TOLLGATE_DECL std::optional<verdict> leases::take(const limit_key& key, const tollgate::detail::bounded_quota& allowed,
                                                  std::int64_t steady_now, asking& next) noexcept {
    const std::size_t index = table_->set_of(key);
    const std::scoped_lock held{table_->lock_of(index)};
    auto& set = table_->sets[index];
    auto* known = table::find(set, key);
    if (known != nullptr)
        if (auto told = table::take_from(*known, allowed, steady_now)) return told;
    next.question = {key, allowed, 1, 0, 0};
    if (known != nullptr && known->is_asked_for) return std::nullopt;
    if (known == nullptr) {
        known = table::make_room(set, key, steady_now);
        if (known == nullptr) return std::nullopt;
    } else {
        next.question.wanted = table_->next_size(*known, steady_now);
        if (known->units > 0 && table::holds_for(*known, allowed, steady_now)) {  // the others' meanwhile
            next.question.wanted -= (std::min)(known->units, next.question.wanted - 1);
            known->is_asked_for = true;
            next.is_for_lease = true;
            return std::nullopt;
        }
        if (known->units > 0 && steady_now < known->ends_at) {  // of another quota
            next.question.handed_back = known->units;
            next.question.handed_back_of = known->began_at;
        }
    }
    known->units = 0;
    if (known->ends_at == 0) known->ends_at = 1;  // taken, and over
    known->is_asked_for = true;
    next.is_for_lease = true;
    return std::nullopt;
}

TOLLGATE_DECL std::optional<verdict> leases::peek(const limit_key& key,
                                                  const tollgate::detail::bounded_quota& allowed,
                                                  std::int64_t steady_now) const noexcept {
    const std::size_t index = table_->set_of(key);
    const std::scoped_lock held{table_->lock_of(index)};
    const auto* known = table::find(table_->sets[index], key);
    if (known == nullptr || known->units == 0 || !table::holds_for(*known, allowed, steady_now)) return std::nullopt;
    return table::tell(*known, true);
}

TOLLGATE_DECL verdict leases::settle(const asking& asked, const window_answer* answered,
                                     std::int64_t asked_at) noexcept {
    const limit_key& key = asked.question.key;
    const auto& allowed = asked.question.allowed;
    const std::size_t index = table_->set_of(key);
    verdict told{};
    bool goes_in_line = false;
    {
        const std::scoped_lock held{table_->lock_of(index)};
        auto* known = table::find(table_->sets[index], key);
        if (known == nullptr) return told;  // cannot be: a place that is asked for is kept
        known->is_asked_for = false;
        if (answered == nullptr) {
            if (known->units == 0 || !table::holds_for(*known, allowed, asked_at)) return told;
            --known->units;
            return table::tell(*known, true);
        }
        const bool same = known->ends_at != 1 && known->began_at == answered->began_at_milliseconds &&
                          known->requests == allowed.requests && known->window_seconds == allowed.window_seconds;
        const std::uint32_t kept = same ? known->units : 0;
        const std::uint32_t said_before = known->remaining;
        known->began_at = answered->began_at_milliseconds;
        // Counted from before the question was sent, it is over here when it is over there, or a moment before.
        known->ends_at = asked_at + answered->began_at_milliseconds + std::int64_t{allowed.window_seconds} * 1000 -
                         answered->now_milliseconds;
        known->leased_at = asked_at;
        known->requests = allowed.requests;
        known->window_seconds = allowed.window_seconds;
        known->size = answered->granted > 0 ? kept + answered->granted : 0;
        known->units = kept + answered->granted;
        const bool admitted = known->units > 0;
        known->units -= admitted ? 1 : 0;
        known->remaining = answered->remaining;
        // What other nodes hand back is not added to what this one has told already.
        if (same && known->remaining + answered->granted > said_before)
            known->remaining = said_before > answered->granted ? said_before - answered->granted : 0;
        told = table::tell(*known, admitted);
        goes_in_line = known->units > 0;
    }
    if (goes_in_line) table_->put_in_line(key, asked_at);
    return told;
}

TOLLGATE_DECL std::optional<window_question> leases::take_back(std::int64_t steady_now) noexcept {
    std::optional<table::lent> oldest;
    {
        const std::scoped_lock held{table_->line_mutex};
        if (table_->line_size == 0) return std::nullopt;
        oldest = table_->line[table_->line_first];
        if (steady_now < oldest->since + table::stale_milliseconds) return std::nullopt;
        table_->line_first = (table_->line_first + 1) % table::line_max;
        --table_->line_size;
    }
    const std::size_t index = table_->set_of(oldest->key);
    const std::scoped_lock held{table_->lock_of(index)};
    auto* known = table::find(table_->sets[index], oldest->key);
    // Of a lease that was used up and followed by another, that one stands in line as well.
    if (known == nullptr || known->is_asked_for || known->units == 0 || steady_now >= known->ends_at ||
        known->leased_at != oldest->since)
        return std::nullopt;
    window_question back{oldest->key,
                         tollgate::detail::bounded_quota{{known->requests, seconds{known->window_seconds}}}, 0,
                         known->units, known->began_at};
    known->remaining += known->units;  // for anybody again
    known->units = 0;
    known->size = 1;  // the next one begins small
    return back;
}

TOLLGATE_DECL std::size_t leases::memory_bytes() const noexcept { return table_->memory_bytes(); }

}  // namespace tollgate::redis
