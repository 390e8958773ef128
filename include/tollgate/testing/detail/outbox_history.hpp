#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_OUTBOX_HISTORY_HPP
#define TOLLGATE_TESTING_DETAIL_OUTBOX_HISTORY_HPP

#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

/// The rules for the history of deliveries, for manual resends, and for sweeps.
template <class Given>
void add_history_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    using enum delivery_outcome;
    const auto add = adder_of_cases(to, source);

    add("history: a hook's deliveries are listed newest first, and only for its own account", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen(store, account), other = listen(store, account);
        expect(deliveries(store, account, hook).empty(), "at first there are none");
        for (std::uint64_t i = 0; i < 5; ++i)  // later ones say they are older: the order is that of creation
            value_of(store.append_event(sample_event(account), sample_seed(i), noon - seconds{static_cast<int>(i)}));
        const auto listed = deliveries(store, account, hook);
        expect(listed.size() == 5, "one for each event");
        for (std::size_t i = 0; i < 5; ++i) {
            const delivery& each = listed[i];
            const std::uint64_t number = 4 - i;
            expect(each.message_id == message_id_of(sample_seed(number), hook), "newest first, with its message's id");
            expect(each.hook == hook && each.event == sample_event(account).name, "of that hook and event");
            expect(each.created_at == noon - seconds{static_cast<int>(number)}, "with the moment of the report");
            expect(each.state == delivery_state::waiting && each.attempts_made == 0, "none was sent");
            expect(each.next_attempt_at == each.created_at, "and is due since it was reported");
        }
        const auto some = value_of(deliveries_of(store, account, hook, 2, std::nullopt, std::nullopt));
        expect(some.size() == 2 && some[0].id == listed[0].id && some[1].id == listed[1].id, "not more than requested");
        expect(value_of(deliveries_of(store, account, hook, 0, std::nullopt, std::nullopt)).empty(), "not even one");
        const auto before = [&](delivery_id which, std::size_t rows_max) {
            std::vector<delivery_id> ids;
            for (const delivery& each : value_of(deliveries_of(store, account, hook, rows_max, which, std::nullopt)))
                ids.push_back(each.id);
            return ids;
        };
        using ids = std::vector<delivery_id>;
        expect(before(listed[1].id, 2) == ids{listed[2].id, listed[3].id}, "those before one, without it");
        expect(before(listed[3].id, 2) == ids{listed[4].id}, "the last of them");
        expect(before(listed[4].id, 2).empty(), "there is none before the first");
        expect(before(delivery_id{(std::numeric_limits<std::int64_t>::max)()}, 1) == ids{listed[0].id},
               "before one that is not there");
        expect(deliveries(store, account, other).size() == 5, "the other hook has its own");
        expect(deliveries(store, sample_account("sitesmaker", 43), hook).empty(), "must be empty: the hook is another account's");
        expect(deliveries(store, sample_account("itemplatform"), hook).empty(), "must be empty: the hook is another service's");
        expect(deliveries(store, account, hook_id{hook.value() + 100}).empty(), "must be empty: there is no such hook");
    });

    add("history: a leased delivery is waiting until its lease ends", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store);
        lease_one(store, noon);
        const auto listed = only_delivery(store, account, hook);
        expect(listed.state == delivery_state::waiting && listed.attempts_made == 0, "it waits for its attempt's end");
        expect(listed.next_attempt_at == sample_terms(noon).lease_until, "or for its lease's");
    });

    add("attempt: attempts are recorded in full and listed newest first", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen(store, account);
        expect(value_of(attempts_of(store, account, hook, 100, std::nullopt)).empty(), "at first there are none");
        report(store, account, 2);
        const auto leased = lease_due_at(store, noon);
        using enum attempt_end;
        std::vector<recorded_attempt> recorded;
        std::vector<attempt_result> ended;
        std::string bytes;
        for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
        while (bytes.size() < limits::attempt_response_bytes_max) bytes += bytes;
        constexpr std::array ends{answered, no_address, refused_address, no_connection, no_tls, timed_out, broken_off, bad_response};
        for (unsigned number = 0; number <= static_cast<unsigned>(attempt_cause::certificate_invalid); ++number) {
            const attempt_end end = ends.at(number % ends.size());
            const due_delivery& sent = leased.at(number % 2);
            // Later attempts have earlier times: the order must be that of completion.
            attempt one{.at = noon - milliseconds{number}, .duration = milliseconds{number * 2000}, .end = end};
            one.cause = static_cast<attempt_cause>(number);
            one.status = end == answered ? 599 : 0;
            one.response = bytes.substr(0, end == answered ? bytes.size() : number);
            one.request = bytes.substr(number, end == answered ? bytes.size() : number);
            recorded.push_back({sent.lease.delivery, sample_event(account).name, sent.message_id, one});
            ended.push_back(completed(sent, retry));  // all but two of them are too late
            ended.back().attempt = one;
        }
        value_of(store.complete(std::span{ended}.first(3), noon));
        value_of(store.complete(std::span{ended}.subspan(3), noon));

        const auto listed = value_of(store.deliveries_of(account, {.hook = hook, .rows_max = 100, .attempts_max = 100}));
        expect(listed.size() == leased.size(), "each delivery is listed once");
        for (const auto& [delivery, attempts] : listed) {
            std::vector<recorded_attempt> expected;
            for (const recorded_attempt& each : recorded)
                if (each.delivery == delivery.id) expected.insert(expected.begin(), each);
            expect(attempts.size() == expected.size(), "all are on record, those that were too late, too");
            for (std::size_t i = 0; i < attempts.size(); ++i) {
                const attempt& one = expected[i].attempt;
                expect(delivery.message_id == expected[i].message_id && delivery.event == expected[i].event, "with its delivery and event");
                expect(attempts[i].at == one.at && attempts[i].duration == one.duration, "with its time and duration, to the millisecond");
                expect(attempts[i].end == one.end && attempts[i].status == one.status, "and how it ended");
                expect(attempts[i].cause == one.cause, "and why");
                expect(attempts[i].response == one.response, "and the answer, byte for byte");
                expect(attempts[i].request == one.request, "and the request, byte for byte");
            }
            const auto attempts_of_it = [&](const account_ref& owner, hook_id which, std::size_t attempts_max) {
                std::vector<attempt> found;
                for (recorded_attempt& one : value_of(attempts_of(store, owner, which, attempts_max, delivery.id)))
                    found.push_back(std::move(one.attempt));
                return found;
            };
            expect(attempts_of_it(account, hook, 100) == attempts, "those of one delivery");
            expect(attempts_of_it(account, hook, 2) == std::vector(attempts.begin(), attempts.begin() + 2), "not more than requested");
            expect(attempts_of_it(account, hook, 0).empty(), "not even one");
            expect(attempts_of_it(sample_account("sitesmaker", 43), hook, 9).empty(), "must be empty: the hook is another account's");
            expect(attempts_of_it(sample_account("itemplatform"), hook, 9).empty(), "must be empty: the hook is another service's");
            expect(attempts_of_it(account, listen(store, account), 9).empty(), "must be empty: the delivery is another hook's");
        }
    });

    add("attempt: at least the required number of the last attempts of a delivery is kept", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store);
        const auto send = [&](std::size_t number, delivery_outcome outcome) {
            auto ended = completed(lease_one(store, noon), outcome);
            ended.attempt.duration = milliseconds{number};
            ended.retry_at = noon;
            expect_completed(store, ended, completion::done);
        };
        constexpr std::size_t stored_max = limits::attempts_per_delivery_max, attempts = stored_max + 20;
        for (std::size_t i = 0; i < attempts - 1; ++i) send(i, retry);
        send(attempts - 1, delivered);
        value_of(store.resend(account, only_delivery(store, account, hook).id, noon));
        send(attempts, retry);
        const auto listed = value_of(attempts_of(store, account, hook, 10 * stored_max, std::nullopt));
        expect(listed.size() >= stored_max && listed.size() <= attempts + 1, "the last are kept");
        for (std::size_t i = 0; i < stored_max; ++i)
            expect(listed[i].attempt.duration == milliseconds{attempts - i}, "the last first, and none is missing");
    });

    add("resend: a delivery in any state is due at once, with the same message id", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 4);
        const auto sent = lease_due_at(store, noon);
        const std::array ended{completed(sent.at(0), delivered), completed(sent.at(1), retry),
                               completed(sent.at(2), given_up)};
        value_of(store.complete(ended, noon));
        for (const due_delivery& each : sent)
            expect_true(store.resend(account, each.lease.delivery, noon + seconds{1}), "there is such a delivery");
        const auto due = lease_due_at(store, noon + seconds{1});
        expect(due.size() == 3, "all but the one that is being sent");
        expect(only_of(deliveries(store, account, hook), sent[3].lease.delivery).next_attempt_at ==
                   sample_terms(noon).lease_until,
               "which goes on being sent");
        for (const due_delivery& each : due) {
            const auto before = std::find_if(sent.begin(), sent.end(), [&](const due_delivery& one) {
                return one.lease.delivery == each.lease.delivery;
            });
            expect(before != sent.end() && before->message_id == each.message_id, "it is the same message");
            expect(each.attempts_made == 0, "with its schedule from the start");
            expect(before->lease != each.lease, "and a lease of its own");
            expect_completed(store, completed(*before, delivered), completion::too_late);
        }
        expect_completed(store, completed(sent[3], delivered), completion::done, noon + seconds{2});
        expect(value_of(attempts_of(store, account, hook, 100, std::nullopt)).size() == 7, "recorded attempts are kept");
        const auto once_more = lease_one(store, noon + seconds{2});
        expect(once_more.lease.delivery == sent[3].lease.delivery && once_more.attempts_made == 0,
               "a delivery in flight is sent once more, with any outcome");
        expect_completed(store, completed(once_more, delivered), completion::done, noon + seconds{2});

        expect_false(store.resend(sample_account("sitesmaker", 43), sent[0].lease.delivery, noon),
               "the delivery is another account's");
        expect_false(store.resend(sample_account("itemplatform"), sent[0].lease.delivery, noon),
               "the delivery is another service's");
        const delivery_id unknown{(std::numeric_limits<std::int64_t>::max)()};
        expect_false(store.resend(account, unknown, noon), "there is no such delivery");

        // A delivery whose worker died is not in flight any more.
        const instant over = sample_terms(noon + seconds{1}).lease_until;
        expect_true(store.resend(account, due[0].lease.delivery, over), "there is such a delivery");
        expect(only_of(deliveries(store, account, hook), due[0].lease.delivery).next_attempt_at == over, "due at once");
        expect_completed(store, completed(due[0], delivered), completion::too_late);
    });

    add("resend: a request during an attempt takes effect after it, whatever its outcome", [](auto& store) {
        const auto account = sample_account(), dying = sample_account("sitesmaker", 43);
        const auto hook = listen(store, account), dying_hook = listen_at(store, dying, "https://dying.example/");
        const auto request_resend = [&](const account_ref& owner, const due_delivery& each, instant now) {
            expect_true(store.resend(owner, each.lease.delivery, now), "there is such a delivery");
        };
        report(store, account);
        int second = 0;
        for (const delivery_outcome outcome : {delivered, retry, given_up, not_attempted}) {
            auto sent = lease_one(store, noon + seconds{second});
            expect_completed(store, completed(sent, retry, noon + seconds{second}), completion::done);
            second += 60;
            sent = lease_one(store, noon + seconds{second});
            expect(sent.attempts_made == 1, "the second attempt");
            request_resend(account, sent, noon + seconds{second + 1});
            request_resend(account, sent, noon + seconds{second + 2});
            expect(only_delivery(store, account, hook).attempts_made == 0, "its schedule starts over");
            expect_none_due(store, noon + seconds{second + 2});
            second += 3;
            expect_completed(store, completed(sent, outcome, noon), completion::done, noon + seconds{second});
            const auto listed = only_delivery(store, account, hook);
            expect(listed.state == delivery_state::waiting && listed.next_attempt_at == noon + seconds{second} &&
                       listed.attempts_made == 0,
                   "it is due at once");
        }
        auto sent = lease_one(store, noon + seconds{second});
        expect_completed(store, completed(sent, delivered), completion::done, noon + seconds{second});
        expect_none_due(store, noon + seconds{86'400});  // once more, not for ever

        // Leased by a worker that died.
        request_resend(account, sent, noon + seconds{second});
        sent = lease_one(store, noon + seconds{second});
        request_resend(account, sent, noon + seconds{second + 1});
        sent = lease_one(store, noon + seconds{second + 30});
        expect(sent.attempts_made == 0, "a lease that has expired is as if there had been none");
        expect_completed(store, completed(sent, delivered), completion::done, noon + seconds{second + 30});
        expect_none_due(store, noon + seconds{86'400});

        // Completed by the attempt that disables the hook, and by one that ends afterwards.
        report(store, dying, 2, noon + seconds{second});
        const auto both = lease_due_at(store, noon + seconds{second});
        for (const due_delivery& each : both) request_resend(dying, each, noon + seconds{second});
        expect_completed(store, completed(both.at(0), gone), completion::hook_disabled, noon + seconds{second});
        expect_completed(store, completed(both.at(1), delivered), completion::done, noon + seconds{second});
        for (const delivery& each : deliveries(store, dying, dying_hook))
            expect(each.state == delivery_state::held && !each.next_attempt_at, "held until the hook is enabled");
        expect_true(store.change_hook(dying, dying_hook, hook_enabling{noon + seconds{second}}), "there is such a hook");
        expect(lease_due_at(store, noon + seconds{second}).size() == 2, "and sent then");
    });

    add("sweep: deliveries that ended before the given time are deleted, up to a bound per call", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen(store, account), lasting = listen(store, account);
        report(store, account, 6);
        std::vector<due_delivery> sent;
        for (const due_delivery& each : lease_due_at(store, noon))
            if (each.hook == hook) sent.push_back(each);
        const auto complete = [&](std::size_t which, delivery_outcome outcome, instant now) {
            complete_one(store, completed(sent.at(which), outcome), now);
        };
        complete(0, delivered, noon + seconds{1});
        complete(1, given_up, noon + seconds{2});
        complete(2, delivered, noon + seconds{4});
        const auto sweep = [&](int second, std::size_t rows_max) {
            return value_of(store.sweep({.deliveries_ended_before = noon + seconds{second}, .rows_max = rows_max}));
        };
        expect(sweep(1, 100) == 0, "none ended before that");
        expect(sweep(4, 0) == 0, "none is swept where none may be");
        expect(sweep(4, 1) == 1, "one is swept where one may be");
        expect(sweep(4, 100) == 1, "two had ended");
        expect(sweep(4, 100) == 0, "and are gone");
        auto left = deliveries(store, account, hook);
        expect(left.size() == 4, "what waits, and what ended at the moment, is still there");
        for (const delivery& each : left)
            expect(each.id != sent[0].lease.delivery && each.id != sent[1].lease.delivery, "the others are not");
        for (const recorded_attempt& each : value_of(attempts_of(store, account, hook, 100, std::nullopt)))
            expect(each.delivery == sent[2].lease.delivery, "attempts go with their deliveries");
        expect_false(store.resend(account, sent[0].lease.delivery, noon), "there is no such delivery any more");
        expect_completed(store, completed(sent[0], delivered), completion::too_late);

        // Held since the hook was disabled; after a resend it has not ended at all.
        expect_true(store.resend(account, sent[2].lease.delivery, noon + seconds{4}), "there is such a delivery");
        complete(3, gone, noon + seconds{6});
        complete(4, retry, noon + seconds{7});
        expect(sweep(6, 100) == 0, "nothing ended before that");
        expect(sweep(7, 100) == 2, "one was given up, one held");
        expect(sweep(8, 100) == 1, "one more was held");
        left = deliveries(store, account, hook);
        expect(left.size() == 1 && left[0].id == sent[5].lease.delivery, "deliveries in flight are kept");
        expect(deliveries(store, account, lasting).size() == 6, "the other hook's are as they were");
        for (const due_delivery& each : lease_due_at(store, noon + seconds{60}))
            expect(each.event->data == sample_event(account).data, "and so are their events");
    });

    add_reopen_case(to, source, "outbox", [](auto& store) {
        const auto account = sample_account();
        std::optional<due_delivery> leased;
        const auto failing = listen(store, account);
        const auto dead = listen_at(store, account, "https://dead.example/");
        report(store, account, 3);
        for (const due_delivery& each : lease_due_at(store, noon)) {
            if (each.hook == dead) complete_one(store, completed(each, gone));
            else if (leased) expect_completed(store, completed(each, retry), completion::done);
            else leased = each;
        }
        return [=](auto& reopened) {
            expect(listed_hook(reopened, account, dead).disabled == hook_disablement{noon, disable_reason::gone},
                   "what was disabled is disabled");
            expect(listed_hook(reopened, account, failing).failing_since == noon, "what was failing is failing");
            expect(deliveries(reopened, account, failing).size() == 3 && deliveries(reopened, account, dead).size() == 3,
                   "deliveries are there");
            expect(value_of(attempts_of(reopened, account, failing, 9, std::nullopt)).size() == 2, "and attempts");
            expect_none_due(reopened, noon + seconds{29});
            const auto next = lease_one(reopened, noon + seconds{30});
            expect(next.lease.delivery == leased->lease.delivery, "a dead worker's delivery is due again");
            expect_completed(reopened, completed(*leased, delivered), completion::too_late);
            expect(lease_due_at(reopened, noon + seconds{60}).size() == 3, "and what waits is due at its time");
        };
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_OUTBOX_HISTORY_HPP
