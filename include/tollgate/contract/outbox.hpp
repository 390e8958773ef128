#pragma once
#ifndef TOLLGATE_CONTRACT_OUTBOX_HPP
#define TOLLGATE_CONTRACT_OUTBOX_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tollgate::inline v0 {

/// Accepts events. Every outbox is an event sink; integrators publish to it.
///
/// Thread rule, here and below: callable from many threads at once. Blocking: allowed if the store declares
/// `static constexpr bool blocking = true`. Errors: an `error`; never throws. Every verb is atomic; its effect is as
/// durable as the store when it returns.
template <class S>
concept event_sink = requires(S& s, const event& reported, const message_seed& seed, instant now) {
    // Adds one delivery, due now, for each enabled hook of the event's account and name: all of them or, with an error, none. Returns how
    // many. Their `webhook-id` is `message_id_of(seed, hook)`. `publish` has checked the event.
    { s.append_event(reported, seed, now) } -> std::same_as<result<std::size_t>>;
};

/// Keeps deliveries until they arrive, and their history afterwards.
///
/// The verbs only read and write rows. `webhooks::delivery_scheduler` decides which hook is served when, and how many deliveries a host
/// gets. A store guarantees only what all workers of all processes must agree on: one lease per delivery, and the bound of leases per host
/// that a request names. A delivery's host is scheme, host and port of its hook's target (`delivery_host`).
///
/// A due time or an end of a lease that is later than `latest_due(now)` was set by a clock that was wrong. Such a delivery is due now; its
/// hook is listed, and its lease does not count.
///
/// A deleted hook's deliveries are invisible to these verbs from then on; a store may remove the rows later, in sweeps.
/// A store keeps at least the newest `limits::ended_deliveries_per_hook_max` delivered and given up deliveries of a
/// hook. A store that is full may refuse an event (unavailable), preferably of the account that fills it. If one host
/// fills it, it may give up an event's deliveries to that host at once, with a record in the history, while the others
/// become due.
///
/// Exemplars: `memory_store`, `sqlite_store`, `postgres_store`, and `examples/own_store`, the shortest one. An adapter is correct if it
/// passes `tollgate/testing/store_suite.hpp`.
template <class S>
concept outbox = event_sink<S> && requires(S& s, std::span<const lease_request> requests, const lease_time& lease,
                                           std::span<const attempt_result> ended, const account_ref& account,
                                           hook_id hook, delivery_id delivery, instant now, instant ended_before, instant since,
                                           std::size_t rows_max, std::optional<delivery_id> which, const event& reported,
                                           const message_seed& seed, std::optional<delivery_state> state) {
    // Adds one delivery of this event, due now, for this hook alone, whatever event the hook is for; used for tests, for example. Returns
    // whether the event's account has such a hook. error_kind::conflict if it is disabled.
    { s.append_event_to(hook, reported, seed, now) } -> std::same_as<result<bool>>;
    // Hooks that may have a delivery to lease, at most `rows_max`, in the order in which they became due. A delivery can be leased if its
    // time has come or its lease has ended. A hook may be listed too early, but only until a `lease` call finds nothing due.
    { s.due_hooks(now, rows_max) } -> std::same_as<result<due_hook_page>>;
    // Leases the next due deliveries of each requested hook, in the order of the requests and within their bounds: those that became due
    // first, and of these the oldest first. No other call gets a leased delivery before it is completed or `lease.until` has passed; from
    // then on it is due again, as if it had not been leased. Requests for deleted hooks are ignored; a disabled hook's deliveries are held.
    // A hook that still has a due delivery is due again now, behind all others, or, if the bound of its host kept that delivery back, at
    // `full_host_retry_at`.
    { s.lease(requests, lease) } -> std::same_as<result<std::vector<due_delivery>>>;
    // Ends leases, all of them in one step (a commit costs more than a row). Returns one status for each, in their
    // order. Each attempt is recorded, even if it is too late, unless the delivery is gone. `not_attempted` only ends
    // the lease.
    //
    // `complete_delivery` decides what becomes of a delivery and its hook; the store reads and writes their rows. The deliveries of a
    // disabled hook are held: waiting ones now, leased ones when they are completed and still have to be sent, or when their lease has
    // ended.
    { s.complete(ended, now) } -> std::same_as<result<std::vector<completion>>>;
    // The hook's deliveries, newest first, at most `rows_max`; none if the hook is not the account's. With `which`, only
    // those older than that one, whether it still exists or not; with `state`, only those in that state.
    { s.deliveries_of(account, hook, rows_max, which, state) } -> std::same_as<result<std::vector<tollgate::delivery>>>;
    // The hook's attempts, the most recently completed first, at most `rows_max`; with `which`, only those of that
    // delivery. At least the last `limits::attempts_per_delivery_max` of one delivery are kept.
    { s.attempts_of(account, hook, rows_max, which) } -> std::same_as<result<std::vector<recorded_attempt>>>;
    // Makes a delivery in any state due now and restarts its retry plan; returns whether the account has such a delivery. If it is being
    // sent, it becomes due as soon as that attempt is completed, with any outcome (held, if its hook is disabled by then).
    // error_kind::conflict while its hook is disabled.
    { s.resend(account, delivery, now) } -> std::same_as<result<bool>>;
    // Makes the hook's deliveries due now that were created at `since` or later and given up, and restarts their retry plans: the oldest
    // first, at most `rows_max`. Returns how many; none if the hook is not the account's. error_kind::conflict if it is disabled.
    { s.resend_given_up(account, hook, since, rows_max, now) } -> std::same_as<result<std::size_t>>;
    // Enables a hook; returns whether the account has such a hook. It is no longer disabled or failing; its held deliveries are due now,
    // and their retry plans start over. error_kind::unavailable if there are so many that it takes too long: the hook stays disabled, and
    // another call continues.
    { s.enable_hook(account, hook, now) } -> std::same_as<result<bool>>;
    // Removes deliveries that have been delivered, given up or held since before `ended_before`, at most `rows_max`,
    // with their attempts, events without deliveries, and remains of deleted hooks; returns how many deliveries were
    // removed.
    { s.sweep_deliveries(ended_before, rows_max) } -> std::same_as<result<std::size_t>>;
};

/// An outbox that other processes may append to. Several times a second, a worker compares the number that
/// `changes_seen` returns, and looks for due hooks if the number has changed or is unknown.
///
/// Optional: without it, a worker looks less often.
template <class S>
concept shared_outbox = outbox<S> && requires(const S& s) {
    // A different number after anything was appended; it may also change for other reasons. Empty if it cannot be
    // determined now. Never blocks, and costs almost nothing.
    { s.changes_seen() } noexcept -> std::same_as<std::optional<std::uint64_t>>;
};

/// An outbox that reports how much is due, for monitoring.
///
/// Optional. Exemplars: `memory_store`, `sqlite_store`, `postgres_store`.
template <class S>
concept backlog_source = outbox<S> && requires(S& s, instant now, std::size_t rows_max) {
    // What is due at `now`; `due` is counted up to `rows_max`. Deliveries that are held are not due. Those whose time is later than
    // `latest_due(now)` need not be counted before `lease` has corrected it.
    { s.backlog(now, rows_max) } -> std::same_as<result<delivery_backlog>>;
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_OUTBOX_HPP
