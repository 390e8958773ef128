#pragma once
#ifndef TOLLGATE_CONTRACT_OUTBOX_HPP
#define TOLLGATE_CONTRACT_OUTBOX_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/contract/detail/member_names.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/model/sweep.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tollgate::inline v0 {

/// Accepts events. Every outbox is an event sink, to which integrators publish events.
///
/// Thread rule, for all contracts of this file: callable from many threads at once. Blocking: allowed. A store that does not block declares
/// `static constexpr bool blocking = false`; see `may_block`. Errors: an `error`; nothing is thrown. Every verb is atomic. When it returns,
/// its effect is as durable as the store.
template <class S>
concept event_sink = requires(S& s, const event& reported, const message_seed& seed, instant now) {
    // Adds a delivery, due now, for each enabled hook of the event's account and name: all of them or, with an error, none. Returns the
    // number of deliveries. Their `webhook-id` is `message_id_of(seed, hook)`. The caller, `publish`, has checked the event.
    { s.append_event(reported, seed, now) } -> std::same_as<result<std::size_t>>;
};

/// Keeps deliveries until they arrive, and their history afterwards.
///
/// The verbs only read and write rows. `webhooks::delivery_scheduler` decides when a hook is served, and how many deliveries a host gets. A
/// store guarantees only what all workers of all processes must agree on: one lease per delivery, and the bound of leases per host that a
/// request names. A delivery's host is scheme, host and port of its hook's target (`delivery_host`).
///
/// A due time or an end of a lease that is later than `latest_due(now)` was set by a wrong clock. Such a delivery is due now: its hook is
/// listed, and its lease does not count.
///
/// These verbs ignore a deleted hook's deliveries; a store may remove the rows later, in sweeps. A store keeps at least the newest
/// `limits::ended_deliveries_per_hook_max` delivered and given up deliveries of a hook. A full store may refuse an event (unavailable),
/// preferably of the account that has the most deliveries. If the deliveries to one host fill it, it may give up an event's deliveries to
/// that host at once, with a record in the history, while the other deliveries become due.
///
/// Exemplars: `memory_store`, `sqlite_store`, `postgres_store`, and `record_store`, which is the shortest. An adapter is correct if
/// it passes `tollgate/testing/store_suite.hpp`.
template <class S>
concept outbox = event_sink<S> && requires(S& s, std::span<const lease_request> requests, const lease_time& lease,
                                           std::span<const attempt_result> ended, const account_ref& account, hook_id only_to,
                                           const delivery_query& query, const resend_request& resent, instant now, std::size_t rows_max,
                                           const event& reported, const message_seed& seed, const sweep_request& sweep) {
    // Adds a delivery of this event, due now, for the hook `only_to` alone, also if the hook is for another event. Test events use it.
    // Returns the number of deliveries: none if the event's account has no such hook. error_kind::conflict if the hook is disabled.
    { s.append_event(reported, seed, now, only_to) } -> std::same_as<result<std::size_t>>;
    // Returns hooks that may have a delivery to lease, at most `rows_max`, in the order in which they became due. A delivery can be leased
    // if its time has come or its lease has ended. A hook may be listed too early, but only until a `lease` call finds no due delivery.
    { s.due_hooks(now, rows_max) } -> std::same_as<result<due_hook_page>>;
    // Leases the next due deliveries of each requested hook, in the order of the requests and within their bounds: the deliveries that
    // became due first, and of these the oldest. No other call gets a leased delivery before it is completed or `lease.until` has passed;
    // from then on it is due again, as if it had not been leased. Requests for deleted hooks are ignored; a disabled hook's deliveries are
    // held. A hook that still has a due delivery is due again now, behind all others, or at `full_host_retry_at` if the bound of its host
    // delayed that delivery.
    { s.lease(requests, lease) } -> std::same_as<result<std::vector<due_delivery>>>;
    // Ends leases, all of them in one step, because a commit costs more than a row. Returns a status for each, in their order. Each attempt
    // is recorded, even if it is too late, unless the delivery no longer exists. `not_attempted` only ends the lease.
    //
    // `complete_delivery` decides the new state of a delivery and its hook; the store reads and writes their rows. The deliveries of a
    // disabled hook are held: waiting deliveries at once, leased deliveries when they are completed and still have to be sent, or when
    // their lease has ended.
    { s.complete(ended, now) } -> std::same_as<result<std::vector<completion>>>;
    // Returns the deliveries of the account's hook that `query` selects, newest first, with their last attempts; none if the hook belongs
    // to another account.
    { s.deliveries_of(account, query) } -> std::same_as<result<std::vector<listed_delivery>>>;
    // Makes deliveries of the account's hooks due now and restarts their retry plans. Returns their number: none if the account has no such
    // delivery. If a delivery is leased, it becomes due as soon as that attempt is completed, with any outcome (held, if its hook is
    // disabled by then). error_kind::conflict while the hook is disabled.
    { s.resend(account, resent, now) } -> std::same_as<result<std::size_t>>;
    // Deletes deliveries, and returns their number; see `sweep_request::deliveries_ended_before`.
    { s.sweep(sweep) } -> std::same_as<result<std::size_t>>;
};

/// An outbox to which other processes may append events. Several times a second, a worker compares the number that `changes_seen` returns,
/// and looks for due hooks if the number has changed or is unknown.
///
/// Optional: without it, a worker looks less often.
template <class S>
concept shared_outbox = outbox<S> && requires(const S& s) {
    // Returns a different number after anything was appended; the number may also change for other reasons. Returns an empty optional if
    // the number cannot be determined now. Never blocks, and costs almost nothing.
    { s.changes_seen() } noexcept -> std::same_as<std::optional<std::uint64_t>>;
};

/// An outbox that reports the number of due deliveries, for monitoring.
///
/// Optional. Exemplars: `memory_store`, `sqlite_store`, `postgres_store`.
template <class S>
concept backlog_source = outbox<S> && requires(S& s, instant now, std::size_t rows_max) {
    // Returns the deliveries that are due at `now`; `due` is counted up to `rows_max`. Held deliveries are not due. A delivery whose time
    // is later than `latest_due(now)` need not be counted before `lease` has corrected the time.
    { s.backlog(now, rows_max) } -> std::same_as<result<delivery_backlog>>;
};

namespace detail {

struct outbox_calls {
    result<std::size_t> (*append_event)(void*, const event&, const message_seed&, instant, std::optional<hook_id>);
    result<due_hook_page> (*due_hooks)(void*, instant, std::size_t);
    result<std::vector<due_delivery>> (*lease)(void*, std::span<const lease_request>, const lease_time&);
    result<std::vector<completion>> (*complete)(void*, std::span<const attempt_result>, instant);
    result<std::vector<listed_delivery>> (*deliveries_of)(void*, const account_ref&, const delivery_query&);
    result<std::size_t> (*resend)(void*, const account_ref&, const resend_request&, instant);
    result<std::size_t> (*sweep)(void*, const sweep_request&);
    std::optional<std::uint64_t> (*changes_seen)(void*) noexcept;
    result<delivery_backlog> (*backlog)(void*, instant, std::size_t);
};

template <class T>
struct calls_of_outbox {
    static result<std::size_t> append_event(void* object, const event& reported, const message_seed& seed, instant now,
                                            std::optional<hook_id> only_to) {
        return object_at<T>(object).append_event(reported, seed, now, only_to);
    }
    static result<due_hook_page> due_hooks(void* object, instant now, std::size_t rows_max) {
        return object_at<T>(object).due_hooks(now, rows_max);
    }
    static result<std::vector<due_delivery>> lease(void* object, std::span<const lease_request> requests, const lease_time& lease) {
        return object_at<T>(object).lease(requests, lease);
    }
    static result<std::vector<completion>> complete(void* object, std::span<const attempt_result> ended, instant now) {
        return object_at<T>(object).complete(ended, now);
    }
    static result<std::vector<listed_delivery>> deliveries_of(void* object, const account_ref& account, const delivery_query& query) {
        return object_at<T>(object).deliveries_of(account, query);
    }
    static result<std::size_t> resend(void* object, const account_ref& account, const resend_request& resent, instant now) {
        return object_at<T>(object).resend(account, resent, now);
    }
    static result<std::size_t> sweep(void* object, const sweep_request& request) { return object_at<T>(object).sweep(request); }
    static std::optional<std::uint64_t> changes_seen(void* object) noexcept { return object_at<T>(object).changes_seen(); }
    static result<delivery_backlog> backlog(void* object, instant now, std::size_t rows_max) {
        return object_at<T>(object).backlog(now, rows_max);
    }

    static consteval outbox_calls make_table() {
        outbox_calls calls{&append_event, &due_hooks, &lease, &complete, &deliveries_of, &resend, &sweep, nullptr, nullptr};
        if constexpr (shared_outbox<T>) calls.changes_seen = &changes_seen;
        if constexpr (backlog_source<T>) calls.backlog = &backlog;
        return calls;
    }
    static constexpr outbox_calls table = make_table();
};

}  // namespace detail

/// A reference to an `outbox` of any class, or to no object. The object must outlive the reference. The contract states the thread rule
/// and the errors.
class outbox_ref : public detail::reference<detail::outbox_calls> {
public:
    outbox_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, outbox_ref>
    outbox_ref(T& object) noexcept {
        static_assert(outbox<T>, "tollgate: this does not satisfy outbox; read tollgate/contract/outbox.hpp");
        if constexpr (outbox<T>) {
            static_assert(shared_outbox<T> || !detail::names_changes_seen<T>,
                          "tollgate: a member named changes_seen exists, but this does not satisfy shared_outbox; "
                          "read tollgate/contract/outbox.hpp");
            refer_to(object, detail::calls_of_outbox<T>::table);
        }
    }

    /// Each calls the object's function of this name; see `outbox`.
    [[nodiscard]] result<std::size_t> append_event(const event& reported, const message_seed& seed, instant now,
                                                   std::optional<hook_id> only_to = {}) const {
        return calls_->append_event(object_, reported, seed, now, only_to);
    }
    [[nodiscard]] result<due_hook_page> due_hooks(instant now, std::size_t rows_max) const {
        return calls_->due_hooks(object_, now, rows_max);
    }
    [[nodiscard]] result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, const lease_time& lease) const {
        return calls_->lease(object_, requests, lease);
    }
    [[nodiscard]] result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now) const {
        return calls_->complete(object_, ended, now);
    }
    [[nodiscard]] result<std::vector<listed_delivery>> deliveries_of(const account_ref& account, const delivery_query& query) const {
        return calls_->deliveries_of(object_, account, query);
    }
    [[nodiscard]] result<std::size_t> resend(const account_ref& account, const resend_request& resent, instant now) const {
        return calls_->resend(object_, account, resent, now);
    }
    [[nodiscard]] result<std::size_t> sweep(const sweep_request& request) const { return calls_->sweep(object_, request); }

    /// Returns true if the object is a `shared_outbox`.
    [[nodiscard]] bool tells_changes() const noexcept { return calls_->changes_seen != nullptr; }
    /// Calls the object's function of this name. Precondition: tells_changes().
    [[nodiscard]] std::optional<std::uint64_t> changes_seen() const noexcept { return calls_->changes_seen(object_); }

    /// Returns true if the object is a `backlog_source`.
    [[nodiscard]] bool tells_backlog() const noexcept { return calls_->backlog != nullptr; }
    /// Calls the object's function of this name. Precondition: tells_backlog().
    [[nodiscard]] result<delivery_backlog> backlog(instant now, std::size_t rows_max) const {
        return calls_->backlog(object_, now, rows_max);
    }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_OUTBOX_HPP
