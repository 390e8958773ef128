#include <tollgate/store/memory.hpp>
#include <tollgate/testing/store_suite.hpp>

#include <support/run_store_suite.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;

namespace {

/// Defects of an adapter for an outbox.
enum class defect {
    none,
    takes_events_in_any_case,
    delivers_to_disabled_hooks,
    is_due_when_it_happened,
    loses_milliseconds,
    trims_data,
    makes_up_message_ids,
    leases_for_too_long,
    leases_for_too_short,
    takes_what_is_too_late,
    refuses_what_comes_late,
    completes_twice,
    gives_results_backwards,
    sends_again_at_once,
    forgets_attempts_made,
    keeps_the_old_secret,
    forgets_the_old_secret,
    forgets_all_old_secrets_but_one,
    keeps_deliveries_of_deleted_hooks,
    gives_one_batch_to_two_threads,
    leases_more_than_requested,
    has_no_bound_for_hosts,
    bounds_a_host_by_request,
    lists_hooks_of_full_hosts,
    lists_the_oldest_hook_first,
    lists_too_many_hooks,
    lists_hosts_instead_of_targets,
    never_says_when,
    always_says_now,
    lists_the_oldest_first,
    lists_one_too_many,
    lists_the_newest_only,
    lists_attempts_of_all,
    lists_for_anybody,
    says_nothing_of_leases,
    records_nothing_that_was_too_late,
    cuts_answers,
    lists_attempts_by_time,
    keeps_few_attempts,
    fails_since_it_was_completed,
    never_disables,
    counts_what_was_not_sent,
    keeps_what_was_not_sent,
    disables_for_any_reason,
    fails_for_ever,
    remembers_failures_for_ever,
    resends_what_is_held,
    resends_for_anybody,
    resends_what_is_being_sent,
    forgets_whom_to_resend,
    enables_for_anybody,
    stays_failing_when_enabled,
    sweeps_too_early,
    sweeps_too_much,
    sweeps_without_attempts,
    keeps_the_old_target,
    tells_all_hooks,
    tells_disabled_hooks,
    lists_every_state,
    resends_the_newest,
    resends_all,
    resends_since_the_beginning,
    cuts_requests,
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
            if (is(defect::remembers_failures_for_ever) && each.failing_since)
                each.failing_since = was_failing_.try_emplace(each.id, *each.failing_since).first->second;
            if (is(defect::fails_for_ever) && failed_.contains(each.id)) each.failing_since = testing::noon;
            if (is(defect::stays_failing_when_enabled) && was_failing_.contains(each.id))
                each.failing_since = was_failing_[each.id];
            if (is(defect::disables_for_any_reason) && each.disabled) each.disabled->reason = disable_reason::gone;
        }
        return found;
    }
    result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) {
        return inner_.account_of_hook(service, id);
    }
    result<bool> replace_hook_secret(const account_ref& account, hook_id id, const std::string& secret,
                                      instant until) {
        if (is(defect::keeps_the_old_secret)) until = instant::max();
        return inner_.replace_hook_secret(account, id, secret, until);
    }
    result<bool> update_hook(const account_ref& account, hook_id id, hook_change changed, std::size_t max) {
        if (is(defect::keeps_the_old_target)) {
            const auto hooks = *inner_.hooks_of(account);
            for (const hook& each : hooks)
                if (each.id == id) changed.target_url = each.target_url;
        }
        return inner_.update_hook(account, id, changed, max);
    }
    result<bool> delete_hook(const account_ref& account, hook_id id) {
        const std::scoped_lock lock{mutex_};
        if (!is(defect::keeps_deliveries_of_deleted_hooks)) return inner_.delete_hook(account, id);
        if (*inner_.account_of_hook(account.service, id) != account) return false;
        return deleted_.insert(id).second;
    }

    result<std::size_t> append_event(event reported, const message_seed& seed, instant now) {
        const std::scoped_lock lock{mutex_};
        if (is(defect::takes_events_in_any_case) && reported.name == "site.published") {
            auto other = reported;
            other.name = "site.Published";
            static_cast<void>(inner_.append_event(other, seed, now));
        }
        const auto hooks = *inner_.hooks_of(reported.account);
        if (is(defect::delivers_to_disabled_hooks))
            for (const hook& each : hooks) static_cast<void>(inner_.enable_hook(reported.account, each.id, now));
        if (is(defect::is_due_when_it_happened)) now = reported.at;
        if (is(defect::loses_milliseconds)) reported.at = std::chrono::floor<seconds>(reported.at);
        if (is(defect::trims_data))
            reported.data = reported.data.substr(0, reported.data.find_last_not_of(" \r\n") + 1);
        return inner_.append_event(reported, seed, now);
    }

    result<due_hook_page> due_hooks(instant now, std::size_t rows_max) {
        if (is(defect::lists_too_many_hooks)) ++rows_max;
        auto page = inner_.due_hooks(now, rows_max);
        if (!page) return page;
        if (is(defect::lists_the_oldest_hook_first))
            std::sort(page->hooks.begin(), page->hooks.end(),
                      [](const due_hook& a, const due_hook& b) { return a.hook < b.hook; });
        if (is(defect::lists_hosts_instead_of_targets))
            for (due_hook& each : page->hooks) each.target_url = delivery_host(each.target_url);
        if (is(defect::never_says_when)) page->next_at.reset();
        if (is(defect::always_says_now)) page->next_at = now;
        return page;
    }
    result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, lease_time time) {
        const std::scoped_lock lock{mutex_};
        if (is(defect::leases_for_too_long)) time.until += milliseconds{1};
        if (is(defect::leases_for_too_short)) time.until -= milliseconds{1};
        std::vector<lease_request> changed(requests.begin(), requests.end());
        for (lease_request& each : changed) {
            if (is(defect::leases_more_than_requested)) ++each.deliveries_max;
            if (is(defect::has_no_bound_for_hosts)) each.host_leases_max = 1000;
            if (is(defect::bounds_a_host_by_request) && &each != &changed.front())
                each.host_leases_max += each.deliveries_max;
            if (is(defect::lists_hooks_of_full_hosts)) each.full_host_retry_at = time.now;
        }
        auto leased = inner_.lease(changed, time);
        if (!leased) return leased;
        for (due_delivery& each : *leased) {
            open_.insert(each.lease.delivery);
            if (is(defect::makes_up_message_ids)) each.message_id = message_id_of({}, each.hook);
            if (is(defect::forgets_attempts_made)) each.attempts_made = 0;
            if (is(defect::forgets_the_old_secret)) each.previous_secrets.clear();
            if (is(defect::forgets_all_old_secrets_but_one))
                each.previous_secrets.resize((std::min)(each.previous_secrets.size(), std::size_t{1}));
        }
        if (is(defect::gives_one_batch_to_two_threads)) {
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
            if (is(defect::records_nothing_that_was_too_late) && !open_.contains(each.lease.delivery)) {
                results.push_back(completion::too_late);
                continue;
            }
            open_.erase(each.lease.delivery);
            if (is(defect::refuses_what_comes_late) && now > testing::noon + seconds{30 * 60}) {
                results.push_back(completion::too_late);
                continue;
            }
            if (is(defect::sends_again_at_once)) each.retry_at = now;
            if (is(defect::cuts_answers))
                each.attempt.response.resize((std::min)(each.attempt.response.size(), std::size_t{255}));
            if (is(defect::cuts_requests)) each.attempt.request.resize((std::min)(each.attempt.request.size(), std::size_t{255}));
            if (is(defect::fails_since_it_was_completed)) each.attempt.at = now;
            if (is(defect::counts_what_was_not_sent) && each.outcome == delivery_outcome::not_attempted)
                each.outcome = delivery_outcome::retry;
            if (is(defect::keeps_what_was_not_sent) && each.outcome == delivery_outcome::not_attempted) {
                results.push_back(completion::done);
                continue;
            }
            if (is(defect::never_disables)) each.disable_if_failing_since.reset();
            if (is(defect::fails_for_ever) && each.outcome != delivery_outcome::delivered)
                for (std::int64_t hook = 1; hook < 4; ++hook) failed_.insert(hook_id{hook});
            auto outcome = inner_.complete({&each, 1}, now);
            if (!outcome) return outcome;
            if (is(defect::takes_what_is_too_late)) outcome->at(0) = completion::done;
            if (is(defect::completes_twice) && outcome->at(0) == completion::too_late) {
                static_cast<void>(inner_.resend(testing::sample_account(), each.lease.delivery, now));
                outcome->at(0) = completion::too_late;
            }
            results.push_back(outcome->at(0));
        }
        if (is(defect::gives_results_backwards)) std::reverse(results.begin(), results.end());
        return results;
    }

    result<std::vector<delivery>> deliveries_of(account_ref account, hook_id of, std::size_t rows_max,
                                                 std::optional<delivery_id> before, std::optional<delivery_state> state) {
        if (is(defect::lists_every_state)) state.reset();
        if (is(defect::lists_the_newest_only)) before.reset();
        if (is(defect::lists_for_anybody)) account = testing::sample_account();
        if (is(defect::lists_one_too_many)) ++rows_max;
        auto listed = inner_.deliveries_of(account, of, rows_max, before, state);
        if (listed && is(defect::lists_the_oldest_first)) std::reverse(listed->begin(), listed->end());
        if (listed && is(defect::says_nothing_of_leases))
            for (delivery& each : *listed)
                if (each.next_attempt_at) each.next_attempt_at = each.created_at;
        return listed;
    }
    result<std::vector<recorded_attempt>> attempts_of(account_ref account, hook_id of, std::size_t rows_max,
                                                       std::optional<delivery_id> made_for) {
        if (is(defect::lists_attempts_of_all)) made_for.reset();
        if (is(defect::lists_for_anybody)) account = testing::sample_account();
        if (is(defect::keeps_few_attempts)) rows_max = (std::min)(rows_max, limits::attempts_per_delivery_max - 1);
        auto listed = inner_.attempts_of(account, of, rows_max, made_for);
        if (listed && is(defect::lists_attempts_by_time))
            std::sort(listed->begin(), listed->end(),
                      [](const recorded_attempt& a, const recorded_attempt& b) { return a.attempt.at > b.attempt.at; });
        if (listed && is(defect::sweeps_without_attempts)) {
            auto& recorded = attempts_[of];
            for (const recorded_attempt& each : *listed) {
                const bool known = std::any_of(recorded.begin(), recorded.end(), [&](const recorded_attempt& one) {
                    return one.delivery == each.delivery && one.attempt == each.attempt;
                });
                if (!known) recorded.push_back(each);
            }
            return recorded;
        }
        return listed;
    }
    result<bool> resend(account_ref account, delivery_id id, instant now) {
        if (is(defect::resends_for_anybody)) account = testing::sample_account();
        if (is(defect::forgets_whom_to_resend)) {
            const std::scoped_lock lock{mutex_};
            if (open_.contains(id)) return true;
        }
        auto done = inner_.resend(account, id, now);
        if (!done && is(defect::resends_what_is_held)) return true;
        if (done && *done && is(defect::resends_what_is_being_sent)) {
            const std::scoped_lock lock{mutex_};
            static_cast<void>(inner_.resend(account, id, now + seconds{30}));
        }
        return done;
    }
    result<std::size_t> resend_given_up(const account_ref& account, hook_id of, instant since, std::size_t rows_max, instant now) {
        if (is(defect::resends_all)) rows_max = 1000;
        if (is(defect::resends_since_the_beginning)) since = instant{};
        if (is(defect::resends_the_newest)) {
            std::size_t count = 0;
            for (const delivery& each : *inner_.deliveries_of(account, of, rows_max, {}, delivery_state::given_up))
                if (each.created_at >= since && inner_.resend(account, each.id, now)) ++count;
            if (count != 0) return count;
        }
        return inner_.resend_given_up(account, of, since, rows_max, now);
    }
    result<bool> append_event_to(hook_id to, const event& reported, const message_seed& seed, instant now) {
        auto done = inner_.append_event_to(to, reported, seed, now);
        if (!done && is(defect::tells_disabled_hooks)) return true;
        if (is(defect::tells_all_hooks)) {
            const auto hooks = *inner_.hooks_of(reported.account);
            for (const hook& each : hooks)
                if (each.id != to) static_cast<void>(inner_.append_event_to(each.id, reported, seed, now));
        }
        return done;
    }
    result<bool> enable_hook(account_ref account, hook_id id, instant now) {
        const std::scoped_lock lock{mutex_};
        if (is(defect::enables_for_anybody)) account = testing::sample_account();
        const auto hooks = *inner_.hooks_of(account);
        for (const hook& each : hooks)
            if (each.failing_since) was_failing_[each.id] = *each.failing_since;
        return inner_.enable_hook(account, id, now);
    }
    result<std::size_t> sweep_deliveries(instant ended_before, std::size_t rows_max) {
        if (is(defect::sweeps_too_early)) ended_before += milliseconds{1};
        if (is(defect::sweeps_too_much)) rows_max *= 10;
        if (is(defect::sweeps_without_attempts))
            for (std::int64_t hook = 1; hook < 4; ++hook)
                static_cast<void>(attempts_of(testing::sample_account(), hook_id{hook}, 1000, {}));
        return inner_.sweep_deliveries(ended_before, rows_max);
    }

private:
    [[nodiscard]] bool is(defect other) const noexcept { return defect_ == other; }

    defect defect_;
    memory_store inner_;
    std::mutex mutex_;
    std::set<hook_id> deleted_, failed_;
    std::map<hook_id, instant> was_failing_;
    std::map<hook_id, std::vector<recorded_attempt>> attempts_;
    std::set<delivery_id> open_;
    std::optional<std::thread::id> last_caller_;
    std::vector<due_delivery> last_batch_;
};
static_assert(hook_store<adapter> && outbox<adapter>);
static_assert(!token_store<adapter> && !session_store<adapter>);

}  // namespace

TEST_CASE("each defect of an outbox is detected by its case") {
    using row = tollgate_test::mutant<defect>;
    tollgate_test::check_mutants<adapter, defect>({
        row{defect::takes_events_in_any_case, "event: goes to each hook of its account and name, once"},
        row{defect::delivers_to_disabled_hooks, "hook: disabled at once when its target is gone, and gets no event"},
        row{defect::is_due_when_it_happened,
            "event: is due from the moment it was reported at, and tells its own time"},
        row{defect::loses_milliseconds, "event: text and times come back as they were"},
        row{defect::trims_data, "event: text and times come back as they were"},
        row{defect::makes_up_message_ids, "event: goes to each hook of its account and name, once"},
        row{defect::leases_for_too_long, "lease: lasts until its end, and not beyond"},
        row{defect::leases_for_too_short, "lease: lasts until its end, and not beyond"},
        row{defect::takes_what_is_too_late, "lease: lasts until its end, and not beyond"},
        row{defect::refuses_what_comes_late, "lease: a result after its end, but before the next lease, is in time"},
        row{defect::completes_twice, "lease: completed once"},
        row{defect::gives_results_backwards, "complete: results are in order, also with unknown ones among them"},
        row{defect::sends_again_at_once, "complete: delivered and given up are the end, a retry is due when it says"},
        row{defect::forgets_attempts_made, "complete: delivered and given up are the end, a retry is due when it says"},
        row{defect::keeps_the_old_secret, "secret: each signs until its own time is over"},
        row{defect::forgets_the_old_secret, "secret: each signs until its own time is over"},
        row{defect::forgets_all_old_secrets_but_one, "secret: each signs until its own time is over"},
        row{defect::keeps_deliveries_of_deleted_hooks,
            "hook: only the deliveries of a deleted one are deleted with it"},
        row{defect::gives_one_batch_to_two_threads, "lease: of parallel claims no two get one delivery"},
        row{defect::leases_more_than_requested, "lease: not more than requested, and in the order in which they became due"},
        row{defect::has_no_bound_for_hosts,
            "lease: a host has no more leases than the request says, of all workers together"},
        row{defect::bounds_a_host_by_request,
            "lease: the bound of a host holds for all requests of one call, in their order"},
        row{defect::lists_hooks_of_full_hosts,
            "due: a hook whose host is full waits until the request's time, and delays no other"},
        row{defect::lists_the_oldest_hook_first,
            "due: hooks take turns: one that was served comes after those that wait"},
        row{defect::lists_too_many_hooks,
            "due: hooks in the order in which they became due, with what a scheduler needs, a page at a time"},
        row{defect::lists_hosts_instead_of_targets,
            "due: hooks in the order in which they became due, with what a scheduler needs, a page at a time"},
        row{defect::never_says_when,
            "due: hooks in the order in which they became due, with what a scheduler needs, a page at a time"},
        row{defect::always_says_now,
            "due: a hook is listed until a request finds nothing, and again when something becomes due"},
        row{defect::lists_the_oldest_first, "history: a hook's deliveries, newest first, its own account's alone"},
        row{defect::lists_one_too_many, "history: a hook's deliveries, newest first, its own account's alone"},
        row{defect::lists_the_newest_only, "history: a hook's deliveries, newest first, its own account's alone"},
        row{defect::lists_attempts_of_all, "attempt: all that is known of it is on record, the last first"},
        row{defect::lists_for_anybody, "history: a hook's deliveries, newest first, its own account's alone"},
        row{defect::says_nothing_of_leases, "history: what is being sent waits until its lease is over"},
        row{defect::records_nothing_that_was_too_late,
            "attempt: all that is known of it is on record, the last first"},
        row{defect::cuts_answers, "attempt: all that is known of it is on record, the last first"},
        row{defect::lists_attempts_by_time, "attempt: all that is known of it is on record, the last first"},
        row{defect::keeps_few_attempts, "attempt: of one delivery the last are kept, as many as there must be"},
        row{defect::fails_since_it_was_completed, "hook: failing since its first failure, until the first success"},
        row{defect::fails_for_ever, "hook: failing since its first failure, until the first success"},
        row{defect::counts_what_was_not_sent, "complete: what was not attempted is due again when it says, and nothing is recorded"},
        row{defect::keeps_what_was_not_sent, "complete: what was not attempted is due again when it says, and nothing is recorded"},
        row{defect::remembers_failures_for_ever, "hook: a failure long after the last one begins anew"},
        row{defect::never_disables, "hook: disabled when it has been failing for too long, by a failure alone"},
        row{defect::disables_for_any_reason,
            "hook: disabled when it has been failing for too long, by a failure alone"},
        row{defect::resends_what_is_held, "hook: a disabled one holds its deliveries until it is enabled"},
        row{defect::resends_for_anybody, "resend: due at once in any state, with the same message id"},
        row{defect::resends_what_is_being_sent, "resend: due at once in any state, with the same message id"},
        row{defect::forgets_whom_to_resend,
            "resend: requested during an attempt, it follows the attempt, with any outcome"},
        row{defect::enables_for_anybody, "hook: a disabled one holds its deliveries until it is enabled"},
        row{defect::stays_failing_when_enabled, "hook: after it is enabled, later retries keep their time"},
        row{defect::sweeps_too_early, "sweep: what ended before the moment is forgotten, not at it, a few at a time"},
        row{defect::sweeps_too_much, "sweep: what ended before the moment is forgotten, not at it, a few at a time"},
        row{defect::sweeps_without_attempts,
            "sweep: what ended before the moment is forgotten, not at it, a few at a time"},
        row{defect::keeps_the_old_target, "update: from now on a hook gets events of its new name at its new target"},
        row{defect::tells_all_hooks, "event: goes to one hook alone, whatever its event"},
        row{defect::tells_disabled_hooks, "event: goes to one hook alone, whatever its event"},
        row{defect::lists_every_state, "history: a hook's deliveries in one state"},
        row{defect::resends_the_newest, "resend: what was given up since then, the oldest first, and not more than asked for"},
        row{defect::resends_all, "resend: what was given up since then, the oldest first, and not more than asked for"},
        row{defect::resends_since_the_beginning,
            "resend: what was given up since then, the oldest first, and not more than asked for"},
        row{defect::cuts_requests, "attempt: all that is known of it is on record, the last first"}});
}
