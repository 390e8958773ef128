#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_SCHEDULER_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_SCHEDULER_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/webhooks/hook_dispatch_settings.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tollgate::inline v0::webhooks {

/// An attempt that takes at least this long marks its hook as slow. Slow hooks share a part of a worker's slots, so that others do not wait
/// for them.
inline constexpr milliseconds slow_attempt{1000};

/// The two clocks: pauses are measured with a monotonic clock, rows contain wall time.
struct scheduler_time {
    std::chrono::steady_clock::time_point steady;
    instant wall;
};

/// What became of an attempt on this side of the connection.
enum class attempt_progress : std::uint8_t {
    made,        ///< the result depends on the receiver
    cut_off,     ///< a request was sent, but this program stopped before there was a response
    unsendable,  ///< no request was sent, because the payload format refused it
    shortage,    ///< no request was sent, because this machine lacks a resource (descriptors, ports, memory)
    postponed,   ///< no request was sent, for another reason that does not depend on the receiver
};

/// An attempt that has ended. `number` identifies the delivery in `scheduler_actions`.
struct ended_attempt {
    std::uint64_t number = 0;
    attempt_progress progress = attempt_progress::made;
    attempt_end end = attempt_end::answered;
    attempt_cause cause = attempt_cause::none;
    unsigned status = 0;
    std::string response{};
    bool is_whole = false;  ///< `response` is the whole body
    std::string content_type{};
    std::string cache_control{};
    std::string request{};  ///< the beginning of what was sent
    std::string retry_after{};
    std::string reason{};  ///< the reason, for the operator
    milliseconds duration{};
    std::uint32_t chance = chance_without_jitter;  ///< randomness for the retry plan, uniform over all values

    /// Returns whether the attempt counts as one: it is in the history of its delivery.
    [[nodiscard]] bool counts() const noexcept {
        return progress != attempt_progress::shortage && progress != attempt_progress::postponed;
    }
};

/// Lists, because nodes move without allocating: a result can be delivered even when out of memory.
using ended_attempts = std::list<ended_attempt>;

/// A leased delivery, from its lease to the end of the `complete` call.
struct in_flight_delivery {
    due_delivery sent;
    instant began;
    std::chrono::steady_clock::time_point lease_over;
    std::string host;
    bool counts_as_slow = false;
};

/// The events since the last step.
struct scheduler_inputs {
    bool stopping = false;        ///< nothing new is leased
    bool flush = false;           ///< the last step: judge and complete at once, unless the store's last call failed
    bool wakeup = false;          ///< something was appended
    bool store_changed = true;    ///< the store may have changed since it was last listed
    ended_attempts ended{};       ///< if a step throws, what it has not processed yet stays here
    std::optional<result<due_hook_page>> listed{};
    std::optional<result<std::vector<due_delivery>>> leased{};
    std::optional<result<std::vector<completion>>> completed{};
    std::optional<result<std::size_t>> swept{};
};

/// The actions to take now, in this order. The next step receives their results.
struct scheduler_actions {
    struct finished_attempt {
        in_flight_delivery delivery;
        attempt_result result;
        tollgate::completion completion;
        std::string reason;
    };
    struct delivery_to_send {
        std::uint64_t number;
        const due_delivery* delivery;  ///< valid until the next step
        std::chrono::steady_clock::time_point done_by;
    };
    struct sweep_request {
        instant ended_before;
        std::size_t rows_max;
    };
    std::vector<error> problems{};
    std::vector<finished_attempt> finished{};
    std::vector<delivery_to_send> send{};
    bool complete = false;  ///< call `complete` with `delivery_scheduler::results()`
    std::optional<std::size_t> list_due_hooks{};  ///< at most this many
    std::vector<lease_request> lease{};
    lease_time leased_for{};
    std::optional<sweep_request> sweep{};
    std::chrono::steady_clock::time_point next_step_at{};  ///< if nothing happens before

    /// Returns true if the next step follows at once, with the result of a store call.
    [[nodiscard]] bool calls_store() const noexcept {
        return complete || list_due_hooks || !lease.empty() || sweep.has_value();
    }
};

/// Decides which hooks are served when, how many deliveries a host gets, when results are recorded and when the store
/// is called. Pure: `step` reads no clock, does no I/O, and uses only the randomness in its inputs.
///
/// Rules:
/// - At most `attempts_max` deliveries are in flight, their data within `data_bytes_max`; at most `slow_attempts_max` are
///   for slow hooks, whose last attempt took a second or longer.
/// - A host has at most `per_host_max` leases, counted by the store over all workers. The slow and new hooks of one account have
///   at most `per_slow_host_max` of them, and one more for a hook without an attempt in flight.
/// - Hooks take turns in the order in which they became due. A free slot of a host goes to the account with the fewest
/// deliveries in flight there. The last slot of a host that several accounts use is kept for an account without a delivery
/// in flight there; of one that several hooks of a single account use, for a hook without one. So the accounts and hooks that
/// share a host do not wait for each other.
/// - A hook's deliveries start in the order in which they became due, several at once; retries come later. A receiver
/// must not depend on the order.
/// - A hook gets at most `per_hook_minute_max` attempts in a minute; from then on it is listed again when the minute is over.
/// So is a hook whose signing secret cannot be read; that is reported once in its minute.
/// - A due hook whose host is full is remembered and served when a slot becomes free. Beyond the bounds of that memory
/// it is listed again after `full_host_retry_time()`.
/// - Store failures and resource shortages of this machine cause growing pauses; results are kept until their lease has
/// ended.
class delivery_scheduler {
public:
    using clock = std::chrono::steady_clock;

    /// `tells_changes`: `scheduler_inputs::store_changed` is cheap to determine, so it is checked often.
    delivery_scheduler(hook_dispatch_settings settings, bool tells_changes)
        : settings_{std::move(settings)}, tells_changes_{tells_changes} {}

    /// May throw std::bad_alloc. The state stays consistent, and lost deliveries are due again when their lease has
    /// ended.
    TOLLGATE_DECL scheduler_actions step(scheduler_inputs& inputs, scheduler_time now);

    /// Call when a step, or carrying out its actions, ran out of memory.
    TOLLGATE_DECL void pause_after_failure(scheduler_time now) noexcept;
    /// Drops a delivery that could not be passed to the client. Its lease expires.
    TOLLGATE_DECL void drop(std::uint64_t number, scheduler_time now) noexcept;

    [[nodiscard]] const std::vector<attempt_result>& results() const noexcept { return results_; }
    /// Leased and not completed, including those of `results`.
    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_.size() + results_.size(); }
    /// Leased, and the attempt has not ended.
    [[nodiscard]] std::size_t being_sent() const noexcept { return in_flight_.size(); }
    [[nodiscard]] milliseconds full_host_retry_time() const noexcept {
        return (std::min)(settings_.client.attempt_timeout / 8, milliseconds{seconds{limits::full_host_retry_seconds_max}});
    }

private:
    struct remembered_hook {
        hook_id hook;
        account_ref account;
        std::size_t requested = 0;    // leases requested by the current round
        std::uint64_t listed_by = 0;  // the last round that listed it: a round lists due hooks, chooses among them, and leases
    };
    enum class pace : std::uint8_t { unknown, quick, slow };  // pace of the last attempt
    struct known_hook {
        hook_id hook;
        pace last;
    };
    struct account_load {
        account_ref account;
        std::vector<known_hook> hooks{};   // the last hooks that had an attempt
        std::vector<hook_id> in_flight{};  // the hook of each attempt
        std::size_t requested = 0;         // leases requested by the current round
        std::size_t limited_requested = 0;  // requested leases for hooks that are not quick
    };
    struct host_state {
        bool is_queued = false;  // true if the host is in due_hosts_
        std::size_t in_flight = 0;
        std::size_t requested = 0;             // leases requested by the current round
        std::vector<account_load> accounts{};  // accounts of `due`, accounts with deliveries in flight, and the last others
        std::vector<remembered_hook> due{};    // the next to be served first
    };
    using hosts = std::unordered_map<std::string, host_state, tollgate::detail::keyed_hash>;  // keyed, because users choose the names
    /// The attempts of a hook in the current minute.
    struct hook_minute {
        clock::time_point over;
        std::size_t attempts = 0;
        bool is_paused = false;
    };
    struct requested_lease {
        hosts::value_type* host;
        std::size_t deliveries_max;
        std::size_t leased = 0;
    };

    TOLLGATE_DECL void begin_round(bool store_changed, scheduler_time now, scheduler_actions& into);
    [[nodiscard]] TOLLGATE_DECL clock::time_point next_step_at(const scheduler_inputs& in) const noexcept;
    TOLLGATE_DECL void take_completed(result<std::vector<completion>> from, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL void take_ended(ended_attempts& ended, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL void judge(ended_attempt& each, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL void take_leased(result<std::vector<due_delivery>> from, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL void start(due_delivery next, hosts::value_type& at, scheduler_actions& into);
    TOLLGATE_DECL bool renew_lease(const due_delivery& again) noexcept;
    TOLLGATE_DECL void take_page(result<due_hook_page> from, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL bool remember(const due_hook& each);
    TOLLGATE_DECL void choose_at(hosts::value_type& at, std::size_t& rows_left, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL void park_limited(host_state& host, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL hook_minute* minute_of(hook_id hook, clock::time_point now);
    TOLLGATE_DECL void count_attempt(hook_id hook);
    TOLLGATE_DECL void pause_hook(const due_delivery& one, scheduler_time now, scheduler_actions& into);
    [[nodiscard]] TOLLGATE_DECL std::size_t attempts_left(hook_id hook, clock::time_point now) const noexcept;
    TOLLGATE_DECL void plan_next_round(bool leased_some, bool some_request_was_vain, scheduler_time now) noexcept;
    TOLLGATE_DECL void round_failed(const error& failure, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL void pause_after_shortage(std::string_view reason, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL void forget_overdue(scheduler_time now) noexcept;
    TOLLGATE_DECL void release(const in_flight_delivery& over, scheduler_time now) noexcept;
    TOLLGATE_DECL void forget_idle_hosts() noexcept;
    TOLLGATE_DECL static account_load& load_of(host_state& host, const account_ref& account);
    TOLLGATE_DECL static void forget_idle_accounts(host_state& host) noexcept;
    [[nodiscard]] static std::size_t in_flight_of(const account_load& account, hook_id hook) noexcept {
        return static_cast<std::size_t>(std::count(account.in_flight.begin(), account.in_flight.end(), hook));
    }
    /// Attempts and requests of the account for hooks that are not quick.
    [[nodiscard]] static std::size_t limited_of(const account_load& account) noexcept {
        const auto count = std::count_if(account.in_flight.begin(), account.in_flight.end(),
                                         [&](hook_id hook) { return pace_of(account, hook) != pace::quick; });
        return static_cast<std::size_t>(count) + account.limited_requested;
    }
    [[nodiscard]] static pace pace_of(const account_load& account, hook_id hook) noexcept {
        for (const known_hook& each : account.hooks)
            if (each.hook == hook) return each.last;
        return pace::unknown;
    }
    static void remember_pace(account_load& account, hook_id hook, pace last) noexcept;
    [[nodiscard]] TOLLGATE_DECL std::size_t leases_max(const host_state& host, const account_load& account, hook_id hook,
                                                       bool is_first_of_hook) const noexcept;
    [[nodiscard]] TOLLGATE_DECL bool has_free_slot(const host_state& host, const account_load& account,
                                                   const remembered_hook& hook) const noexcept;
    [[nodiscard]] TOLLGATE_DECL bool has_servable_hook(const host_state& host) const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::size_t rows_max() const noexcept;
    /// Returns when the leases of the current round end.
    [[nodiscard]] clock::time_point lease_over() const noexcept {
        return leased_at_ + settings_.client.attempt_timeout + settings_.lease_margin;
    }

    hook_dispatch_settings settings_;
    bool tells_changes_;

    std::uint64_t last_number_ = 0;
    std::unordered_map<std::uint64_t, in_flight_delivery> in_flight_;
    std::unordered_map<std::int64_t, std::uint64_t> numbers_;  // lease numbers of deliveries in flight
    std::vector<attempt_result> results_;                      // to complete
    std::vector<std::pair<in_flight_delivery, std::string>> ended_;  // each result, with the reason of its failure
    std::size_t slow_in_flight_ = 0;
    std::size_t slow_requested_ = 0;  // leases requested by the current round for slow hooks
    std::size_t data_bytes_in_flight_ = 0;

    hosts hosts_;
    std::list<hosts::value_type*> due_hosts_;  // hosts with remembered hooks, in the order in which they are served
    std::size_t remembered_ = 0;
    std::unordered_map<hook_id, requested_lease> requested_;  // requests of the current lease call
    std::uint64_t last_round_ = 0;
    std::uint64_t short_round_ = 0;  // the last one that met a resource shortage
    instant leased_wall_{};
    clock::time_point leased_at_{};
    bool page_was_full_ = false;
    bool postponed_some_ = false;
    bool was_limited_ = false;  // slots or bytes limited the last round: the next completion allows another round
    std::optional<instant> listed_next_at_;
    std::unordered_map<hook_id, hook_minute> minutes_;  // minutes of hooks with a bound or an unreadable secret
    std::optional<instant> next_minute_at_;             // when the first hook that used up its minute is due again

    clock::time_point next_round_{}, next_poll_{}, next_judge_{}, next_complete_{}, next_sweep_{}, no_round_before_{};
    milliseconds store_pause_{0};     // pause after failures of the store
    bool store_failed_ = false;       // the last call failed; the store may hang, and the end of a stop does not wait for it again
    milliseconds shortage_pause_{0};  // while this machine cannot connect
    clock::time_point next_shortage_report_{};

    static constexpr milliseconds first_pause{100}, longest_pause = seconds{5};
    static constexpr milliseconds empty_round_pause{10};  // a store that lists deliveries but leases none may be locked
    static constexpr std::size_t sweep_rows_max = 1000;   // a few milliseconds in a database
    static constexpr milliseconds sweep_interval = seconds{60}, sweep_pause{100};
    static constexpr std::size_t remembered_per_host_max = 128, remembered_max = 16'384;
    static constexpr std::size_t remembered_per_account_max = limits::hooks_per_event_max;  // at one host
    static constexpr std::size_t known_hooks_max = 32;     // bound for an account at a host
    static constexpr std::size_t known_accounts_max = 16;  // at one host, of those that have nothing to send
    static constexpr std::size_t known_hosts_max = 16'384;
    static constexpr milliseconds minute = seconds{60};
    static_assert(minute <= seconds{limits::full_host_retry_seconds_max});
    static constexpr std::size_t known_minutes_max = 65'536;  // hooks beyond have no bound; 4 MB
};

}  // namespace tollgate::webhooks

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/delivery_choice.ipp>
#include <tollgate/webhooks/detail/delivery_scheduler.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_DETAIL_DELIVERY_SCHEDULER_HPP
