#pragma once

#include <tollgate/contract/rate_limiter.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/pipeline/detail/judgement.hpp>
#include <tollgate/pipeline/detail/refused.hpp>

#include <concepts>
#include <optional>

namespace tollgate::inline v0::pipeline {

/// What requests are counted against when their caller has no quota of their own.
struct default_quotas {
    quota anonymous;
    quota user;
};

/// Whether counting may wait for another machine, see the contract.
template <rate_limiter Limiter>
[[nodiscard]] constexpr bool limiter_may_block(const Limiter& limiter) noexcept {
    if constexpr (requires { { limiter.may_block() } noexcept -> std::same_as<bool>; }) return limiter.may_block();
    else return http::handler_blocks<Limiter>();
}

/// Whether it would say at once what it says of this caller.
template <rate_limiter Limiter>
[[nodiscard]] bool answers_at_once(const Limiter& limiter, const limit_key& key, const quota& allowed) noexcept {
    if (!limiter_may_block(limiter)) return true;
    if constexpr (requires { { limiter.answers_at_once(key, allowed) } noexcept -> std::same_as<bool>; })
        return limiter.answers_at_once(key, allowed);
    else return false;
}

/// What the fields say of a request that is not counted, on whatever thread: a limiter that would have to wait is not asked,
/// and they tell the window of one of whom nothing is known. Else, whoever sends rubbish could hold up sockets.
template <rate_limiter Limiter>
[[nodiscard]] verdict glance(Limiter& limiter, const limit_key& key, const quota& allowed, instant now) noexcept {
    if (answers_at_once(limiter, key, allowed)) return limiter.peek(key, allowed, now);
    return {true, allowed.requests, allowed.requests, now + allowed.window};
}

/// Counts the request: against the caller, whichever of their credentials it carries, else against the client's address.
/// One that was not judged for a fault of ours is not counted.
template <rate_limiter Limiter>
void count(Limiter& limiter, const default_quotas& defaults, judgement& found) {
    if (found.standing == standing::known)
        found.window = limiter.take(limit_key::of(found.who->user), found.own_quota.value_or(defaults.user), found.now);
    else if (found.standing == standing::undecided)
        found.window = limiter.peek(limit_key::of(found.client), defaults.anonymous, found.now);
    else
        found.window = limiter.take(limit_key::of(found.client), defaults.anonymous, found.now);
}

/// 429 for one that its window has no room for.
[[nodiscard]] inline std::optional<refused> require_room(const judgement& found) noexcept {
    if (found.window.admitted || found.standing == standing::undecided) return std::nullopt;
    return no_room_in_window;
}

}  // namespace tollgate::pipeline
