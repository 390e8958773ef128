#pragma once

#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

namespace detail {

/// How many of these go where.
[[nodiscard]] inline std::map<std::string, std::size_t> by_target(const std::vector<due_delivery>& claimed) {
    std::map<std::string, std::size_t> counts;
    for (const due_delivery& each : claimed) ++counts[each.target_url];
    return counts;
}

inline constexpr milliseconds quick_attempt{20};
inline constexpr const char* quick_url = "https://quick.example/hook";
inline constexpr const char* slow_url = "https://slow.example/hook";

/// An account with a hook at a host that is known to be quick, and one with a hook at a slow one.
struct two_hosts {
    account_ref quick = sample_account("sitesmaker", 1);
    account_ref slow = sample_account("sitesmaker", 2);

    template <class Store>
    explicit two_hosts(Store& store) {
        listen_at(store, quick, quick_url);
        listen_at(store, slow, slow_url);
        report(store, quick);
        serve(store, noon, quick_attempt);
        report(store, slow);
        serve(store, noon, slow_attempt);
    }
};

}  // namespace detail

/// The rules for hosts, which take turns.
template <class Given>
void add_host_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    using enum delivery_verdict;
    const auto add = adder_of_cases(to, source);
    using counts = std::map<std::string, std::size_t>;

    add("claim: not more than asked for, and what is due first comes first", [](auto& store) {
        const auto account = sample_account();
        listen(store, account);
        for (const int second : {3, 1, 2}) report(store, account, 1, noon + seconds{second});
        auto terms = sample_terms(noon + seconds{3});
        terms.deliveries_max = 2;
        const auto first = claim(store, terms);
        expect(first.size() == 2, "as many as asked for");
        const auto rest = claim(store, terms);
        expect(rest.size() == 1, "and then the rest");
        std::vector<delivery_id> order;
        const auto hook = first[0].hook;
        for (const delivery& each : deliveries(store, account, hook)) order.push_back(each.id);
        // Listed newest first: those that were reported for 2, 1 and 3 seconds.
        expect(std::vector{rest[0].lease.delivery, first[0].lease.delivery, first[1].lease.delivery} ==
                   std::vector{order.at(2), order.at(1), order.at(0)},
               "what is due first comes first");
        terms.deliveries_max = 0;
        report(store, account);
        expect(claim(store, terms).empty(), "none is claimed where none is asked for");
    });

    add("claim: a host has no more leases than the terms say, of all workers together", [](auto& store) {
        const two_hosts hosts{store};
        report(store, hosts.quick, 10);
        auto terms = sample_terms(noon);
        terms.per_host_max = 4;
        const auto first = claim(store, terms);
        expect(first.size() == 4, "as many as a host may have");
        expect(claim(store, terms).empty(), "leases of other workers count");
        const std::vector ended{settled(first[0], delivered), settled(first[1], again)};
        value_of(store.settle(ended, noon));
        terms.lease_until += seconds{30};
        const auto next = claim(store, terms);
        expect(next.size() == 2, "as many as were settled");
        terms.now += seconds{30};  // the end of the first two leases that nobody settled
        expect(claim(store, terms).size() == 2, "leases that are over do not count");
    });

    add("claim: a host that is slow, or that nobody knows, has its own bound", [](auto& store) {
        const two_hosts hosts{store};
        const auto unknown = sample_account("sitesmaker", 3);
        listen_at(store, unknown, "https://unknown.example/hook");
        for (const auto& each : {hosts.quick, hosts.slow, unknown}) report(store, each, 5);
        auto terms = sample_terms(noon);
        terms.per_host_max = 3;
        terms.per_slow_host_max = 2;
        const auto claimed = claim(store, terms);
        expect(by_target(claimed) == counts{{quick_url, 3}, {slow_url, 2}, {"https://unknown.example/hook", 2}},
               "each host has what its last attempt says");
        // The last attempt counts, however it ended.
        for (const due_delivery& each : claimed) {
            auto failed = settled(each, given_up);
            failed.made.end = attempt_end::timed_out;
            failed.made.duration = each.target_url == quick_url ? slow_attempt : slow_attempt - milliseconds{1};
            expect_settled(store, failed, settle_result::done);
        }
        expect(by_target(claim(store, terms)) ==
                   counts{{quick_url, 2}, {slow_url, 3}, {"https://unknown.example/hook", 3}},
               "one that was quick is slow now, and two are quick that were not");
    });

    add("claim: hooks of one scheme, host and port are one host's", [](auto& store) {
        const auto account = sample_account();
        for (const char* each : {"https://example.com/one", "https://EXAMPLE.com:443/two?three"})
            listen_at(store, account, each);
        for (const char* each :
             {"http://example.com/one", "https://example.com:8443/one", "https://www.example.com/one"})
            listen_at(store, account, each);
        report(store, account, 2);
        auto terms = sample_terms(noon);
        terms.per_slow_host_max = 1;
        const auto claimed = by_target(claim(store, terms));
        expect(claimed.size() == 4, "two hooks share a host, and the others have one each");
        for (const auto& [target, count] : claimed) expect(count == 1, "each host has what it may have");
        expect(!(claimed.contains("https://example.com/one") && claimed.contains("https://EXAMPLE.com:443/two?three")),
               "a host is its scheme, name and port, however they are spelled");
    });

    add("claim: hosts take turns, the one that has waited the longest first", [](auto& store) {
        std::vector<std::string> targets;
        for (int i = 0; i < 3; ++i) {
            const auto account = sample_account("sitesmaker", i + 1);
            targets.push_back("https://" + std::string{"bca"}.substr(static_cast<std::size_t>(i), 1) + ".example/");
            listen_at(store, account, targets.back());
            report(store, account, i == 0 ? 50 : 3, noon + milliseconds{i});  // the first has a backlog
        }
        std::vector<std::string> served;
        auto terms = sample_terms(noon + seconds{1});
        terms.deliveries_max = 1;
        for (int i = 0; i < 9; ++i, terms.now += milliseconds{1}) {
            const auto claimed = claim(store, terms);
            expect(claimed.size() == 1, "there is one more");
            served.push_back(claimed[0].target_url);
        }
        for (std::size_t i = 0; i < served.size(); ++i)
            expect(served[i] == targets[i % 3], "each has its turn, whatever backlog another has");
        terms.deliveries_max = 3;
        expect(claim(store, terms).size() == 3, "a host alone is served as much as there is");

        // Who comes anew waits for those that wait, and no longer.
        const auto late = sample_account("sitesmaker", 9);
        listen_at(store, late, "https://late.example/");
        report(store, late, 1, terms.now);
        terms.now += milliseconds{1};
        terms.deliveries_max = 1;
        const bool at_once = claim(store, terms).at(0).target_url == "https://late.example/";
        terms.now += milliseconds{1};
        expect(at_once || claim(store, terms).at(0).target_url == "https://late.example/",
               "its turn is the next but one");
    });

    add("claim: a host whose leases are all taken holds nobody up", [](auto& store) {
        const two_hosts hosts{store};
        report(store, hosts.quick, 100, noon - seconds{60});
        auto terms = sample_terms(noon);
        terms.per_host_max = 2;
        terms.deliveries_max = 2;
        expect(claim(store, terms).size() == 2, "as many as asked for");
        const auto other = sample_account("sitesmaker", 3);
        listen_at(store, other, "https://other.example/");
        report(store, other);
        report(store, hosts.quick, 10, noon - seconds{60});
        const auto claimed = claim(store, terms);
        expect(by_target(claimed) == counts{{"https://other.example/", 1}}, "the other host is served");
    });

    add("claim: leases of a deleted hook do not count", [](auto& store) {
        const two_hosts hosts{store};
        const auto deleted = listen_at(store, hosts.quick, quick_url);
        report(store, hosts.quick, 2);
        auto terms = sample_terms(noon);
        terms.per_host_max = 4;
        expect(claim(store, terms).size() == 4, "as many as a host may have");
        report(store, hosts.quick);
        expect(claim(store, terms).empty(), "there is no lease for more");
        value_of(store.delete_hook(hosts.quick, deleted));
        expect(claim(store, terms).size() == 1, "there is one for the other hook's delivery");
    });

    add("claim: slow hosts come first, up to their bound, and quick ones fill the rest", [](auto& store) {
        const two_hosts hosts{store};
        report(store, hosts.quick, 10, noon - seconds{9});
        report(store, hosts.slow, 10);
        auto terms = sample_terms(noon);
        terms.deliveries_max = 4;
        terms.slow_deliveries_max = 1;
        const auto mixed = claim(store, terms);
        expect(by_target(mixed) == counts{{quick_url, 3}, {slow_url, 1}}, "one of four to slow hosts");
        for (const due_delivery& each : mixed) expect(each.slow == (each.target_url == slow_url), "it says which are slow");
        terms.slow_deliveries_max = 0;
        expect(by_target(claim(store, terms)) == counts{{quick_url, 4}}, "none to slow hosts");
        terms.slow_deliveries_max = 3;
        expect(by_target(claim(store, terms)) == counts{{quick_url, 1}, {slow_url, 3}}, "three of four to slow hosts");
        terms.slow_deliveries_max = 100;
        expect(by_target(claim(store, terms)) == counts{{slow_url, 4}}, "all to slow hosts");
        expect(by_target(claim(store, terms)) == counts{{quick_url, 2}, {slow_url, 2}}, "and then what is left");
    });

    add("claim: not more data than asked for, but always one delivery", [](auto& store) {
        const auto account = sample_account();
        const auto append = [&](std::size_t bytes, instant now) {
            auto happened = sample_event(account);
            happened.data = std::string(bytes, '1');
            value_of(store.append_event(happened, sample_seed(bytes), now));
        };
        listen(store, account);
        append(1000, noon);
        append(600, noon + milliseconds{1});
        append(300, noon + milliseconds{2});
        append(200, noon + milliseconds{3});
        auto terms = sample_terms(noon + seconds{1});
        terms.data_bytes_max = 999;
        expect(claim(store, terms).size() == 1, "one is claimed, however large it is");
        terms.data_bytes_max = 900;
        expect(claim(store, terms).size() == 2, "as much data as asked for");
        terms.data_bytes_max = 0;
        expect(claim(store, terms).size() == 1, "one is claimed, whatever is asked for");
        expect(claim(store, terms).empty(), "there is no further one");
    });

    add("claim: where the data does not fit, the claim ends, and the host keeps its place", [](auto& store) {
        std::vector<std::string> targets;
        const std::size_t sizes[] = {600, 600, 100, 100};
        for (std::size_t i = 0; i < std::size(sizes); ++i) {
            const auto account = sample_account("sitesmaker", static_cast<std::int64_t>(i + 1));
            targets.push_back("https://" + std::to_string(i) + ".example/");
            listen_at(store, account, targets.back());
            auto happened = sample_event(account);
            happened.data = std::string(sizes[i], '1');
            value_of(store.append_event(happened, sample_seed(i), noon + milliseconds{i}));
        }
        auto terms = sample_terms(noon + seconds{1});
        terms.data_bytes_max = 1000;
        auto claimed = value_of(store.claim_due(terms));
        expect(by_target(claimed.deliveries) == counts{{targets[0], 1}}, "nobody goes past what does not fit");
        expect(claimed.next_at && *claimed.next_at <= terms.now, "there is more at once");
        expect(by_target(claim(store, terms)) == counts{{targets[1], 1}, {targets[2], 1}, {targets[3], 1}},
               "the next claim begins there");

        // A host that has had something has had its turn.
        const auto large = sample_account("sitesmaker", 2), small = sample_account("sitesmaker", 3);
        serve(store, noon + seconds{60}, quick_attempt);
        for (std::uint64_t i = 0; i < 3; ++i) {
            auto happened = sample_event(large);
            happened.data = std::string(600, '1');
            value_of(store.append_event(happened, sample_seed(10 + i), noon + seconds{61}));
        }
        report(store, small, 1, noon + seconds{61} + milliseconds{1});
        terms = sample_terms(noon + seconds{62});
        terms.data_bytes_max = 1000;
        expect(by_target(claim(store, terms)) == counts{{targets[1], 1}}, "one fits");
        terms.now += milliseconds{1};
        expect(by_target(claim(store, terms)) == counts{{targets[1], 1}, {targets[2], 1}}, "the other host comes first");
    });

    add("claim: says when there may be more", [](auto& store) {
        const auto next_at = [&](const claim_terms& terms) { return value_of(store.claim_due(terms)).next_at; };
        auto terms = sample_terms(noon);
        expect(!next_at(terms), "an empty outbox gives no more");
        const two_hosts hosts{store};
        expect(!next_at(terms), "nor does one where all is delivered");

        report(store, hosts.quick, 1, noon + seconds{10});
        expect(next_at(terms) == noon + seconds{10}, "when what waits is due");
        report(store, hosts.slow, 1, noon + seconds{5});
        expect(next_at(terms) == noon + seconds{5}, "the first of what waits");
        terms.slow_deliveries_max = 0;
        expect(next_at(terms) == noon + seconds{10}, "what no terms allow for does not count");
        terms.now = noon + seconds{5};
        expect(next_at(terms) == noon + seconds{10}, "not even when it is due");
        terms.slow_deliveries_max = 10;
        terms.lease_until = noon + seconds{8};
        expect(next_at(terms) == noon + seconds{8}, "when a lease is over");

        terms = sample_terms(noon + seconds{10});  // both are due
        terms.deliveries_max = 1;
        auto given = value_of(store.claim_due(terms));
        expect(given.deliveries.size() == 1 && given.next_at && *given.next_at <= terms.now, "at once");
        terms.deliveries_max = 2;
        given = value_of(store.claim_due(terms));
        expect(given.deliveries.size() == 1 && given.next_at == terms.lease_until, "there is no more before that");
        serve(store, noon + seconds{60}, quick_attempt);
        expect(!next_at(sample_terms(noon + seconds{60})), "all is delivered");

        report(store, hosts.quick, 3, noon + seconds{60});
        terms = sample_terms(noon + seconds{60});
        terms.per_host_max = 2;
        given = value_of(store.claim_due(terms));
        expect(given.deliveries.size() == 2 && given.next_at == terms.lease_until, "when the host has a lease to give");
        expect_settled(store, settled(given.deliveries.at(0), delivered), settle_result::done, terms.now);
        expect(claim(store, terms).size() == 1, "or as soon as one is settled");
    });
}

}  // namespace tollgate::testing
