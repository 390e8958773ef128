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

/// What an adapter may get wrong of an outbox.
enum class mistake {
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

/// The memory store with one mistake made on the way.
class adapter {
public:
    explicit adapter(mistake made) : mistake_{made} {}

    result<hook_id> create_hook(const new_hook& made, std::size_t max) { return inner_.create_hook(made, max); }
    result<std::vector<hook>> hooks_of(const account_ref& account) {
        const std::scoped_lock lock{mutex_};
        auto found = inner_.hooks_of(account);
        if (!found) return found;
        std::erase_if(*found, [&](const hook& each) { return deleted_.contains(each.id); });
        for (hook& each : *found) {
            if (is(mistake::remembers_failures_for_ever) && each.failing_since)
                each.failing_since = was_failing_.try_emplace(each.id, *each.failing_since).first->second;
            if (is(mistake::fails_for_ever) && failed_.contains(each.id)) each.failing_since = testing::noon;
            if (is(mistake::stays_failing_when_enabled) && was_failing_.contains(each.id))
                each.failing_since = was_failing_[each.id];
            if (is(mistake::disables_for_any_reason) && each.disabled) each.disabled->why = disable_reason::gone;
        }
        return found;
    }
    result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) {
        return inner_.account_of_hook(service, id);
    }
    result<bool> replace_hook_secret(const account_ref& account, hook_id id, const std::string& secret,
                                      instant until) {
        if (is(mistake::keeps_the_old_secret)) until = instant::max();
        return inner_.replace_hook_secret(account, id, secret, until);
    }
    result<bool> update_hook(const account_ref& account, hook_id id, hook_change changed, std::size_t max) {
        if (is(mistake::keeps_the_old_target)) {
            const auto hooks = *inner_.hooks_of(account);
            for (const hook& each : hooks)
                if (each.id == id) changed.target_url = each.target_url;
        }
        return inner_.update_hook(account, id, changed, max);
    }
    result<bool> delete_hook(const account_ref& account, hook_id id) {
        const std::scoped_lock lock{mutex_};
        if (!is(mistake::keeps_deliveries_of_deleted_hooks)) return inner_.delete_hook(account, id);
        if (*inner_.account_of_hook(account.service, id) != account) return false;
        return deleted_.insert(id).second;
    }

    result<std::size_t> append_event(event happened, const message_seed& seed, instant now) {
        const std::scoped_lock lock{mutex_};
        if (is(mistake::takes_events_in_any_case) && happened.name == "site.published") {
            auto other = happened;
            other.name = "site.Published";
            static_cast<void>(inner_.append_event(other, seed, now));
        }
        const auto hooks = *inner_.hooks_of(happened.account);
        if (is(mistake::delivers_to_disabled_hooks))
            for (const hook& each : hooks) static_cast<void>(inner_.enable_hook(happened.account, each.id, now));
        if (is(mistake::is_due_when_it_happened)) now = happened.at;
        if (is(mistake::loses_milliseconds)) happened.at = std::chrono::floor<seconds>(happened.at);
        if (is(mistake::trims_data))
            happened.data = happened.data.substr(0, happened.data.find_last_not_of(" \r\n") + 1);
        return inner_.append_event(happened, seed, now);
    }

    result<due_hook_page> due_hooks(instant now, std::size_t rows_max) {
        if (is(mistake::lists_too_many_hooks)) ++rows_max;
        auto page = inner_.due_hooks(now, rows_max);
        if (!page) return page;
        if (is(mistake::lists_the_oldest_hook_first))
            std::sort(page->hooks.begin(), page->hooks.end(),
                      [](const due_hook& a, const due_hook& b) { return a.hook < b.hook; });
        if (is(mistake::lists_hosts_instead_of_targets))
            for (due_hook& each : page->hooks) each.target_url = delivery_host(each.target_url);
        if (is(mistake::never_says_when)) page->next_at.reset();
        if (is(mistake::always_says_now)) page->next_at = now;
        return page;
    }
    result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, lease_time time) {
        const std::scoped_lock lock{mutex_};
        if (is(mistake::leases_for_too_long)) time.until += milliseconds{1};
        if (is(mistake::leases_for_too_short)) time.until -= milliseconds{1};
        std::vector<lease_request> asked(requests.begin(), requests.end());
        for (lease_request& each : asked) {
            if (is(mistake::leases_more_than_requested)) ++each.deliveries_max;
            if (is(mistake::has_no_bound_for_hosts)) each.host_leases_max = 1000;
            if (is(mistake::bounds_a_host_by_request) && &each != &asked.front())
                each.host_leases_max += each.deliveries_max;
            if (is(mistake::lists_hooks_of_full_hosts)) each.full_host_retry_at = time.now;
        }
        auto leased = inner_.lease(asked, time);
        if (!leased) return leased;
        for (due_delivery& each : *leased) {
            open_.insert(each.lease.delivery);
            if (is(mistake::makes_up_message_ids)) each.message_id = message_id_of({}, each.hook);
            if (is(mistake::forgets_attempts_made)) each.attempts_made = 0;
            if (is(mistake::forgets_the_old_secret)) each.previous_secrets.clear();
            if (is(mistake::forgets_all_old_secrets_but_one))
                each.previous_secrets.resize((std::min)(each.previous_secrets.size(), std::size_t{1}));
        }
        if (is(mistake::gives_one_batch_to_two_threads)) {
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
            if (is(mistake::records_nothing_that_was_too_late) && !open_.contains(each.lease.delivery)) {
                results.push_back(completion::too_late);
                continue;
            }
            open_.erase(each.lease.delivery);
            if (is(mistake::refuses_what_comes_late) && now > testing::noon + seconds{30 * 60}) {
                results.push_back(completion::too_late);
                continue;
            }
            if (is(mistake::sends_again_at_once)) each.retry_at = now;
            if (is(mistake::cuts_answers))
                each.made.response.resize((std::min)(each.made.response.size(), std::size_t{255}));
            if (is(mistake::cuts_requests)) each.made.request.resize((std::min)(each.made.request.size(), std::size_t{255}));
            if (is(mistake::fails_since_it_was_completed)) each.made.at = now;
            if (is(mistake::counts_what_was_not_sent) && each.outcome == delivery_outcome::not_attempted)
                each.outcome = delivery_outcome::retry;
            if (is(mistake::keeps_what_was_not_sent) && each.outcome == delivery_outcome::not_attempted) {
                results.push_back(completion::done);
                continue;
            }
            if (is(mistake::never_disables)) each.disable_if_failing_since.reset();
            if (is(mistake::fails_for_ever) && each.outcome != delivery_outcome::delivered)
                for (std::int64_t hook = 1; hook < 4; ++hook) failed_.insert(hook_id{hook});
            auto given = inner_.complete({&each, 1}, now);
            if (!given) return given;
            if (is(mistake::takes_what_is_too_late)) given->at(0) = completion::done;
            if (is(mistake::completes_twice) && given->at(0) == completion::too_late) {
                static_cast<void>(inner_.resend(testing::sample_account(), each.lease.delivery, now));
                given->at(0) = completion::too_late;
            }
            results.push_back(given->at(0));
        }
        if (is(mistake::gives_results_backwards)) std::reverse(results.begin(), results.end());
        return results;
    }

    result<std::vector<delivery>> deliveries_of(account_ref account, hook_id of, std::size_t rows_max,
                                                 std::optional<delivery_id> before, std::optional<delivery_state> state) {
        if (is(mistake::lists_every_state)) state.reset();
        if (is(mistake::lists_the_newest_only)) before.reset();
        if (is(mistake::lists_for_anybody)) account = testing::sample_account();
        if (is(mistake::lists_one_too_many)) ++rows_max;
        auto listed = inner_.deliveries_of(account, of, rows_max, before, state);
        if (listed && is(mistake::lists_the_oldest_first)) std::reverse(listed->begin(), listed->end());
        if (listed && is(mistake::says_nothing_of_leases))
            for (delivery& each : *listed)
                if (each.next_attempt_at) each.next_attempt_at = each.created_at;
        return listed;
    }
    result<std::vector<recorded_attempt>> attempts_of(account_ref account, hook_id of, std::size_t rows_max,
                                                       std::optional<delivery_id> made_for) {
        if (is(mistake::lists_attempts_of_all)) made_for.reset();
        if (is(mistake::lists_for_anybody)) account = testing::sample_account();
        if (is(mistake::keeps_few_attempts)) rows_max = (std::min)(rows_max, limits::attempts_per_delivery_max - 1);
        auto listed = inner_.attempts_of(account, of, rows_max, made_for);
        if (listed && is(mistake::lists_attempts_by_time))
            std::sort(listed->begin(), listed->end(),
                      [](const recorded_attempt& a, const recorded_attempt& b) { return a.made.at > b.made.at; });
        if (listed && is(mistake::sweeps_without_attempts)) {
            auto& kept = attempts_[of];
            for (const recorded_attempt& each : *listed) {
                const bool known = std::any_of(kept.begin(), kept.end(), [&](const recorded_attempt& one) {
                    return one.delivery == each.delivery && one.made == each.made;
                });
                if (!known) kept.push_back(each);
            }
            return kept;
        }
        return listed;
    }
    result<bool> resend(account_ref account, delivery_id id, instant now) {
        if (is(mistake::resends_for_anybody)) account = testing::sample_account();
        if (is(mistake::forgets_whom_to_resend)) {
            const std::scoped_lock lock{mutex_};
            if (open_.contains(id)) return true;
        }
        auto done = inner_.resend(account, id, now);
        if (!done && is(mistake::resends_what_is_held)) return true;
        if (done && *done && is(mistake::resends_what_is_being_sent)) {
            const std::scoped_lock lock{mutex_};
            static_cast<void>(inner_.resend(account, id, now + seconds{30}));
        }
        return done;
    }
    result<std::size_t> resend_given_up(const account_ref& account, hook_id of, instant since, std::size_t rows_max, instant now) {
        if (is(mistake::resends_all)) rows_max = 1000;
        if (is(mistake::resends_since_the_beginning)) since = instant{};
        if (is(mistake::resends_the_newest)) {
            std::size_t count = 0;
            for (const delivery& each : *inner_.deliveries_of(account, of, rows_max, {}, delivery_state::given_up))
                if (each.created_at >= since && inner_.resend(account, each.id, now)) ++count;
            if (count != 0) return count;
        }
        return inner_.resend_given_up(account, of, since, rows_max, now);
    }
    result<bool> append_event_to(hook_id to, const event& happened, const message_seed& seed, instant now) {
        auto done = inner_.append_event_to(to, happened, seed, now);
        if (!done && is(mistake::tells_disabled_hooks)) return true;
        if (is(mistake::tells_all_hooks)) {
            const auto hooks = *inner_.hooks_of(happened.account);
            for (const hook& each : hooks)
                if (each.id != to) static_cast<void>(inner_.append_event_to(each.id, happened, seed, now));
        }
        return done;
    }
    result<bool> enable_hook(account_ref account, hook_id id, instant now) {
        const std::scoped_lock lock{mutex_};
        if (is(mistake::enables_for_anybody)) account = testing::sample_account();
        const auto hooks = *inner_.hooks_of(account);
        for (const hook& each : hooks)
            if (each.failing_since) was_failing_[each.id] = *each.failing_since;
        return inner_.enable_hook(account, id, now);
    }
    result<std::size_t> sweep_deliveries(instant ended_before, std::size_t rows_max) {
        if (is(mistake::sweeps_too_early)) ended_before += milliseconds{1};
        if (is(mistake::sweeps_too_much)) rows_max *= 10;
        if (is(mistake::sweeps_without_attempts))
            for (std::int64_t hook = 1; hook < 4; ++hook)
                static_cast<void>(attempts_of(testing::sample_account(), hook_id{hook}, 1000, {}));
        return inner_.sweep_deliveries(ended_before, rows_max);
    }

private:
    [[nodiscard]] bool is(mistake asked) const noexcept { return mistake_ == asked; }

    mistake mistake_;
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

TEST_CASE("each mistake of an outbox is caught by its case") {
    using row = tollgate_test::mutant<mistake>;
    tollgate_test::check_mutants<adapter, mistake>({
        row{mistake::takes_events_in_any_case, "event: goes to each hook of its account and name, once"},
        row{mistake::delivers_to_disabled_hooks, "hook: disabled at once when its target is gone, and gets no event"},
        row{mistake::is_due_when_it_happened,
            "event: is due from the moment it was reported at, and tells its own time"},
        row{mistake::loses_milliseconds, "event: text and times come back as they were"},
        row{mistake::trims_data, "event: text and times come back as they were"},
        row{mistake::makes_up_message_ids, "event: goes to each hook of its account and name, once"},
        row{mistake::leases_for_too_long, "lease: lasts until its end, and not beyond"},
        row{mistake::leases_for_too_short, "lease: lasts until its end, and not beyond"},
        row{mistake::takes_what_is_too_late, "lease: lasts until its end, and not beyond"},
        row{mistake::refuses_what_comes_late, "lease: a result after its end, but before the next lease, is in time"},
        row{mistake::completes_twice, "lease: completed once"},
        row{mistake::gives_results_backwards, "complete: results are in order, also with unknown ones among them"},
        row{mistake::sends_again_at_once, "complete: delivered and given up are the end, a retry is due when it says"},
        row{mistake::forgets_attempts_made, "complete: delivered and given up are the end, a retry is due when it says"},
        row{mistake::keeps_the_old_secret, "secret: each signs until its own time is over"},
        row{mistake::forgets_the_old_secret, "secret: each signs until its own time is over"},
        row{mistake::forgets_all_old_secrets_but_one, "secret: each signs until its own time is over"},
        row{mistake::keeps_deliveries_of_deleted_hooks,
            "hook: only the deliveries of a deleted one are deleted with it"},
        row{mistake::gives_one_batch_to_two_threads, "lease: of parallel claims no two get one delivery"},
        row{mistake::leases_more_than_requested, "lease: not more than requested, and in the order in which they became due"},
        row{mistake::has_no_bound_for_hosts,
            "lease: a host has no more leases than the request says, of all workers together"},
        row{mistake::bounds_a_host_by_request,
            "lease: the bound of a host holds for all requests of one call, in their order"},
        row{mistake::lists_hooks_of_full_hosts,
            "due: a hook whose host is full waits until the request's time, and delays no other"},
        row{mistake::lists_the_oldest_hook_first,
            "due: hooks take turns: one that was served comes after those that wait"},
        row{mistake::lists_too_many_hooks,
            "due: hooks in the order in which they became due, with what a scheduler needs, a page at a time"},
        row{mistake::lists_hosts_instead_of_targets,
            "due: hooks in the order in which they became due, with what a scheduler needs, a page at a time"},
        row{mistake::never_says_when,
            "due: hooks in the order in which they became due, with what a scheduler needs, a page at a time"},
        row{mistake::always_says_now,
            "due: a hook is listed until a request finds nothing, and again when something becomes due"},
        row{mistake::lists_the_oldest_first, "history: a hook's deliveries, newest first, its own account's alone"},
        row{mistake::lists_one_too_many, "history: a hook's deliveries, newest first, its own account's alone"},
        row{mistake::lists_the_newest_only, "history: a hook's deliveries, newest first, its own account's alone"},
        row{mistake::lists_attempts_of_all, "attempt: all that is known of it is on record, the last first"},
        row{mistake::lists_for_anybody, "history: a hook's deliveries, newest first, its own account's alone"},
        row{mistake::says_nothing_of_leases, "history: what is being sent waits until its lease is over"},
        row{mistake::records_nothing_that_was_too_late,
            "attempt: all that is known of it is on record, the last first"},
        row{mistake::cuts_answers, "attempt: all that is known of it is on record, the last first"},
        row{mistake::lists_attempts_by_time, "attempt: all that is known of it is on record, the last first"},
        row{mistake::keeps_few_attempts, "attempt: of one delivery the last are kept, as many as there must be"},
        row{mistake::fails_since_it_was_completed, "hook: failing since its first failure, until the first success"},
        row{mistake::fails_for_ever, "hook: failing since its first failure, until the first success"},
        row{mistake::counts_what_was_not_sent, "complete: what was not attempted is due again when it says, and nothing is recorded"},
        row{mistake::keeps_what_was_not_sent, "complete: what was not attempted is due again when it says, and nothing is recorded"},
        row{mistake::remembers_failures_for_ever, "hook: a failure long after the last one begins anew"},
        row{mistake::never_disables, "hook: disabled when it has been failing for too long, by a failure alone"},
        row{mistake::disables_for_any_reason,
            "hook: disabled when it has been failing for too long, by a failure alone"},
        row{mistake::resends_what_is_held, "hook: a disabled one holds its deliveries until it is enabled"},
        row{mistake::resends_for_anybody, "resend: due at once in any state, with the same message id"},
        row{mistake::resends_what_is_being_sent, "resend: due at once in any state, with the same message id"},
        row{mistake::forgets_whom_to_resend,
            "resend: requested during an attempt, it follows the attempt, with any outcome"},
        row{mistake::enables_for_anybody, "hook: a disabled one holds its deliveries until it is enabled"},
        row{mistake::stays_failing_when_enabled, "hook: after it is enabled, later retries keep their time"},
        row{mistake::sweeps_too_early, "sweep: what ended before the moment is forgotten, not at it, a few at a time"},
        row{mistake::sweeps_too_much, "sweep: what ended before the moment is forgotten, not at it, a few at a time"},
        row{mistake::sweeps_without_attempts,
            "sweep: what ended before the moment is forgotten, not at it, a few at a time"},
        row{mistake::keeps_the_old_target, "update: from now on a hook gets events of its new name at its new target"},
        row{mistake::tells_all_hooks, "event: goes to one hook alone, whatever its event"},
        row{mistake::tells_disabled_hooks, "event: goes to one hook alone, whatever its event"},
        row{mistake::lists_every_state, "history: a hook's deliveries in one state"},
        row{mistake::resends_the_newest, "resend: what was given up since then, the oldest first, and not more than asked for"},
        row{mistake::resends_all, "resend: what was given up since then, the oldest first, and not more than asked for"},
        row{mistake::resends_since_the_beginning,
            "resend: what was given up since then, the oldest first, and not more than asked for"},
        row{mistake::cuts_requests, "attempt: all that is known of it is on record, the last first"}});
}
