#pragma once
#ifndef TOLLGATE_WEB_SIGN_IN_THROTTLE_IPP
#define TOLLGATE_WEB_SIGN_IN_THROTTLE_IPP

#include <tollgate/base/detail/random_key.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/web/sign_in_throttle.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

namespace tollgate::inline v0 {

TOLLGATE_DECL sign_in_throttle::sign_in_throttle(const sign_in_bounds& bounds, const sign_in_capacity& capacity)
    : sign_in_throttle{bounds, capacity, detail::random_key<detail::siphash_key>()} {}

TOLLGATE_DECL sign_in_throttle::sign_in_throttle(const sign_in_bounds& bounds, const sign_in_capacity& capacity,
                                                 const detail::siphash_key& seed)
    : seed_{seed},
      bounds_{bounds},
      logins_at_addresses_{capacity.logins_at_addresses},
      addresses_{capacity.addresses},
      logins_{capacity.logins} {}

TOLLGATE_DECL std::optional<seconds> sign_in_throttle::begin(const sign_in_key& key, instant now) noexcept {
    const auto all = counters_of(key);
    const auto at = to_unix_milliseconds(now);
    const std::scoped_lock held{mutex_};
    std::optional<std::int64_t> until;
    for (const counter& each : all.used())
        if (const auto full = each.table->full_until(each.key, each.allowed, at))
            until = (std::max)(until.value_or(0), *full);
    if (until) return (std::max)(std::chrono::ceil<seconds>(milliseconds{*until - at}), seconds{1});
    for (const counter& each : all.used()) each.table->count(each.key, each.allowed, at);
    return std::nullopt;
}

TOLLGATE_DECL void sign_in_throttle::succeed(const sign_in_key& key, instant now) noexcept {
    const auto all = counters_of(key);
    const auto at = to_unix_milliseconds(now);
    const std::scoped_lock held{mutex_};
    for (const counter& each : all.used()) {
        if (each.table == &logins_at_addresses_) each.table->forget(each.key, each.allowed, at);
        else each.table->count_back(each.key, each.allowed, at);
    }
}

TOLLGATE_DECL void sign_in_throttle::forgive(const sign_in_key& key, instant now) noexcept {
    const auto all = counters_of(key);
    const auto at = to_unix_milliseconds(now);
    const std::scoped_lock held{mutex_};
    for (const counter& each : all.used()) each.table->count_back(each.key, each.allowed, at);
}

TOLLGATE_DECL sign_in_throttle::counter_list sign_in_throttle::counters_of(const sign_in_key& key) noexcept {
    // Longer logins do not exist, so it does not matter that they share failures by prefix.
    const auto login = key.login.substr(0, limits::login_bytes_max);
    counter_list counters;
    const auto add = [&](detail::failure_table& table, const quota& allowed, char kind, std::uint64_t number,
                         std::string_view text) {
        std::array<char, 1 + sizeof number + limits::login_bytes_max> hashed;
        hashed[0] = kind;
        std::memcpy(hashed.data() + 1, &number, sizeof number);
        std::transform(text.begin(), text.end(), hashed.begin() + 1 + sizeof number, detail::ascii_lower);
        const std::string_view all{hashed.data(), 1 + sizeof number + text.size()};
        counters.all[counters.size++] = {&table, detail::siphash(seed_, all), detail::bounded_quota{allowed}};
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

}  // namespace tollgate

#endif  // TOLLGATE_WEB_SIGN_IN_THROTTLE_IPP
