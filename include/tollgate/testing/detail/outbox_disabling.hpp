#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_OUTBOX_DISABLING_HPP
#define TOLLGATE_TESTING_DETAIL_OUTBOX_DISABLING_HPP

#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

/// The rules for failing hooks: when they are disabled, what happens to their deliveries, and how they are enabled
/// again.
template <class Given>
void add_disabling_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    using enum delivery_outcome;
    const auto add = adder_of_cases(to, source);

    add("hook: is failing from its first failure until its first success", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen(store, account), other = listen(store, account);
        report(store, account, 6);
        std::vector<due_delivery> due;
        for (const due_delivery& each : lease_due_at(store, noon))
            if (each.hook == hook) due.push_back(each);
        const auto expect_since = [&](std::optional<instant> since) {
            expect(listed_hook(store, account, hook).failing_since == since, "since when it has been failing");
            expect(!listed_hook(store, account, hook).disabled, "it is not disabled");
            expect(!listed_hook(store, account, other).failing_since, "the other hook is not failing");
        };
        expect_since(std::nullopt);
        const auto complete = [&](std::size_t which, delivery_outcome outcome, int second) {
            expect_completed(store, completed(due.at(which), outcome, noon + seconds{second}), completion::done,
                           noon + seconds{second + 1});
        };
        complete(0, delivered, 1);
        expect_since(std::nullopt);
        complete(1, retry, 2);
        expect_since(noon + seconds{2});
        complete(2, given_up, 3);
        expect_since(noon + seconds{2});
        complete(3, delivered, 4);
        expect_since(std::nullopt);
        complete(4, given_up, 5);
        expect_since(noon + seconds{5});
    });

    add("hook: is disabled after failing for too long, and only by a failure", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 4);
        const auto due = lease_due_at(store, noon);
        const auto complete = [&](std::size_t which, delivery_outcome outcome, completion result, instant bound) {
            auto ended = completed(due.at(which), outcome, noon + seconds{static_cast<int>(which)});
            ended.disable_if_failing_since = bound;
            expect_completed(store, ended, result, noon + seconds{60});
        };
        complete(0, retry, completion::done, noon - milliseconds{1});
        complete(1, retry, completion::done, noon - milliseconds{1});
        expect(!listed_hook(store, account, hook).disabled, "it has not been failing for that long");
        complete(2, retry, completion::hook_disabled, noon);
        const auto disabled = listed_hook(store, account, hook);
        expect(disabled.disabled == hook_disablement{noon + seconds{60}, disable_reason::failing},
               "since when, and why");
        expect(disabled.failing_since == noon, "and since when it has been failing");
        complete(3, delivered, completion::done, noon + seconds{99});
        expect(listed_hook(store, account, hook).disabled == disabled.disabled, "a late success does not enable it");
        expect(!listed_hook(store, account, hook).failing_since, "but ends the failures");

        const auto healthy = listen(store, sample_account("sitesmaker", 43));
        report(store, sample_account("sitesmaker", 43));
        auto ended = completed(lease_one(store, noon), delivered);
        ended.disable_if_failing_since = noon + seconds{99};
        expect_completed(store, ended, completion::done);
        expect(!listed_hook(store, sample_account("sitesmaker", 43), healthy).disabled, "a success disables nothing");
    });

    add("hook: a failure that its receiver did not cause leaves its status as it is", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 4);
        const auto due = lease_due_at(store, noon);
        const auto complete = [&](std::size_t which, delivery_outcome outcome, bool counts, completion result) {
            auto ended = completed(due.at(which), outcome, noon + seconds{static_cast<int>(which)});
            ended.counts_for_hook = counts;
            ended.disable_if_failing_since = noon + seconds{3};
            expect_completed(store, ended, result, noon + seconds{9});
        };
        for (const delivery_outcome outcome : {retry, given_up}) {
            complete(outcome == retry ? 0 : 1, outcome, false, completion::done);
            const auto unchanged = listed_hook(store, account, hook);
            expect(!unchanged.failing_since && !unchanged.disabled, "the hook is neither failing nor disabled");
        }
        for (const delivery& each : deliveries(store, account, hook))
            if (each.id == due.at(0).lease.delivery || each.id == due.at(1).lease.delivery)
                expect(each.attempts_made == 1, "but it is an attempt");
        expect(value_of(attempts_of(store, account, hook, 9, std::nullopt)).size() == 2, "and on record");
        complete(2, retry, true, completion::hook_disabled);
        const auto disabled = listed_hook(store, account, hook);
        expect(disabled.failing_since == noon + seconds{2}, "failing since the first failure that counts");
        complete(3, given_up, false, completion::done);
        expect(listed_hook(store, account, hook).failing_since == disabled.failing_since, "one that does not count changes nothing");
    });

    add("hook: a failure long after the previous one starts a new series", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen(store, account);
        constexpr seconds bound{100};
        const auto fail = [&](int second, completion result = completion::done) {
            report(store, account, 1, noon + seconds{second});
            for (const due_delivery& each : lease_due_at(store, noon + seconds{second})) {
                auto ended = completed(each, given_up, noon + seconds{second});
                ended.disable_if_failing_since = noon + seconds{second} - bound;
                expect_completed(store, ended, result, noon + seconds{second});
            }
        };
        const auto expect_since = [&](int second) {
            expect(listed_hook(store, account, hook).failing_since == noon + seconds{second}, "since when it is failing");
        };
        fail(0);
        fail(1000);
        expect_since(1000);
        fail(1099);
        expect_since(1000);
        fail(1200);
        expect_since(1200);  // the last one was 101 seconds before
        for (const int second : {1250, 1299}) fail(second);
        expect_since(1200);
        fail(1300, completion::hook_disabled);
        expect_since(1200);
    });

    add("hook: is disabled at once when its target is gone, and gets no events", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen(store, account), other = listen(store, account);
        report(store, account);
        for (const due_delivery& each : lease_due_at(store, noon))
            if (each.hook == hook)
                expect_completed(store, completed(each, gone), completion::hook_disabled, noon + seconds{1});
        expect_state(store, account, hook, delivery_state::given_up);
        expect(listed_hook(store, account, hook).disabled == hook_disablement{noon + seconds{1}, disable_reason::gone},
               "since when, and why");
        expect(!listed_hook(store, account, other).disabled, "the other hook is not disabled");
        expect(value_of(store.append_event(sample_event(account), sample_seed(1), noon)) == 1, "one hook is left");
        expect(deliveries(store, account, hook).size() == 1, "a disabled hook gets no event");
        expect(lease_one(store, noon).hook == other, "the other hook does");
    });

    add("hook: a disabled hook holds its deliveries until it is enabled", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 5);
        auto terms = sample_terms(noon);
        terms.deliveries_max = 4;
        const auto sent = lease_due(store, terms);
        expect_completed(store, completed(sent.at(0), retry), completion::done);
        expect_completed(store, completed(sent.at(1), gone), completion::hook_disabled);
        expect_completed(store, completed(sent.at(2), retry), completion::done);
        // The worker of the fourth has died; its lease has ended.
        expect_none_due(store, noon + seconds{86'400});
        std::size_t held = 0;
        for (const delivery& each : deliveries(store, account, hook)) {
            const bool ended = each.id == sent[1].lease.delivery;
            expect(each.state == (ended ? delivery_state::given_up : delivery_state::held), "all else is held");
            expect(!each.next_attempt_at, "and is not due at any time");
            if (!ended) ++held;
        }
        expect(held == 4, "waiting, to be sent again, or being sent");
        expect_error("resend", store.resend(account, sent[0].lease.delivery, noon), error_kind::conflict);
        expect_error("resend", store.resend(account, sent[1].lease.delivery, noon), error_kind::conflict);

        const instant later = noon + seconds{2 * 86'400};
        expect_false(store.change_hook(sample_account("sitesmaker", 43), hook, hook_enabling{later}), "the hook is another account's");
        expect_false(store.change_hook(sample_account("itemplatform"), hook, hook_enabling{later}), "the hook is another service's");
        expect_false(store.change_hook(account, hook_id{hook.value() + 100}, hook_enabling{later}), "there is no such hook");
        expect_none_due(store, later);
        expect_true(store.change_hook(account, hook, hook_enabling{later}), "there is such a hook");
        const auto enabled = listed_hook(store, account, hook);
        expect(!enabled.disabled && !enabled.failing_since, "it is neither disabled nor failing");
        const auto due = lease_due_at(store, later);
        expect(due.size() == 4, "what was held is due at once");
        for (const due_delivery& each : due) expect(each.attempts_made == 0, "with its schedule from the start");
        expect_completed(store, completed(sent[3], retry), completion::too_late);
        expect(value_of(store.append_event(sample_event(account), sample_seed(9), later)) == 1, "events come again");
    });

    add("hook: the many deliveries of a disabled hook are sent in order when it is enabled", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen(store, account);
        // A store may hold only some of them when it is disabled.
        constexpr std::size_t count = 1500;
        report(store, account, count);
        auto terms = sample_terms(noon);
        terms.deliveries_max = 1;
        const auto sent = lease_due(store, terms);
        expect_completed(store, completed(sent.at(0), gone), completion::hook_disabled);

        terms = sample_terms(noon + seconds{60});
        terms.deliveries_max = terms.host_leases_max = count;
        expect_true(store.change_hook(account, hook, hook_enabling{terms.now}), "there is such a hook");
        std::vector<delivery_id> due;
        // It may also make some due later, when it is asked for due hooks.
        for (int calls = 0; due.size() < count - 1 && calls < 9; ++calls)
            for (const due_delivery& each : lease_due(store, terms)) due.push_back(each.lease.delivery);
        expect(due.size() == count - 1, "all but the one that was given up are due");
        expect(std::is_sorted(due.begin(), due.end()), "the oldest is sent first");
    });

    add("hook: an ended lease is void after its hook was disabled", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 2);
        auto terms = sample_terms(noon);
        terms.deliveries_max = 1;
        const auto lost = lease_due(store, terms);
        terms.now = terms.lease_until;
        terms.lease_until += seconds{30};
        const auto other = lease_due(store, terms);  // notices that the first lease has ended
        expect_completed(store, completed(other.at(0), gone), completion::hook_disabled, terms.now);
        expect(lease_due(store, terms).empty(), "a disabled hook's deliveries are not due");
        expect_completed(store, completed(lost.at(0), delivered), completion::too_late, terms.now);
        for (const delivery& each : deliveries(store, account, hook))
            expect(each.state != delivery_state::delivered, "a late success does not end a held delivery");
    });

    add("hook: one with an ended lease at its old target can be disabled", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 1, "https://old.example/hook");
        lease_one(store, noon);  // by a worker that dies
        expect_true(store.change_hook(account, hook, hook_fields{"site.published", "https://new.example/hook", 100}),
                    "there is such a hook");
        report(store, account);
        expect_completed(store, completed(lease_one(store, noon), gone), completion::hook_disabled);
        expect_none_due(store, noon + seconds{86'400});
        expect_true(store.change_hook(account, hook, hook_enabling{noon + seconds{86'400}}), "there is such a hook");
        lease_one(store, noon + seconds{86'400});
    });

    add("hook: enabling it does not change when retries are due", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 2);
        const auto sent = lease_due_at(store, noon);
        expect_completed(store, completed(sent.at(0), retry), completion::done);
        expect_true(store.change_hook(account, hook, hook_enabling{noon}), "there is such a hook");
        expect_none_due(store, noon + seconds{29});
        expect(!listed_hook(store, account, hook).failing_since, "it is not failing any more");
        expect_completed(store, completed(sent.at(1), delivered), completion::done);
        expect(lease_one(store, noon + seconds{60}).attempts_made == 1, "with its schedule as it was");
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_OUTBOX_DISABLING_HPP
