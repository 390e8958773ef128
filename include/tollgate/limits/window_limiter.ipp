#pragma once
#ifndef TOLLGATE_LIMITS_WINDOW_LIMITER_IPP
#define TOLLGATE_LIMITS_WINDOW_LIMITER_IPP

#include <tollgate/base/detail/random_key.hpp>
#include <tollgate/limits/detail/locked_sets.hpp>
#include <tollgate/limits/detail/window_set.hpp>
#include <tollgate/limits/window_limiter.hpp>

#include <mutex>

namespace tollgate::inline v0 {

class window_limiter::table {
public:
    table(std::size_t keys_max, const detail::siphash_key& seed) : seed_{seed}, sets_{keys_max, keys_bound} {}

    [[nodiscard]] limit_decision take(std::uint64_t key, const quota& allowed, instant now) noexcept {
        const detail::bounded_quota bound{allowed};
        const std::int64_t at = to_unix_milliseconds(now);
        const std::size_t index = set_of(key);
        const std::scoped_lock held{sets_.lock_of(index)};

        auto& set = sets_[index];
        std::size_t place = set.find(key);
        if (place == detail::window_set::ways || !set.windows[place].is_open(at, bound.window_seconds)) {
            if (bound.requests == 0) return bound.to_decision(false, 0, at);
            if (place == detail::window_set::ways) place = set.least_worth(at);
            set.keys[place] = key;
            set.windows[place] = {at, 1, bound.window_seconds};
            return bound.to_decision(true, 1, at);
        }
        auto& window = set.windows[place];
        window.began_at_milliseconds = window.began_by(at);
        window.length_seconds = bound.window_seconds;
        const bool admitted = window.requests < bound.requests;
        if (admitted) ++window.requests;
        return bound.to_decision(admitted, window.requests, window.began_at_milliseconds);
    }

    [[nodiscard]] limit_decision peek(std::uint64_t key, const quota& allowed, instant now) const noexcept {
        const detail::bounded_quota bound{allowed};
        const std::int64_t at = to_unix_milliseconds(now);
        const std::size_t index = set_of(key);
        const std::scoped_lock held{sets_.lock_of(index)};

        const auto& set = sets_[index];
        const std::size_t place = set.find(key);
        if (place == detail::window_set::ways || !set.windows[place].is_open(at, bound.window_seconds))
            return bound.to_decision(bound.requests > 0, 0, at);
        const auto& window = set.windows[place];
        return bound.to_decision(window.requests < bound.requests, window.requests, window.began_by(at));
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept { return sets_.memory_bytes(); }

private:
    static constexpr std::size_t keys_bound = std::size_t{1} << 31;  // 48 GiB; a larger number is a mistake

    [[nodiscard]] std::size_t set_of(std::uint64_t key) const noexcept { return sets_.index_of(detail::siphash(seed_, key)); }

    detail::siphash_key seed_;
    detail::locked_sets<detail::window_set> sets_;
};

TOLLGATE_COLD window_limiter::window_limiter() : window_limiter{key_capacity{}} {}

TOLLGATE_COLD window_limiter::window_limiter(const key_capacity& capacity)
    : window_limiter{capacity, detail::random_key<detail::siphash_key>()} {}

TOLLGATE_COLD window_limiter::window_limiter(const key_capacity& capacity, const detail::siphash_key& seed)
    : users_{std::make_unique<table>(capacity.users, seed)},
      addresses_{std::make_unique<table>(capacity.addresses, seed)} {}

TOLLGATE_COLD window_limiter::window_limiter(window_limiter&&) noexcept = default;
TOLLGATE_DECL window_limiter& window_limiter::operator=(window_limiter&&) noexcept = default;
TOLLGATE_COLD window_limiter::~window_limiter() = default;

TOLLGATE_DECL limit_decision window_limiter::take(const limit_key& key, const quota& allowed, instant now) noexcept {
    return (key.kind() == limit_kind::user ? users_ : addresses_)->take(key.value(), allowed, now);
}

TOLLGATE_DECL limit_decision window_limiter::peek(const limit_key& key, const quota& allowed, instant now) const noexcept {
    return (key.kind() == limit_kind::user ? users_ : addresses_)->peek(key.value(), allowed, now);
}

TOLLGATE_DECL std::size_t window_limiter::memory_bytes() const noexcept {
    return users_->memory_bytes() + addresses_->memory_bytes();
}

}  // namespace tollgate

#endif  // TOLLGATE_LIMITS_WINDOW_LIMITER_IPP
