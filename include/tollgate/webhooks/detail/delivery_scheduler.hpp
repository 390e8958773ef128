#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/webhooks/dispatcher_settings.hpp>

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

/// An attempt that took at least this long says that its host is slow. Slow hosts share a part of a worker's slots, so that
/// the others do not wait for them.
inline constexpr milliseconds slow_attempt{1000};

/// The two clocks: waits are measured with one that only goes forward, rows carry wall time.
struct scheduler_time {
    std::chrono::steady_clock::time_point steady;
    instant wall;
};

/// An attempt that is over. `number` is that of the delivery that `scheduler_actions` asked to send.
struct ended_attempt {
    std::uint64_t number = 0;
    bool tried = true;        ///< false: no request left, so this says nothing about the receiver
    bool shortage = false;    ///< not tried, because this machine has run out of something (descriptors, ports, memory)
    bool cut_off = false;     ///< tried, but stopped before there was a response
    bool unsendable = false;  ///< not tried, because it cannot be put into its format
    attempt_end end = attempt_end::answered;
    unsigned status = 0;
    std::string answer{};
    std::string retry_after{};
    std::string why{};  ///< for the operator
    milliseconds duration{};
    std::uint32_t chance = 0x8000'0000U;  ///< randomness for the retry plan: any number, all equally likely
};

/// Lists, because their nodes move without allocating: a result arrives even when there is no memory.
using ended_attempts = std::list<ended_attempt>;

/// A delivery that is leased, from its lease to the end of the `complete` call.
struct in_flight_delivery {
    due_delivery sent;
    instant began;
    std::chrono::steady_clock::time_point lease_over;
    std::string host;
    bool counts_as_slow = false;
};

/// What happened since the last step.
struct scheduler_inputs {
    bool stopping = false;        ///< nothing new is leased
    bool flush = false;           ///< complete at once, whatever pause a failure asked for
    bool wakeup = false;          ///< something was appended
    bool store_changed = true;    ///< the store may have changed since it was last listed
    ended_attempts ended{};       ///< what a step that throws has not taken over stays here
    std::optional<result<due_hook_page>> listed{};
    std::optional<result<std::vector<due_delivery>>> leased{};
    std::optional<result<std::vector<completion>>> completed{};
    std::optional<result<std::size_t>> swept{};
};

/// What to do now, in this order; the next step gets the results.
struct scheduler_actions {
    struct finished_attempt {
        in_flight_delivery delivery;
        attempt_result ended;
        completion result;
        std::string why;
    };
    struct delivery_to_send {
        std::uint64_t number;
        const due_delivery* what;  ///< until the next step
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
    std::optional<std::size_t> list_due_hooks{};  ///< at most so many
    std::vector<lease_request> lease{};
    lease_time leased_for{};
    std::optional<sweep_request> sweep{};
    std::chrono::steady_clock::time_point next_step_at{};  ///< if nothing happens before

    /// Whether the next step follows at once, with the result of a call.
    [[nodiscard]] bool calls_store() const noexcept {
        return complete || list_due_hooks || !lease.empty() || sweep.has_value();
    }
};

/// Decides which hooks are served when, how many deliveries a host gets, when results are recorded and when the store is
/// asked. Pure: `step` reads no clock, does no I/O, and uses no randomness but its inputs'.
///
/// Rules:
/// - At most `attempts_max` deliveries are in flight, their data within `data_bytes_max`; at most `slow_attempts_max` go to
///   hosts whose last attempt was slow.
/// - A host has at most `per_host_max` leases, or `per_slow_host_max` while it is slow or unknown, counted by the store over
///   all workers.
/// - Hooks take turns in the order in which they became due. A free place at a host goes to the account that has the fewest
///   deliveries in flight there, so accounts that share a host do not wait for each other's hooks.
/// - A hook's deliveries begin in the order in which they became due, several at once; retries come later, so a receiver
///   must not depend on the order.
/// - A due hook whose host is full is remembered, and served when a place becomes free. Beyond the bounds of that memory it
///   is listed again after `full_host_retry_time()`.
/// - Store failures and shortages of this machine lead to growing pauses; results of attempts are kept until their lease is
///   over.
class delivery_scheduler {
public:
    using clock = std::chrono::steady_clock;

    /// `tells_changes`: `scheduler_inputs::store_changed` is cheap to know, so it is looked at often.
    delivery_scheduler(hook_dispatch_settings settings, bool tells_changes)
        : settings_{std::move(settings)}, tells_changes_{tells_changes} {}

    /// May throw std::bad_alloc; state stays consistent, and deliveries that are lost return when their lease is over.
    TOLLGATE_DECL scheduler_actions step(scheduler_inputs& inputs, scheduler_time now);

    /// After a step, or the actions of one, ran out of memory.
    TOLLGATE_DECL void pause_after_failure(scheduler_time now) noexcept;
    /// A delivery that could not be handed to the client. Its lease runs out.
    TOLLGATE_DECL void drop(std::uint64_t number, scheduler_time now) noexcept;

    [[nodiscard]] const std::vector<attempt_result>& results() const noexcept { return results_; }
    /// Leased and not completed, those of `results` included.
    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_.size() + results_.size(); }
    /// Leased, and not ended.
    [[nodiscard]] std::size_t being_sent() const noexcept { return in_flight_.size(); }
    [[nodiscard]] milliseconds full_host_retry_time() const noexcept { return settings_.client.attempt_timeout / 8; }

private:
    struct remembered_hook {
        hook_id hook;
        account_ref account;
        std::size_t requested = 0;       // by the claim that is being made
        std::uint64_t listed_by = 0;     // the last claim that found it in its page
    };
    struct account_load {
        account_ref account;
        std::size_t in_flight = 0;
        std::size_t requested = 0;  // by the claim that is being made
    };
    struct host_state {
        bool answered = false;
        bool slow = false;
        bool is_queued = false;  // in due_hosts_
        std::size_t in_flight = 0;
        std::vector<account_load> accounts{};
        std::vector<remembered_hook> due{};  // the next to be served first
    };
    using hosts = std::unordered_map<std::string, host_state>;
    struct requested_lease {
        hosts::value_type* at;
        std::size_t deliveries_max;
        std::size_t leased = 0;
    };

    TOLLGATE_DECL void take_completed(result<std::vector<completion>> from, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL void take_ended(ended_attempts& ended, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL void judge(ended_attempt& each, scheduler_time now);
    TOLLGATE_DECL void take_leased(result<std::vector<due_delivery>> from, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL void start(due_delivery next, hosts::value_type& at, scheduler_actions& into);
    TOLLGATE_DECL bool renew_lease(const due_delivery& again) noexcept;
    TOLLGATE_DECL void take_page(result<due_hook_page> from, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL bool remember(const due_hook& each);
    TOLLGATE_DECL void choose_at(hosts::value_type& at, std::size_t& rows_left, instant retry_at, scheduler_actions& into);
    TOLLGATE_DECL void plan_next_claim(bool leased_some, bool some_request_was_vain, scheduler_time now) noexcept;
    TOLLGATE_DECL void claim_failed(const error& why, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL void rest_from_shortage(std::string_view why, scheduler_time now, scheduler_actions& into);
    TOLLGATE_DECL void forget_overdue(scheduler_time now) noexcept;
    TOLLGATE_DECL void release(const in_flight_delivery& over, scheduler_time now) noexcept;
    TOLLGATE_DECL void forget_idle_hosts() noexcept;
    [[nodiscard]] TOLLGATE_DECL std::size_t leases_max(const host_state& at) const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::size_t free_places(const host_state& at) const noexcept;
    [[nodiscard]] TOLLGATE_DECL std::size_t rows_max() const noexcept;

    hook_dispatch_settings settings_;
    bool tells_changes_;

    std::uint64_t last_number_ = 0;
    std::unordered_map<std::uint64_t, in_flight_delivery> in_flight_;
    std::unordered_map<std::int64_t, std::uint64_t> numbers_;  // of those in flight, by their deliveries
    std::vector<attempt_result> results_;                      // to complete
    std::vector<std::pair<in_flight_delivery, std::string>> ended_;  // of each result, and why it failed
    std::size_t slow_in_flight_ = 0;
    std::size_t slow_requested_ = 0;  // by the claim that is being made
    std::size_t data_bytes_in_flight_ = 0;

    hosts hosts_;
    std::list<hosts::value_type*> due_hosts_;  // with hooks that are remembered, the next to be served first
    std::size_t remembered_ = 0;
    std::unordered_map<hook_id, requested_lease> requested_;  // by the lease call under way
    std::uint64_t last_claim_ = 0;
    std::uint64_t short_claim_ = 0;  // the last that met a shortage of this machine
    instant claimed_wall_{};
    clock::time_point claimed_at_{};
    bool page_was_full_ = false;
    bool parked_some_ = false;
    bool was_limited_ = false;  // by slots or bytes: the next completion makes room for a claim
    std::optional<instant> listed_next_at_;

    clock::time_point next_claim_{}, next_look_{}, next_judge_{}, next_complete_{}, next_sweep_{}, no_claim_before_{};
    milliseconds store_pause_{0};     // after failures of the store
    milliseconds shortage_pause_{0};  // while this machine cannot connect
    clock::time_point next_shortage_report_{};

    static constexpr milliseconds first_pause{100}, longest_pause = seconds{5};
    static constexpr milliseconds empty_claim_pause{10};  // a store that lists more, and leases nothing, may have it locked
    static constexpr std::size_t sweep_rows_max = 1000;   // a few ms of a database
    static constexpr milliseconds sweep_interval = seconds{60}, sweep_pause{100};
    static constexpr std::size_t remembered_per_host_max = 64, remembered_per_account_max = 8, remembered_max = 16'384;
    static constexpr std::size_t known_hosts_max = 16'384;
};

}  // namespace tollgate::webhooks

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/delivery_scheduler.ipp>
#endif
