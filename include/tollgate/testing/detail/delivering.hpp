#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_DELIVERING_HPP
#define TOLLGATE_TESTING_DETAIL_DELIVERING_HPP

#include <tollgate/contract/outbox.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/testing/detail/expect.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

/// Helpers for the rules for outboxes.
namespace tollgate::inline v0::testing::detail {

[[nodiscard]] inline message_seed sample_seed(std::uint64_t number) {
    const digest mixed = sample_digest(5'000'000 + number);
    message_seed seed{};
    for (std::size_t i = 0; i < seed.size(); ++i) seed[i] = std::byte{mixed.bytes()[i]};
    return seed;
}

[[nodiscard]] inline event sample_event(const account_ref& account, std::string_view name = "site.published") {
    return {.account = account, .name = std::string{name}, .data = R"({"version": 7})", .at = noon};
}

/// The bounds of a lease call. The defaults exceed what a case needs, so that each case sets only the bound that it
/// tests.
struct lease_terms {
    instant now;
    instant lease_until;
    std::size_t deliveries_max = 1000;
    std::size_t host_leases_max = 1000;
};
[[nodiscard]] inline lease_terms sample_terms(instant now) { return {.now = now, .lease_until = now + seconds{30}}; }

/// The result of a leased delivery, after an attempt of 20 ms.
[[nodiscard]] inline attempt_result completed(const due_delivery& sent, delivery_outcome outcome, instant at = noon) {
    attempt_result result{
        .lease = sent.lease, .target_url = sent.target_url, .attempt = {.at = at, .duration = milliseconds{20}}, .outcome = outcome};
    result.attempt.status = outcome == delivery_outcome::delivered ? 204 : outcome == delivery_outcome::gone ? 410 : 503;
    result.attempt.response = outcome == delivery_outcome::delivered ? "" : "not now";
    result.retry_at = at + seconds{60};
    return result;
}

/// Creates a hook of the account for a host.
template <class Store>
hook_id listen_at(Store& store, const account_ref& account, std::string_view target_url,
                  const std::source_location& at = std::source_location::current()) {
    auto hook = sample_hook(account);
    hook.target_url = target_url;
    return value_of(store.create_hook(hook, 1000), at);
}
template <class Store>
hook_id listen(Store& store, const account_ref& account,
               const std::source_location& at = std::source_location::current()) {
    return listen_at(store, account, "https://example.com/hook", at);
}

/// Appends events, each with its own seed.
template <class Store>
void report(Store& store, const account_ref& account, std::size_t count = 1, instant now = noon,
            const std::source_location& at = std::source_location::current()) {
    static std::atomic<std::uint64_t> last{0};
    for (std::size_t i = 0; i < count; ++i)
        value_of(store.append_event(sample_event(account), sample_seed(++last), now), at);
}

struct sample_deliveries {
    account_ref account;
    hook_id hook;
};
/// A hook of the sample account, with deliveries that are due at noon.
template <class Store>
sample_deliveries hook_with_deliveries(Store& store, std::size_t count = 1, std::string_view target_url = "https://example.com/hook",
                                       const std::source_location& at = std::source_location::current()) {
    const auto account = sample_account();
    const auto hook = listen_at(store, account, target_url, at);
    report(store, account, count, noon, at);
    return {account, hook};
}

/// The ids of the due hooks, in order.
template <class Store>
std::vector<hook_id> due_hook_ids(Store& store, instant now, std::size_t rows_max = 1000,
                                  const std::source_location& at = std::source_location::current()) {
    std::vector<hook_id> ids;
    for (const due_hook& each : value_of(store.due_hooks(now, rows_max), at).hooks) ids.push_back(each.hook);
    return ids;
}
template <class Store>
std::vector<due_delivery> lease_of(Store& store, const lease_request& request, const lease_terms& terms,
                                   const std::source_location& at = std::source_location::current()) {
    return value_of(store.lease(std::span{&request, 1}, {terms.now, terms.lease_until}), at);
}
/// Leases the due deliveries, hook by hook.
template <class Store>
std::vector<due_delivery> lease_due(Store& store, const lease_terms& terms,
                                    const std::source_location& at = std::source_location::current()) {
    std::vector<due_delivery> all;
    for (bool found = true; found;) {
        found = false;
        for (const hook_id each : due_hook_ids(store, terms.now, 1000, at)) {
            if (all.size() >= terms.deliveries_max) return all;
            for (due_delivery& one : lease_of(
                     store, {each, terms.deliveries_max - all.size(), terms.host_leases_max, terms.now}, terms, at)) {
                all.push_back(std::move(one));
                found = true;
            }
        }
    }
    return all;
}
/// Returns all due deliveries.
template <class Store>
std::vector<due_delivery> lease_due_at(Store& store, instant now,
                                       const std::source_location& at = std::source_location::current()) {
    return lease_due(store, sample_terms(now), at);
}
/// The only due delivery.
template <class Store>
due_delivery lease_one(Store& store, instant now, const std::source_location& at = std::source_location::current()) {
    auto leased = lease_due_at(store, now, at);
    expect(leased.size() == 1, "one delivery is due", at);
    return leased[0];
}
template <class Store>
void expect_none_due(Store& store, instant now, const std::source_location& at = std::source_location::current()) {
    expect(lease_due_at(store, now, at).empty(), "nothing is due, or what is due is leased", at);
}

template <class Store>
completion complete_one(Store& store, const attempt_result& ended, instant now = noon,
                        const std::source_location& at = std::source_location::current()) {
    const auto results = value_of(store.complete({&ended, 1}, now), at);
    expect(results.size() == 1, "each result has a status", at);
    return results[0];
}
template <class Store>
void expect_completed(Store& store, const attempt_result& ended, completion result, instant now = noon,
                      const std::source_location& at = std::source_location::current()) {
    const completion actual = complete_one(store, ended, now, at);
    if (actual == result) return;
    fail(result == completion::done            ? "the result was in time, and disabled nothing"
         : result == completion::hook_disabled ? "the result disabled the hook"
                                                  : "the result was too late",
         at);
}

/// The number of `changes_seen`, as soon as there is one that is not `before`. A store may learn of a change a moment later, on
/// another thread; the bound is for a store that never does.
template <class Store>
std::uint64_t expect_changes(Store& store, std::optional<std::uint64_t> before,
                             const std::source_location& at = std::source_location::current()) {
    for (const auto end = std::chrono::steady_clock::now() + seconds{5}; std::chrono::steady_clock::now() < end;) {
        if (const auto seen = store.changes_seen(); seen && seen != before) return *seen;
        std::this_thread::sleep_for(milliseconds{1});
    }
    fail(before ? "changes_seen() must return another number after an event was appended" : "changes_seen() must return a number", at);
}

/// The hook's deliveries, newest first, without their attempts.
template <class Store>
result<std::vector<delivery>> deliveries_of(Store& store, const account_ref& account, hook_id hook, std::size_t rows_max,
                                            std::optional<delivery_id> older_than = {}, std::optional<delivery_state> state = {}) {
    const auto listed = store.deliveries_of(account, {.hook = hook, .rows_max = rows_max, .older_than = older_than, .state = state});
    if (!listed) return listed.error();
    std::vector<delivery> found;
    for (const listed_delivery& each : *listed) found.push_back(each.delivery);
    return found;
}

/// An attempt, with its delivery.
struct recorded_attempt {
    delivery_id delivery;
    std::string event;
    public_id message_id;
    tollgate::attempt attempt;
};

/// The attempts of the hook's deliveries, or of one delivery: those of the newest delivery first, and of these the last attempt first; at
/// most `attempts_max` of each.
template <class Store>
result<std::vector<recorded_attempt>> attempts_of(Store& store, const account_ref& account, hook_id hook, std::size_t attempts_max,
                                                  std::optional<delivery_id> delivery = {}) {
    const auto listed =
        store.deliveries_of(account, {.hook = hook, .rows_max = 10'000, .delivery = delivery, .attempts_max = attempts_max});
    if (!listed) return listed.error();
    std::vector<recorded_attempt> found;
    for (const listed_delivery& of : *listed)
        for (const attempt& each : of.attempts) found.push_back({of.delivery.id, of.delivery.event, of.delivery.message_id, each});
    return found;
}

/// The hook's deliveries, newest first.
template <class Store>
std::vector<delivery> deliveries(Store& store, const account_ref& account, hook_id hook,
                                 const std::source_location& at = std::source_location::current()) {
    return value_of(deliveries_of(store, account, hook, 10'000, std::nullopt, std::nullopt), at);
}
/// The listed delivery with that id.
[[nodiscard]] inline delivery only_of(const std::vector<delivery>& listed, delivery_id id,
                                      const std::source_location& at = std::source_location::current()) {
    for (const delivery& each : listed)
        if (each.id == id) return each;
    fail("it is listed", at);
}
/// The only delivery of the hook.
template <class Store>
delivery only_delivery(Store& store, const account_ref& account, hook_id hook,
                       const std::source_location& at = std::source_location::current()) {
    auto listed = deliveries(store, account, hook, at);
    expect(listed.size() == 1, "the hook has one delivery", at);
    return listed[0];
}
template <class Store>
void expect_state(Store& store, const account_ref& account, hook_id hook, delivery_state state,
                  const std::source_location& at = std::source_location::current()) {
    const auto listed = only_delivery(store, account, hook, at);
    expect(listed.state == state, "the delivery is in the state that it should be in", at);
    expect(listed.next_attempt_at.has_value() == (state == delivery_state::waiting),
           "a delivery that waits says for when, and no other does", at);
}

template <class Store>
hook listed_hook(Store& store, const account_ref& account, hook_id id,
                 const std::source_location& at = std::source_location::current()) {
    for (hook& each : value_of(store.hooks_of(account), at))
        if (each.id == id) return std::move(each);
    fail("the account has such a hook", at);
}

}  // namespace tollgate::testing::detail

#endif  // TOLLGATE_TESTING_DETAIL_DELIVERING_HPP
