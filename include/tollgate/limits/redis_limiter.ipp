#pragma once
#ifndef TOLLGATE_LIMITS_REDIS_LIMITER_IPP
#define TOLLGATE_LIMITS_REDIS_LIMITER_IPP

#include <tollgate/base/detail/system/boot_clock.hpp>
#include <tollgate/base/detail/bounded_time.hpp>
#include <tollgate/base/detail/hash.hpp>
#include <tollgate/base/detail/random_key.hpp>
#include <tollgate/limits/detail/redis/client.hpp>
#include <tollgate/limits/detail/redis/connection.hpp>
#include <tollgate/limits/detail/redis/recent_refusals.hpp>
#include <tollgate/limits/detail/redis/server_address.hpp>
#include <tollgate/limits/detail/redis/window_script.hpp>
#include <tollgate/limits/detail/window_set.hpp>
#include <tollgate/limits/redis_limiter.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tollgate::inline v0 {

struct redis_limiter::state {
    state(redis::server_address server, std::shared_ptr<const redis::tls_authorities> authorities,
          const redis_limiter_settings& settings)
        : authorities_file{settings.authorities_file},
          when_down{settings.when_down},
          here{settings.when_down == without_redis::count_here ? settings.counted_here : key_capacity{1, 1}},
          client{std::move(server),
                 std::move(authorities),
                 redis::window_script{settings.prefix},
                 {.connect_wait_max = settings.connect_wait_max,
                  .response_wait_max = settings.response_wait_max,
                  .on_state = settings.on_state}},
          refusals{detail::random_key<detail::siphash_key>()} {}

    // Includes the time in suspension, during which the server's windows continue.
    static std::int64_t boot_time() noexcept {
        return std::chrono::duration_cast<milliseconds>(detail::boot_now().time_since_epoch()).count();
    }

    static limit_decision to_decision(const redis::window_request& about, const redis::window_reply& reply, bool admitted) noexcept {
        return {admitted, about.allowed.requests, reply.remaining,
                from_unix_milliseconds(about.allowed.end_of(reply.began_at_milliseconds))};
    }

    limit_decision take(const limit_key& key, const quota& allowed, instant now) noexcept;
    limit_decision peek(const limit_key& key, const quota& allowed, instant now) noexcept;
    limit_decision decide_here(const limit_key& key, const quota& allowed, instant now, bool takes) noexcept;
    limit_decision by_when_down(const limit_key& key, const quota& allowed, instant now, bool takes) noexcept;

    const std::string authorities_file;
    const without_redis when_down;
    window_limiter here;
    redis::client client;
    redis::recent_refusals refusals;
    std::atomic<std::uint64_t> fallbacks = 0;
};

inline limit_decision redis_limiter::state::take(const limit_key& key, const quota& allowed, instant now) noexcept {
    const redis::window_request request{key, detail::bounded_quota{allowed}, true};
    const std::int64_t sent_at = boot_time();
    if (const auto refusal = refusals.find(key, request.allowed, sent_at)) return *refusal;
    const auto [outcome, reply] = client.send(request);
    if (outcome != redis::outcome::replied) return decide_here(key, allowed, now, true);
    if (!reply.counted) refusals.add(request, reply, sent_at);
    return to_decision(request, reply, reply.counted);
}

inline limit_decision redis_limiter::state::peek(const limit_key& key, const quota& allowed, instant now) noexcept {
    const redis::window_request query{key, detail::bounded_quota{allowed}};
    if (const auto refusal = refusals.find(key, query.allowed, boot_time())) return *refusal;
    const auto [outcome, reply] = client.send(query);
    if (outcome != redis::outcome::replied) return decide_here(key, allowed, now, false);
    return to_decision(query, reply, reply.remaining > 0);
}

inline limit_decision redis_limiter::state::decide_here(const limit_key& key, const quota& allowed, instant now, bool takes) noexcept {
    const limit_decision decision = by_when_down(key, allowed, now, takes);
    // A request of several windows is counted in none if `peek` refuses one: no `take` follows.
    if (takes || !decision.admitted) fallbacks.fetch_add(1, std::memory_order_relaxed);
    return decision;
}

inline limit_decision redis_limiter::state::by_when_down(const limit_key& key, const quota& allowed, instant now, bool takes) noexcept {
    switch (when_down) {
        case without_redis::count_here: break;
        // A quota of zero requests admits none.
        case without_redis::admit: {
            const detail::bounded_quota bound{allowed};
            return bound.to_decision(bound.requests > 0, 0, to_unix_milliseconds(now));
        }
        case without_redis::refuse: return {false, allowed.requests, 0, now + seconds{1}};
    }
    return takes ? here.take(key, allowed, now) : here.peek(key, allowed, now);
}

TOLLGATE_DECL redis_limiter::redis_limiter(std::unique_ptr<state> initial) noexcept : state_{std::move(initial)} {}
TOLLGATE_DECL redis_limiter::redis_limiter(redis_limiter&&) noexcept = default;
TOLLGATE_DECL redis_limiter& redis_limiter::operator=(redis_limiter&&) noexcept = default;
TOLLGATE_DECL redis_limiter::~redis_limiter() = default;

TOLLGATE_DECL result<redis_limiter> redis_limiter::open(std::string_view url, const redis_limiter_settings& settings) {
    auto server = redis::parse_url(url);
    if (!server) return std::move(server).error();
    constexpr milliseconds some{1}, hour = std::chrono::hours{1};
    if (auto checked = detail::check_bounds("Redis limiter", {{"connect_wait_max", settings.connect_wait_max, some, hour},
                                                              {"response_wait_max", settings.response_wait_max, some, hour}});
        !checked)
        return std::move(checked).error();
    std::shared_ptr<const redis::tls_authorities> authorities;
    if (server->tls) {
        auto loaded = redis::tls_authorities::load(settings.authorities_file);
        if (!loaded) return std::move(loaded).error();
        authorities = std::make_shared<const redis::tls_authorities>(*std::move(loaded));
    }
    try {
        return redis_limiter{std::make_unique<state>(*std::move(server), std::move(authorities), settings)};
    } catch (const std::exception& thrown) {
        return internal_error(std::string{"Redis limiter: "} + thrown.what());
    }
}

TOLLGATE_DECL result<void> redis_limiter::reload_authorities() noexcept {
    if (!state_->client.has_authorities()) return {};
    try {
        auto loaded = redis::tls_authorities::load(state_->authorities_file);
        if (!loaded) return std::move(loaded).error();
        state_->client.set_authorities(std::make_shared<const redis::tls_authorities>(*std::move(loaded)));
        return {};
    } catch (const std::exception& thrown) {
        return internal_error(std::string{"Redis limiter: "} + thrown.what());
    }
}

TOLLGATE_DECL result<void> redis_limiter::validate(std::string_view url) {
    auto server = redis::parse_url(url);
    if (!server) return std::move(server).error();
    return {};
}

TOLLGATE_DECL limit_decision redis_limiter::take(const limit_key& key, const quota& allowed, instant now) noexcept {
    return state_->take(key, allowed, now);
}

TOLLGATE_DECL limit_decision redis_limiter::peek(const limit_key& key, const quota& allowed, instant now) noexcept {
    return state_->peek(key, allowed, now);
}

TOLLGATE_DECL std::optional<limit_decision> redis_limiter::try_take(const limit_key& key, const quota& allowed, instant) noexcept {
    return state_->refusals.find(key, detail::bounded_quota{allowed}, state::boot_time());
}

TOLLGATE_DECL std::optional<limit_decision> redis_limiter::try_peek(const limit_key& key, const quota& allowed, instant) noexcept {
    return state_->refusals.find(key, detail::bounded_quota{allowed}, state::boot_time());
}

TOLLGATE_DECL bool redis_limiter::try_now() noexcept {
    // Counts one request under a key of its own: a server that refuses writes cannot count.
    const auto key = limit_key::of(ip_address{}).in("try_now");
    const redis::window_request one{key, detail::bounded_quota{{(std::numeric_limits<std::uint32_t>::max)(), seconds{1}}}, true};
    return state_->client.send(one).outcome != redis::outcome::unavailable;
}

TOLLGATE_DECL backend_statistics redis_limiter::statistics() const noexcept {
    auto all = state_->client.statistics();
    all.fallbacks = state_->fallbacks.load(std::memory_order_relaxed);
    return all;
}

TOLLGATE_DECL bool redis_limiter::is_up() const noexcept { return state_->client.is_up(); }

}  // namespace tollgate

#endif  // TOLLGATE_LIMITS_REDIS_LIMITER_IPP
