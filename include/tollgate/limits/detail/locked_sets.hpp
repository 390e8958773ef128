#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_LOCKED_SETS_HPP
#define TOLLGATE_LIMITS_DETAIL_LOCKED_SETS_HPP

#include <tollgate/base/detail/short_mutex.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace tollgate::inline v0::detail {

/// A table of sets, `Set::ways` keys in each, all bytes zero at first. Its memory is reserved at the start and touched on first use. A
/// lock is for many sets; with 256 of them, two threads collide in less than 1 % of calls on today's machines.
template <class Set>
class locked_sets {
public:
    /// Constructs sets for `keys_max` keys, at least one and at most `keys_bound`, rounded up to a power of two of sets. Throws
    /// `std::bad_alloc`.
    locked_sets(std::size_t keys_max, std::size_t keys_bound)
        : size_{std::bit_ceil((std::clamp<std::size_t>(keys_max, 1, keys_bound) - 1) / Set::ways + 1)},
          memory_{std::calloc(size_ + 1, sizeof(Set))} {
        if (memory_ == nullptr) throw std::bad_alloc{};
        void* aligned = memory_.get();
        std::size_t space = memory_bytes();
        sets_ = static_cast<Set*>(std::align(alignof(Set), size_ * sizeof(Set), aligned, space));
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t index_of(std::uint64_t hash) const noexcept { return hash & (size_ - 1); }
    [[nodiscard]] Set& operator[](std::size_t index) const noexcept { return sets_[index]; }
    /// Hold it while using the set.
    [[nodiscard]] detail::short_mutex& lock_of(std::size_t index) const noexcept { return locks_[index % locks_.size()].mutex; }
    [[nodiscard]] std::size_t memory_bytes() const noexcept { return (size_ + 1) * sizeof(Set); }

private:
    struct alignas(64) padded_lock {  // one cache line each, to avoid false sharing
        detail::short_mutex mutex;
    };
    struct free_memory {
        void operator()(void* memory) const noexcept { std::free(memory); }
    };

    std::size_t size_;
    std::unique_ptr<void, free_memory> memory_;  // allocated with calloc: the pages of a large block take no memory until they are written
    Set* sets_;  // in memory_, aligned
    mutable std::array<padded_lock, 256> locks_;
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_LIMITS_DETAIL_LOCKED_SETS_HPP
