#include <tollgate/store/memory.hpp>

#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/expect.hpp>
#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/failing_new.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>
#include <optional>
#include <string>

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

using tollgate_test::allocations_made;

using namespace tollgate;
using namespace tollgate::testing;

TEST_CASE("a memory store finds credentials without allocating") {
    memory_store store;
    const auto personal = sample_personal_token("tgu_a");
    const auto access = sample_access_token(1);
    value_of(store.create_personal_token(personal, tokens_max));
    value_of(store.create_access_token(access));

    const long before = allocations_made;
    bool all = true;
    for (int i = 0; i < 100; ++i) {
        const auto found = store.find_credential(personal_token_key{"tgu_a"});
        const auto none = store.find_credential(personal_token_key{"tgu_b"});
        const auto other = store.find_credential(access_token_key{access.token_digest});
        const auto unknown = store.find_credential(access_token_key{digest{}});
        all = all && found && *found && none && !*none && other && *other && unknown && !*unknown;
    }
    const long allocated = allocations_made - before;
    CHECK(all);
    CHECK(allocated == 0);
}

namespace {

/// Fails each allocation of `verb`, which needs at least one, and calls `nothing_happened` after each failure.
template <class Verb, class Check>
void check_every_shortage(Verb verb, Check nothing_happened) {
    const long failures = tollgate_test::fail_each_allocation([&](auto short_of_memory) {
        const auto done = short_of_memory(verb);
        if (done) return true;
        CHECK(done.error().kind == error_kind::unavailable);
        nothing_happened();
        return false;
    });
    CHECK(failures > 0);
}

}  // namespace

TEST_CASE("a verb of a memory store that runs out of memory changes nothing") {
    memory_store store;
    const auto stored = sample_personal_token("tgu_kept");
    value_of(store.create_personal_token(stored, tokens_max));

    const auto personal = sample_personal_token("tgu_a");
    check_every_shortage([&] { return store.create_personal_token(personal, tokens_max); },
                         [&] {
                             CHECK_FALSE(value_of(store.find_credential(personal_token_key{"tgu_a"})));
                             CHECK(value_of(store.personal_tokens_of(personal.user)).size() == 1);
                             for (std::int64_t id = 2; id < 50; ++id) CHECK_FALSE(value_of(store.revoke(personal_token_revocation{token_id{id}})));
                         });
    CHECK(value_of(store.find_credential(personal_token_key{"tgu_a"})));
    CHECK(value_of(store.personal_tokens_of(personal.user)).size() == 2);
    check_every_shortage([&] { return store.personal_tokens_of(personal.user); }, [] {});

    const auto access = sample_access_token(1);
    check_every_shortage([&] { return store.create_access_token(access); },
                         [&] { CHECK_FALSE(value_of(store.find_credential(access_token_key{access.token_digest}))); });
    CHECK(value_of(store.find_credential(access_token_key{access.token_digest})));

    const auto hook = sample_hook(sample_account());
    for (std::size_t count = 0; count < 6; ++count) {
        check_every_shortage([&] { return store.create_hook(hook, 6); },
                             [&] {
                                 CHECK(value_of(store.hooks_of(hook.account)).size() == count);
                                 std::size_t known = 0;
                                 for (std::int64_t id = 1; id < 100; ++id)
                                     if (value_of(store.account_of_hook(hook.account.service, hook_id{id}))) ++known;
                                 CHECK(known == count);
                             });
        CHECK(value_of(store.hooks_of(hook.account)).size() == count + 1);
    }
    check_every_shortage([&] { return store.hooks_of(hook.account); }, [] {});
}

TEST_CASE("an OAuth verb of a memory store that runs out of memory changes nothing") {
    memory_store store;
    const auto new_row = sample_application("tgi_a");
    check_every_shortage([&] { return store.create_application(new_row, 100); },
                         [&] {
                             CHECK_FALSE(value_of(store.find_application("tgi_a")));
                             CHECK(value_of(store.applications_of(user_id{3})).empty());
                         });
    const auto application = value_of(store.find_application("tgi_a"))->id;
    check_every_shortage([&] { return store.find_application("tgi_a"); }, [] {});
    check_every_shortage([&] { return store.applications_of(user_id{3}); }, [] {});

    // A first code, which creates the grant, and more, which make the grant grow.
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const auto before = value_of(testing::detail::granted_scopes(store, user_id{7}, application));
        auto code = sample_code(seed, application);
        code.scopes = sample_scopes("scope" + std::to_string(seed));
        check_every_shortage([&] { return store.create_code(code); },
                             [&] {
                                 CHECK(value_of(testing::detail::granted_scopes(store, user_id{7}, application)) == before);
                                 CHECK(value_of(store.grants_of(user_id{7})).size() == (before ? 1 : 0));
                                 CHECK(value_of(store.redeem_code(sample_redemption(seed, application))).result ==
                                       redemption_result::unknown);
                             });
        CHECK(value_of(testing::detail::granted_scopes(store, user_id{7}, application))->contains(code.scopes.text()));
    }
    check_every_shortage([&] { return store.grants_of(user_id{7}); }, [] {});

    const auto has_token = [&](std::uint64_t seed) {
        return value_of(store.find_credential(access_token_key{sample_access_digest(seed)})).has_value();
    };
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const auto redemption = sample_redemption(seed, application);
        check_every_shortage([&] { return store.redeem_code(redemption); },
                             [&] {
                                 CHECK_FALSE(has_token(seed));
                                 const auto code = sample_code(seed, application);
                                 CHECK(value_of(store.create_code(code)) == code_result::waiting);
                                 const auto token = sample_refresh(seed, 99, application);
                                 CHECK(value_of(store.refresh_access_token(token)).result == refresh_result::unknown);
                             });
        CHECK(has_token(seed));
        check_every_shortage([&] { return store.refresh_access_token(sample_refresh(seed, 10 + seed, application)); },
                             [&] { CHECK_FALSE(has_token(10 + seed)); });
        CHECK(has_token(10 + seed));
    }

    const auto shown_again = testing::detail::sample_reuse(1, application);
    check_every_shortage([&] { return store.redeem_code(shown_again); }, [&] { CHECK(has_token(11)); });
    const oauth_token_revocation revoked{sample_refresh_digest(2), application};
    check_every_shortage([&] { return store.revoke(revoked); }, [&] { CHECK(has_token(12)); });
    check_every_shortage([&] { return store.record_use(access_token_key{sample_access_digest(3)}, noon, {}); },
                         [&] { CHECK_FALSE(value_of(store.grants_of(user_id{7})).front().last_used_at); });
    const sweep_request expired{.expired_at = noon + seconds{3601}, .rows_max = 100};
    check_every_shortage([&] { return store.sweep(expired); }, [] {});
    for (std::uint64_t seed = 1; seed <= 5; ++seed) CHECK_FALSE(has_token(seed));
    // The application goes first. What belongs to it is removed in steps, and by a sweep if a step fails.
    check_every_shortage([&] { return store.delete_application(user_id{3}, application); }, [] {});
    CHECK_FALSE(value_of(store.find_application("tgi_a")));
    value_of(store.sweep(expired));
    for (std::uint64_t seed = 1; seed <= 15; ++seed) CHECK_FALSE(has_token(seed));
}

TEST_CASE("a session verb of a memory store that runs out of memory changes nothing") {
    memory_store store;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto session = sample_session(seed);
        check_every_shortage([&] { return store.create_session(session); },
                             [&] {
                                 CHECK_FALSE(value_of(store.find_session(sample_session(seed).cookie_digest)));
                                 CHECK(value_of(store.sweep({.sessions = session_ends{noon, noon}, .rows_max = 100})) == 0);
                             });
        CHECK(value_of(store.find_session(sample_session(seed).cookie_digest)));
    }
    const digest first = sample_session(1).cookie_digest;
    check_every_shortage([&] { return store.touch_session(first, noon + seconds{9}); },
                         [&] { CHECK(value_of(store.find_session(first))->last_seen_at == sample_session(1).last_seen_at); });
    check_every_shortage([&] { return store.end_sessions(first); }, [&] { CHECK(value_of(store.find_session(first))); });
    const sweep_request unused{.sessions = session_ends{noon, noon + seconds{5}}, .rows_max = 1};
    check_every_shortage([&] { return store.sweep(unused); }, [&] { CHECK(value_of(store.sessions_of(user_id{7})).size() == 2); });
    check_every_shortage([&] { return store.end_sessions(sessions_of_user{user_id{7}}); },
                         [&] { CHECK(value_of(store.sessions_of(user_id{7})).size() == 1); });
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        CHECK_FALSE(value_of(store.find_session(sample_session(seed).cookie_digest)));
}

TEST_CASE("a change of a webhook that runs out of memory changes nothing") {
    using namespace tollgate::testing::detail;
    const auto account = sample_account();
    const std::string before = "https://one.example/a-path-that-is-longer-than-a-small-string";
    const hook_fields changed{"site.published", "https://two.example/another-path-that-is-longer-than-a-small-string", 100};
    const hook_change change{changed};
    tollgate_test::fail_each_allocation([&](auto short_of_memory) {
        memory_store store;
        const auto hook = listen_at(store, account, before);
        report(store, account);
        const bool done = short_of_memory([&] { return store.change_hook(account, hook, change).has_value(); });
        CHECK(value_of(store.hooks_of(account)).front().target_url == (done ? changed.target_url : before));
        const auto leased = lease_due_at(store, noon);
        REQUIRE(leased.size() == 1);
        CHECK(leased.front().target_url == (done ? changed.target_url : before));
        return done;
    });
}

TEST_CASE("an outbox verb of a memory store that runs out of memory changes nothing") {
    using namespace tollgate::testing::detail;
    using enum delivery_outcome;
    memory_store store;
    const auto account = sample_account();
    const auto hook = listen(store, account), other = listen_at(store, account, "https://other.example/");
    const auto count_of = [&](hook_id of) { return deliveries(store, account, of).size(); };
    const auto reported = sample_event(account);
    for (std::size_t count = 0; count < 5; ++count) {
        check_every_shortage([&] { return store.append_event(reported, sample_seed(count), noon); },
                             [&] {
                                 CHECK(count_of(hook) == count);
                                 CHECK(count_of(other) == count);
                                 CHECK(lease_due_at(store, noon - seconds{1}).empty());
                             });
        CHECK(count_of(other) == count + 1);
    }
    // A new host and hook, which are deleted without having been used.
    const auto unused = sample_account("sitesmaker", 43);
    const auto unused_hook = listen_at(store, unused, "https://unused.example/");
    const auto unused_event = sample_event(unused);
    check_every_shortage([&] { return store.append_event(unused_event, sample_seed(9), noon); },
                         [&] { CHECK(deliveries(store, unused, unused_hook).empty()); });
    value_of(store.delete_hook(unused, unused_hook));

    check_every_shortage([&] { return store.due_hooks(noon, 10); }, [] {});
    const std::vector<lease_request> requests{{hook, 5, 10, noon}, {other, 1, 10, noon}};
    std::optional<result<std::vector<due_delivery>>> leased;
    check_every_shortage([&] {
                             leased.emplace(store.lease(requests, {noon, noon + seconds{30}}));
                             return leased->has_value() ? result<void>{} : result<void>{leased->error()};
                         },
                         [&] {
                             for (const hook_id of : {hook, other})
                                 for (const delivery& each : deliveries(store, account, of))
                                     CHECK(each.next_attempt_at == noon);
                         });
    const auto& due = **leased;
    REQUIRE(due.size() == 6);

    std::vector<attempt_result> ended;
    for (const due_delivery& each : due) ended.push_back(completed(each, ended.empty() ? delivered : retry));
    for (attempt_result& each : ended) each.attempt.response = std::string(100, 'a');
    check_every_shortage([&] { return store.complete(ended, noon); },
                         [&] {
                             for (const hook_id of : {hook, other}) {
                                 CHECK(value_of(testing::detail::attempts_of(store, account, of, 100)).empty());
                                 for (const delivery& each : deliveries(store, account, of)) CHECK(each.attempts_made == 0);
                             }
                         });
    CHECK(value_of(testing::detail::attempts_of(store, account, hook, 100)).size() +
              value_of(testing::detail::attempts_of(store, account, other, 100)).size() ==
          6);
    check_every_shortage([&] { return store.deliveries_of(account, {.hook = hook, .rows_max = 100, .attempts_max = 100}); }, [] {});

    const resend_request first{due[0].lease.delivery};
    check_every_shortage([&] { return store.resend(account, first, noon + seconds{1}); },
                         [&] {
                             const delivery_query query{.hook = hook, .rows_max = 1, .delivery = due[0].lease.delivery};
                             CHECK(value_of(store.deliveries_of(account, query)).front().delivery.state == delivery_state::delivered);
                         });
    const hook_change enabled{hook_enabling{noon}};
    check_every_shortage([&] { return store.change_hook(account, other, enabled); }, [] {});
    const sweep_request ended_before{.deliveries_ended_before = noon + seconds{60}, .rows_max = 100};
    check_every_shortage([&] { return store.sweep(ended_before); }, [&] { CHECK(count_of(hook) == 5); });
    for (const hook_id each : {hook, other})
        check_every_shortage([&] { return store.delete_hook(account, each); },
                             [&] { CHECK(value_of(store.account_of_hook(account.service, each))); });
    CHECK(lease_due_at(store, noon + seconds{86'400}).empty());
}

#endif
