#pragma once

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/limits/detail/window_set.hpp>
#include <tollgate/web/detail/sign_in_throttle.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <vector>

namespace tollgate::inline v0 {
namespace detail {

/// Failures by key: sets of eight as in `window_limiter`.
class failure_table {
public:
    failure_table(std::size_t keys_max, const quota& allowed)
        : allowed_{allowed}, sets_(std::bit_ceil(((std::max)(keys_max, std::size_t{1}) - 1) / window_set::ways + 1)) {}

    /// When attempts for this key are allowed again, in milliseconds since 1970; empty if they are now.
    [[nodiscard]] std::optional<std::int64_t> full_until(std::uint64_t key, std::int64_t now) const noexcept {
        const std::int64_t length = std::int64_t{allowed_.window_seconds} * 1000;
        const auto* const window = const_cast<failure_table*>(this)->find_open(key, now);
        if (allowed_.requests == 0) return now + length;
        if (window == nullptr || window->requests < allowed_.requests) return std::nullopt;
        return window->began_by(now) + length;
    }

    void count(std::uint64_t key, std::int64_t now) noexcept {
        if (auto* const window = find_open(key, now)) {
            window->began_at_milliseconds = window->began_by(now);
            ++window->requests;
            return;
        }
        window_set& set = set_of(key);
        std::size_t place = set.find(key);
        if (place == window_set::ways) place = set.least_worth(now);
        set.keys[place] = key;
        set.windows[place] = {now, 1, allowed_.window_seconds};
    }

    void count_back(std::uint64_t key, std::int64_t now) noexcept {
        if (auto* const window = find_open(key, now)) --window->requests;
    }

    void forget(std::uint64_t key, std::int64_t now) noexcept {
        if (auto* const window = find_open(key, now)) window->requests = 0;
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept { return sets_.size() * sizeof(window_set); }

private:
    /// The key is a keyed hash, so its low bits are uniformly distributed.
    [[nodiscard]] window_set& set_of(std::uint64_t key) noexcept {
        return sets_[static_cast<std::size_t>(key) & (sets_.size() - 1)];
    }

    [[nodiscard]] counted_window* find_open(std::uint64_t key, std::int64_t now) noexcept {
        window_set& set = set_of(key);
        const std::size_t place = set.find(key);
        if (place == window_set::ways || !set.windows[place].is_open(now, allowed_.window_seconds)) return nullptr;
        return &set.windows[place];
    }

    bounded_quota allowed_;
    std::vector<window_set> sets_;
};

}  // namespace detail

class sign_in_throttle::tables {
public:
    tables(const sign_in_bounds& bounds, const sign_in_capacity& capacity, const siphash_key& seed)
        : seed_{seed},
          logins_at_addresses_{capacity.logins_at_addresses, bounds.login_at_address},
          addresses_{capacity.addresses, bounds.address},
          logins_{capacity.logins, bounds.login} {}

    [[nodiscard]] std::optional<seconds> begin(const sign_in_key& key, std::int64_t now) noexcept {
        const auto keys = keys_of(key);
        const std::scoped_lock held{mutex_};
        std::optional<std::int64_t> until;
        const auto ask = [&](const std::optional<std::int64_t>& full_until) {
            if (full_until) until = (std::max)(until.value_or(0), *full_until);
        };
        ask(logins_at_addresses_.full_until(keys.login_at_address, now));
        ask(addresses_.full_until(keys.address, now));
        ask(logins_.full_until(keys.login, now));
        if (until) return (std::max)(std::chrono::ceil<seconds>(milliseconds{*until - now}), seconds{1});
        logins_at_addresses_.count(keys.login_at_address, now);
        addresses_.count(keys.address, now);
        logins_.count(keys.login, now);
        return std::nullopt;
    }

    void succeed(const sign_in_key& key, std::int64_t now) noexcept {
        const auto keys = keys_of(key);
        const std::scoped_lock held{mutex_};
        logins_at_addresses_.forget(keys.login_at_address, now);
        addresses_.count_back(keys.address, now);
        logins_.count_back(keys.login, now);
    }

    void forgive(const sign_in_key& key, std::int64_t now) noexcept {
        const auto keys = keys_of(key);
        const std::scoped_lock held{mutex_};
        logins_at_addresses_.count_back(keys.login_at_address, now);
        addresses_.count_back(keys.address, now);
        logins_.count_back(keys.login, now);
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return logins_at_addresses_.memory_bytes() + addresses_.memory_bytes() + logins_.memory_bytes();
    }

private:
    struct counted_keys {
        std::uint64_t login_at_address;
        std::uint64_t address;
        std::uint64_t login;
    };

    [[nodiscard]] counted_keys keys_of(const sign_in_key& key) const noexcept {
        const std::uint64_t address = limit_key::of(key.client).value();
        std::array<char, sizeof address + limits::login_bytes_max> text;
        std::memcpy(text.data(), &address, sizeof address);
        // Longer logins do not exist, so it does not matter that they share failures by prefix.
        const auto login = key.login.substr(0, limits::login_bytes_max);
        std::transform(login.begin(), login.end(), text.begin() + sizeof address, ascii_lower);
        const std::string_view all{text.data(), sizeof address + login.size()};
        return {siphash128(seed_, all).first, siphash(seed_, address),
                siphash128(seed_, all.substr(sizeof address)).first};
    }

    siphash_key seed_;
    std::mutex mutex_;
    detail::failure_table logins_at_addresses_;
    detail::failure_table addresses_;
    detail::failure_table logins_;
};

TOLLGATE_DECL sign_in_throttle::sign_in_throttle(const sign_in_bounds& bounds, const sign_in_capacity& capacity)
    : sign_in_throttle{bounds, capacity, detail::random_siphash_key()} {}

TOLLGATE_DECL sign_in_throttle::sign_in_throttle(const sign_in_bounds& bounds, const sign_in_capacity& capacity,
                                                 const siphash_key& seed)
    : tables_{std::make_unique<tables>(bounds, capacity, seed)} {}

TOLLGATE_DECL sign_in_throttle::~sign_in_throttle() = default;

TOLLGATE_DECL std::optional<seconds> sign_in_throttle::begin(const sign_in_key& key, instant now) noexcept {
    return tables_->begin(key, to_unix_milliseconds(now));
}

TOLLGATE_DECL void sign_in_throttle::succeed(const sign_in_key& key, instant now) noexcept {
    tables_->succeed(key, to_unix_milliseconds(now));
}

TOLLGATE_DECL void sign_in_throttle::forgive(const sign_in_key& key, instant now) noexcept {
    tables_->forgive(key, to_unix_milliseconds(now));
}

TOLLGATE_DECL std::size_t sign_in_throttle::memory_bytes() const noexcept { return tables_->memory_bytes(); }

}  // namespace tollgate::inline v0
