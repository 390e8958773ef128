#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_HOOKS_HPP
#define TOLLGATE_TESTING_DETAIL_HOOKS_HPP

#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

namespace detail {

inline constexpr std::size_t hooks_max = limits::hooks_per_event_max;

inline void expect_hook_listed(const hook& listed, hook_id id, const new_hook& hook,
                               const std::source_location& at = std::source_location::current()) {
    expect(listed.id == id, "a listed hook has the id that create gave", at);
    expect(listed.account == hook.account, "a listed hook has its account", at);
    expect(listed.event == hook.event, "a listed hook has its event, byte for byte", at);
    expect(listed.source == hook.source, "a listed hook has its source", at);
    expect(listed.type == hook.type, "a listed hook has its type, byte for byte", at);
    expect(listed.target_url == hook.target_url, "a listed hook has its target, byte for byte", at);
    expect(listed.created_at == hook.created_at, "a listed hook has its time, to the millisecond", at);
}

}  // namespace detail

/// The rules for hooks.
template <class Given>
void add_hook_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    const auto add = adder_of_cases(to, source);

    add("hook: hooks are listed by account, oldest first", [](auto& store) {
        const auto account = sample_account();
        expect(value_of(store.hooks_of(account)).empty(), "an account without hooks has an empty list");
        std::vector<new_hook> hooks;
        std::vector<hook_id> ids;
        for (const char* event : {"site.published", "site.created", "site.published", "site.deleted"}) {
            hooks.push_back(sample_hook(account, event));
            hooks.back().target_url += "?" + std::to_string(hooks.size());
            hooks.back().source = hooks.size() % 2 == 0 ? hook_source::manual : hook_source::api;
            // Later hooks have earlier times: the order must be that of creation.
            hooks.back().created_at = noon - seconds{static_cast<std::int64_t>(hooks.size())};
            ids.push_back(value_of(store.create_hook(hooks.back(), hooks_max)));
        }
        const auto listed = value_of(store.hooks_of(account));
        expect(listed.size() == hooks.size(), "an account's hooks are listed, all of them");
        for (std::size_t i = 0; i < listed.size(); ++i) expect_hook_listed(listed[i], ids[i], hooks[i]);
    });

    add("hook: two hooks may have the same event and target", [](auto& store) {
        const auto hook = sample_hook(sample_account());
        const auto first = value_of(store.create_hook(hook, hooks_max));
        const auto second = value_of(store.create_hook(hook, hooks_max));
        expect(first != second, "each has an id of its own");
        expect(value_of(store.hooks_of(hook.account)).size() == 2, "both are listed");
    });

    add("hook: an account is identified by its service and number", [](auto& store) {
        const auto one = sample_account("sitesmaker", 42), other = sample_account("itemplatform", 42),
                   third = sample_account("sitesmaker", 43);
        const auto id = value_of(store.create_hook(sample_hook(one), hooks_max));
        expect(value_of(store.hooks_of(other)).empty(), "the same number at another service is another account");
        expect(value_of(store.hooks_of(third)).empty(), "another number is another account");
        expect_false(store.delete_hook(other, id), "the hook is another account's");
        expect_false(store.delete_hook(third, id), "the hook is another account's");
        expect_hook_listed(value_of(store.hooks_of(one)).at(0), id, sample_hook(one));
    });

    add("hook: its account is found only by its own service", [](auto& store) {
        const auto account = sample_account("sitesmaker", 42);
        const auto id = value_of(store.create_hook(sample_hook(account), hooks_max));
        const auto found = value_of(store.account_of_hook(account.service, id));
        expect(found && *found == account, "a hook belongs to the account it was made for");
        const auto elsewhere = sample_account("itemplatform").service;
        expect_nothing(store.account_of_hook(elsewhere, id), "another service has no such hook");
        expect_nothing(store.account_of_hook(account.service, hook_id{id.value() + 1}), "there is no such hook");
        expect_nothing(store.account_of_hook(account.service, hook_id{(std::numeric_limits<std::int64_t>::max)()}),
               "there is no such hook");
        expect_true(store.delete_hook(account, id), "there was such a hook");
        expect_nothing(store.account_of_hook(account.service, id), "a deleted hook has no account");
    });

    add("hook: is deleted once, and other hooks remain", [](auto& store) {
        const auto hook = sample_hook(sample_account());
        const auto first = value_of(store.create_hook(hook, hooks_max));
        const auto second = value_of(store.create_hook(hook, hooks_max));
        expect_true(store.delete_hook(hook.account, first), "there was such a hook");
        expect_false(store.delete_hook(hook.account, first), "a hook is deleted once");
        const auto listed = value_of(store.hooks_of(hook.account));
        expect(listed.size() == 1, "the other hook is still there");
        expect_hook_listed(listed[0], second, hook);
    });

    add("hook: ids are never reused", [](auto& store) {
        const auto hook = sample_hook(sample_account());
        std::vector<std::int64_t> ids;
        for (int i = 0; i < 5; ++i) {
            const auto id = value_of(store.create_hook(hook, hooks_max));
            expect(std::find(ids.begin(), ids.end(), id.value()) == ids.end(),
                   "the id of a deleted hook is not used again");
            ids.push_back(id.value());
            value_of(store.delete_hook(hook.account, id));
        }
    });

    add("hook: an account has at most the bound for one event", [](auto& store) {
        const auto hook = sample_hook(sample_account());
        std::optional<hook_id> last;
        for (std::size_t i = 0; i < hooks_max; ++i) last = value_of(store.create_hook(hook, hooks_max));
        expect_error("create_hook", store.create_hook(hook, hooks_max), error_kind::invalid);
        expect(value_of(store.hooks_of(hook.account)).size() == hooks_max, "a refused hook is not there");
        value_of(store.create_hook(sample_hook(hook.account, "site.created"), hooks_max));
        value_of(store.create_hook(sample_hook(sample_account("sitesmaker", 43)), hooks_max));
        value_of(store.create_hook(sample_hook(sample_account("itemplatform", 42)), hooks_max));
        expect_error("create_hook", store.create_hook(hook, hooks_max), error_kind::invalid);
        value_of(store.create_hook(hook, hooks_max + 1));
        value_of(store.delete_hook(hook.account, *last));
        expect_error("create_hook", store.create_hook(hook, hooks_max), error_kind::invalid);
        expect_error("create_hook", store.create_hook(sample_hook(sample_account("sitesmaker", 44)), 0), error_kind::invalid);
        value_of(store.create_hook(hook, (std::numeric_limits<std::size_t>::max)()));
    });

    add("hook: a deleted hook does not count towards the bound", [](auto& store) {
        const auto hook = sample_hook(sample_account());
        const auto first = value_of(store.create_hook(hook, 2));
        value_of(store.create_hook(hook, 2));
        expect_error("create_hook", store.create_hook(hook, 2), error_kind::invalid);
        value_of(store.delete_hook(hook.account, first));
        value_of(store.create_hook(hook, 2));
        expect_error("create_hook", store.create_hook(hook, 2), error_kind::invalid);
    });

    add("hook: text is returned byte for byte", [](auto& store) {
        std::int64_t count = 0;
        const auto next = [&](const std::string& text) {
            auto hook = sample_hook(sample_account("sitesmaker", ++count), text);
            hook.type = text;
            hook.target_url = "https://example.com/" + text;
            hook.secret = text;
            return hook;
        };
        for (const std::string& text : difficult_texts()) {
            const auto hook = next(text);
            const auto id = value_of(store.create_hook(hook, hooks_max));
            expect_hook_listed(value_of(store.hooks_of(hook.account)).at(0), id, hook);
        }
        auto longest = next("site.published");
        longest.target_url.resize(limits::target_url_bytes_max, 'u');
        const auto longest_id = value_of(store.create_hook(longest, hooks_max));
        expect_hook_listed(value_of(store.hooks_of(longest.account)).at(0), longest_id, longest);
        for (const std::string& text : refusable_texts()) {
            const auto hook = next(text);
            const auto id = store.create_hook(hook, hooks_max);
            const auto listed = value_of(store.hooks_of(hook.account));
            if (id)
                expect_hook_listed(listed.at(0), *id, hook);
            else
                expect(listed.empty(), "a refused hook is not there");
        }
    });

    add("hook: only its own account can replace its secret, and nothing else changes", [](auto& store) {
        const auto hook = sample_hook(sample_account());
        const auto id = value_of(store.create_hook(hook, hooks_max));
        const auto replace = [&](const account_ref& account, hook_id which) {
            return store.change_hook(account, which, hook_secret_replacement{"whsec_bmV3", noon + seconds{86'400}, {}});
        };
        expect_true(replace(hook.account, id), "there is such a hook");
        expect_true(replace(hook.account, id), "a secret may be replaced any number of times");
        expect_false(replace(hook.account, hook_id{id.value() + 1}), "there is no such hook");
        expect_false(replace(sample_account("sitesmaker", 43), id), "the hook is another account's");
        expect_false(replace(sample_account("itemplatform"), id), "the hook is another service's");
        const auto listed = value_of(store.hooks_of(hook.account));
        expect(listed.size() == 1, "a hook with a new secret is the same one");
        expect_hook_listed(listed[0], id, hook);
        value_of(store.delete_hook(hook.account, id));
        expect_false(replace(hook.account, id), "a hook that was deleted has no secret");
    });

    add("hook: a secret is replaced only if it is the given one, by exactly one of several parallel calls", [](auto& store) {
        const auto hook = sample_hook(sample_account());
        const auto id = value_of(store.create_hook(hook, hooks_max));
        const auto replace = [&](const digest& replaced, const std::string& secret) {
            return store.change_hook(hook.account, id, hook_secret_replacement{secret, noon + seconds{86'400}, replaced});
        };
        const auto secret = [&] { return value_of(store.hooks_of(hook.account)).at(0).secret_digest; };
        expect(secret() == sha256(hook.secret), "a listed hook has the digest of its secret");
        expect_false(replace(sample_digest(1), "whsec_b3RoZXI="), "its secret is another one");
        expect(secret() == sha256(hook.secret), "the secret stays");
        expect_true(replace(sha256(hook.secret), "whsec_bmV3"), "its secret is the given one");
        expect(secret() == sha256("whsec_bmV3"), "the secret was replaced");
        for (std::size_t round = 0; round < 5; ++round) {
            const auto before = secret();
            const auto secret_of = [&](std::size_t i) { return "whsec_" + std::to_string(1000 * (round + 1) + i); };
            const auto winner = expect_one_winner([&](std::size_t i) { return value_of(replace(before, secret_of(i))); },
                                                  "exactly one call replaces a secret");
            expect(secret() == sha256(secret_of(winner)), "its secret stays");
        }
    });

    add("hook: of several creations with one idempotency key, exactly one succeeds, until the hook is deleted", [](auto& store) {
        auto hook = sample_hook(sample_account());
        hook.idempotency_key = sample_digest(1);
        const auto id = value_of(store.create_hook(hook, hooks_max));
        expect_error("create_hook", store.create_hook(hook, hooks_max), error_kind::conflict);
        auto other = hook;
        other.idempotency_key = sample_digest(2);
        value_of(store.create_hook(other, hooks_max));
        expect(value_of(store.hooks_of(hook.account)).size() == 2, "a hook with another key is another one");
        value_of(store.delete_hook(hook.account, id));
        value_of(store.create_hook(hook, hooks_max));
        for (std::uint64_t round = 3; round < 8; ++round) {
            auto parallel = sample_hook(sample_account("sitesmaker", static_cast<std::int64_t>(round)));
            parallel.idempotency_key = sample_digest(round);
            const auto create = [&](std::size_t) {
                return succeeds_unless(error_kind::conflict, "create_hook", store.create_hook(parallel, hooks_max));
            };
            expect_one_winner(create, "exactly one call creates the hook");
            expect(value_of(store.hooks_of(parallel.account)).size() == 1, "there is one hook");
        }
    });

    add("hook: only its own account can update it, and an update changes only event and target", [](auto& store) {
        auto hook = sample_hook(sample_account());
        hook.source = hook_source::manual;
        const auto id = value_of(store.create_hook(hook, hooks_max));
        const auto other = sample_hook(hook.account);
        const auto other_id = value_of(store.create_hook(other, hooks_max));
        const auto update = [&](const account_ref& account, hook_id which, const hook_fields& fields) {
            return store.change_hook(account, which, fields);
        };
        const auto expect_both = [&] {
            const auto listed = value_of(store.hooks_of(hook.account));
            expect(listed.size() == 2, "a hook that was updated is the same one");
            expect_hook_listed(listed[0], id, hook);
            expect_hook_listed(listed[1], other_id, other);
        };
        const hook_fields changed{"site.created", "https://new.example:8443/hook?a=b", hooks_max};
        expect_false(update(sample_account("sitesmaker", 43), id, changed), "the hook is another account's");
        expect_false(update(sample_account("itemplatform"), id, changed), "the hook is another service's");
        expect_false(update(hook.account, hook_id{id.value() + 100}, changed), "there is no such hook");
        expect_both();
        std::vector<hook_fields> changes{changed};
        for (const std::string& text : difficult_texts()) changes.push_back({text, "https://example.com/" + text, hooks_max});
        for (const hook_fields& each : changes) {
            expect_true(update(hook.account, id, each), "there is such a hook");
            hook.event = each.event;
            hook.target_url = each.target_url;
            expect_both();
        }
        value_of(store.delete_hook(hook.account, id));
        expect_false(update(hook.account, id, changed), "a hook that was deleted is not updated");
    });

    add("hook: an update does not exceed the bound for one account and event", [](auto& store) {
        const auto hook = sample_hook(sample_account());
        value_of(store.create_hook(hook, 2));
        value_of(store.create_hook(hook, 2));
        const auto other = sample_hook(hook.account, "site.created");
        const auto id = value_of(store.create_hook(other, 2));
        const auto update = [&](const std::string& event, const std::string& target_url, std::size_t hooks_per_event_max) {
            return store.change_hook(hook.account, id, hook_fields{event, target_url, hooks_per_event_max});
        };
        expect_error("change_hook", update(hook.event, "https://example.com/full", 2), error_kind::invalid);
        expect_hook_listed(value_of(store.hooks_of(hook.account)).at(2), id, other);
        expect_true(update(other.event, "https://example.com/same", 1), "a hook that keeps its event is not counted again");
        expect_true(update(hook.event, "https://example.com/fits", 3), "the bound is not exceeded");
        expect_error("create_hook", store.create_hook(hook, 3), error_kind::invalid);
        value_of(store.create_hook(other, 1));
    });

    add("hook: times to the millisecond, the largest account and the longest service name are stored", [](auto& store) {
        std::int64_t largest = (std::numeric_limits<std::int64_t>::max)();
        for (const instant at : difficult_times()) {
            auto hook = sample_hook(sample_account(std::string(limits::service_name_bytes_max, 's'), largest--));
            hook.created_at = at;
            const auto id = value_of(store.create_hook(hook, hooks_max));
            expect_hook_listed(value_of(store.hooks_of(hook.account)).at(0), id, hook);
            expect(value_of(store.account_of_hook(hook.account.service, id)) == hook.account,
                   "a hook belongs to its account");
        }
    });

    add("hook: parallel creations do not exceed the bound", [](auto& store) {
        for (std::int64_t round = 1; round <= 3; ++round) {
            const auto hook = sample_hook(sample_account("sitesmaker", round));
            std::atomic<std::size_t> won{0};
            in_parallel([&](std::size_t) {
                for (std::size_t i = 0; i < hooks_max / 2; ++i)
                    if (succeeds_unless(error_kind::invalid, "create_hook", store.create_hook(hook, hooks_max))) ++won;
            });
            expect(won == hooks_max, "exactly as many are created as the bound permits");
            expect(value_of(store.hooks_of(hook.account)).size() == hooks_max, "as many are there as were created");
        }
    });

    add("hook: parallel updates do not exceed the bound", [](auto& store) {
        for (std::int64_t round = 1; round <= 3; ++round) {
            const auto sample = sample_hook(sample_account("sitesmaker", round));
            std::vector<hook_id> ids;
            for (std::size_t i = 0; i < hooks_max; ++i) ids.push_back(value_of(store.create_hook(sample, hooks_max)));
            constexpr std::size_t bound = hooks_max / 2;
            const hook_fields changed{"site.created", sample.target_url, bound};
            in_parallel([&](std::size_t i) {
                for (std::size_t n = i; n < ids.size(); n += thread_count) {
                    const auto updated = store.change_hook(sample.account, ids[n], changed);
                    if (!updated) expect_error("change_hook", updated, error_kind::invalid);
                }
            });
            const auto listed = value_of(store.hooks_of(sample.account));
            const auto count = std::count_if(listed.begin(), listed.end(), [&](const hook& each) { return each.event == changed.event; });
            expect(static_cast<std::size_t>(count) == bound, "exactly as many have the event as the bound permits");
        }
    });

    add("hook: exactly one of several parallel deletions succeeds", [](auto& store) {
        for (int round = 0; round < 5; ++round) {
            const auto hook = sample_hook(sample_account());
            const auto id = value_of(store.create_hook(hook, hooks_max));
            expect_one_winner([&](std::size_t) { return value_of(store.delete_hook(hook.account, id)); },
                              "exactly one deletion met the hook");
        }
    });

    add("hook: parallel creations get different ids", [](auto& store) {
        constexpr std::size_t each_max = 15;
        std::vector<std::vector<std::int64_t>> ids(thread_count);
        in_parallel([&](std::size_t i) {
            const auto account = sample_account("sitesmaker", static_cast<std::int64_t>(i) + 1);
            for (std::size_t n = 0; n < each_max; ++n) {
                ids[i].push_back(value_of(store.create_hook(sample_hook(account), hooks_max)).value());
                expect(value_of(store.hooks_of(account)).size() == n + 1, "the creator of a hook sees it");
            }
        });
        std::vector<std::int64_t> all;
        for (const auto& each : ids) all.insert(all.end(), each.begin(), each.end());
        std::sort(all.begin(), all.end());
        expect(std::adjacent_find(all.begin(), all.end()) == all.end(), "no two hooks have one id");
    });

    add_reopen_case(to, source, "hook", [](auto& store) {
        auto hook = sample_hook(sample_account());
        const auto remaining = value_of(store.create_hook(hook, 2));
        const auto lost = value_of(store.create_hook(hook, 2));
        value_of(store.delete_hook(hook.account, lost));
        hook.target_url += "?updated";
        value_of(store.change_hook(hook.account, remaining, hook_fields{hook.event, hook.target_url, 2}));
        return [=](auto& reopened) {
            const auto listed = value_of(reopened.hooks_of(hook.account));
            expect(listed.size() == 1, "the created hook exists, the deleted one does not");
            expect_hook_listed(listed[0], remaining, hook);
            const auto next = value_of(reopened.create_hook(hook, 2));
            expect(next != remaining && next != lost, "ids are never used again, not even by the next process");
            expect_error("create_hook", reopened.create_hook(hook, 2), error_kind::invalid);
        };
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_HOOKS_HPP
