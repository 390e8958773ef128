#pragma once

#include <tollgate/base/outcome.hpp>
#include <tollgate/store/keyed_hash.hpp>
#include <tollgate/store/sqlite/change_stamp.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace tollgate::sqlite {

/// Remembers rows that were read, and gives each out again exactly as long as nobody has committed anything to the
/// database since, so that a hit says the same as the query would. It also remembers that there was no row.
///
/// Bounded: `entries_max` in all, in sets of four, and memory for an entry is taken at its first use. Only one of a
/// set's four may say "no row", so that keys somebody made up never push out a row that is there.
///
/// `Key`: anything `keyed_hash` takes, with `==`. `Value`: copies without throwing.
/// Thread rule: any thread.
template <class Key, class Value>
class row_cache {
    static_assert(std::is_nothrow_copy_constructible_v<Key> && std::is_nothrow_copy_assignable_v<Key>);
    static_assert(std::is_nothrow_copy_constructible_v<Value> && std::is_nothrow_copy_assignable_v<Value>);

public:
    using answer = outcome<std::optional<Value>>;

    /// `entries_max` is rounded up to four times a power of two; 0: every call queries.
    row_cache(const change_stamp& changes, std::size_t entries_max)
        : changes_{&changes},
          sets_(entries_max == 0 ? 0 : std::bit_ceil((entries_max + slots_per_set - 1) / slots_per_set)) {}

    /// What `query()` (an `answer`) says, or said while the database was the same. Problems are not remembered.
    template <class Query>
    [[nodiscard]] answer find(const Key& key, Query&& query);

private:
    static constexpr std::size_t slots_per_set = 4;
    static constexpr std::size_t none_slot = slots_per_set - 1;
    static constexpr std::size_t guard_count = 64;  // a power of two, more than there are cores to meet in one

    struct entry {
        change_mark mark;
        Key key;
        std::optional<Value> value;
    };
    struct slot {
        std::size_t hash = 0;
        std::unique_ptr<entry> held;
    };
    struct set {
        std::array<slot, slots_per_set> slots;  // one cache line: a miss touches nothing else
    };
    /// Guards every 64th set.
    struct alignas(64) guard {
        std::mutex mutex;
        std::size_t evictions = 0;  // says whose turn it is to go
    };

    [[nodiscard]] set& set_of(std::size_t hash) noexcept { return sets_[hash & (sets_.size() - 1)]; }
    [[nodiscard]] guard& guard_of(std::size_t hash) noexcept {
        return guards_[hash & (sets_.size() - 1) & (guard_count - 1)];
    }

    void keep(std::size_t hash, const change_mark& mark, const Key& key, const std::optional<Value>& value) noexcept;
    /// Where to keep it. Precondition: the set's guard is held.
    [[nodiscard]] slot& slot_for(std::size_t hash, const change_mark& mark, bool is_row) noexcept;

    const change_stamp* changes_;
    keyed_hash hash_;
    std::vector<set> sets_;  // a power of two of them, or none
    std::array<guard, guard_count> guards_;
};

template <class Key, class Value>
template <class Query>
auto row_cache<Key, Value>::find(const Key& key, Query&& query) -> answer {
    if (sets_.empty()) return query();
    // Before the query: a commit in between then makes a good answer look old, never an old one look good.
    const auto mark = changes_->read();
    if (!mark) return query();

    const std::size_t hash = hash_(key);
    {
        const std::scoped_lock lock{guard_of(hash).mutex};
        for (const slot& each : set_of(hash).slots)
            if (each.held != nullptr && each.hash == hash && each.held->mark == *mark && each.held->key == key)
                return each.held->value;
    }
    answer asked = query();
    if (asked) keep(hash, *mark, key, *asked);
    return asked;
}

template <class Key, class Value>
void row_cache<Key, Value>::keep(std::size_t hash, const change_mark& mark, const Key& key,
                                 const std::optional<Value>& value) noexcept {
    const std::scoped_lock lock{guard_of(hash).mutex};
    slot& chosen = slot_for(hash, mark, value.has_value());
    if (chosen.held != nullptr) {
        chosen.held->mark = mark;
        chosen.held->key = key;
        chosen.held->value = value;
    } else {
        chosen.held.reset(new (std::nothrow) entry{mark, key, value});  // without memory: asked again next time
    }
    chosen.hash = hash;
}

template <class Key, class Value>
auto row_cache<Key, Value>::slot_for(std::size_t hash, const change_mark& mark, bool is_row) noexcept -> slot& {
    auto& slots = set_of(hash).slots;
    if (!is_row) return slots[none_slot];
    // They fill from the left, so that a slot of this key is met before an empty one.
    for (std::size_t i = 0; i < none_slot; ++i)
        if (slots[i].held == nullptr || slots[i].hash == hash) return slots[i];
    for (std::size_t i = 0; i < none_slot; ++i)
        if (slots[i].held->mark != mark) return slots[i];
    return slots[guard_of(hash).evictions++ % none_slot];
}

}  // namespace tollgate::sqlite
