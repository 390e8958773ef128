#pragma once

#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/base/detail/short_mutex.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// A hash table for concurrent reads: it consists of shards, each with its own lock, which is held only while one row
/// is used. A look-up does not allocate.
///
/// Not std::unordered_map: the member functions of two such tables take longer to compile than this class, and their
/// names exceed 400 characters.
///
/// `Key`: any type that `keyed_hash` accepts; a look-up may use another such type that compares with it. Thread rule:
/// any thread; callbacks that get a row must not use the table.
template <class Key, class Row>
class sharded_table {
public:
    /// Returns `use(const Row*)`; null if there is no such row. The row does not change until `use` returns.
    template <class LookUp, class Use>
    auto with(const LookUp& key, Use&& use) const {
        const std::size_t hash = hash_(key);
        const shard& in = shards_[index(hash)];
        const std::scoped_lock lock{in.mutex};
        const node* const found = in.find(key, hash);
        return use(found == nullptr ? nullptr : &found->row);
    }

    /// Calls `change(Row&)`, which must not throw, if there is such a row. Returns whether there was.
    template <class LookUp, class Change>
    bool change(const LookUp& key, Change&& change) noexcept {
        const std::size_t hash = hash_(key);
        shard& in = shards_[index(hash)];
        const std::scoped_lock lock{in.mutex};
        node* const found = in.find(key, hash);
        if (found == nullptr) return false;
        change(found->row);
        return true;
    }

    /// Returns false and changes nothing if the row exists.
    bool insert(const Key& key, Row row) {
        const std::size_t hash = hash_(key);
        shard& in = shards_[index(hash)];
        const std::scoped_lock lock{in.mutex};
        if (in.find(key, hash) != nullptr) return false;
        auto made = std::make_unique<node>(node{hash, nullptr, key, std::move(row)});
        if (in.rows == in.buckets.size()) in.grow();
        in.link(std::move(made));
        ++in.rows;
        return true;
    }

    /// Whether there was one.
    bool erase(const Key& key) noexcept {
        const std::size_t hash = hash_(key);
        shard& in = shards_[index(hash)];
        const std::scoped_lock lock{in.mutex};
        const node* const found = in.find(key, hash);
        if (found == nullptr) return false;
        auto* holder = &in.buckets[in.bucket(hash)];
        while (holder->get() != found) holder = &(*holder)->next;
        *holder = std::exchange((*holder)->next, nullptr);
        --in.rows;
        return true;
    }

private:
    // With as many threads as a large machine has cores, two seldom use the same shard
    static constexpr std::size_t shard_bits = 6;
    static constexpr std::size_t buckets_min = 8;

    struct node {  // what a look-up compares comes first: of large rows, it is in one cache line
        std::size_t hash;
        std::unique_ptr<node> next;  // in the same bucket, which contains one row on average
        Key key;
        Row row;
    };

    struct alignas(64) shard {
        mutable short_mutex mutex;
        std::vector<std::unique_ptr<node>> buckets;  // empty, or a power of two
        std::size_t rows = 0;

        [[nodiscard]] std::size_t bucket(std::size_t hash) const noexcept { return hash & (buckets.size() - 1); }

        [[nodiscard]] node* find(const auto& key, std::size_t hash) const noexcept {
            if (buckets.empty()) return nullptr;
            node* each = buckets[bucket(hash)].get();
            while (each != nullptr && !(each->hash == hash && each->key == key)) each = each->next.get();
            return each;
        }

        void link(std::unique_ptr<node> made) noexcept {
            auto& first = buckets[bucket(made->hash)];
            made->next = std::move(first);
            first = std::move(made);
        }

        void grow() {
            std::vector<std::unique_ptr<node>> before(buckets.empty() ? buckets_min : buckets.size() * 2);
            before.swap(buckets);
            for (auto& first : before)
                while (first != nullptr) {
                    auto next = std::move(first->next);
                    link(std::exchange(first, std::move(next)));
                }
        }
    };

    /// By the upper bits; the lower ones select the bucket.
    static std::size_t index(std::size_t hash) noexcept { return hash >> (sizeof hash * 8 - shard_bits); }

    keyed_hash hash_;
    std::array<shard, std::size_t{1} << shard_bits> shards_;
};

}  // namespace tollgate
