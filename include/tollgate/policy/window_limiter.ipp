#pragma once

#include <tollgate/policy/system_random.hpp>
#include <tollgate/policy/window_limiter.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <span>
#include <stdexcept>

namespace tollgate {
namespace detail {

/// What is counted for one key.
struct counted_window {
    std::int64_t began_at_milliseconds;
    std::uint32_t requests;  ///< 0 for a place that is free
    std::uint32_t length_seconds;

    /// One that begins after `now`, because the clock went back, is taken to begin now: nobody waits longer than that.
    [[nodiscard]] std::int64_t began_by(std::int64_t now) const noexcept {
        return (std::min)(began_at_milliseconds, now);
    }

    [[nodiscard]] bool is_open(std::int64_t now, std::uint32_t seconds) const noexcept {
        return requests != 0 && now < began_by(now) + std::int64_t{seconds} * 1000;
    }

    /// What would be lost by forgetting it.
    [[nodiscard]] std::uint32_t worth(std::int64_t now) const noexcept {
        return is_open(now, length_seconds) ? requests : 0;
    }
};

/// Three cache lines, of which the first holds all keys: finding one touches two.
struct alignas(64) window_set {
    static constexpr std::size_t ways = 8;
    std::uint64_t keys[ways];
    counted_window windows[ways];

    /// The key's own place; `ways` if it has none.
    [[nodiscard]] std::size_t find(std::uint64_t key) const noexcept {
        std::size_t place = 0;
        while (place < ways && (keys[place] != key || windows[place].requests == 0)) ++place;
        return place;
    }

    /// The place whose loss matters least: free or over, else fewest requests, of equals the oldest.
    [[nodiscard]] std::size_t least_worth(std::int64_t now) const noexcept {
        std::size_t least = 0;
        for (std::size_t place = 1; place < ways; ++place) {
            const auto worth = windows[place].worth(now);
            const auto least_so_far = windows[least].worth(now);
            if (worth < least_so_far || (worth == least_so_far &&
                                         windows[place].began_at_milliseconds < windows[least].began_at_milliseconds))
                least = place;
        }
        return least;
    }
};
static_assert(sizeof(window_set) == 192);

/// A quota in numbers that cannot overflow a moment: a window of more than a century is one of a century.
struct bounded_quota {
    std::uint32_t requests;
    std::uint32_t window_seconds;

    explicit bounded_quota(const quota& allowed) noexcept
        : requests{allowed.requests},
          window_seconds{
              static_cast<std::uint32_t>(std::clamp<std::int64_t>(allowed.window.count(), 0, 36525LL * 86400))} {}

    [[nodiscard]] verdict judge(bool admitted, std::uint32_t counted, std::int64_t began_at) const noexcept {
        return {admitted, requests, counted < requests ? requests - counted : 0,
                from_unix_milliseconds(began_at + std::int64_t{window_seconds} * 1000)};
    }
};

}  // namespace detail

class window_limiter::table {
public:
    table(std::size_t keys_max, const siphash_key& seed)
        : seed_{seed},
          set_count_{
              std::bit_ceil((std::clamp<std::size_t>(keys_max, 1, keys_bound) - 1) / detail::window_set::ways + 1)},
          lock_count_{(std::min)(set_count_, lock_count_max)},
          memory_{std::calloc(set_count_ + 1, sizeof(detail::window_set))},
          locks_{std::make_unique<padded_lock[]>(lock_count_)} {
        if (memory_ == nullptr) throw std::bad_alloc{};
        void* aligned = memory_.get();
        std::size_t room = memory_bytes();
        sets_ = static_cast<detail::window_set*>(
            std::align(alignof(detail::window_set), set_count_ * sizeof(detail::window_set), aligned, room));
    }

    [[nodiscard]] verdict take(std::uint64_t key, const quota& allowed, instant now) noexcept {
        const detail::bounded_quota bound{allowed};
        const std::int64_t at = to_unix_milliseconds(now);
        const std::size_t index = set_of(key);
        const std::scoped_lock held{lock_of(index)};

        auto& set = sets_[index];
        std::size_t place = set.find(key);
        if (place == detail::window_set::ways || !set.windows[place].is_open(at, bound.window_seconds)) {
            if (bound.requests == 0) return bound.judge(false, 0, at);
            if (place == detail::window_set::ways) place = set.least_worth(at);
            set.keys[place] = key;
            set.windows[place] = {at, 1, bound.window_seconds};
            return bound.judge(true, 1, at);
        }
        auto& window = set.windows[place];
        window.began_at_milliseconds = window.began_by(at);
        window.length_seconds = bound.window_seconds;
        const bool admitted = window.requests < bound.requests;
        if (admitted) ++window.requests;
        return bound.judge(admitted, window.requests, window.began_at_milliseconds);
    }

    [[nodiscard]] verdict peek(std::uint64_t key, const quota& allowed, instant now) const noexcept {
        const detail::bounded_quota bound{allowed};
        const std::int64_t at = to_unix_milliseconds(now);
        const std::size_t index = set_of(key);
        const std::scoped_lock held{lock_of(index)};

        const auto& set = sets_[index];
        const std::size_t place = set.find(key);
        if (place == detail::window_set::ways || !set.windows[place].is_open(at, bound.window_seconds))
            return bound.judge(bound.requests > 0, 0, at);
        const auto& window = set.windows[place];
        return bound.judge(window.requests < bound.requests, window.requests, window.began_by(at));
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept { return (set_count_ + 1) * sizeof(detail::window_set); }

private:
    static constexpr std::size_t keys_bound = std::size_t{1} << 31;  // 48 GiB: a larger number is a mistake
    // Two threads meet at one of so many in less than one call of a hundred, on any machine of today.
    static constexpr std::size_t lock_count_max = 256;
    struct alignas(64) padded_lock {  // a cache line each, so that neighbours do not slow each other down
        std::mutex mutex;
    };
    struct free_memory {
        void operator()(void* memory) const noexcept { std::free(memory); }
    };

    [[nodiscard]] std::size_t set_of(std::uint64_t key) const noexcept {
        return static_cast<std::size_t>(siphash(seed_, key)) & (set_count_ - 1);
    }
    [[nodiscard]] std::mutex& lock_of(std::size_t set) const noexcept { return locks_[set & (lock_count_ - 1)].mutex; }

    siphash_key seed_;
    std::size_t set_count_;   // powers of two, both
    std::size_t lock_count_;
    // From calloc, because the pages of a large block take no memory until they are written to.
    std::unique_ptr<void, free_memory> memory_;
    detail::window_set* sets_;  // in memory_, aligned
    std::unique_ptr<padded_lock[]> locks_;
};

namespace detail {

inline siphash_key random_siphash_key() {
    std::array<std::byte, sizeof(siphash_key)> bytes;
    if (!system_random{}.fill(bytes)) throw std::runtime_error{"OpenSSL gives no random bytes"};
    return std::bit_cast<siphash_key>(bytes);
}

}  // namespace detail

TOLLGATE_DECL window_limiter::window_limiter() : window_limiter{key_capacity{}} {}

TOLLGATE_DECL window_limiter::window_limiter(const key_capacity& capacity)
    : window_limiter{capacity, detail::random_siphash_key()} {}

TOLLGATE_DECL window_limiter::window_limiter(const key_capacity& capacity, const siphash_key& seed)
    : users_{std::make_unique<table>(capacity.users, seed)},
      addresses_{std::make_unique<table>(capacity.addresses, seed)} {}

TOLLGATE_DECL window_limiter::window_limiter(window_limiter&&) noexcept = default;
TOLLGATE_DECL window_limiter& window_limiter::operator=(window_limiter&&) noexcept = default;
TOLLGATE_DECL window_limiter::~window_limiter() = default;

TOLLGATE_DECL verdict window_limiter::take(const limit_key& key, const quota& allowed, instant now) noexcept {
    return (key.kind() == limit_kind::user ? users_ : addresses_)->take(key.value(), allowed, now);
}

TOLLGATE_DECL verdict window_limiter::peek(const limit_key& key, const quota& allowed, instant now) const noexcept {
    return (key.kind() == limit_kind::user ? users_ : addresses_)->peek(key.value(), allowed, now);
}

TOLLGATE_DECL std::size_t window_limiter::memory_bytes() const noexcept {
    return users_->memory_bytes() + addresses_->memory_bytes();
}

}  // namespace tollgate
