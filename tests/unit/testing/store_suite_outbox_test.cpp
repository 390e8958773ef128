#include <tollgate/testing/store_suite.hpp>

#include <tollgate/store/memory.hpp>

#include <support/run_store_suite.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;

namespace {

/// Defects of an adapter for an outbox.
enum class defect {
    none,
    matches_events_in_any_case,
    delivers_to_disabled_hooks,
    is_due_at_the_event_time,
    truncates_to_seconds,
    trims_data,
    ignores_the_message_seed,
    leases_for_too_long,
    leases_for_too_short,
    accepts_late_results,
    refuses_results_after_the_lease,
    completes_twice,
    reverses_results,
    ignores_the_retry_time,
    does_not_count_attempts,
    never_expires_old_secrets,
    omits_old_secrets,
    returns_one_old_secret,
    keeps_deliveries_of_deleted_hooks,
    leases_one_batch_to_two_threads,
    leases_more_than_requested,
    ignores_the_host_bound,
    bounds_hosts_per_request,
    lists_hooks_of_full_hosts,
    lists_the_oldest_hook_first,
    lists_too_many_hooks,
    lists_hosts_instead_of_targets,
    omits_the_next_time,
    returns_now_as_next_time,
    lists_oldest_first,
    lists_one_too_many,
    always_lists_the_newest,
    lists_attempts_of_all_deliveries,
    lists_for_any_account,
    hides_the_end_of_leases,
    does_not_record_late_attempts,
    truncates_responses,
    lists_attempts_by_time,
    lists_too_few_attempts,
    is_failing_since_the_completion,
    never_disables,
    counts_deliveries_not_attempted,
    keeps_leases_not_attempted,
    changes_the_reason_for_disabling,
    is_failing_forever,
    continues_the_first_failure_series,
    accepts_resends_of_held_deliveries,
    resends_for_any_account,
    resends_twice,
    ignores_resends_during_attempts,
    enables_for_any_account,
    stays_failing_after_enabling,
    sweeps_too_early,
    sweeps_too_much,
    keeps_the_old_target,
    counts_results_of_the_old_target,
    delivers_to_all_hooks,
    accepts_events_for_disabled_hooks,
    ignores_the_state_filter,
    resends_newest_first,
    resends_without_bound,
    resends_regardless_of_time,
    truncates_requests,
    forgets_causes,
    never_changes_its_number,
    ignores_single_events_in_its_number,
    counts_failures_that_do_not_count,
    sends_tests_at_the_event_time,
    counts_held_deliveries,
    waits_for_the_latest_time,
    fails_since_the_earliest_time,
    shortens_waits,
    sweeps_what_ended_far_ahead,
};

/// The memory store with one defect.
class adapter {
public:
    explicit adapter(defect defect) : defect_{defect} {}

    result<hook_id> create_hook(const new_hook& hook, std::size_t max) { return inner_.create_hook(hook, max); }
    result<std::vector<hook>> hooks_of(const account_ref& account) {
        const std::scoped_lock lock{mutex_};
        auto found = inner_.hooks_of(account);
        if (!found) return found;
        std::erase_if(*found, [&](const hook& each) { return deleted_.contains(each.id); });
        for (hook& each : *found) {
            if (is(defect::continues_the_first_failure_series) && each.failing_since)
                each.failing_since = was_failing_.try_emplace(each.id, *each.failing_since).first->second;
            if (is(defect::is_failing_forever) && failed_.contains(each.id)) each.failing_since = testing::noon;
            if (is(defect::stays_failing_after_enabling) && was_failing_.contains(each.id))
                each.failing_since = was_failing_[each.id];
            if (is(defect::changes_the_reason_for_disabling) && each.disabled) each.disabled->reason = disable_reason::gone;
        }
        return found;
    }
    result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) {
        return inner_.account_of_hook(service, id);
    }
    result<bool> change_hook(account_ref account, hook_id id, hook_change change) {
        if (auto* const replacement = std::get_if<hook_secret_replacement>(&change))
            if (is(defect::never_expires_old_secrets)) replacement->old_valid_until = instant::max();
        if (auto* const fields = std::get_if<hook_fields>(&change); fields != nullptr && is(defect::keeps_the_old_target)) {
            const auto hooks = *inner_.hooks_of(account);
            for (const hook& each : hooks)
                if (each.id == id) fields->target_url = each.target_url;
        }
        if (std::holds_alternative<hook_enabling>(change)) {
            const std::scoped_lock lock{mutex_};
            if (is(defect::enables_for_any_account)) account = testing::sample_account();
            const auto hooks = *inner_.hooks_of(account);
            for (const hook& each : hooks)
                if (each.failing_since) was_failing_[each.id] = *each.failing_since;
        }
        return inner_.change_hook(account, id, change);
    }
    result<bool> delete_hook(const account_ref& account, hook_id id) {
        const std::scoped_lock lock{mutex_};
        if (!is(defect::keeps_deliveries_of_deleted_hooks)) return inner_.delete_hook(account, id);
        if (*inner_.account_of_hook(account.service, id) != account) return false;
        return deleted_.insert(id).second;
    }

    result<std::size_t> append_event(event reported, const message_seed& seed, instant now, std::optional<hook_id> only_to = {}) {
        if (only_to) return append_to(*only_to, reported, seed, now);
        const std::scoped_lock lock{mutex_};
        if (is(defect::matches_events_in_any_case) && reported.name == "site.published") {
            auto other = reported;
            other.name = "site.Published";
            static_cast<void>(inner_.append_event(other, seed, now));
        }
        const auto hooks = *inner_.hooks_of(reported.account);
        if (is(defect::delivers_to_disabled_hooks))
            for (const hook& each : hooks) static_cast<void>(inner_.change_hook(reported.account, each.id, hook_enabling{now}));
        latest_ = (std::max)(latest_, now);
        if (is(defect::is_due_at_the_event_time)) now = reported.at;
        if (is(defect::truncates_to_seconds)) reported.at = std::chrono::floor<seconds>(reported.at);
        if (is(defect::trims_data))
            reported.data = reported.data.substr(0, reported.data.find_last_not_of(" \r\n") + 1);
        ++changes_;
        return inner_.append_event(reported, seed, now);
    }
    std::optional<std::uint64_t> changes_seen() const noexcept {
        return is(defect::never_changes_its_number) ? std::uint64_t{1} : changes_.load();
    }

    result<delivery_backlog> backlog(instant now, std::size_t rows_max) {
        auto found = inner_.backlog(now, rows_max);
        if (found && is(defect::counts_held_deliveries) && found->due == 0) {
            const std::scoped_lock lock{mutex_};
            const auto hooks = *inner_.hooks_of(testing::sample_account());
            for (const hook& each : hooks)
                found->due += testing::detail::deliveries_of(inner_, each.account, each.id, rows_max, {}, delivery_state::held)->size();
        }
        return found;
    }
    result<due_hook_page> due_hooks(instant now, std::size_t rows_max) {
        if (const std::scoped_lock lock{mutex_}; waits(now)) return due_hook_page{};
        if (is(defect::lists_too_many_hooks)) ++rows_max;
        auto page = inner_.due_hooks(now, rows_max);
        if (!page) return page;
        if (is(defect::lists_the_oldest_hook_first))
            std::sort(page->hooks.begin(), page->hooks.end(),
                      [](const due_hook& a, const due_hook& b) { return a.hook < b.hook; });
        if (is(defect::lists_hosts_instead_of_targets))
            for (due_hook& each : page->hooks) each.target_url = delivery_host(each.target_url);
        if (is(defect::omits_the_next_time)) page->next_at.reset();
        if (is(defect::returns_now_as_next_time)) page->next_at = now;
        return page;
    }
    result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, lease_time time) {
        const std::scoped_lock lock{mutex_};
        if (waits(time.now)) return std::vector<due_delivery>{};
        latest_ = (std::max)(latest_, time.now);
        if (is(defect::leases_for_too_long)) time.until += milliseconds{1};
        if (is(defect::leases_for_too_short)) time.until -= milliseconds{1};
        std::vector<lease_request> changed(requests.begin(), requests.end());
        for (lease_request& each : changed) {
            if (is(defect::leases_more_than_requested)) ++each.deliveries_max;
            if (is(defect::ignores_the_host_bound)) each.host_leases_max = 1000;
            if (is(defect::bounds_hosts_per_request) && &each != &changed.front())
                each.host_leases_max += each.deliveries_max;
            if (is(defect::lists_hooks_of_full_hosts)) each.full_host_retry_at = time.now;
        }
        auto leased = inner_.lease(changed, time);
        if (!leased) return leased;
        for (due_delivery& each : *leased) {
            open_.insert(each.lease.delivery);
            if (is(defect::ignores_the_message_seed)) each.message_id = message_id_of({}, each.hook);
            if (is(defect::does_not_count_attempts)) each.attempts_made = 0;
            if (is(defect::omits_old_secrets)) each.previous_secrets.clear();
            if (is(defect::returns_one_old_secret))
                each.previous_secrets.resize((std::min)(each.previous_secrets.size(), std::size_t{1}));
        }
        if (is(defect::leases_one_batch_to_two_threads)) {
            const auto caller = std::this_thread::get_id();
            if (last_caller_ && *last_caller_ != caller)
                leased->insert(leased->end(), last_batch_.begin(), last_batch_.end());
            if (!leased->empty()) last_batch_ = *leased;
            last_caller_ = caller;
        }
        return leased;
    }

    result<std::vector<completion>> complete(std::span<const attempt_result> ended, instant now) {
        const std::scoped_lock lock{mutex_};
        std::vector<completion> results;
        for (attempt_result each : ended) {
            if (is(defect::does_not_record_late_attempts) && !open_.contains(each.lease.delivery)) {
                results.push_back(completion::too_late);
                continue;
            }
            open_.erase(each.lease.delivery);
            if (is(defect::refuses_results_after_the_lease) && now > testing::noon + seconds{30 * 60}) {
                results.push_back(completion::too_late);
                continue;
            }
            latest_ = (std::max)(latest_, now);
            earliest_ = (std::min)(earliest_, each.attempt.at);
            if (waits(now)) each.disable_if_failing_since.reset();
            if (is(defect::shortens_waits)) each.retry_at = (std::min)(each.retry_at, now + std::chrono::hours{1});
            if (is(defect::ignores_the_retry_time)) each.retry_at = now;
            if (is(defect::counts_results_of_the_old_target)) each.target_url.clear();
            if (is(defect::truncates_responses))
                each.attempt.response.resize((std::min)(each.attempt.response.size(), std::size_t{255}));
            if (is(defect::forgets_causes)) each.attempt.cause = attempt_cause::none;
            if (is(defect::truncates_requests)) each.attempt.request.resize((std::min)(each.attempt.request.size(), std::size_t{255}));
            if (is(defect::is_failing_since_the_completion)) each.attempt.at = now;
            if (is(defect::counts_deliveries_not_attempted) && each.outcome == delivery_outcome::not_attempted)
                each.outcome = delivery_outcome::retry;
            if (is(defect::keeps_leases_not_attempted) && each.outcome == delivery_outcome::not_attempted) {
                results.push_back(completion::done);
                continue;
            }
            if (is(defect::never_disables)) each.disable_if_failing_since.reset();
            if (is(defect::counts_failures_that_do_not_count)) each.counts_for_hook = true;
            if (is(defect::is_failing_forever) && each.outcome != delivery_outcome::delivered)
                for (std::int64_t hook = 1; hook < 4; ++hook) failed_.insert(hook_id{hook});
            auto outcome = inner_.complete({&each, 1}, now);
            if (!outcome) return outcome;
            if (is(defect::fails_since_the_earliest_time) && each.disable_if_failing_since && earliest_ <= *each.disable_if_failing_since)
                outcome->at(0) = completion::hook_disabled;
            if (is(defect::accepts_late_results)) outcome->at(0) = completion::done;
            if (is(defect::completes_twice) && outcome->at(0) == completion::too_late) {
                static_cast<void>(inner_.resend(testing::sample_account(), each.lease.delivery, now));
                outcome->at(0) = completion::too_late;
            }
            results.push_back(outcome->at(0));
        }
        if (is(defect::reverses_results)) std::reverse(results.begin(), results.end());
        return results;
    }

    result<std::vector<listed_delivery>> deliveries_of(account_ref account, delivery_query query) {
        if (is(defect::ignores_the_state_filter)) query.state.reset();
        if (is(defect::always_lists_the_newest)) query.older_than.reset();
        if (is(defect::lists_for_any_account)) account = testing::sample_account();
        if (is(defect::lists_one_too_many)) ++query.rows_max;
        if (is(defect::lists_too_few_attempts)) query.attempts_max = (std::min)(query.attempts_max, limits::attempts_per_delivery_max - 1);
        auto listed = inner_.deliveries_of(account, query);
        if (!listed) return listed;
        if (is(defect::lists_oldest_first)) std::reverse(listed->begin(), listed->end());
        for (listed_delivery& each : *listed) {
            if (is(defect::hides_the_end_of_leases) && each.delivery.next_attempt_at) each.delivery.next_attempt_at = each.delivery.created_at;
            if (is(defect::lists_attempts_by_time))
                std::sort(each.attempts.begin(), each.attempts.end(), [](const attempt& a, const attempt& b) { return a.at > b.at; });
            if (is(defect::lists_attempts_of_all_deliveries))
                for (const auto& one : *testing::detail::attempts_of(inner_, account, query.hook, query.attempts_max))
                    if (one.delivery != each.delivery.id) each.attempts.push_back(one.attempt);
        }
        return listed;
    }
    result<std::size_t> resend(account_ref account, resend_request resent, instant now) {
        if (const auto* const id = std::get_if<delivery_id>(&resent)) return resend_one(account, *id, now);
        auto& given_up = std::get<given_up_deliveries>(resent);
        if (is(defect::resends_without_bound)) given_up.rows_max = 1000;
        if (is(defect::resends_regardless_of_time)) given_up.since = instant{};
        if (is(defect::resends_newest_first)) {
            std::size_t count = 0;
            const auto newest = *testing::detail::deliveries_of(inner_, account, given_up.hook, given_up.rows_max, {}, delivery_state::given_up);
            for (const delivery& each : newest)
                if (each.created_at >= given_up.since && inner_.resend(account, each.id, now)) ++count;
            if (count != 0) return count;
        }
        return inner_.resend(account, resent, now);
    }
    result<std::size_t> sweep(sweep_request request) {
        instant& ended_before = *request.deliveries_ended_before;
        if (is(defect::sweeps_what_ended_far_ahead) && ended_before < testing::noon) ended_before += 2 * std::chrono::days{30};
        if (is(defect::sweeps_too_early)) ended_before += milliseconds{1};
        if (is(defect::sweeps_too_much)) request.rows_max *= 10;
        return inner_.sweep(request);
    }

private:
    result<std::size_t> resend_one(account_ref account, delivery_id id, instant now) {
        if (is(defect::resends_for_any_account)) account = testing::sample_account();
        if (is(defect::ignores_resends_during_attempts)) {
            const std::scoped_lock lock{mutex_};
            if (open_.contains(id)) return std::size_t{1};
        }
        auto done = inner_.resend(account, id, now);
        if (!done && is(defect::accepts_resends_of_held_deliveries)) return std::size_t{1};
        if (done && *done && is(defect::resends_twice)) {
            const std::scoped_lock lock{mutex_};
            static_cast<void>(inner_.resend(account, id, now + seconds{30}));
        }
        return done;
    }
    result<std::size_t> append_to(hook_id to, const event& reported, const message_seed& seed, instant now) {
        if (is(defect::sends_tests_at_the_event_time)) now = reported.at;
        if (!is(defect::ignores_single_events_in_its_number)) ++changes_;
        auto done = inner_.append_event(reported, seed, now, to);
        if (!done && is(defect::accepts_events_for_disabled_hooks)) return std::size_t{1};
        if (is(defect::delivers_to_all_hooks)) {
            const auto hooks = *inner_.hooks_of(reported.account);
            for (const hook& each : hooks)
                if (each.id != to) static_cast<void>(inner_.append_event(reported, seed, now, each.id));
        }
        return done;
    }

    [[nodiscard]] bool is(defect other) const noexcept { return defect_ == other; }
    [[nodiscard]] bool waits(instant now) const noexcept { return is(defect::waits_for_the_latest_time) && latest_ > latest_due(now); }

    defect defect_;
    memory_store inner_;
    std::mutex mutex_;
    instant latest_ = testing::noon, earliest_ = testing::noon;
    std::atomic<std::uint64_t> changes_ = 0;
    std::set<hook_id> deleted_, failed_;
    std::map<hook_id, instant> was_failing_;
    std::set<delivery_id> open_;
    std::optional<std::thread::id> last_caller_;
    std::vector<due_delivery> last_batch_;
};
static_assert(hook_store<adapter> && outbox<adapter> && shared_outbox<adapter> && backlog_source<adapter>);
static_assert(!token_store<adapter> && !session_store<adapter>);

}  // namespace

TEST_CASE("each defect of an outbox is detected by its case") {
    using row = tollgate_test::mutant<defect>;
    tollgate_test::check_mutants<adapter, defect>({
        row{defect::matches_events_in_any_case, "event: is delivered once to each hook for its account and name"},
        row{defect::delivers_to_disabled_hooks, "hook: is disabled at once when its target is gone, and gets no events"},
        row{defect::is_due_at_the_event_time, "event: is due from the time of the report, and has its own time"},
        row{defect::truncates_to_seconds, "event: data and time are returned unchanged"},
        row{defect::trims_data, "event: data and time are returned unchanged"},
        row{defect::ignores_the_message_seed, "event: is delivered once to each hook for its account and name"},
        row{defect::leases_for_too_long, "lease: is valid until its end"},
        row{defect::leases_for_too_short, "lease: is valid until its end"},
        row{defect::accepts_late_results, "lease: is valid until its end"},
        row{defect::refuses_results_after_the_lease, "lease: a result after its end is accepted until the next lease"},
        row{defect::completes_twice, "lease: can be completed once"},
        row{defect::reverses_results, "complete: results are returned in order, even if some leases are unknown"},
        row{defect::ignores_the_retry_time, "complete: delivered and given up are final, and a retry is due at its time"},
        row{defect::does_not_count_attempts, "complete: delivered and given up are final, and a retry is due at its time"},
        row{defect::never_expires_old_secrets, "secret: a replaced secret is returned until it expires"},
        row{defect::omits_old_secrets, "secret: a replaced secret is returned until it expires"},
        row{defect::returns_one_old_secret, "secret: a replaced secret is returned until it expires"},
        row{defect::keeps_deliveries_of_deleted_hooks, "hook: deleting a hook deletes its deliveries and no others"},
        row{defect::leases_one_batch_to_two_threads, "lease: parallel calls never return the same delivery"},
        row{defect::leases_more_than_requested,
            "lease: returns at most the requested number, in the order in which the deliveries became due"},
        row{defect::ignores_the_host_bound, "lease: the bound of a host counts the leases of all workers"},
        row{defect::bounds_hosts_per_request, "lease: the bound of a host applies to all requests of one call, in their order"},
        row{defect::lists_hooks_of_full_hosts,
            "due: a hook whose host is full is listed again at the request's time, and delays no other hook"},
        row{defect::lists_the_oldest_hook_first, "due: a hook that was served is listed after those that are waiting"},
        row{defect::lists_too_many_hooks, "due: hooks are listed in pages, in the order in which they became due, with account and target"},
        row{defect::lists_hosts_instead_of_targets,
            "due: hooks are listed in pages, in the order in which they became due, with account and target"},
        row{defect::omits_the_next_time, "due: hooks are listed in pages, in the order in which they became due, with account and target"},
        row{defect::returns_now_as_next_time, "due: a hook is listed until a lease returns nothing, and again when a delivery becomes due"},
        row{defect::lists_oldest_first, "history: a hook's deliveries are listed newest first, and only for its own account"},
        row{defect::lists_one_too_many, "history: a hook's deliveries are listed newest first, and only for its own account"},
        row{defect::always_lists_the_newest, "history: a hook's deliveries are listed newest first, and only for its own account"},
        row{defect::lists_attempts_of_all_deliveries, "attempt: attempts are recorded in full and listed newest first"},
        row{defect::lists_for_any_account, "history: a hook's deliveries are listed newest first, and only for its own account"},
        row{defect::hides_the_end_of_leases, "history: a leased delivery is waiting until its lease ends"},
        row{defect::does_not_record_late_attempts, "attempt: attempts are recorded in full and listed newest first"},
        row{defect::truncates_responses, "attempt: attempts are recorded in full and listed newest first"},
        row{defect::lists_attempts_by_time, "attempt: attempts are recorded in full and listed newest first"},
        row{defect::lists_too_few_attempts, "attempt: at least the required number of the last attempts of a delivery is kept"},
        row{defect::is_failing_since_the_completion, "hook: is failing from its first failure until its first success"},
        row{defect::is_failing_forever, "hook: is failing from its first failure until its first success"},
        row{defect::counts_deliveries_not_attempted,
            "complete: a delivery that was not attempted is due again at the given time, and nothing is recorded"},
        row{defect::keeps_leases_not_attempted,
            "complete: a delivery that was not attempted is due again at the given time, and nothing is recorded"},
        row{defect::continues_the_first_failure_series, "hook: a failure long after the previous one starts a new series"},
        row{defect::never_disables, "hook: is disabled after failing for too long, and only by a failure"},
        row{defect::changes_the_reason_for_disabling, "hook: is disabled after failing for too long, and only by a failure"},
        row{defect::accepts_resends_of_held_deliveries, "hook: a disabled hook holds its deliveries until it is enabled"},
        row{defect::resends_for_any_account, "resend: a delivery in any state is due at once, with the same message id"},
        row{defect::resends_twice, "resend: a delivery in any state is due at once, with the same message id"},
        row{defect::ignores_resends_during_attempts, "resend: a request during an attempt takes effect after it, whatever its outcome"},
        row{defect::enables_for_any_account, "hook: a disabled hook holds its deliveries until it is enabled"},
        row{defect::stays_failing_after_enabling, "hook: enabling it does not change when retries are due"},
        row{defect::sweeps_too_early, "sweep: deliveries that ended before the given time are deleted, up to a bound per call"},
        row{defect::sweeps_too_much, "sweep: deliveries that ended before the given time are deleted, up to a bound per call"},
        row{defect::keeps_the_old_target, "update: a hook gets new events of its new name at its new target"},
        row{defect::counts_results_of_the_old_target, "update: the old target's late response does not disable the webhook"},
        row{defect::delivers_to_all_hooks, "event: can be sent to a single hook, whatever the name of its event"},
        row{defect::accepts_events_for_disabled_hooks, "event: can be sent to a single hook, whatever the name of its event"},
        row{defect::ignores_the_state_filter, "history: deliveries can be filtered by state"},
        row{defect::resends_newest_first, "resend: deliveries that were given up since a time are sent again, oldest first, up to a bound"},
        row{defect::resends_without_bound,
            "resend: deliveries that were given up since a time are sent again, oldest first, up to a bound"},
        row{defect::resends_regardless_of_time,
            "resend: deliveries that were given up since a time are sent again, oldest first, up to a bound"},
        row{defect::truncates_requests, "attempt: attempts are recorded in full and listed newest first"},
        row{defect::forgets_causes, "attempt: attempts are recorded in full and listed newest first"},
        row{defect::never_changes_its_number, "shared: the number of changes is another one after an event was appended"},
        row{defect::ignores_single_events_in_its_number, "shared: the number of changes is another one after an event was appended"},
        row{defect::counts_failures_that_do_not_count, "hook: a failure that its receiver did not cause leaves its status as it is"},
        row{defect::sends_tests_at_the_event_time, "event: can be sent to a single hook, whatever the name of its event"},
        row{defect::counts_held_deliveries, "backlog: does not count deliveries that are held"},
        row{defect::waits_for_the_latest_time, "clock: an event that was reported by a clock that is ahead is due"},
        row{defect::waits_for_the_latest_time,
            "clock: a retry that was planned by a clock that is ahead is due, and delays no other hook"},
        row{defect::waits_for_the_latest_time, "clock: a lease that was taken by a clock that is ahead is over, and does not count"},
        row{defect::waits_for_the_latest_time, "clock: a delivery that was leased by a clock that is ahead is sent again at once"},
        row{defect::waits_for_the_latest_time,
            "clock: a delivery that was leased by a clock that is ahead is sent when its hook is enabled"},
        row{defect::waits_for_the_latest_time, "clock: a clock that is behind delays no delivery"},
        row{defect::waits_for_the_latest_time,
            "clock: a failure that was recorded by a clock that is ahead does not keep a hook from being disabled"},
        row{defect::fails_since_the_earliest_time,
            "clock: a failure that was recorded by a clock that is behind does not disable a hook early"},
        row{defect::shortens_waits, "clock: a wait that can be right is not shortened"},
        row{defect::sweeps_what_ended_far_ahead, "clock: a sweep by a clock that is behind deletes no delivery"}});
}

namespace {

/// Without the optional `changes_seen` and `backlog`.
struct plain_outbox : private memory_store {
    using memory_store::account_of_hook;
    using memory_store::append_event;
    using memory_store::change_hook;
    using memory_store::complete;
    using memory_store::create_hook;
    using memory_store::delete_hook;
    using memory_store::deliveries_of;
    using memory_store::due_hooks;
    using memory_store::hooks_of;
    using memory_store::lease;
    using memory_store::resend;
    using memory_store::sweep;
};
static_assert(hook_store<plain_outbox> && outbox<plain_outbox>);

}  // namespace

TEST_CASE("the store suite reports no result for what an outbox does not offer") {
    const auto is_named = [](const auto& all, std::string_view begin) {
        return std::any_of(all.begin(), all.end(), [&](const testing::test_case& each) { return each.name().starts_with(begin); });
    };
    const auto plain = testing::cases([] { return std::make_unique<plain_outbox>(); });
    const auto full = testing::cases([] { return std::make_unique<adapter>(defect::none); });
    for (const char* each : {"backlog: ", "shared: "}) {
        CAPTURE(each);
        CHECK_FALSE(is_named(plain, each));
        CHECK(is_named(full, each));
    }
    for (const char* each : {"contract: backlog_source", "contract: shared_outbox"}) {
        const auto entry = std::find_if(plain.begin(), plain.end(), [&](const auto& one) { return one.name() == each; });
        REQUIRE(entry != plain.end());
        CHECK_THAT(entry->run().message, Catch::StartsWith("not found"));
    }
}
