#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_CLOCKS_HPP
#define TOLLGATE_TESTING_DETAIL_CLOCKS_HPP

#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

// The rules for stored times that were set by a clock that was wrong by a month, or that such a clock reads (`has_come`). A clock that is
// ahead and is set right, and one that is behind, leave the same rows: their times lie a month ahead of those that are passed.
namespace tollgate::inline v0::testing {

namespace detail {

inline constexpr milliseconds month = std::chrono::days{30};

/// Completes a delivery as given up at `at`, by a dispatcher that disables hooks that have failed for 100 s.
void expect_failed(auto& store, const due_delivery& due, instant at, completion result) {
    auto ended = completed(due, delivery_outcome::given_up, at);
    ended.disable_if_failing_since = at - seconds{100};
    expect_completed(store, ended, result, at + seconds{1});
}

}  // namespace detail

/// Due times and leases of deliveries, and times of failures.
template <class Given>
void add_delivery_clock_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    using enum delivery_outcome;
    const auto add = adder_of_cases(to, source);

    add("clock: an event that was reported by a clock that is ahead is due", [](auto& store) {
        const auto account = sample_account();
        const auto hook = listen(store, account);
        report(store, account, 3, noon + month);
        expect(value_of(store.due_hooks(noon, 10)).hooks.size() == 1, "the hook is listed");
        const auto leased = lease_due_at(store, noon);
        expect(leased.size() == 3 && leased.at(0).hook == hook, "each delivery is due");
        for (const due_delivery& each : leased) expect_completed(store, completed(each, delivered), completion::done);
        expect_none_due(store, noon + month);
    });

    add("clock: a retry that was planned by a clock that is ahead is due, and delays no other hook", [](auto& store) {
        const auto account = sample_account();
        const auto first = listen(store, account);
        report(store, account, 1, noon + month);
        expect_completed(store, completed(lease_one(store, noon + month), retry, noon + month), completion::done, noon + month);
        expect(listed_hook(store, account, first).failing_since == noon + month, "it is failing");
        const auto other = listen(store, account);
        value_of(store.append_event(sample_event(account), sample_seed(1), noon, other));
        expect(due_hook_ids(store, noon, 1).size() == 1, "a page has the requested size");
        const auto page = value_of(store.due_hooks(noon, 10));
        expect(page.hooks.size() == 2, "both hooks are listed");
        expect(!page.next_at || *page.next_at <= latest_due(noon), "no hook is next in a month");
        std::vector<due_delivery> retried;
        for (const due_delivery& each : lease_due_at(store, noon))
            if (each.hook == first) retried.push_back(each);
            else expect_completed(store, completed(each, delivered), completion::done);
        expect(retried.size() == 1 && retried.at(0).attempts_made == 1, "the retry is due");
        // Its next failure is planned by the clock that is right.
        expect_completed(store, completed(retried.at(0), retry, noon), completion::done, noon);
        for (const hook_id each : due_hook_ids(store, noon + seconds{1})) expect(each != first, "the next retry waits");
        expect(lease_one(store, noon + seconds{60}).hook == first, "until its time");
    });

    add("clock: a wait that can be right is not shortened", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 1);
        auto ended = completed(lease_one(store, noon), retry);
        ended.retry_at = latest_due(noon);
        expect_completed(store, ended, completion::done);
        expect(due_hook_ids(store, noon).empty(), "the hook is not listed");
        expect(lease_of(store, {hook, 9, 9, noon}, sample_terms(noon)).empty(), "the delivery waits");
        expect(value_of(store.due_hooks(noon, 9)).next_at == ended.retry_at, "it is listed then");
        expect(lease_of(store, {hook, 9, 9, noon}, sample_terms(noon - milliseconds{1})).size() == 1, "no wait is longer");
    });

    add("clock: a lease that was taken by a clock that is ahead is over, and does not count", [](auto& store) {
        const auto account = sample_account(), other = sample_account("sitesmaker", 43);
        const auto abandoned = listen(store, account), waiting = listen(store, other);
        report(store, account, 1, noon + month);
        const auto lost = lease_one(store, noon + month);
        expect(lost.hook == abandoned, "it is leased");
        report(store, other);
        const auto leased = lease_of(store, {waiting, 1, 1, noon + seconds{1}}, sample_terms(noon));
        expect(leased.size() == 1, "the lease does not count for the host");
        expect_completed(store, completed(leased.at(0), delivered), completion::done);
        const auto again = lease_one(store, noon);
        expect(again.hook == abandoned, "the delivery is due");
        expect_completed(store, completed(lost, delivered), completion::too_late);
        expect_completed(store, completed(again, delivered), completion::done);
    });

    add("clock: a delivery that was leased by a clock that is ahead is sent again at once", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 1);
        const auto lost = lease_one(store, noon + month);
        expect_true(store.resend(account, lost.lease.delivery, noon), "the delivery exists");
        expect(lease_one(store, noon).lease.delivery == lost.lease.delivery, "it is due");
    });

    add("clock: a delivery that was leased by a clock that is ahead is sent when its hook is enabled", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 2);
        const auto leased = lease_due_at(store, noon + month);
        expect_completed(store, completed(leased.at(0), gone), completion::hook_disabled, noon + month);
        expect_true(store.change_hook(account, hook, hook_enabling{noon}), "the hook exists");
        expect(lease_one(store, noon).lease.delivery == leased.at(1).lease.delivery, "it is due");
    });

    add("clock: a clock that is behind delays no delivery", [](auto& store) {
        hook_with_deliveries(store, 2);
        auto terms = sample_terms(noon);
        terms.deliveries_max = 1;
        expect_completed(store, completed(lease_due(store, terms).at(0), retry), completion::done);
        expect(lease_due_at(store, noon - month).size() == 2, "a new delivery and a retry are due");
        expect(lease_due_at(store, noon).size() == 2, "and the leases are over by the clock that is right");
    });

    add("clock: a failure that was recorded by a clock that is ahead does not keep a hook from being disabled", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 4);
        const auto due = lease_due_at(store, noon);
        const auto fail = [&](std::size_t which, instant at, completion result) { expect_failed(store, due.at(which), at, result); };
        fail(0, noon + month, completion::done);
        fail(1, noon, completion::done);
        expect(listed_hook(store, account, hook).failing_since == noon, "it is failing since its first failure by the right clock");
        fail(2, noon + seconds{99}, completion::done);
        fail(3, noon + seconds{100}, completion::hook_disabled);
    });

    add("clock: a failure that was recorded by a clock that is behind does not disable a hook early", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 5);
        const auto due = lease_due_at(store, noon);
        const auto fail = [&](std::size_t which, instant at, completion result) { expect_failed(store, due.at(which), at, result); };
        fail(0, noon, completion::done);
        fail(1, noon - month, completion::done);
        fail(2, noon + seconds{1}, completion::done);
        expect(listed_hook(store, account, hook).failing_since == noon + seconds{1}, "a failure a month ago is another series");
        fail(3, noon + seconds{100}, completion::done);
        fail(4, noon + seconds{101}, completion::hook_disabled);
    });

    add("clock: a sweep by a clock that is behind deletes no delivery", [](auto& store) {
        const auto [account, hook] = hook_with_deliveries(store, 2);
        expect_completed(store, completed(lease_due_at(store, noon).at(0), delivered), completion::done);
        expect(value_of(store.sweep({.deliveries_ended_before = noon - month, .rows_max = 10})) == 0, "nothing ended so long ago");
        expect(deliveries(store, account, hook).size() == 2, "both are there");
        expect(value_of(store.sweep({.deliveries_ended_before = noon + month, .rows_max = 10})) == 1,
               "what ended is swept when its time has passed");
    });
}

/// Codes, device codes, and the times at which codes and refresh tokens were used.
template <class Given>
void add_grant_clock_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    const auto add = adder_of_cases(to, source);

    add("clock: a code that was created by a clock that is ahead has expired, and is replaced", [](auto& store) {
        using enum redemption_result;
        const auto application = create_sample_application(store);
        auto code = sample_code(1, application);
        code.created_at += month;
        code.expires_at += month;
        expect_code(store, code, code_result::created);
        expect_redemption(store, sample_redemption(1, application), expired);
        expect_no_access(store, 1);
        expect_code(store, sample_code(1, application), code_result::created);
        expect_redemption(store, sample_redemption(1, application), redeemed);

        code = sample_code(2, application);
        code.expires_at = noon + std::chrono::hours{limits::code_hours_max};
        expect_code(store, code, code_result::created);
        expect_redemption(store, sample_redemption(2, application), redeemed);  // such a lifetime can be right
    });

    add("clock: reuse of a code that was redeemed by a clock that is ahead is detected", [](auto& store) {
        using enum redemption_result;
        const auto application = create_sample_application(store);
        auto code = sample_code(1, application);
        code.created_at += month;
        code.expires_at += month;
        expect_code(store, code, code_result::created);
        auto presented = sample_redemption(1, application);
        presented.grace = seconds{30};
        presented.now += month;
        expect_redemption(store, presented, redeemed);
        presented.tokens = sample_tokens(2);
        expect_redemption(store, presented, repeated);
        presented.now -= milliseconds{29'999};  // the clocks of two nodes may differ by as much
        expect_redemption(store, presented, repeated);
        expect_access(store, 1);
        presented.now = noon + seconds{1};
        expect_redemption(store, presented, reused);
        expect_no_access(store, 1);
    });

    add("clock: reuse of a refresh token that was replaced by a clock that is ahead is detected", [](auto& store) {
        using enum refresh_result;
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        auto presented = sample_refresh(1, 11, application);
        presented.rotation = sample_rotation(1, 2);
        presented.now += month / 2;  // it still lives
        expect_refresh(store, presented, refreshed);
        presented.access_digest = sample_access_digest(12);
        presented.now -= milliseconds{29'999};
        expect_refresh(store, presented, refreshed);
        presented.access_digest = sample_access_digest(13);
        presented.now = noon + seconds{2};
        expect_refresh(store, presented, reused);
    });

    add("clock: a device code that was created by a clock that is ahead has expired", [](auto& store) {
        const auto application = create_sample_application(store);
        auto request = sample_device_code(1, application);
        request.created_at += month;
        request.expires_at += month;
        value_of(store.create_device_code(request));
        expect_nothing(store.answer_device_code(sample_decision(1, device_code_state::approved)), "the request has expired");
        expect_nothing(granted_scopes(store, user_id{7}, application), "nothing was granted");
    });

    add("clock: a sweep by a clock that is behind deletes nothing, and each row goes when its end has passed", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        expect_code(store, sample_code(2, application), code_result::created);
        value_of(store.create_device_code(sample_device_code(1, application)));
        expect(value_of(store.sweep({.expired_at = noon - month, .rows_max = 100})) == 0, "all ends are ahead");
        expect_access(store, 1);
        expect(is_refreshable(store, 1, application), "the refresh token is there");
        expect_redemption(store, sample_redemption(2, application), redemption_result::redeemed);
        // Two codes, two access tokens, two refresh tokens and a device code.
        expect(value_of(store.sweep({.expired_at = noon + 2 * month, .rows_max = 100})) == 7, "all ends have passed");
    });
}

/// Sessions: the stores keep their times, `cookie_sessions` compares them.
template <class Given>
void add_session_clock_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    const auto add = adder_of_cases(to, source);

    add("session: a sweep by a clock that is behind deletes none", [](auto& store) {
        const auto session = sample_session(1);
        value_of(store.create_session(session));
        auto ahead = sample_session(2);
        ahead.created_at += month;
        ahead.last_seen_at += month;
        value_of(store.create_session(ahead));
        const auto sweep = [&](instant now) {
            return value_of(
                store.sweep({.sessions = session_ends{now - std::chrono::days{7}, now - std::chrono::hours{12}}, .rows_max = 100}));
        };
        expect(sweep(noon - month) == 0 && sweep(noon) == 0, "neither has ended");
        expect(sweep(noon + month) == 1, "the first one has");
        expect_nothing(store.find_session(session.cookie_digest), "it is deleted");
        expect(sweep(noon + 2 * month) == 1, "and then the other one");
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_CLOCKS_HPP
