#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_OUTBOX_OWNER_HPP
#define TOLLGATE_TESTING_DETAIL_OUTBOX_OWNER_HPP

#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

/// The rules for what a hook's owner does: edit it, test it, look for failures, send them again.
namespace tollgate::inline v0::testing {

template <class Given>
void add_outbox_owner_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    using enum delivery_outcome;
    const auto add = adder_of_cases(to, source);

    add("update: a hook gets new events of its new name at its new target", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen_at(store, account, "https://old.example/hook");
        listen_at(store, account, "https://old.example/other");
        const hook_fields changed{"site.created", "https://new.example:8443/hook?a=b", 100};
        expect_true(store.change_hook(account, hook, changed), "there is such a hook");
        expect(value_of(store.append_event(sample_event(account), sample_seed(1), noon)) == 1, "the old event is not its own");
        expect(value_of(store.append_event(sample_event(account, "site.created"), sample_seed(2), noon)) == 1, "the new one is");
        for (const due_delivery& each : lease_due_at(store, noon))
            expect(each.target_url == (each.hook == hook ? changed.target_url : "https://old.example/other"), "sent to its target");
    });

    add("update: waiting deliveries are sent to the new target and count for its host", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen_at(store, account, "https://old.example/hook");
        const auto stays = listen_at(store, account, "https://old.example/other");
        const auto there = listen_at(store, sample_account("sitesmaker", 43), "https://new.example/there");
        report(store, account, 3);
        const auto in_flight = lease_of(store, {hook, 1, 10, noon}, sample_terms(noon));
        expect(in_flight.size() == 1, "one is being sent");
        expect_true(store.change_hook(account, hook, hook_fields{"site.published", "https://new.example/hook", 100}),
                    "there is such a hook");
        expect_completed(store, completed(in_flight[0], delivered), completion::done);
        const auto moved = lease_of(store, {hook, 1, 1, noon}, sample_terms(noon));
        expect(moved.size() == 1 && moved[0].target_url == "https://new.example/hook", "the next goes to the new target");
        report(store, sample_account("sitesmaker", 43));
        expect(lease_of(store, {there, 1, 1, noon}, sample_terms(noon)).empty(), "the new host is full with it");
        expect(lease_of(store, {stays, 1, 1, noon}, sample_terms(noon)).size() == 1, "and the old one is not");
        expect_completed(store, completed(moved[0], delivered), completion::done);
        expect(lease_of(store, {there, 1, 1, noon}, sample_terms(noon)).size() == 1, "until it is completed");
        expect(deliveries(store, account, hook).size() == 3, "its history stays");
    });

    add("update: a hook that was moved and deleted leaves no lease at its old host", [](auto& store) {
        const auto account = sample_account(), other = sample_account("sitesmaker", 43);
        const auto hook = listen_at(store, account, "https://old.example/hook");
        const auto stays = listen_at(store, other, "https://old.example/other");
        report(store, account, 1010, noon + seconds{60});  // more than a store may remove at once, before those that are leased
        report(store, account, 2);
        report(store, other, 3);
        const auto terms = sample_terms(noon);
        const auto in_flight = lease_of(store, {hook, 2, 2, noon}, terms);
        expect(in_flight.size() == 2, "two are being sent");
        expect_true(store.change_hook(account, hook, hook_fields{"site.published", "https://new.example/hook", 100}),
                    "there is such a hook");
        expect_true(store.delete_hook(account, hook), "there is such a hook");
        expect(lease_of(store, {stays, 3, 2, noon}, terms).size() == 2, "its leases do not count any more");
        expect_completed(store, completed(in_flight[0], delivered), completion::too_late);
        expect(lease_of(store, {stays, 1, 2, noon}, terms).empty(), "and a late result frees nothing");
    });

    add("update: a new target has not failed yet", [](auto& store) {
        const auto account = sample_account();
        const std::string target = "https://old.example/hook";
        const auto hook = listen_at(store, account, target);
        report(store, account);
        expect_completed(store, completed(lease_one(store, noon), retry), completion::done);
        const auto failing_since = [&] { return value_of(store.hooks_of(account)).front().failing_since; };
        expect(failing_since() == noon, "it has failed");
        expect_true(store.change_hook(account, hook, hook_fields{"site.created", target, 100}), "there is such a hook");
        expect(failing_since() == noon, "the target is the same");
        expect_true(store.change_hook(account, hook, hook_fields{"site.created", "https://new.example/hook", 100}), "there is such a hook");
        expect(!failing_since(), "the new target has not failed yet");
    });

    add("update: the old target's late response does not disable the webhook", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 1, "https://old.example/hook");
        const auto sent = lease_one(store, noon);
        const hook_fields changed{"site.published", "https://new.example/hook", 100};
        expect_true(store.change_hook(account, hook, changed), "there is such a hook");
        expect_completed(store, completed(sent, gone), completion::done);
        const auto stored = value_of(store.hooks_of(account)).front();
        expect(!stored.disabled && !stored.failing_since, "the response says nothing about the new target");
        const auto again = lease_one(store, noon);
        expect(again.target_url == changed.target_url, "which gets the delivery now");
        expect_completed(store, completed(again, gone), completion::hook_disabled);
    });

    add("event: can be sent to a single hook, whatever the name of its event", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen(store, account), other = listen(store, account);
        auto ping = sample_event(account, "ping");
        expect_false(store.append_event(ping, sample_seed(1), noon, hook_id{hook.value() + 100}), "there is no such hook");
        ping.account = sample_account("sitesmaker", 43);
        expect_false(store.append_event(ping, sample_seed(1), noon, hook), "the hook is another account's");
        expect_none_due(store, noon);
        ping.account = account;
        ping.at = noon - seconds{86'400};
        expect_true(store.append_event(ping, sample_seed(1), noon, hook), "there is such a hook");
        expect_none_due(store, noon - milliseconds{1});  // due from now on, not since the event's own time
        const auto sent = lease_one(store, noon);
        expect(sent.hook == hook && sent.event->name == "ping" && sent.event->data == ping.data && sent.event->at == ping.at,
               "it is the event that was appended");
        expect(sent.message_id == message_id_of(sample_seed(1), hook), "with its own id");
        expect(deliveries(store, account, other).empty(), "the other hook gets nothing");
        expect_completed(store, completed(sent, gone), completion::hook_disabled);
        expect_error("append_event", store.append_event(ping, sample_seed(2), noon, hook), error_kind::conflict);
        expect(deliveries(store, account, hook).size() == 1, "a refused event is not there");
    });

    add("history: deliveries can be filtered by state", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 6);
        const auto sent = lease_due_at(store, noon);
        const std::array ended{completed(sent.at(0), given_up), completed(sent.at(1), delivered), completed(sent.at(2), given_up),
                               completed(sent.at(3), retry), completed(sent.at(4), given_up)};
        value_of(store.complete(ended, noon));
        const auto ids = [&](delivery_state state, std::size_t rows_max = 100, std::optional<delivery_id> before = {}) {
            std::vector<delivery_id> found;
            for (const delivery& each : value_of(deliveries_of(store, account, hook, rows_max, before, state))) {
                expect(each.state == state, "only those with the requested state");
                found.push_back(each.id);
            }
            return found;
        };
        const auto id = [&](std::size_t i) { return sent.at(i).lease.delivery; };
        using all = std::vector<delivery_id>;
        expect(ids(delivery_state::given_up) == all{id(4), id(2), id(0)}, "newest first");
        expect(ids(delivery_state::given_up, 2) == all{id(4), id(2)}, "not more than requested");
        expect(ids(delivery_state::given_up, 2, id(2)) == all{id(0)}, "those before one");
        expect(ids(delivery_state::delivered) == all{id(1)}, "what was delivered");
        expect(ids(delivery_state::waiting) == all{id(5), id(3)}, "what waits, and what is being sent");
        expect(ids(delivery_state::held).empty(), "none is held");
        value_of(store.resend(account, id(3), noon));
        expect_completed(store, completed(lease_one(store, noon), gone), completion::hook_disabled);
        expect(ids(delivery_state::given_up).size() == 4, "one more was given up");
        expect_completed(store, completed(sent[5], retry), completion::done);
        expect(ids(delivery_state::held) == all{id(5)}, "a disabled hook holds what waits");
    });

    add("resend: deliveries that were given up since a time are sent again, oldest first, up to a bound", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen(store, account), other = listen_at(store, account, "https://other.example/");
        for (int i = 0; i < 5; ++i) report(store, account, 1, noon + seconds{i});
        const auto sent = lease_due_at(store, noon + seconds{5});
        std::vector<attempt_result> ended;
        std::vector<delivery_id> of_hook;
        for (const due_delivery& each : sent) {
            if (each.hook == hook) of_hook.push_back(each.lease.delivery);
            ended.push_back(completed(each, each.hook == hook && of_hook.size() == 3 ? delivered : given_up));
        }
        value_of(store.complete(ended, noon + seconds{5}));
        const instant now = noon + seconds{60};
        const auto resend = [&](const account_ref& owner, hook_id which, instant since, std::size_t rows_max) {
            return value_of(store.resend(owner, given_up_deliveries{which, since, rows_max}, now));
        };
        expect(resend(sample_account("sitesmaker", 43), hook, noon, 100) == 0, "must return 0: the hook is another account's");
        expect(resend(account, hook_id{hook.value() + 100}, noon, 100) == 0, "must return 0: there is no such hook");
        expect(resend(account, hook, noon, 0) == 0, "must return 0: none is requested");
        expect(resend(account, hook, noon + seconds{5}, 100) == 0, "must return 0: none was created then");
        expect_none_due(store, now);
        expect(resend(account, hook, noon + seconds{1}, 2) == 2, "as many as requested");
        const auto due = lease_due_at(store, now);
        expect(due.size() == 2, "they are due now");
        for (const due_delivery& each : due)
            expect((each.lease.delivery == of_hook.at(1) || each.lease.delivery == of_hook.at(3)) && each.attempts_made == 0,
                   "the oldest of them, with their schedules from the start");
        expect(resend(account, hook, noon, 100) == 2, "those that are left, and not those that are being sent");
        expect(resend(account, hook, noon, 100) == 0, "must return 0: each is sent again once");
        for (const due_delivery& each : lease_due_at(store, now)) expect(each.hook != other, "the other hook's stay as they are");
        expect_completed(store, completed(due[0], gone), completion::hook_disabled);
        expect_error("resend", store.resend(account, given_up_deliveries{hook, noon, 100}, now), error_kind::conflict);
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_OUTBOX_OWNER_HPP
