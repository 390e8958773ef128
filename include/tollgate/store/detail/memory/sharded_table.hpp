#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_SHARDED_TABLE_HPP
#define TOLLGATE_STORE_DETAIL_MEMORY_SHARDED_TABLE_HPP

#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/base/detail/short_mutex.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0::memory {

/// A hash table for concurrent reads: it consists of shards, each with its own lock, which is held only while one row
/// is used. A lookup does not allocate.
///
/// With many rows, a lookup spends more time waiting for memory than computing, so it touches little memory. One byte per slot nearly
/// always tells which slot holds the row, and these bytes stay in the caches. The row is in the slot itself, not behind a pointer.
///
/// Not std::unordered_map: a lookup would follow two pointers, to a bucket and to a node.
///
/// `Key`: any type that `keyed_hash` accepts; a lookup may use another such type that compares with it. Thread rule:
/// any thread; callbacks that get a row must not use the table.
template <class Key, class Row>
class sharded_table {
    static_assert(std::is_nothrow_move_constructible_v<Key> && std::is_nothrow_move_constructible_v<Row>);

public:
    /// Returns `use(const Row*)`; null if there is no such row. The row does not change until `use` returns.
    template <class LookUp, class Use>
    auto with(const LookUp& key, Use&& use) const {
        const std::size_t hash = hash_(key);
        const shard& in = shards_[index(hash)];
        const std::scoped_lock lock{in.mutex};
        const std::size_t at = in.find(key, hash);
        return use(at == none ? nullptr : static_cast<const Row*>(&in.places[at].held.row));
    }

    /// Returns `use(const Row&)`. Precondition: there is such a row.
    template <class LookUp, class Use>
    auto with_existing(const LookUp& key, Use&& use) const {
        const std::size_t hash = hash_(key);
        const shard& in = shards_[index(hash)];
        const std::scoped_lock lock{in.mutex};
        return use(static_cast<const Row&>(in.places[in.find(key, hash)].held.row));
    }

    /// Calls `change(Row&)`, which must not throw, if there is such a row. Returns whether there was.
    template <class LookUp, class Change>
    bool change(const LookUp& key, Change&& change) noexcept {
        const std::size_t hash = hash_(key);
        shard& in = shards_[index(hash)];
        const std::scoped_lock lock{in.mutex};
        const std::size_t at = in.find(key, hash);
        if (at == none) return false;
        change(in.places[at].held.row);
        return true;
    }

    /// Returns false and changes nothing if the row exists. Throws `std::bad_alloc` without effect.
    bool insert(const Key& key, Row row) {
        const std::size_t hash = hash_(key);
        shard& in = shards_[index(hash)];
        const std::scoped_lock lock{in.mutex};
        if (in.find(key, hash) != none) return false;
        if (in.is_full()) in.grow(hash_);
        in.place(entry{key, std::move(row)}, hash);
        ++in.rows;
        return true;
    }

    /// Removes a row and returns it; empty if there is no such row.
    std::optional<Row> extract(const Key& key) noexcept {
        const std::size_t hash = hash_(key);
        shard& in = shards_[index(hash)];
        const std::scoped_lock lock{in.mutex};
        const std::size_t at = in.find(key, hash);
        if (at == none) return std::nullopt;
        std::optional<Row> removed{std::move(in.places[at].held.row)};
        in.remove(at, hash_);
        --in.rows;
        return removed;
    }

    /// Returns true if there was such a row.
    bool erase(const Key& key) noexcept { return extract(key).has_value(); }

private:
    // With as many threads as a large machine has cores, two seldom use the same shard
    static constexpr std::size_t shard_bits = 6;
    static constexpr std::size_t slots_min = 8;
    static constexpr std::size_t line_bytes = 64;  // of a cache
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct entry {
        Key key;
        Row row;
    };
    /// Holds an entry if its tag is not zero. Whole cache lines, so that a row is in as few as possible.
    union alignas(line_bytes) slot {
        slot() noexcept {}
        ~slot() {}
        entry held;
    };

    /// Open addressing: an entry is in the first free slot from its home on, so that a search ends at a free slot.
    struct alignas(64) shard {
        mutable tollgate::detail::short_mutex mutex;
        std::size_t rows = 0;
        std::size_t mask = 0;                  // the number of slots, a power of two, less one
        std::unique_ptr<std::uint8_t[]> tags;  // tag of each slot: 0 if free, otherwise some bits of the hash; null without slots
        std::unique_ptr<slot[]> places;

        shard() = default;
        ~shard() {
            for (std::size_t at = 0; tags != nullptr && at <= mask; ++at)
                if (tags[at] != 0) std::destroy_at(&places[at].held);
        }

        [[nodiscard]] std::size_t find(const auto& key, std::size_t hash) const noexcept {
            if (tags == nullptr) return none;
            for (std::size_t at = hash & mask; tags[at] != 0; at = (at + 1) & mask) {
                if (tags[at] != tag(hash)) continue;
                // The row may be read step by step: all its lines are fetched at once.
                const char* const line = reinterpret_cast<const char*>(&places[at]);
                for (std::size_t i = line_bytes; i < sizeof(slot); i += line_bytes) __builtin_prefetch(line + i);
                if (places[at].held.key == key) return at;
            }
            return none;
        }

        [[nodiscard]] bool is_full() const noexcept { return tags == nullptr || rows >= mask - mask / 8; }

        void place(entry&& added, std::size_t hash) noexcept {
            std::size_t at = hash & mask;
            while (tags[at] != 0) at = (at + 1) & mask;
            std::construct_at(&places[at].held, std::move(added));
            tags[at] = tag(hash);
        }

        /// Entries behind it move up where the free slot would end the search for them.
        void remove(std::size_t at, const tollgate::detail::keyed_hash& hash_of) noexcept {
            std::destroy_at(&places[at].held);
            for (std::size_t next = (at + 1) & mask; tags[next] != 0; next = (next + 1) & mask) {
                const std::size_t home = hash_of(places[next].held.key) & mask;
                if (((next - home) & mask) < ((next - at) & mask)) continue;
                std::construct_at(&places[at].held, std::move(places[next].held));
                std::destroy_at(&places[next].held);
                tags[at] = tags[next];
                at = next;
            }
            tags[at] = 0;
        }

        void grow(const tollgate::detail::keyed_hash& hash_of) {
            shard larger;
            const std::size_t count = tags == nullptr ? slots_min : 2 * (mask + 1);
            larger.tags = std::make_unique<std::uint8_t[]>(count);
            larger.places = std::make_unique_for_overwrite<slot[]>(count);
            larger.mask = count - 1;
            for (std::size_t at = 0; tags != nullptr && at <= mask; ++at)
                if (tags[at] != 0) larger.place(std::move(places[at].held), hash_of(places[at].held.key));
            std::swap(mask, larger.mask);
            std::swap(tags, larger.tags);
            std::swap(places, larger.places);
        }
    };

    /// Different bits select the shard, the slot and the tag.
    static std::size_t index(std::size_t hash) noexcept { return hash >> (sizeof hash * 8 - shard_bits); }
    static std::uint8_t tag(std::size_t hash) noexcept {
        return static_cast<std::uint8_t>(0x80 | hash >> (sizeof hash * 8 - shard_bits - 7));
    }

    tollgate::detail::keyed_hash hash_;
    std::array<shard, std::size_t{1} << shard_bits> shards_;
};

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_SHARDED_TABLE_HPP
