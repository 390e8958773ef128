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
    settles_twice,
    gives_results_backwards,
    sends_again_at_once,
    forgets_attempts_made,
    keeps_the_old_secret,
    forgets_the_old_secret,
    forgets_all_old_secrets_but_one,
    keeps_deliveries_of_deleted_hooks,
    gives_one_batch_to_two_threads,
    claims_more_than_asked_for,
    has_no_bound_for_hosts,
    trusts_unknown_hosts,
    serves_slow_hosts_without_bound,
    tells_no_slow_hosts,
    serves_backlogs_first,
    has_no_bound_of_data,
    skips_what_is_too_large,
    goes_past_what_is_too_large,
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
    fails_since_it_was_settled,
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

    result<claimed_deliveries> claim_due(claim_terms terms) {
        const std::scoped_lock lock{mutex_};
        const auto asked = terms;
        if (is(mistake::leases_for_too_long)) terms.lease_until += milliseconds{1};
        if (is(mistake::leases_for_too_short)) terms.lease_until -= milliseconds{1};
        if (is(mistake::claims_more_than_asked_for)) ++terms.deliveries_max;
        if (is(mistake::has_no_bound_for_hosts)) terms.per_host_max = 1000;
        if (is(mistake::trusts_unknown_hosts)) terms.per_slow_host_max = terms.per_host_max;
        if (is(mistake::serves_slow_hosts_without_bound)) terms.slow_deliveries_max = terms.deliveries_max;
        if (is(mistake::has_no_bound_of_data) || is(mistake::goes_past_what_is_too_large)) terms.data_bytes_max = SIZE_MAX;
        if (is(mistake::serves_backlogs_first)) terms.deliveries_max = 1000;
        auto claimed = inner_.claim_due(terms);
        if (!claimed) return claimed;
        auto& deliveries = claimed->deliveries;
        if (is(mistake::serves_backlogs_first) && deliveries.size() > asked.deliveries_max) {
            std::sort(deliveries.begin(), deliveries.end(),
                      [](const due_delivery& a, const due_delivery& b) { return a.lease.delivery < b.lease.delivery; });
            for (std::size_t i = asked.deliveries_max; i < deliveries.size(); ++i) {
                const settlement back{deliveries[i].lease, {asked.now}, delivery_verdict::again, asked.now};
                static_cast<void>(inner_.settle({&back, 1}, asked.now));
            }
            deliveries.erase(deliveries.begin() + static_cast<std::ptrdiff_t>(asked.deliveries_max), deliveries.end());
        }
        if (is(mistake::goes_past_what_is_too_large)) {
            std::size_t bytes = 0;
            std::erase_if(deliveries, [&](const due_delivery& each) {
                const std::size_t more = each.what->data.size();
                if (bytes != 0 && bytes + more > asked.data_bytes_max) {
                    const settlement back{each.lease, {asked.now}, delivery_verdict::again, asked.now};
                    static_cast<void>(inner_.settle({&back, 1}, asked.now));
                    return true;
                }
                bytes += more;
                return false;
            });
        }
        if (is(mistake::skips_what_is_too_large))
            std::erase_if(deliveries,
                          [&](const due_delivery& each) { return each.what->data.size() > terms.data_bytes_max; });
        for (due_delivery& each : deliveries) {
            open_.insert(each.lease.delivery);
            if (is(mistake::makes_up_message_ids)) each.message_id = message_id_of({}, each.hook);
            if (is(mistake::tells_no_slow_hosts)) each.slow = false;
            if (is(mistake::forgets_attempts_made)) each.attempts_made = 0;
            if (is(mistake::forgets_the_old_secret)) each.previous_secrets.clear();
            if (is(mistake::forgets_all_old_secrets_but_one))
                each.previous_secrets.resize((std::min)(each.previous_secrets.size(), std::size_t{1}));
        }
        if (is(mistake::never_says_when)) claimed->next_at.reset();
        if (is(mistake::always_says_now)) claimed->next_at = terms.now;
        if (is(mistake::gives_one_batch_to_two_threads)) {
            const auto caller = std::this_thread::get_id();
            if (last_caller_ && *last_caller_ != caller)
                deliveries.insert(deliveries.end(), last_batch_.begin(), last_batch_.end());
            if (!deliveries.empty()) last_batch_ = deliveries;
            last_caller_ = caller;
        }
        return claimed;
    }

    result<std::vector<settle_result>> settle(std::span<const settlement> ended, instant now) {
        const std::scoped_lock lock{mutex_};
        std::vector<settle_result> results;
        for (settlement each : ended) {
            if (is(mistake::records_nothing_that_was_too_late) && !open_.contains(each.lease.delivery)) {
                results.push_back(settle_result::too_late);
                continue;
            }
            open_.erase(each.lease.delivery);
            if (is(mistake::refuses_what_comes_late) && now > testing::noon + seconds{30 * 60}) {
                results.push_back(settle_result::too_late);
                continue;
            }
            if (is(mistake::sends_again_at_once)) each.again_at = now;
            if (is(mistake::cuts_answers))
                each.made.answer.resize((std::min)(each.made.answer.size(), std::size_t{255}));
            if (is(mistake::fails_since_it_was_settled)) each.made.at = now;
            if (is(mistake::counts_what_was_not_sent) && each.verdict == delivery_verdict::unsent)
                each.verdict = delivery_verdict::again;
            if (is(mistake::keeps_what_was_not_sent) && each.verdict == delivery_verdict::unsent) {
                results.push_back(settle_result::done);
                continue;
            }
            if (is(mistake::never_disables)) each.disable_if_failing_since.reset();
            if (is(mistake::fails_for_ever) && each.verdict != delivery_verdict::delivered)
                for (std::int64_t hook = 1; hook < 4; ++hook) failed_.insert(hook_id{hook});
            auto given = inner_.settle({&each, 1}, now);
            if (!given) return given;
            if (is(mistake::takes_what_is_too_late)) given->at(0) = settle_result::done;
            if (is(mistake::settles_twice) && given->at(0) == settle_result::too_late) {
                static_cast<void>(inner_.resend(testing::sample_account(), each.lease.delivery, now));
                given->at(0) = settle_result::too_late;
            }
            results.push_back(given->at(0));
        }
        if (is(mistake::gives_results_backwards)) std::reverse(results.begin(), results.end());
        return results;
    }

    result<std::vector<delivery>> deliveries_of(account_ref account, hook_id of, std::size_t rows_max,
                                                 std::optional<delivery_id> before) {
        if (is(mistake::lists_the_newest_only)) before.reset();
        if (is(mistake::lists_for_anybody)) account = testing::sample_account();
        if (is(mistake::lists_one_too_many)) ++rows_max;
        auto listed = inner_.deliveries_of(account, of, rows_max, before);
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

std::vector<testing::verdict> failures(mistake made) {
    return tollgate_test::suite_failures([made] { return std::make_unique<adapter>(made); });
}

}  // namespace

TEST_CASE("the store suite passes an outbox that is right") {
    for (const auto& each : failures(mistake::none)) FAIL_CHECK(each.name << ": " << each.message);
}

TEST_CASE("the store suite catches what adapters get wrong of an outbox, in the case that is about it") {
    struct row {
        mistake made;
        const char* caught_by;
    };
    const auto each = GENERATE(
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
        row{mistake::refuses_what_comes_late, "lease: whoever comes late, but before anybody else, is in time"},
        row{mistake::settles_twice, "lease: settled once"},
        row{mistake::gives_results_backwards, "settle: results are in order, whatever else is among them"},
        row{mistake::sends_again_at_once, "settle: delivered and given up are the end, again is due when it says"},
        row{mistake::forgets_attempts_made, "settle: delivered and given up are the end, again is due when it says"},
        row{mistake::keeps_the_old_secret, "secret: each signs until its own time is over"},
        row{mistake::forgets_the_old_secret, "secret: each signs until its own time is over"},
        row{mistake::forgets_all_old_secrets_but_one, "secret: each signs until its own time is over"},
        row{mistake::keeps_deliveries_of_deleted_hooks,
            "hook: a deleted one's deliveries go with it, and nobody else's"},
        row{mistake::gives_one_batch_to_two_threads, "lease: of parallel claims no two get one delivery"},
        row{mistake::claims_more_than_asked_for, "claim: not more than asked for, and what is due first comes first"},
        row{mistake::has_no_bound_for_hosts,
            "claim: a host has no more leases than the terms say, of all workers together"},
        row{mistake::trusts_unknown_hosts, "claim: a host that is slow, or that nobody knows, has its own bound"},
        row{mistake::serves_slow_hosts_without_bound,
            "claim: slow hosts come first, up to their bound, and quick ones fill the rest"},
        row{mistake::tells_no_slow_hosts,
            "claim: slow hosts come first, up to their bound, and quick ones fill the rest"},
        row{mistake::serves_backlogs_first, "claim: hosts take turns, the one that has waited the longest first"},
        row{mistake::has_no_bound_of_data, "claim: not more data than asked for, but always one delivery"},
        row{mistake::skips_what_is_too_large, "claim: not more data than asked for, but always one delivery"},
        row{mistake::goes_past_what_is_too_large,
            "claim: where the data does not fit, the claim ends, and the host keeps its place"},
        row{mistake::never_says_when, "claim: says when there may be more"},
        row{mistake::always_says_now, "claim: says when there may be more"},
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
        row{mistake::fails_since_it_was_settled, "hook: failing since its first failure, until the first success"},
        row{mistake::fails_for_ever, "hook: failing since its first failure, until the first success"},
        row{mistake::counts_what_was_not_sent, "settle: unsent is due again when it says, and was nothing"},
        row{mistake::keeps_what_was_not_sent, "settle: unsent is due again when it says, and was nothing"},
        row{mistake::remembers_failures_for_ever, "hook: a failure long after the last one begins anew"},
        row{mistake::never_disables, "hook: disabled when it has been failing for too long, by a failure alone"},
        row{mistake::disables_for_any_reason,
            "hook: disabled when it has been failing for too long, by a failure alone"},
        row{mistake::resends_what_is_held, "hook: a disabled one holds its deliveries until somebody enables it"},
        row{mistake::resends_for_anybody, "resend: due at once, whatever it was, under the same name"},
        row{mistake::resends_what_is_being_sent, "resend: due at once, whatever it was, under the same name"},
        row{mistake::forgets_whom_to_resend,
            "resend: asked for while it is being sent, it follows the attempt, whatever its end"},
        row{mistake::enables_for_anybody, "hook: a disabled one holds its deliveries until somebody enables it"},
        row{mistake::stays_failing_when_enabled, "hook: enabled, what waits for its time goes on waiting"},
        row{mistake::sweeps_too_early, "sweep: what ended before the moment is forgotten, not at it, a few at a time"},
        row{mistake::sweeps_too_much, "sweep: what ended before the moment is forgotten, not at it, a few at a time"},
        row{mistake::sweeps_without_attempts,
            "sweep: what ended before the moment is forgotten, not at it, a few at a time"});
    CAPTURE(static_cast<int>(each.made));
    tollgate_test::check_caught(failures(each.made), each.caught_by);
}
