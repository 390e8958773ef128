#pragma once

#include <tollgate/base/detail/random_key.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/limits/detail/window_set.hpp>
#include <tollgate/web/detail/sign_in_throttle.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <span>
#include <vector>

namespace tollgate::inline v0 {
namespace detail {

/// Failures by key: sets of eight as in `window_limiter`.
class failure_table {
public:
    explicit failure_table(std::size_t keys_max)
        : sets_(std::bit_ceil(((std::max)(keys_max, std::size_t{1}) - 1) / window_set::ways + 1)) {}

    /// When attempts for this key are allowed again, in milliseconds since 1970; empty if they are now.
    [[nodiscard]] std::optional<std::int64_t> full_until(std::uint64_t key, const bounded_quota& allowed,
                                                         std::int64_t now) noexcept {
        const std::int64_t length = std::int64_t{allowed.window_seconds} * 1000;
        const auto* const window = find_open(key, allowed, now);
        if (allowed.requests == 0) return now + length;
        if (window == nullptr || window->requests < allowed.requests) return std::nullopt;
        return window->began_by(now) + length;
    }

    void count(std::uint64_t key, const bounded_quota& allowed, std::int64_t now) noexcept {
        if (auto* const window = find_open(key, allowed, now)) {
            window->began_at_milliseconds = window->began_by(now);
            ++window->requests;
            return;
        }
        window_set& set = set_of(key);
        std::size_t place = set.find(key);
        if (place == window_set::ways) place = set.least_worth(now);
        set.keys[place] = key;
        set.windows[place] = {now, 1, allowed.window_seconds};
    }

    void count_back(std::uint64_t key, const bounded_quota& allowed, std::int64_t now) noexcept {
        if (auto* const window = find_open(key, allowed, now); window != nullptr && window->requests != 0)
            --window->requests;
    }

    void forget(std::uint64_t key, const bounded_quota& allowed, std::int64_t now) noexcept {
        if (auto* const window = find_open(key, allowed, now)) window->requests = 0;
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept { return sets_.size() * sizeof(window_set); }

private:
    /// The key is a keyed hash, so its low bits are uniformly distributed.
    [[nodiscard]] window_set& set_of(std::uint64_t key) noexcept {
        return sets_[key & (sets_.size() - 1)];
    }

    [[nodiscard]] counted_window* find_open(std::uint64_t key, const bounded_quota& allowed,
                                            std::int64_t now) noexcept {
        window_set& set = set_of(key);
        const std::size_t place = set.find(key);
        if (place == window_set::ways || !set.windows[place].is_open(now, allowed.window_seconds)) return nullptr;
        return &set.windows[place];
    }

    std::vector<window_set> sets_;
};

}  // namespace detail

class sign_in_throttle::tables {
public:
    tables(const sign_in_bounds& bounds, const sign_in_capacity& capacity, const siphash_key& seed)
        : seed_{seed},
          bounds_{bounds},
          logins_at_addresses_{capacity.logins_at_addresses},
          addresses_{capacity.addresses},
          logins_{capacity.logins} {}

    [[nodiscard]] std::optional<seconds> begin(const sign_in_key& key, std::int64_t now) noexcept {
        const auto all = counters_of(key);
        const std::scoped_lock held{mutex_};
        std::optional<std::int64_t> until;
        for (const counter& each : all.used())
            if (const auto full = each.table->full_until(each.key, each.allowed, now))
                until = (std::max)(until.value_or(0), *full);
        if (until) return (std::max)(std::chrono::ceil<seconds>(milliseconds{*until - now}), seconds{1});
        for (const counter& each : all.used()) each.table->count(each.key, each.allowed, now);
        return std::nullopt;
    }

    void succeed(const sign_in_key& key, std::int64_t now) noexcept {
        const auto all = counters_of(key);
        const std::scoped_lock held{mutex_};
        for (const counter& each : all.used()) {
            if (each.table == &logins_at_addresses_) each.table->forget(each.key, each.allowed, now);
            else each.table->count_back(each.key, each.allowed, now);
        }
    }

    void forgive(const sign_in_key& key, std::int64_t now) noexcept {
        const auto all = counters_of(key);
        const std::scoped_lock held{mutex_};
        for (const counter& each : all.used()) each.table->count_back(each.key, each.allowed, now);
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return logins_at_addresses_.memory_bytes() + addresses_.memory_bytes() + logins_.memory_bytes();
    }

private:
    struct counter {
        detail::failure_table* table = nullptr;
        std::uint64_t key = 0;
        detail::bounded_quota allowed{quota{}};
    };
    struct counter_list {
        std::array<counter, 7> all{};
        std::size_t size = 0;
        [[nodiscard]] std::span<const counter> used() const noexcept { return {all.data(), size}; }
    };

    [[nodiscard]] counter_list counters_of(const sign_in_key& key) noexcept {
        // Longer logins do not exist, so it does not matter that they share failures by prefix.
        const auto login = key.login.substr(0, limits::login_bytes_max);
        counter_list counters;
        const auto add = [&](detail::failure_table& table, const quota& allowed, char kind, std::uint64_t number,
                             std::string_view text) {
            std::array<char, 1 + sizeof number + limits::login_bytes_max> hashed;
            hashed[0] = kind;
            std::memcpy(hashed.data() + 1, &number, sizeof number);
            std::transform(text.begin(), text.end(), hashed.begin() + 1 + sizeof number, ascii_lower);
            const std::string_view all{hashed.data(), 1 + sizeof number + text.size()};
            counters.all[counters.size++] = {&table, siphash(seed_, all), detail::bounded_quota{allowed}};
        };
        if (key.browser != 0) {
            add(logins_at_addresses_, bounds_.login_on_browser, 'b', key.browser, login);
            add(logins_, bounds_.login_on_browsers, 'b', 0, login);
            return counters;
        }
        const std::uint64_t address = limit_key::of(key.client).value();
        add(logins_at_addresses_, bounds_.login_at_address, 'a', address, login);
        add(addresses_, bounds_.address, 'a', address, {});
        add(logins_, bounds_.login, 'l', 0, login);
        if (key.client.is_v4()) return counters;
        const auto site = limit_key::of(detail::first_of_network(key.client, 7)).value();
        const auto network = limit_key::of(detail::first_of_network(key.client, 6)).value();
        add(logins_at_addresses_, bounds_.login_at_site, 's', site, login);
        add(logins_at_addresses_, bounds_.login_at_network, 'n', network, login);
        add(addresses_, bounds_.site, 's', site, {});
        add(addresses_, bounds_.network, 'n', network, {});
        return counters;
    }

    siphash_key seed_;
    sign_in_bounds bounds_;
    std::mutex mutex_;
    detail::failure_table logins_at_addresses_;
    detail::failure_table addresses_;
    detail::failure_table logins_;
};

TOLLGATE_DECL sign_in_throttle::sign_in_throttle(const sign_in_bounds& bounds, const sign_in_capacity& capacity)
    : sign_in_throttle{bounds, capacity, detail::random_key<siphash_key>()} {}

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

}  // namespace tollgate
