#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_OUTBOX_HOSTS_HPP
#define TOLLGATE_TESTING_DETAIL_OUTBOX_HOSTS_HPP

#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tollgate::inline v0::testing {

namespace detail {

/// The number of deliveries per target.
[[nodiscard]] inline std::map<std::string, std::size_t> by_target(const std::vector<due_delivery>& leased) {
    std::map<std::string, std::size_t> counts;
    for (const due_delivery& each : leased) ++counts[each.target_url];
    return counts;
}

}  // namespace detail

/// The rules for due hooks, and for the bound of leases per host.
template <class Given>
void add_host_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    using enum delivery_outcome;
    const auto add = adder_of_cases(to, source);
    using counts = std::map<std::string, std::size_t>;
    using ids = std::vector<hook_id>;

    add("lease: returns at most the requested number, in the order in which the deliveries became due", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen(store, account);
        for (const int second : {3, 1, 2}) report(store, account, 1, noon + seconds{second});
        auto terms = sample_terms(noon + seconds{3});
        const auto first = lease_of(store, {hook, 2, 1000, terms.now}, terms);
        expect(first.size() == 2, "as many as requested");
        const auto rest = lease_due(store, terms);
        expect(rest.size() == 1, "and then the rest");
        std::vector<delivery_id> order;
        for (const delivery& each : deliveries(store, account, hook)) order.push_back(each.id);
        // Listed newest first: those published for 2, 1 and 3 seconds.
        expect(std::vector{rest[0].lease.delivery, first[0].lease.delivery, first[1].lease.delivery} ==
                   std::vector{order.at(2), order.at(1), order.at(0)},
               "what is due first comes first");
        report(store, account);
        expect(lease_of(store, {hook, 0, 1000, terms.now}, terms).empty(), "none is leased where none is requested");
        expect(lease_of(store, {hook, 1000, 0, terms.now}, terms).empty(), "nor where the host may have no lease");
        expect(value_of(store.lease({}, {terms.now, terms.lease_until})).empty(), "no request, no lease");
        expect(lease_of(store, {hook_id{hook.value() + 100}, 9, 9, terms.now}, terms).empty(), "there is no such hook");
        expect(lease_due(store, terms).size() == 1, "the delivery was not lost");
    });

    add("lease: a bound may be the largest number", [](auto& store) {
        constexpr std::size_t largest = (std::numeric_limits<std::size_t>::max)();
        const auto [account, hook] = hook_with_deliveries(store, 2);
        expect(value_of(store.due_hooks(noon, largest)).hooks.size() == 1, "due_hooks must list the hook");
        expect(lease_of(store, {hook, largest, largest, noon}, sample_terms(noon)).size() == 2, "lease must return both deliveries");
    });

    add("lease: the bound of a host counts the leases of all workers", [](auto& store) {
        hook_with_deliveries(store, 10, "https://one.example/hook");
        auto terms = sample_terms(noon);
        terms.host_leases_max = 4;
        const auto first = lease_due(store, terms);
        expect(first.size() == 4, "as many as a host may have");
        expect(lease_due(store, terms).empty(), "leases of other workers count");
        const std::vector ended{completed(first[0], delivered), completed(first[1], retry)};
        value_of(store.complete(ended, noon));
        terms.lease_until += seconds{30};
        const auto next = lease_due(store, terms);
        expect(next.size() == 2, "a completed delivery's lease is free");
        terms.now = noon + seconds{30};
        terms.lease_until = noon + seconds{60};
        expect(lease_due(store, terms).size() == 2, "and so is one that has ended");
    });

    add("lease: the bound of a host applies to all requests of one call, in their order", [](auto& store) {
        const auto one = sample_account("sitesmaker", 1), other = sample_account("sitesmaker", 2);
        const auto a = listen_at(store, one, "https://shared.example/a"), b = listen_at(store, other, "https://shared.example/b");
        report(store, one, 3);
        report(store, other, 3);
        const std::array requests{lease_request{b, 2, 3, noon}, lease_request{a, 2, 3, noon}};
        const auto leased = value_of(store.lease(requests, {noon, noon + seconds{30}}));
        expect(by_target(leased) == counts{{"https://shared.example/b", 2}, {"https://shared.example/a", 1}},
               "the first request is served first, the second within what is left");
    });

    add("lease: hooks with the same scheme, host name and port share a host", [](auto& store) {
        const auto account = sample_account();
        for (const char* each : {"https://example.com/one", "https://EXAMPLE.com:443/two?three"})
            listen_at(store, account, each);
        for (const char* each :
             {"http://example.com/one", "https://example.com:8443/one", "https://www.example.com/one"})
            listen_at(store, account, each);
        report(store, account, 2);
        auto terms = sample_terms(noon);
        terms.host_leases_max = 1;
        const auto leased = by_target(lease_due(store, terms));
        expect(leased.size() == 4, "two hooks share a host, and the others have one each");
        for (const auto& [target, count] : leased) expect(count == 1, "each host has as many as it may have");
        expect(!(leased.contains("https://example.com/one") && leased.contains("https://EXAMPLE.com:443/two?three")),
               "a host is its scheme, name and port, however they are spelled");
    });

    add("lease: leases of a deleted hook do not count", [](auto& store) {
        const auto account = sample_account();
        const auto remaining = listen_at(store, account, "https://one.example/hook");
        const auto deleted = listen_at(store, account, "https://one.example/hook");
        report(store, account, 3);
        auto terms = sample_terms(noon);
        terms.host_leases_max = 4;
        expect(lease_of(store, {remaining, 2, 4, noon}, terms).size() == 2, "two for one hook");
        expect(lease_of(store, {deleted, 2, 4, noon}, terms).size() == 2, "two for the other");
        expect(lease_due(store, terms).empty(), "there is no lease for more");
        value_of(store.delete_hook(account, deleted));
        expect(lease_of(store, {remaining, 1000, 4, noon}, terms).size() == 1, "there is one for the other hook's delivery");
    });

    add("due: hooks are listed in pages, in the order in which they became due, with account and target", [](auto& store) {
        const auto one = sample_account("sitesmaker", 1), other = sample_account("itemplatform", 2);
        const auto late = listen_at(store, one, "https://One.example/late"), idle = listen_at(store, one, "https://idle.example/");
        value_of(store.delete_hook(one, idle));
        const auto early = listen_at(store, other, "https://two.example/early?x");
        expect(value_of(store.due_hooks(noon, 10)).hooks.empty(), "nothing is due at first");
        report(store, one, 2, noon + seconds{2});
        report(store, other, 1, noon + seconds{1});
        auto page = value_of(store.due_hooks(noon, 10));
        expect(page.hooks.empty() && page.next_at == noon + seconds{1}, "it says when the first is due");
        page = value_of(store.due_hooks(noon + seconds{1}, 10));
        expect(page.hooks.size() == 1 && page.next_at == noon + seconds{2}, "the other is not due yet");
        expect(page.hooks[0].hook == early && page.hooks[0].account == other &&
                   page.hooks[0].target_url == "https://two.example/early?x",
               "with its account and target, byte for byte");
        page = value_of(store.due_hooks(noon + seconds{2}, 10));
        expect(page.hooks.size() == 2 && page.hooks[0].hook == early && page.hooks[1].hook == late, "the first due first");
        expect(!page.next_at, "no other hook waits");
        page = value_of(store.due_hooks(noon + seconds{2}, 1));
        expect(page.hooks.size() == 1 && page.hooks[0].hook == early, "not more than requested");
        expect(page.next_at && *page.next_at <= noon + seconds{2}, "it says that there are more");
        expect(value_of(store.due_hooks(noon + seconds{2}, 0)).hooks.empty(), "not even one");
    });

    if constexpr (backlog_source<store_given_as<Given>>)
        add("backlog: counts the due deliveries and returns when the oldest became due", [](auto& store) {
            const auto account = sample_account();
            const auto hook = listen_at(store, account, "https://one.example/hook");
            auto backlog = value_of(store.backlog(noon, 100));
            expect(backlog.due == 0 && !backlog.due_since, "nothing at first");
            report(store, account, 2, noon + seconds{1});
            report(store, account, 3, noon + seconds{5});
            backlog = value_of(store.backlog(noon, 100));
            expect(backlog.due == 0 && !backlog.due_since, "their time has not come");
            backlog = value_of(store.backlog(noon + seconds{1}, 100));
            expect(backlog.due == 2 && backlog.due_since == noon + seconds{1}, "the first two are due");
            backlog = value_of(store.backlog(noon + seconds{60}, 100));
            expect(backlog.due == 5 && backlog.due_since == noon + seconds{1}, "all are due, the first for longest");
            expect(value_of(store.backlog(noon + seconds{60}, 4)).due == 4, "they are counted up to the bound");
            const auto terms = sample_terms(noon + seconds{60});
            expect(lease_of(store, {hook, 2, 4, noon}, terms).size() == 2, "two are leased");
            backlog = value_of(store.backlog(noon + seconds{60}, 100));
            expect(backlog.due == 3 && backlog.due_since == noon + seconds{5}, "what is leased is not due");
            const instant later = noon + seconds{60 + limits::full_host_retry_seconds_max};
            expect(lease_of(store, {hook, 0, 0, later}, terms).empty(), "the host is full");
            expect(value_of(store.due_hooks(noon + seconds{60}, 10)).hooks.empty(), "the hook is not listed for a while");
            backlog = value_of(store.backlog(noon + seconds{60}, 100));
            expect(backlog.due == 3 && backlog.due_since == noon + seconds{5}, "but its deliveries are due as before");
            expect(value_of(store.backlog(terms.lease_until, 100)).due == 5, "when its lease has ended, it is");
            value_of(store.delete_hook(account, hook));
            expect(value_of(store.backlog(terms.lease_until, 100)).due == 0, "deliveries of a deleted hook are not due");
        });

    if constexpr (backlog_source<store_given_as<Given>>) {
        add("backlog: does not count deliveries that are held", [](auto& store) {
            const auto [account, hook] = hook_with_deliveries(store, 20);
            const auto sent = lease_of(store, {hook, 2, 1000, noon}, sample_terms(noon));
            expect(value_of(store.backlog(noon, 100)).due == 18, "all others are due");
            expect_completed(store, completed(sent.at(0), gone), completion::hook_disabled);
            auto backlog = value_of(store.backlog(noon, 100));
            expect(backlog.due == 0 && !backlog.due_since, "those that wait are held");
            expect_completed(store, completed(sent.at(1), retry), completion::done);
            backlog = value_of(store.backlog(noon + seconds{60}, 100));
            expect(backlog.due == 0 && !backlog.due_since, "so is one that is to be sent again");
            expect_true(store.change_hook(account, hook, hook_enabling{noon + seconds{60}}), "there is such a hook");
            expect(value_of(store.backlog(noon + seconds{60}, 100)).due == 19, "they are due when it is enabled");
        });

        add("backlog: does not count a delivery of a disabled hook whose lease has ended", [](auto& store) {
            const auto [account, hook] = hook_with_deliveries(store, 2);
            const auto terms = sample_terms(noon);
            const auto sent = lease_of(store, {hook, 2, 1000, noon}, terms);
            expect(value_of(store.backlog(terms.lease_until, 100)).due == 2, "both leases have ended");
            expect_completed(store, completed(sent.at(0), gone), completion::hook_disabled);
            // A store may hold it later, when `lease` comes across it.
            const auto backlog = value_of(store.backlog(terms.lease_until, 100));
            expect(backlog.due == 0 && !backlog.due_since, "a disabled hook has nothing to send");
        });
    }

    add("due: a hook that was served is listed after those that are waiting", [](auto& store) {
        std::vector<hook_id> hooks;
        for (int i = 0; i < 3; ++i) {
            const auto account = sample_account("sitesmaker", i + 1);
            hooks.push_back(listen_at(store, account, "https://" + std::to_string(i) + ".example/"));
            report(store, account, i == 0 ? 50 : 3, noon + milliseconds{i});  // the first has a backlog
        }
        std::vector<hook_id> served;
        auto terms = sample_terms(noon + seconds{1});
        for (int i = 0; i < 9; ++i, terms.now += milliseconds{1}) {
            const auto due = due_hook_ids(store, terms.now);
            expect(!due.empty(), "there is one more");
            served.push_back(due[0]);
            expect(lease_of(store, {due[0], 1, 1000, terms.now}, terms).size() == 1, "it has something due");
        }
        for (std::size_t i = 0; i < served.size(); ++i)
            expect(served[i] == hooks[i % 3], "each has its turn, regardless of the backlog of others");
    });

    add("due: a hook whose host is full is listed again at the request's time, and delays no other hook", [](auto& store) {
        const auto account = sample_account("sitesmaker", 1), other = sample_account("sitesmaker", 2);
        std::vector<hook_id> hanging;
        for (int i = 0; i < 50; ++i) hanging.push_back(listen_at(store, account, "https://shared.example/" + std::to_string(i)));
        report(store, account, 1);
        const auto terms = sample_terms(noon);
        std::vector<lease_request> requests;
        for (const hook_id each : hanging) requests.push_back({each, 1, 2, noon + seconds{5}});
        const auto sent = value_of(store.lease(requests, {terms.now, terms.lease_until}));
        expect(sent.size() == 2, "the host is full");
        expect(due_hook_ids(store, noon).empty(), "the others need not be listed now");
        const auto page = value_of(store.due_hooks(noon, 10));
        expect(page.next_at == noon + seconds{5}, "but then");

        const auto healthy = listen_at(store, other, "https://shared.example/healthy");
        report(store, other, 1);
        expect(due_hook_ids(store, noon) == ids{healthy}, "another account's hook is listed at once");
        expect_completed(store, completed(sent[0], retry), completion::done);
        const auto next = lease_of(store, {healthy, 1, 2, noon}, terms);
        expect(next.size() == 1 && next[0].hook == healthy, "and gets the first slot that is free again");
        expect(lease_of(store, {hanging[9], 1, 3, noon}, terms).size() == 1, "a request may come earlier than that");
        expect(due_hook_ids(store, noon + seconds{5}).size() == 47, "then the others are listed again");
    });

    add("due: a hook is listed until a lease returns nothing, and again when a delivery becomes due", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store);
        auto terms = sample_terms(noon);
        auto sent = lease_of(store, {hook, 9, 9, noon}, terms);
        expect(sent.size() == 1 && due_hook_ids(store, noon).empty(), "what is leased is not due");
        auto page = value_of(store.due_hooks(noon, 9));
        expect(page.next_at == terms.lease_until, "before its lease ends");
        expect(due_hook_ids(store, terms.lease_until) == ids{hook}, "then it is");
        expect_completed(store, completed(sent[0], retry), completion::done);
        page = value_of(store.due_hooks(noon, 9));
        expect(page.next_at && *page.next_at <= noon + seconds{60}, "one that is to be retried is due then, if not earlier");
        terms.now = noon + seconds{30};
        expect(lease_of(store, {hook, 9, 9, terms.now}, terms).empty(), "it is not due before that");
        page = value_of(store.due_hooks(terms.now, 9));
        expect(page.hooks.empty() && page.next_at == noon + seconds{60}, "and is listed at that time");
        report(store, account, 1, noon + seconds{40});
        page = value_of(store.due_hooks(terms.now, 9));
        expect(page.next_at == noon + seconds{40}, "another event is due earlier");
        terms = sample_terms(noon + seconds{60});
        sent = lease_of(store, {hook, 9, 9, terms.now}, terms);
        expect(sent.size() == 2, "both are due");
        for (const due_delivery& each : sent) expect_completed(store, completed(each, delivered), completion::done);
        terms.now = noon + seconds{200};
        expect(lease_of(store, {hook, 9, 9, terms.now}, terms).empty(), "nothing is left");
        page = value_of(store.due_hooks(terms.now, 9));
        expect(page.hooks.empty() && !page.next_at, "so nothing is listed, then or later");
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_OUTBOX_HOSTS_HPP
