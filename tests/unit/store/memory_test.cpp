#include <tollgate/store/memory.hpp>
#include <tollgate/store/memory_tokens.hpp>

#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/run_store_suite.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <type_traits>

using namespace tollgate;
using namespace tollgate::testing;

namespace {

/// Another seed for each event: with the same seed it would be the same event.
message_seed next_seed() {
    static std::uint64_t last = 0;
    return tollgate::testing::detail::sample_seed(++last);
}

}  // namespace

TEST_CASE("the memory store passes the store suite") {
    tollgate_test::run_store_suite([] { return memory_store{}; });
}

TEST_CASE("a look-up in a memory store never fails while other threads change the credential") {
    memory_store store;
    const auto personal = sample_personal_token("tgu_a");
    const auto access = sample_access_token(1);
    std::atomic<bool> is_changing = true;
    std::atomic<int> found = 0, missing = 0, failed = 0;
    const auto look_up = [&](const credential_key& named) {
        const auto credential = store.find_credential(named);
        ++(!credential ? failed : *credential ? found : missing);
    };
    std::thread reader{[&] {
        while (is_changing) {
            look_up(personal_token_key{"tgu_a"});
            look_up(access_token_key{access.token_digest});
        }
    }};
    for (int i = 0; i < 200 || found == 0 || missing == 0; ++i) {
        const auto id = value_of(store.create_personal_token(personal, tokens_max));
        value_of(store.create_access_token(access));
        value_of(store.record_use(personal_token_key{"tgu_a"}, noon, "192.0.2.0/24"));
        std::this_thread::yield();
        CHECK(value_of(store.revoke(personal_token_revocation{id})));
        CHECK(value_of(store.revoke(oauth_token_revocation{access.token_digest})));
        std::this_thread::yield();
    }
    is_changing = false;
    reader.join();
    CHECK(failed == 0);
}

TEST_CASE("the memory store of tokens passes the store suite") {
    tollgate_test::run_store_suite([] { return memory_token_store{}; });
}

TEST_CASE("the memory store of tokens has no access tokens") {
    memory_token_store store;
    CHECK_FALSE(value_of(store.find_credential(access_token_key{sample_access_token(1).token_digest})));
    value_of(store.record_use(access_token_key{sample_access_token(1).token_digest}, sample_access_token(1).created_at, {}));
    CHECK_FALSE(value_of(store.find_credential(access_token_key{sample_access_token(1).token_digest})));
}

// Its own functions for access tokens would be hidden.
static_assert(!std::is_convertible_v<memory_store&, memory_token_store&>);

TEST_CASE("a full memory store refuses more rows and names the setting") {
    memory_settings settings;
    settings.personal_tokens_max = settings.access_tokens_max = settings.hooks_max = 2;
    memory_store store{settings};

    const auto first = value_of(store.create_personal_token(sample_personal_token("tgu_1"), tokens_max));
    value_of(store.create_personal_token(sample_personal_token("tgu_2"), tokens_max));
    auto refused = store.create_personal_token(sample_personal_token("tgu_3"), tokens_max);
    expect_error(refused, error_kind::unavailable);
    CHECK_THAT(refused.error().cause, Catch::Contains("memory_settings::personal_tokens_max"));
    expect_error(store.create_personal_token(sample_personal_token("tgu_2", user_id{99}), tokens_max), error_kind::conflict);
    value_of(store.revoke(personal_token_revocation{first}));
    value_of(store.create_personal_token(sample_personal_token("tgu_3"), tokens_max));

    value_of(store.create_access_token(sample_access_token(1)));
    expect_error(store.create_access_token(sample_access_token(1, user_id{99})), error_kind::conflict);
    value_of(store.create_access_token(sample_access_token(2, user_id{8})));
    auto refused_access = store.create_access_token(sample_access_token(3));
    expect_error(refused_access, error_kind::unavailable);
    CHECK_THAT(refused_access.error().cause, Catch::Contains("memory_settings::access_tokens_max"));
    value_of(store.revoke(oauth_token_revocation{sample_access_token(1).token_digest}));
    value_of(store.create_access_token(sample_access_token(3)));

    const auto account = sample_account();
    const auto hook = value_of(store.create_hook(sample_hook(account), 20));
    value_of(store.create_hook(sample_hook(sample_account("itemplatform")), 20));
    auto refused_hook = store.create_hook(sample_hook(account), 20);
    expect_error(refused_hook, error_kind::unavailable);
    CHECK_THAT(refused_hook.error().cause, Catch::Contains("memory_settings::hooks_max"));
    value_of(store.delete_hook(account, hook));
    value_of(store.create_hook(sample_hook(account), 20));
}

TEST_CASE("a full memory store refuses more OAuth rows and sessions and names the setting") {
    memory_settings settings;
    settings.applications_max = settings.grants_max = settings.codes_max = settings.refresh_tokens_max = 2;
    settings.sessions_max = 2;
    memory_store store{settings};
    const auto expect_full = [](const auto& result, const std::string& setting) {
        expect_error(result, error_kind::unavailable);
        CHECK_THAT(result.error().cause, Catch::EndsWith("(memory_settings::" + setting + ")."));
    };

    const auto application = value_of(store.create_application(sample_application("tgi_a"), 100));
    const auto other = value_of(store.create_application(sample_application("tgi_b"), 100));
    expect_full(store.create_application(sample_application("tgi_c"), 100), "applications_max");
    CHECK_FALSE(value_of(store.find_application("tgi_c")));

    value_of(store.create_code(sample_code(1, application)));
    value_of(store.create_code(sample_code(2, application, user_id{8})));
    expect_full(store.create_code(sample_code(3, application)), "codes_max");
    auto later = sample_code(3, application);
    later.created_at = noon + seconds{60};
    later.expires_at = noon + seconds{120};
    CHECK(value_of(store.create_code(later)) == code_result::created);  // expired rows are removed first
    value_of(store.create_code(sample_code(2, application, user_id{8})));

    for (const int user : {7, 8}) value_of(store.revoke(grant_revocation{user_id{user}, application}));
    value_of(store.create_code(sample_code(4, application, user_id{8})));
    value_of(store.create_code(sample_code(5, application, user_id{9})));
    value_of(store.redeem_code(sample_redemption(4, application)));
    value_of(store.redeem_code(sample_redemption(5, application)));
    value_of(store.sweep({.expired_at = noon + seconds{2 * 3600}, .rows_max = 100}));
    expect_full(store.create_code(sample_code(6, application)), "grants_max");
    CHECK_FALSE(value_of(testing::detail::granted_scopes(store, user_id{7}, application)));
    value_of(store.create_code(sample_code(7, application, user_id{8})));
    expect_full(store.redeem_code(sample_redemption(7, application)), "refresh_tokens_max");
    CHECK(value_of(store.create_code(sample_code(7, application, user_id{8}))) == code_result::waiting);
    value_of(store.revoke(oauth_token_revocation{sample_refresh_digest(4), application}));
    CHECK(value_of(store.redeem_code(sample_redemption(7, application))).result == redemption_result::redeemed);
    value_of(store.delete_application(user_id{3}, other));
    value_of(store.create_application(sample_application("tgi_c"), 100));

    value_of(store.create_session(sample_session(1)));
    value_of(store.create_session(sample_session(2)));
    expect_full(store.create_session(sample_session(3)), "sessions_max");
    expect_error(store.create_session(sample_session(2, user_id{99})), error_kind::conflict);
    value_of(store.end_sessions(sample_session(1).cookie_digest));
    value_of(store.create_session(sample_session(3)));
}

TEST_CASE("one application cannot fill a memory store with device codes") {
    memory_settings settings;
    settings.device_codes_max = 4;
    memory_store store{settings};
    const auto busy = value_of(store.create_application(sample_application("tgi_a"), 100));
    const auto other = value_of(store.create_application(sample_application("tgi_b"), 100));
    const auto code = [](std::uint64_t number, application_id of) {
        return new_device_code{.device_digest = digest_of("device " + std::to_string(number)),
                               .user_digest = digest_of("user " + std::to_string(number)),
                               .application = of,
                               .scopes = {},
                               .requested_from = "192.0.2.1",
                               .created_at = noon,
                               .expires_at = noon + seconds{600}};
    };
    const auto exists = [&](std::uint64_t number) {
        return value_of(store.find_device_code(digest_of("user " + std::to_string(number)))).has_value();
    };
    for (std::uint64_t number = 1; number <= 5; ++number) value_of(store.create_device_code(code(number, busy)));
    CHECK_FALSE(exists(1));  // its own oldest was replaced
    CHECK(exists(5));
    value_of(store.create_device_code(code(6, other)));
    CHECK_FALSE(exists(2));
    CHECK(exists(6));

    // If each application has one, none is taken away.
    settings.device_codes_max = 2;
    memory_store small{settings};
    for (std::uint64_t number = 1; number <= 2; ++number)
        value_of(small.create_device_code(code(number, value_of(small.create_application(sample_application("tgi_" + std::to_string(number)), 100)))));
    const auto third = value_of(small.create_application(sample_application("tgi_3"), 100));
    expect_error(small.create_device_code(code(3, third)), error_kind::unavailable);
}

TEST_CASE("one user may have a quarter of a memory store's codes, access and refresh tokens") {
    memory_settings settings;
    settings.access_tokens_max = settings.codes_max = settings.refresh_tokens_max = 8;
    memory_store store{settings};
    const auto expect_share = [](const auto& result, const std::string& rows, const std::string& setting) {
        expect_error(result, error_kind::unavailable);
        CHECK(result.error().cause == "The memory store holds 2 " + rows +
                                         " of one user, the maximum (a quarter of memory_settings::" + setting + ").");
    };
    // Of different applications, because the bounds of one grant differ.
    std::vector<application_id> applications;
    for (const char* each : {"tgi_a", "tgi_b", "tgi_c"})
        applications.push_back(value_of(store.create_application(sample_application(each), 100)));
    const user_id other{8};

    for (std::uint64_t i = 0; i < 2; ++i) value_of(store.create_code(sample_code(i, applications[i])));
    expect_share(store.create_code(sample_code(2, applications[2])), "codes", "codes_max");
    value_of(store.create_code(sample_code(3, applications[0], other)));
    auto later = sample_code(2, applications[2]);
    later.created_at = noon + seconds{60};
    later.expires_at = noon + seconds{120};
    CHECK(value_of(store.create_code(later)) == code_result::created);  // expired rows are removed first

    for (const int user : {7, 8}) for (const auto each : applications) value_of(store.revoke(grant_revocation{user_id{user}, each}));
    for (std::uint64_t i = 0; i < 2; ++i) {
        value_of(store.create_code(sample_code(10 + i, applications[i])));
        value_of(store.redeem_code(sample_redemption(10 + i, applications[i])));
        value_of(store.revoke(oauth_token_revocation{sample_access_digest(10 + i)}));
    }
    value_of(store.sweep({.expired_at = noon + seconds{2 * 3600}, .rows_max = 100}));
    value_of(store.create_code(sample_code(12, applications[2])));
    expect_share(store.redeem_code(sample_redemption(12, applications[2])), "refresh tokens", "refresh_tokens_max");
    value_of(store.create_code(sample_code(13, applications[2], other)));
    CHECK(value_of(store.redeem_code(sample_redemption(13, applications[2]))).result == redemption_result::redeemed);

    for (std::uint64_t i = 0; i < 2; ++i)
        value_of(store.refresh_access_token(sample_refresh(10 + i, 20 + i, applications[i])));
    expect_share(store.refresh_access_token(sample_refresh(10, 22, applications[0])), "access tokens", "access_tokens_max");
    value_of(store.refresh_access_token(sample_refresh(13, 23, applications[2])));
    value_of(store.revoke(oauth_token_revocation{sample_access_digest(20), applications[0]}));
    value_of(store.refresh_access_token(sample_refresh(10, 22, applications[0])));
    expect_share(store.refresh_access_token(sample_refresh(10, 24, applications[0])), "access tokens", "access_tokens_max");
    value_of(store.revoke(oauth_token_revocation{sample_refresh_digest(11), applications[1]}));  // and its access token
    value_of(store.refresh_access_token(sample_refresh(10, 24, applications[0])));
    expect_error(store.refresh_access_token(sample_refresh(10, 25, applications[0])), error_kind::unavailable);
    value_of(store.revoke(grant_revocation{user_id{7}, applications[0]}));
    for (std::uint64_t i = 30; i < 32; ++i) value_of(store.create_access_token(sample_access_token(i)));
    expect_share(store.create_access_token(sample_access_token(32)), "access tokens", "access_tokens_max");
}

TEST_CASE("a user at the bound still replaces codes and refresh tokens of a full grant, and expired access tokens") {
    memory_settings settings;
    settings.codes_max = 4 * limits::codes_per_grant_max;
    settings.refresh_tokens_max = 4 * limits::refresh_tokens_per_grant_max;
    settings.access_tokens_max = 4 * limits::access_tokens_per_grant_max;
    memory_store store{settings};
    const auto application = value_of(store.create_application(sample_application("tgi_a"), 100));
    const auto other = value_of(store.create_application(sample_application("tgi_b"), 100));
    for (std::uint64_t seed = 0; seed < limits::codes_per_grant_max + 2; ++seed) {
        value_of(store.create_code(sample_code(seed, application)));
        value_of(store.redeem_code(sample_redemption(seed, application)));
    }
    expect_error(store.create_code(sample_code(1000, other)), error_kind::unavailable);
    for (std::uint64_t seed = limits::codes_per_grant_max + 2; seed < limits::access_tokens_per_grant_max; ++seed)
        value_of(store.refresh_access_token(sample_refresh(50, 10'000 + seed, application)));
    expect_error(store.refresh_access_token(sample_refresh(50, 20'000, application)), error_kind::too_many_requests);
    auto late = sample_refresh(50, 20'000, application);
    late.now = noon + seconds{3600};
    value_of(store.refresh_access_token(late));
    auto another = sample_access_token(1);
    another.application = other;
    expect_error(store.create_access_token(another), error_kind::unavailable);
}

TEST_CASE("in a full memory store expired access tokens are removed first") {
    memory_settings settings;
    settings.access_tokens_max = 1;
    memory_store store{settings};
    value_of(store.create_access_token(sample_access_token(1)));
    auto next = sample_access_token(2);
    next.created_at = noon + seconds{3600} - milliseconds{1};
    expect_error(store.create_access_token(next), error_kind::unavailable);
    next.created_at = noon + seconds{3600};
    value_of(store.create_access_token(next));
    CHECK_FALSE(value_of(store.find_credential(access_token_key{sample_access_token(1).token_digest})));
}

TEST_CASE("the outbox of a memory store is bounded in bytes; ended deliveries are removed, waiting ones are not") {
    using namespace tollgate::testing::detail;
    memory_settings settings;
    settings.outbox_bytes_max = 80'000;
    memory_store store{settings};
    std::vector<std::pair<account_ref, hook_id>> all;
    for (int i = 0; i < 8; ++i) {
        const auto account = sample_account("sitesmaker", i + 1);
        all.emplace_back(account, listen_at(store, account, "https://" + std::to_string(i) + ".example/"));
    }
    std::size_t next = 0;
    const auto append = [&] {
        return store.append_event(sample_event(all[next++ % all.size()].first), next_seed(), noon);
    };
    const auto stored = [&] {
        std::vector<delivery> found;
        for (const auto& [account, hook] : all)
            for (const delivery& each : deliveries(store, account, hook)) found.push_back(each);
        return found;
    };
    std::size_t capacity = 0;
    while (append()) REQUIRE(++capacity < 1000);
    CHECK(capacity > 40);
    const auto refused = append();
    expect_error(refused, error_kind::unavailable);
    CHECK_THAT(refused.error().cause, Catch::EndsWith("(memory_settings::outbox_bytes_max)."));
    CHECK(stored().size() == capacity);

    // There is no capacity for responses either, but the attempt is recorded.
    const auto leased = lease_due_at(store, noon);
    REQUIRE(leased.size() == capacity);
    auto retried = completed(leased[0], delivery_outcome::retry);
    retried.attempt.response.assign(4096, 'a');
    expect_completed(store, retried, completion::done);
    const auto account_of = [&](const due_delivery& each) { return each.event->account; };
    const auto attempts = value_of(testing::detail::attempts_of(store, account_of(leased[0]), leased[0].hook, 10));
    REQUIRE(attempts.size() == 1);
    CHECK(attempts[0].attempt.status == 503);
    CHECK(attempts[0].attempt.response.empty());
    expect_error(append(), error_kind::unavailable);

    for (std::size_t i = 1; i < 6; ++i)
        expect_completed(store, completed(leased.at(i), delivery_outcome::delivered), completion::done,
                       noon + seconds{static_cast<int>(i)});
    CHECK(value_of(append()) == 1);
    const auto left = stored();
    CHECK(left.size() < capacity + 1);
    for (const delivery& each : left) CHECK(each.id != leased[1].lease.delivery);  // the first that ended was removed first
    for (auto& [account, hook] : all) value_of(store.delete_hook(account, hook));
    for (auto& [account, hook] : all)
        hook = listen_at(store, account, "https://" + std::to_string(account.account.value()) + ".example/");
    for (std::size_t i = 0; i < capacity; ++i) value_of(append());  // the whole capacity is available again
    expect_error(append(), error_kind::unavailable);
}

TEST_CASE("a single account cannot fill the outbox of a memory store with what it sends again") {
    using namespace tollgate::testing::detail;
    memory_settings settings;
    settings.outbox_bytes_max = 80'000;
    memory_store store{settings};
    const auto one = sample_account("sitesmaker", 1), other = sample_account("sitesmaker", 2);
    const auto hook = listen_at(store, one, "https://one.example/");
    listen_at(store, other, "https://other.example/");
    const auto append = [&](const account_ref& account) { return store.append_event(sample_event(account), next_seed(), noon); };
    std::size_t share = 0;
    std::optional<delivery_id> last;
    for (int round = 0; round < 10; ++round) {  // given up each time: together they fill the whole outbox
        share = 0;
        while (append(one)) REQUIRE(++share < 1000);
        auto terms = sample_terms(noon);
        terms.deliveries_max = terms.host_leases_max = 1000;
        for (const due_delivery& each : lease_due(store, terms)) {
            expect_completed(store, completed(each, delivery_outcome::given_up), completion::done, noon);
            last = each.lease.delivery;
        }
    }
    const auto again = store.resend(one, given_up_deliveries{hook, noon, 1000}, noon);
    REQUIRE(again);
    CHECK(*again > 0);
    CHECK(*again <= share);
    expect_error(store.resend(one, given_up_deliveries{hook, noon, 1000}, noon), error_kind::unavailable);
    std::size_t of_other = 0;
    while (append(other)) REQUIRE(++of_other < 1000);
    CHECK(of_other >= share - 1);
}

TEST_CASE("a single account or host cannot fill the outbox of a memory store") {
    using namespace tollgate::testing::detail;
    memory_settings settings;
    settings.outbox_bytes_max = 80'000;
    memory_store store{settings};
    const auto append = [&](std::int64_t account) {
        return store.append_event(sample_event(sample_account("sitesmaker", account)), next_seed(), noon);
    };
    const auto fill = [&](std::int64_t account) {
        std::size_t count = 0;
        while (append(account)) REQUIRE(++count < 1000);
        const auto refused = append(account);
        expect_error(refused, error_kind::unavailable);
        CHECK_THAT(refused.error().cause,
                   Catch::EndsWith("(a quarter of memory_settings::outbox_bytes_max)."));
        return count;
    };
    // One account, with a different host for each hook.
    const auto account = sample_account("sitesmaker", 1);
    for (int i = 0; i < 3; ++i) listen_at(store, account, "https://" + std::to_string(i) + ".example/");
    CHECK(fill(1) > 5);
    // Three accounts that share a host.
    for (int i = 2; i < 5; ++i) listen_at(store, sample_account("sitesmaker", i), "https://dead.example/");
    const auto of_host = fill(2);
    CHECK(of_host > 15);
    expect_error(append(3), error_kind::unavailable);
    // An event of theirs for another host, too, is accepted: only the delivery to the full host is given up and recorded.
    const auto shared = sample_account("sitesmaker", 3);
    const auto at_full_host = value_of(store.hooks_of(shared)).at(0).id;
    const auto at_other_host = listen_at(store, shared, "https://healthy.example/");
    CHECK(value_of(append(3)) == 1);
    expect_state(store, shared, at_other_host, delivery_state::waiting);
    const auto given_up = deliveries(store, shared, at_full_host).at(0);
    CHECK(given_up.state == delivery_state::given_up);
    CHECK(given_up.attempts_made == 0);
    CHECK_FALSE(given_up.next_attempt_at);
    value_of(store.delete_hook(shared, at_other_host));
    const auto other = sample_account("sitesmaker", 9);
    const auto unaffected = listen_at(store, other, "https://lucky.example/");
    CHECK(value_of(append(9)) == 1);

    // A delivery that is delivered or given up frees capacity, a resend uses it; a deleted host frees all of it.
    std::vector<due_delivery> dead;
    for (due_delivery& each : lease_due_at(store, noon))
        if (each.target_url == "https://dead.example/") dead.push_back(std::move(each));
    REQUIRE(dead.size() == of_host);
    expect_completed(store, completed(dead[0], delivery_outcome::given_up), completion::done);
    CHECK(value_of(append(4)) == 1);
    expect_error(append(4), error_kind::unavailable);
    CHECK(value_of(store.resend(sample_account("sitesmaker", 2), dead[0].lease.delivery, noon)));
    expect_completed(store, completed(dead[1], delivery_outcome::given_up), completion::done);
    expect_error(append(4), error_kind::unavailable);
    expect_completed(store, completed(dead[2], delivery_outcome::gone), completion::hook_disabled);  // and its other deliveries are held
    CHECK(value_of(append(4)) == 1);
    expect_error(append(4), error_kind::unavailable);
    value_of(store.delete_hook(sample_account("sitesmaker", 2), dead[0].hook));
    for (std::size_t i = 0; i + 2 < of_host; ++i) CHECK(value_of(append(4)) == 1);
    CHECK(value_of(append(9)) == 1);
    CHECK(deliveries(store, other, unaffected).size() == 2);
}

TEST_CASE("a memory store reports the time of its oldest due delivery, also beyond the bound of the count") {
    using namespace tollgate::testing::detail;
    memory_store store;
    const auto account = sample_account(), other = sample_account("sitesmaker", 43);
    const auto hook = listen_at(store, account, "https://one.example/");
    listen_at(store, other, "https://two.example/");
    report(store, account, 2);
    report(store, other, 1, noon + seconds{5});
    const auto terms = sample_terms(noon + seconds{10});
    REQUIRE(lease_of(store, {hook, 1, 4, terms.now}, terms).size() == 1);  // and so its hook is queued behind the other one
    for (const std::size_t rows_max : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
        const auto backlog = value_of(store.backlog(terms.now, rows_max));
        CHECK(backlog.due == (std::min)(rows_max, std::size_t{2}));
        CHECK(backlog.due_since == noon);
    }
}

TEST_CASE("a deleted hook with a large backlog is removed at once, and its backlog in steps") {
    using namespace tollgate::testing::detail;
    memory_store store;
    const auto account = sample_account(), other = sample_account("sitesmaker", 43);
    const auto busy = listen(store, account);
    const auto other_hook = listen(store, other);  // at the same host
    report(store, account, 4500);
    auto terms = sample_terms(noon);
    terms.host_leases_max = 8;
    const auto leased = lease_due(store, terms);
    REQUIRE(leased.size() == 8);
    report(store, other, 1, noon + seconds{1});
    CHECK(value_of(store.delete_hook(account, busy)));
    CHECK(deliveries(store, account, busy).empty());
    CHECK(value_of(testing::detail::attempts_of(store, account, busy, 10)).empty());
    CHECK_FALSE(value_of(store.resend(account, leased[0].lease.delivery, noon)));
    CHECK(complete_one(store, completed(leased[0], delivery_outcome::retry)) == completion::too_late);
    terms.now += seconds{1};
    CHECK(due_hook_ids(store, terms.now) == std::vector{other_hook});
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) == 1000);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) == 1000);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) == 1000);
    const auto due = lease_due(store, terms);
    REQUIRE(due.size() == 1);
    CHECK(due[0].hook == other_hook);
    expect_completed(store, completed(due[0], delivery_outcome::delivered), completion::done);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) == 1000);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) < 1000);
    CHECK(value_of(store.sweep({.deliveries_ended_before = noon, .rows_max = 1000})) == 0);
    CHECK_FALSE(value_of(store.due_hooks(noon + seconds{600}, 10)).next_at);
    CHECK(deliveries(store, other, other_hook).size() == 1);
}
