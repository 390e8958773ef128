#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_OUTBOX_HPP
#define TOLLGATE_TESTING_DETAIL_OUTBOX_HPP

#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/outbox_disabling.hpp>
#include <tollgate/testing/detail/outbox_history.hpp>
#include <tollgate/testing/detail/outbox_hosts.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

/// The rules for events and for leases.
template <class Given>
void add_delivery_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    using enum delivery_outcome;
    const auto add = adder_of_cases(to, source);

    add("event: is delivered once to each hook for its account and name", [](auto& store) {
        const auto account = sample_account();
        expect(value_of(store.append_event(sample_event(account), sample_seed(0), noon)) == 0,
               "an event without webhooks must make no deliveries");
        auto hook = sample_hook(account);
        hook.type = "xml";
        hook.target_url += "?one";
        const auto one = value_of(store.create_hook(hook, 20));
        const auto other = listen(store, account);
        value_of(store.create_hook(sample_hook(account, "site.Published"), 20));
        value_of(store.create_hook(sample_hook(account, "site.publishe"), 20));
        listen(store, sample_account("sitesmaker", 43));
        listen(store, sample_account("itemplatform", 42));
        expect_none_due(store, noon);

        const auto reported = sample_event(account);
        const auto seed = sample_seed(1);
        expect(value_of(store.append_event(reported, seed, noon)) == 2, "two hooks listen");
        const auto due = lease_due_at(store, noon);
        expect(due.size() == 2, "one delivery for each hook is due at once");
        std::set<hook_id> hooks;
        for (const due_delivery& each : due) {
            hooks.insert(each.hook);
            expect(each.event != nullptr, "a delivery has its event");
            expect(each.event->account == account && each.event->name == reported.name, "it is that event");
            expect(each.event->data == reported.data && each.event->at == reported.at, "with its data and time");
            expect(each.message_id == message_id_of(seed, each.hook), "its id is made of the seed and the hook");
            expect(each.type == (each.hook == one ? "xml" : "webhook"), "with the hook's type");
            expect(each.target_url == (each.hook == one ? hook.target_url : sample_hook(account).target_url),
                   "to the hook's target, byte for byte");
            expect(each.secret == hook.secret && each.previous_secrets.empty(), "with the hook's secret");
            expect(each.attempts_made == 0, "none was made before");
        }
        expect(hooks == std::set<hook_id>{one, other}, "each of the two has one");
        expect(due[0].lease.delivery != due[1].lease.delivery, "each delivery has an id of its own");
        expect_none_due(store, noon);
    });

    add("event: is due from the time of the report, and has its own time", [](auto& store) {
        const auto account = sample_account();
        listen(store, account);
        auto reported = sample_event(account);
        reported.at = noon - seconds{86'400};
        value_of(store.append_event(reported, sample_seed(1), noon));
        expect_none_due(store, noon - milliseconds{1});
        expect(lease_one(store, noon).event->at == reported.at, "the event's time is not that of the report");
    });

    add("event: data and time are returned unchanged", [](auto& store) {
        std::int64_t number = 0;
        const auto next = [&](const std::string& text) {
            auto reported = sample_event(sample_account("sitesmaker", ++number));
            reported.data = text;
            listen(store, reported.account);
            return reported;
        };
        const auto expect_kept = [&](const event& reported) {
            value_of(store.append_event(reported, sample_seed(static_cast<std::uint64_t>(number)), noon));
            const auto due = lease_one(store, noon);
            expect(due.event->account == reported.account, "an event has its account");
            expect(due.event->data == reported.data, "an event has its data, byte for byte");
            expect(due.event->at == reported.at, "an event has its time, to the millisecond");
        };
        for (const std::string& text : difficult_texts()) expect_kept(next(text));
        expect_kept(next(std::string(limits::event_data_bytes_max, '7')));
        for (const instant at : difficult_times()) {
            auto reported = next("null");
            reported.at = at;
            expect_kept(reported);
        }
        for (const std::string& text : refusable_texts()) {
            const auto reported = next(text);
            const auto refused = store.append_event(reported, sample_seed(1), noon);
            const auto due = lease_due_at(store, noon);
            expect(due.size() == (refused ? 1 : 0), "a refused event is not there");
            if (refused) expect(due[0].event->data == text, "an event has its data, byte for byte");
        }
    });

    if constexpr (shared_outbox<store_given_as<Given>>)
        add("shared: the number of changes is another one after an event was appended", [](auto& store) {
            const auto account = sample_account();
            const auto hook = listen(store, account);
            const auto first = expect_changes(store, std::nullopt);
            report(store, account);
            const auto second = expect_changes(store, first);
            expect_true(store.append_event(sample_event(account, "ping"), sample_seed(1), noon, hook), "there is such a hook");
            expect_changes(store, second);
        });

    add("lease: is valid until its end", [](auto& store) {
        hook_with_deliveries(store);
        auto terms = sample_terms(noon);
        terms.lease_until = noon + seconds{10};
        const auto leased = lease_due(store, terms);
        expect(leased.size() == 1, "one delivery is due");
        expect_none_due(store, noon);
        expect_none_due(store, noon + seconds{10} - milliseconds{1});

        const auto again = lease_one(store, noon + seconds{10});
        expect(again.lease.delivery == leased[0].lease.delivery, "it is the same delivery");
        expect(again.lease != leased[0].lease, "each lease has a number of its own");
        expect(again.message_id == leased[0].message_id, "a delivery keeps its message's id");
        expect(again.attempts_made == 0, "a lease that was not completed is no attempt");
        expect_completed(store, completed(leased[0], delivered), completion::too_late);
        expect_none_due(store, noon + seconds{39});
        expect_completed(store, completed(again, delivered), completion::done);
        expect_none_due(store, noon + seconds{86'400});
    });

    add("lease: a result after its end is accepted until the next lease", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store);
        const auto leased = lease_one(store, noon);
        expect_completed(store, completed(leased, delivered), completion::done, noon + seconds{86'400});
        expect_state(store, account, hook, delivery_state::delivered);
    });

    add("lease: can be completed once", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store);
        const auto leased = lease_one(store, noon);
        auto unknown = completed(leased, delivered);
        unknown.lease.delivery = delivery_id{leased.lease.delivery.value() + 1};
        expect_completed(store, unknown, completion::too_late);
        auto never = completed(leased, delivered);
        ++never.lease.number;
        expect_completed(store, never, completion::too_late);
        expect_state(store, account, hook, delivery_state::waiting);
        expect_completed(store, completed(leased, delivered), completion::done);
        for (const delivery_outcome late : {delivered, retry, given_up, gone}) {
            expect_completed(store, completed(leased, late), completion::too_late);
            expect_state(store, account, hook, delivery_state::delivered);
        }
        expect(!listed_hook(store, account, hook).disabled, "a late result disables nothing");
        expect_none_due(store, noon + seconds{86'400});
    });

    add("complete: delivered and given up are final, and a retry is due at its time", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 3);
        const auto leased = lease_due_at(store, noon);
        expect(leased.size() == 3, "three deliveries are due");
        std::array ended{completed(leased[0], delivered), completed(leased[1], retry), completed(leased[2], given_up)};
        ended[1].retry_at = noon + seconds{5};
        const auto results = value_of(store.complete(ended, noon + seconds{1}));
        expect(results == std::vector(3, completion::done), "each was in time");
        for (const delivery& each : deliveries(store, account, hook)) {
            const bool waits = each.id == leased[1].lease.delivery;
            expect(each.attempts_made == 1, "each was sent once");
            expect(each.next_attempt_at == (waits ? std::optional{noon + seconds{5}} : std::nullopt),
                   "what waits says until when");
            expect(each.state == (waits                                  ? delivery_state::waiting
                                  : each.id == leased[0].lease.delivery ? delivery_state::delivered
                                                                         : delivery_state::given_up),
                   "each is what became of it");
        }
        expect_none_due(store, noon + seconds{5} - milliseconds{1});
        auto once_more = lease_one(store, noon + seconds{5});
        expect(once_more.lease.delivery == leased[1].lease.delivery && once_more.attempts_made == 1,
               "the second attempt of the one that is to be sent again");
        expect(once_more.message_id == leased[1].message_id, "a delivery keeps its message's id");
        expect_completed(store, completed(once_more, retry, noon + seconds{6}), completion::done);
        once_more = lease_one(store, noon + seconds{66});
        expect(once_more.attempts_made == 2, "attempts are counted");
        expect_completed(store, completed(once_more, delivered), completion::done);
        expect_none_due(store, noon + seconds{86'400});
    });

    add("complete: a delivery that was not attempted is due again at the given time, and nothing is recorded", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 2);
        auto terms = sample_terms(noon);
        terms.host_leases_max = 1;
        terms.deliveries_max = 1;
        const auto leased = lease_due(store, terms);
        expect(leased.size() == 1, "one of its host");
        expect(lease_due(store, terms).empty(), "and no second one");
        auto back = completed(leased[0], not_attempted);
        back.retry_at = noon + seconds{5};
        back.disable_if_failing_since = noon;
        expect_completed(store, back, completion::done);
        expect(value_of(attempts_of(store, account, hook, 10, std::nullopt)).empty(), "it is not on record");
        expect(!listed_hook(store, account, hook).disabled, "nor a failure of the hook's");
        expect_completed(store, back, completion::too_late);

        const auto other = lease_due(store, terms);
        expect(other.size() == 1 && other[0].lease.delivery != leased[0].lease.delivery, "its host has a free slot again");
        expect_completed(store, completed(other[0], not_attempted, noon + seconds{600}), completion::done);
        terms.now = noon + seconds{5} - milliseconds{1};
        expect(lease_due(store, terms).empty(), "nothing is due before its time");
        terms.now = noon + seconds{5};
        terms.deliveries_max = 2;
        const auto returned = lease_due(store, terms);
        expect(returned.size() == 1 && returned[0].lease.delivery == leased[0].lease.delivery, "and then it is");
        expect(returned[0].attempts_made == 0, "as if it had never been leased");
    });

    add("complete: a delivery that was not attempted is held if its hook was disabled", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 2);
        const auto leased = lease_due_at(store, noon);
        expect_completed(store, completed(leased.at(0), gone), completion::hook_disabled);
        expect_completed(store, completed(leased.at(1), not_attempted), completion::done);
        expect_none_due(store, noon + seconds{86'400});
        expect_true(store.change_hook(account, hook, hook_enabling{noon}), "there is such a hook");
        expect(lease_one(store, noon).lease.delivery == leased[1].lease.delivery, "and nothing of it is lost");
    });

    add("complete: results are returned in order, even if some leases are unknown", [](auto& store) {
        const auto account = sample_account();
        listen(store, account);
        expect(value_of(store.complete({}, noon)).empty(), "no results without attempts");
        report(store, account, 2);
        const auto leased = lease_due_at(store, noon);
        auto unknown = completed(leased.at(0), delivered);
        unknown.lease.delivery = delivery_id{(std::numeric_limits<std::int64_t>::max)()};
        const std::array ended{unknown, completed(leased.at(1), delivered), completed(leased.at(1), delivered),
                               unknown, completed(leased.at(0), gone),      completed(leased.at(0), delivered)};
        using enum completion;
        expect(value_of(store.complete(ended, noon)) ==
                   std::vector{too_late, done, too_late, too_late, hook_disabled, too_late},
               "each has its own result, in its place");
    });

    add("secret: a replaced secret is returned until it expires", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store);
        const auto secrets_at = [&](instant now) {
            auto terms = sample_terms(now);
            terms.lease_until = now + milliseconds{1};
            const auto leased = lease_due(store, terms);
            expect(leased.size() == 1, "one delivery is due");
            auto all = leased[0].previous_secrets;
            all.insert(all.begin(), leased[0].secret);
            return all;
        };
        const std::string first = sample_hook(account).secret, second = "whsec_c2Vjb25k", third = "whsec_dGhpcmQ=";
        using all = std::vector<std::string>;
        value_of(store.change_hook(account, hook, hook_secret_replacement{second, noon + seconds{60}, {}}));
        expect(secrets_at(noon) == all{second, first}, "the old one signs, too");
        expect(secrets_at(noon + seconds{60} - milliseconds{1}) == all{second, first}, "to the last moment");
        expect(secrets_at(noon + seconds{60}) == all{second}, "and no longer");
        value_of(store.change_hook(account, hook, hook_secret_replacement{third, noon + seconds{180}, {}}));
        expect(secrets_at(noon + seconds{61}) == all{third, second}, "nor does it come back");
        const std::string fourth = "whsec_Zm91cnRo";
        value_of(store.change_hook(account, hook, hook_secret_replacement{fourth, noon + seconds{240}, {}}));
        expect(secrets_at(noon + seconds{62}) == all{fourth, third, second}, "the most recently replaced secret comes first");
        expect(secrets_at(noon + seconds{179}) == all{fourth, third, second}, "each to its own last moment");
        expect(secrets_at(noon + seconds{180}) == all{fourth, third}, "and no longer");
        expect(secrets_at(noon + seconds{240}) == all{fourth}, "regardless of the other times");

        all newest{fourth};
        for (std::size_t i = 0; i < limits::previous_secrets_max + 2; ++i) {
            newest.insert(newest.begin(), "whsec_" + std::to_string(1000 + i));
            value_of(store.change_hook(account, hook, hook_secret_replacement{newest[0], noon + seconds{86'400}, {}}));
        }
        newest.resize(1 + limits::previous_secrets_max);
        expect(secrets_at(noon + seconds{300}) == newest, "of too many the oldest is forgotten");
        expect_false(store.change_hook(sample_account("sitesmaker", 43), hook, hook_secret_replacement{first, noon, {}}),
               "the hook is another account's");
        expect(secrets_at(noon + seconds{301}) == newest, "and replaces nothing");
    });

    add("hook: deleting a hook deletes its deliveries and no others", [](auto& store) {
        const auto account = sample_account();
        const auto lost = listen(store, account), remaining = listen(store, account);
        report(store, account, 3);
        std::vector<due_delivery> of_lost, of_kept;
        for (due_delivery& each : lease_due_at(store, noon)) (each.hook == lost ? of_lost : of_kept).push_back(each);
        expect(of_lost.size() == 3 && of_kept.size() == 3, "each hook has its deliveries");
        expect_completed(store, completed(of_lost[0], delivered), completion::done);
        expect_completed(store, completed(of_lost[1], retry), completion::done);
        expect_completed(store, completed(of_kept[0], retry), completion::done);
        expect_true(store.delete_hook(account, lost), "there was such a hook");
        expect_completed(store, completed(of_lost[2], retry), completion::too_late);
        expect(deliveries(store, account, lost).empty(), "it has no deliveries");
        expect(value_of(attempts_of(store, account, lost, 100, std::nullopt)).empty(), "and no attempts");
        for (const due_delivery& each : of_lost)
            expect_false(store.resend(account, each.lease.delivery, noon), "there is no such delivery");
        expect_false(store.change_hook(account, lost, hook_enabling{noon}), "there is no such hook");
        const auto left = lease_due_at(store, noon + seconds{86'400});
        expect(left.size() == 3, "what is left is due when it was");
        for (const due_delivery& each : left)
            expect(each.hook == remaining && each.event->data == sample_event(account).data, "and is the other hook's");
        value_of(store.delete_hook(account, remaining));
        expect_none_due(store, noon + seconds{2 * 86'400});
        listen(store, account);
        expect_none_due(store, noon + seconds{2 * 86'400});
        report(store, account);
        const auto next = lease_one(store, noon);
        for (const auto* each : {&of_lost, &of_kept})
            for (const due_delivery& before : *each)
                expect(next.lease.delivery != before.lease.delivery, "ids are never used again");
    });

    add("lease: parallel calls never return the same delivery", [](auto& store) {
        constexpr std::size_t hook_count = 5, event_count = 40;
        const auto account = sample_account();
        std::vector<hook_id> hooks;
        for (std::size_t i = 0; i < hook_count; ++i)
            hooks.push_back(
                listen_at(store, account, "https://" + std::to_string(i % 3) + ".example/" + std::to_string(i)));
        report(store, account, event_count);
        std::array<std::vector<due_delivery>, thread_count> leased;
        std::atomic<std::size_t> count{0};
        in_parallel([&](std::size_t i) {
            // A call may find too few while another is running, so all threads continue until everything is leased.
            for (int tries = 0; count < hook_count * event_count && tries < 10'000; ++tries) {
                auto terms = sample_terms(noon);
                terms.deliveries_max = 1 + i;
                for (due_delivery& each : lease_due(store, terms)) {
                    leased[i].push_back(each);
                    ++count;
                    if (leased[i].size() % 2 == 0)
                        expect_completed(store, completed(each, delivered), completion::done);
                }
                std::this_thread::yield();  // or one thread has it all before the next begins
            }
        });
        std::set<delivery_id> all;
        for (const auto& each : leased)
            for (const due_delivery& one : each)
                expect(all.insert(one.lease.delivery).second, "no delivery is leased twice");
        expect(all.size() == hook_count * event_count, "and all is leased in the end");
    });

    add("event: each of several parallel reports is delivered to each hook", [](auto& store) {
        constexpr std::size_t each_reports = 20;
        const auto account = sample_account();
        const auto one = listen(store, account), other = listen_at(store, account, "https://other.example/");
        std::atomic<std::size_t> delivered_count{0};
        in_parallel([&](std::size_t i) {
            for (std::size_t n = 0; n < each_reports; ++n) {
                report(store, account);
                if (i % 2 == 0) continue;
                for (const due_delivery& each : lease_due_at(store, noon)) {
                    expect_completed(store, completed(each, delivered), completion::done);
                    ++delivered_count;
                }
            }
        });
        std::set<public_id> messages;
        for (const due_delivery& each : lease_due_at(store, noon)) {
            expect_completed(store, completed(each, delivered), completion::done);
            ++delivered_count;
        }
        for (const hook_id hook : {one, other})
            for (const delivery& each : deliveries(store, account, hook)) {
                expect(each.state == delivery_state::delivered, "all is delivered");
                expect(messages.insert(each.message_id).second, "no two deliveries have one message's id");
            }
        expect(messages.size() == 2 * thread_count * each_reports, "each event has its deliveries");
        expect(delivered_count == messages.size(), "each was leased once");
    });
}

/// The rules for outboxes.
template <class Given>
void add_outbox_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    add_delivery_cases(to, source);
    add_host_cases(to, source);
    add_disabling_cases(to, source);
    add_history_cases(to, source);
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_OUTBOX_HPP
