#pragma once

#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tollgate::inline v0 {

/// Takes events. What an integrator reports to; every outbox is one.
///
/// Thread rule, here and below: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: an `error`; nothing is thrown. Every verb is one atomic intent, and
/// durable (as far as the store is) when it returns.
template <class S>
concept event_sink = requires(S& s, const event& happened, const message_seed& seed, instant now) {
    // One delivery, due now, for each hook of the event's account and name that is not disabled: all of them or, with a
    // problem, none. How many. Its `webhook-id` is `message_id_of(seed, hook)`. The event was checked by `publish`.
    { s.append_event(happened, seed, now) } -> std::same_as<result<std::size_t>>;
};

/// Keeps deliveries until they arrive, and a while longer.
///
/// A delivery's host is scheme, host and port of its hook's target. A deleted hook's deliveries are gone with it, for all
/// that these verbs tell and for all that is claimed; a store may remove many of them bit by bit, in claims and sweeps.
///
/// Of a hook's deliveries that were delivered or given up, a store need keep no more than the newest
/// `limits::ended_deliveries_per_hook_max`. One that has room for so much may refuse an event (unavailable), best of an
/// account or for a host that fills it.
///
/// Exemplar: `memory_store`, `sqlite_store`. An adapter of one's own is right when it passes
/// `tollgate/testing/store_suite.hpp`.
template <class S>
concept outbox = event_sink<S> && requires(S& s, const claim_terms& terms, std::span<const settlement> ended,
                                           const account_ref& account, hook_id hook, delivery_id delivery, instant now,
                                           instant ended_before, std::size_t rows_max,
                                           std::optional<delivery_id> which) {
    // Leases deliveries whose time has come: no other claim gets one of them before its lease is over or it is settled, of
    // any number of threads and processes. A lease that is over is as if there had been none, so a dead worker's
    // deliveries come back.
    //
    // Hosts take turns: of those with something due, the one that has waited the longest for its turn is served first,
    // and none has more leases in force than the terms say, so that nobody waits for a host that hangs or for its
    // backlog. Slow hosts are served first, up to their own bound, and all others then: neither can shut out the other.
    // Where the next delivery's data does not fit any more, the claim ends, and its host keeps its place: the next claim
    // begins there.
    { s.claim_due(terms) } -> std::same_as<result<claimed_deliveries>>;
    // Ends leases; one result each, in their order, all of them in one step (a commit costs more than what is in it). Each
    // attempt goes on record, of those that are too late, too, unless the delivery is gone. What comes back `unsent` was no
    // attempt: its lease ends, and that is all.
    //
    // A success ends a hook's `failing_since`, and its first failure afterwards begins it, at the attempt's time; so does
    // one whose last failure before it was made earlier than its `disable_if_failing_since`. A hook
    // that is disabled holds its deliveries: those that wait now, and those that are being sent once they are settled
    // with `again` or their lease is over.
    { s.settle(ended, now) } -> std::same_as<result<std::vector<settle_result>>>;
    // The account's hook's deliveries, newest first, at most `rows_max`; none of a hook that is not the account's. Those
    // that are older than that one alone, where one is named, whether it is still there or not.
    { s.deliveries_of(account, hook, rows_max, which) } -> std::same_as<result<std::vector<tollgate::delivery>>>;
    // Its attempts, the last to be settled first, at most `rows_max`; of that delivery alone, where one is named. Of one
    // delivery at least the last `limits::attempts_per_delivery_max` are kept.
    { s.attempts_of(account, hook, rows_max, which) } -> std::same_as<result<std::vector<recorded_attempt>>>;
    // Whether the account has such a delivery. It is due now, whatever it was, with its schedule from the start; one that
    // is being sent right now is so as soon as that attempt is settled, whatever came of it (and held, where its hook is
    // disabled by then). error_kind::conflict while its hook is disabled.
    { s.resend(account, delivery, now) } -> std::same_as<result<bool>>;
    // Whether the account has such a hook. It is not disabled any more, nor failing; what was held for it is due now, with
    // its schedule from the start.
    { s.enable_hook(account, hook, now) } -> std::same_as<result<bool>>;
    // Forgets deliveries that have been delivered, given up or held since before then, at most `rows_max` of them, with
    // their attempts, and events that have no delivery left, and what is left of deleted hooks; how many deliveries they
    // were.
    { s.sweep_deliveries(ended_before, rows_max) } -> std::same_as<result<std::size_t>>;
};

/// An outbox that others may append to, too: another process on the same store, `event emit` among them. A worker asks
/// several times a second, and claims where the answer is another one than before it claimed last, or none.
///
/// Optional: without it a worker claims at a low rate, whether there is anything or not.
template <class S>
concept shared_outbox = outbox<S> && requires(const S& s) {
    // Another number whenever anybody has appended since; it may change for other reasons, too. None when that cannot be
    // known now. Never blocks, and costs next to nothing.
    { s.changes_seen() } noexcept -> std::same_as<std::optional<std::uint64_t>>;
};

}  // namespace tollgate
