#pragma once

#include <tollgate/store/detail/keyed_hash.hpp>

#include <array>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tollgate::inline v0 {

/// A table that is read from many threads at once: cut into shards that each have a lock of their own, held only while
/// one row is looked at. A look-up allocates nothing.
///
/// `Key`: anything `keyed_hash` takes; a look-up may use another such type that compares with it.
/// Thread rule: any thread; what is called with a row must not come back to the table.
template <class Key, class Row>
class sharded_table {
public:
    /// What `use(const Row*)` gives; null when there is no such row. The row stays as it is until `use` returns.
    template <class LookUp, class Use>
    auto with(const LookUp& key, Use&& use) const {
        const probe<LookUp> sought{key, hash_(key)};
        const shard& in = shards_[index(sought.hash)];
        const std::scoped_lock lock{in.mutex};
        const auto found = in.rows.find(sought);
        return use(found == in.rows.end() ? nullptr : &found->second);
    }

    /// Calls `change(Row&)`, which throws nothing, when there is such a row. Whether there was.
    template <class LookUp, class Change>
    bool change(const LookUp& key, Change&& change) noexcept {
        const probe<LookUp> sought{key, hash_(key)};
        shard& in = shards_[index(sought.hash)];
        const std::scoped_lock lock{in.mutex};
        const auto found = in.rows.find(sought);
        if (found == in.rows.end()) return false;
        change(found->second);
        return true;
    }

    /// False, and unchanged, when there is such a row already.
    bool insert(const Key& key, Row row) {
        const std::size_t hash = hash_(key);
        shard& in = shards_[index(hash)];
        const std::scoped_lock lock{in.mutex};
        return in.rows.try_emplace(hashed_key{key, hash}, std::move(row)).second;
    }

    /// Whether there was one.
    bool erase(const Key& key) noexcept {
        const probe<Key> sought{key, hash_(key)};
        shard& in = shards_[index(sought.hash)];
        const std::scoped_lock lock{in.mutex};
        const auto found = in.rows.find(sought);
        if (found == in.rows.end()) return false;
        in.rows.erase(found);
        return true;
    }

private:
    // 64: with as many threads as a large machine has cores, two seldom meet in one shard.
    static constexpr std::size_t shard_bits = 6;

    /// Kept with its hash, and sought with it, so that each is computed once.
    struct hashed_key {
        Key key;
        std::size_t hash;
    };
    template <class LookUp>
    struct probe {
        const LookUp& key;
        std::size_t hash;
    };
    struct hash_of {
        using is_transparent = void;
        std::size_t operator()(const auto& of) const noexcept { return of.hash; }
    };
    struct same_key {
        using is_transparent = void;
        bool operator()(const auto& a, const auto& b) const noexcept { return a.hash == b.hash && a.key == b.key; }
    };

    struct alignas(64) shard {
        mutable std::mutex mutex;
        std::unordered_map<hashed_key, Row, hash_of, same_key> rows;
    };

    /// By the upper bits; the lower ones choose the bucket.
    static std::size_t index(std::size_t hash) noexcept { return hash >> (sizeof hash * 8 - shard_bits); }

    keyed_hash hash_;
    std::array<shard, std::size_t{1} << shard_bits> shards_;
};

}  // namespace tollgate
