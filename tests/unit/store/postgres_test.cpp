#include <tollgate/store/postgres.hpp>

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/store/detail/postgres/migrations.hpp>
#include <tollgate/store/detail/postgres/schema.hpp>
#include <tollgate/store/detail/sql/history_trim.hpp>
#include <tollgate/store/postgres_database.hpp>
#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/child_process.hpp>
#include <support/eventually.hpp>
#include <support/own_connection.hpp>
#include <support/postgres_server.hpp>
#include <support/store_processes.hpp>
#include <support/tcp_proxy.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;
using tollgate_test::child_process;
using tollgate_test::number_pipe;
using tollgate_test::postgres_server;
using tollgate_test::tcp_proxy;

static_assert(postgres_store::blocking);
static_assert(std::is_nothrow_move_constructible_v<postgres_store> &&
              std::is_nothrow_move_assignable_v<postgres_store>);

namespace {

/// The part of a connection string that follows the host, to connect through a proxy.
std::string schema_of(const std::string& connection_string) {
    return connection_string.substr(connection_string.find("options="));
}

template <class T>
error_kind kind_of(const result<T>& outcome) {
    REQUIRE_FALSE(outcome);
    return outcome.error().kind;
}

}  // namespace

TEST_CASE("a PostgreSQL store that cannot be opened reports why, by exception or result") {
    const std::string nowhere = "host=/nowhere/at/all user=postgres password=hunter2";
    CHECK_THROWS_WITH(postgres_store{nowhere}, Catch::Contains("/nowhere/at/all") && !Catch::Contains("hunter2"));
    CHECK_THROWS_AS(postgres_store{"nonsense"}, store_error);
    CHECK(kind_of(postgres_store::open(nowhere)) == error_kind::unavailable);
    CHECK(kind_of(postgres_store::open("nonsense")) == error_kind::invalid);
}

TEST_CASE("a PostgreSQL store can be moved and move-assigned") {
    auto& server = postgres_server::shared();
    postgres_store store{server.new_schema()};
    value_of(store.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
    postgres_store moved{std::move(store)};
    CHECK(value_of(moved.find_credential(personal_token_key{"tgu_a"})));
    moved = postgres_store{server.new_schema()};
    CHECK_FALSE(value_of(moved.find_credential(personal_token_key{"tgu_a"})));
}

TEST_CASE("stores in two schemas of one database are independent") {
    auto& server = postgres_server::shared();
    postgres_store one{server.new_schema()}, other{server.new_schema()};
    value_of(one.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
    CHECK_FALSE(value_of(other.find_credential(personal_token_key{"tgu_a"})));
}

TEST_CASE("every verb of a request takes one round trip, or two if it decides by what it reads, from its first use") {
    auto& server = postgres_server::shared();
    tcp_proxy proxy{server.socket_path()};
    postgres_settings settings;
    settings.connections_max = 1;
    postgres_store store{proxy.connection_string(schema_of(server.new_schema())), settings};
    const auto turns_of = [&](const std::function<void()>& verb) {
        const auto before = proxy.round_trips();
        verb();
        return proxy.round_trips() - before;
    };
    const auto account = sample_account();
    std::optional<token_id> token;
    std::optional<hook_id> hook, unused;
    std::optional<application_id> application;
    std::uint64_t seed = 0;
    struct row {
        const char* name;
        std::function<void()> verb;
        bool has_statement_after = false;
        std::size_t round_trips_max = 1;
    };
    const std::vector<row> verbs{
        {"create_personal_token",
         [&] {
             token = value_of(store.create_personal_token(sample_personal_token("tgu_" + std::to_string(++seed)), 100));
         }},
        {"find_personal_token", [&] { value_of(store.find_credential(personal_token_key{"tgu_1"})); }},
        {"personal_tokens_of", [&] { value_of(store.personal_tokens_of(user_id{7})); }},
        {"record_personal_token_use", [&] { value_of(store.record_use(personal_token_key{"tgu_1"}, noon, "192.0.2.0/24")); }},
        {"revoke_personal_token", [&] { value_of(store.revoke(personal_token_revocation{*token})); }},
        {"create_access_token", [&] { value_of(store.create_access_token(sample_access_token(++seed))); }, false, 2},
        {"find_access_token", [&] { value_of(store.find_credential(access_token_key{sample_digest(seed)})); }},
        {"record_access_token_use", [&] { value_of(store.record_use(access_token_key{sample_digest(seed)}, noon, {})); }},
        {"revoke_access_token", [&] { value_of(store.revoke(oauth_token_revocation{sample_digest(seed)})); }},
        {"create_hook", [&] { hook = value_of(store.create_hook(sample_hook(account), 100)); }},
        {"create_hook that nothing is sent to",
         [&] { unused = value_of(store.create_hook(sample_hook(sample_account("sitesmaker", 43)), 100)); }},
        {"hooks_of", [&] { value_of(store.hooks_of(account)); }},
        {"account_of_hook", [&] { value_of(store.account_of_hook(account.service, *hook)); }},
        {"replace_hook_secret", [&] { value_of(store.change_hook(account, *hook, hook_secret_replacement{"whsec_eA==", noon})); }},
        {"append_event", [&] { value_of(store.append_event(sample_event(account), sample_seed(++seed), noon)); }, true},
        {"deliveries_of", [&] { value_of(testing::detail::deliveries_of(store, account, *hook, 10, std::nullopt)); }},
        {"attempts_of", [&] { value_of(testing::detail::attempts_of(store, account, *hook, 10, std::nullopt)); }},
        {"resend", [&] { value_of(store.resend(account, delivery_id{1}, noon)); }, true},
        {"enable_hook", [&] { value_of(store.change_hook(account, *hook, hook_enabling{noon})); }, true},
        {"delete_hook",
         [&] {
             CHECK(value_of(store.delete_hook(sample_account("sitesmaker", 43), *unused)));
             unused.reset();
         }},
        {"create_application",
         [&] {
             application = value_of(store.create_application(sample_application("tgi_" + std::to_string(++seed)), 100));
         }},
        {"find_application", [&] { value_of(store.find_application("tgi_1")); }},
        {"applications_of", [&] { value_of(store.applications_of(user_id{3})); }},
        {"add_client_secret", [&] { value_of(store.change_application(user_id{3}, *application, client_secret_addition{digest{}})); }},
        {"remove_older_secret", [&] { value_of(store.change_application(user_id{3}, *application, older_secret_removal{})); }},
        {"set_suspension", [&] { value_of(store.change_application({}, *application, suspension_change{std::nullopt})); }},
        {"update_application",
         [&] { value_of(store.change_application(user_id{3}, *application, application_fields{"n", "w", "d", {}, true})); }},
        {"create_owner_token",
         [&] {
             value_of(store.create_access_token({user_id{3}, *application, sample_digest(++seed), sample_scopes("a"), noon, noon + seconds{60}, true}));
         },
         false, 2},
        {"create_device_code", [&] { value_of(store.create_device_code(sample_device_code(++seed, *application))); }},
        {"find_device_code",
         [&] { value_of(store.find_device_code(sample_device_code(seed, *application).user_digest)); }},
        {"answer_device_code", [&] { value_of(store.answer_device_code(sample_decision(seed, device_code_state::denied))); }, false, 2},
        {"find_oauth_token", [&] { value_of(store.find_oauth_token(sample_access_digest(seed))); }},
        {"create_code", [&] { value_of(store.create_code(sample_code(++seed, *application))); }, false, 2},
        {"granted_scopes", [&] { value_of(granted_scopes(store, user_id{7}, *application)); }},
        {"redeem_code",
         [&] { expect_redemption(store, sample_redemption(seed, *application), redemption_result::redeemed); }, false, 2},
        {"redeem_code again",
         [&] { expect_redemption(store, sample_redemption(seed, *application), redemption_result::reused); }, false, 2},
        {"refresh_access_token",
         [&] { value_of(store.refresh_access_token(sample_refresh(seed, 1000 + seed, *application))); }, false, 2},
        {"revoke_oauth_token", [&] { value_of(store.revoke(oauth_token_revocation{sample_refresh_digest(seed), *application})); }},
        {"grants_of", [&] { value_of(store.grants_of(user_id{7})); }},
        {"revoke_grant", [&] { value_of(store.revoke(grant_revocation{user_id{7}, *application})); }},
        {"delete_application", [&] { value_of(store.delete_application(user_id{3}, *application)); }},
        {"sweep_expired", [&] { value_of(store.sweep({.expired_at = noon, .rows_max = 10})); }},
        {"create_session", [&] { value_of(store.create_session(sample_session(++seed))); }},
        {"find_session", [&] { value_of(store.find_session(sample_session(seed).cookie_digest)); }},
        {"touch_session", [&] { value_of(store.touch_session(sample_session(seed).cookie_digest, noon)); }},
        {"end_session", [&] { value_of(store.end_sessions(sample_session(seed).cookie_digest)); }},
        {"end_sessions_of", [&] { value_of(store.end_sessions(sessions_of_user{user_id{7}})); }},
        {"sweep_sessions", [&] { value_of(store.sweep({.sessions = session_ends{noon, noon}, .rows_max = 10})); }},
    };
    value_of(store.find_credential(personal_token_key{"tgu_0"}));  // by now the connections that created the tables are closed
    for (int time = 0; time < 2; ++time)
        for (const row& each : verbs) {
            CAPTURE(each.name, time);
            proxy.merge_client_writes(each.has_statement_after);  // the server may already have responded to the other statements
            CHECK(turns_of(each.verb) <= each.round_trips_max);
        }
    proxy.merge_client_writes(true);

    listen(store, account);
    report(store, account, 20);
    std::vector<lease_request> requests;
    CHECK(turns_of([&] {
        for (const due_hook& each : value_of(store.due_hooks(noon, 100)).hooks) requests.push_back({each.hook, 100, 100, noon});
    }) == 1);
    std::vector<due_delivery> leased;
    CHECK(turns_of([&] { leased = value_of(store.lease(requests, {noon, noon + seconds{60}})); }) == 1);
    REQUIRE(leased.size() >= 20);
    CHECK(turns_of([&] { expect_none_due(store, noon); }) == 1);
    std::vector<attempt_result> ended;
    bool trims = false;
    for (const due_delivery& each : leased) {
        ended.push_back(completed(each, delivery_outcome::delivered));
        trims |= sql::trims_history(each.lease.delivery, delivery_state::delivered);
    }
    CHECK(turns_of([&] { value_of(store.complete(ended, noon)); }) == (trims ? 4 : 2));
    CHECK(turns_of([&] { CHECK(value_of(store.sweep({.deliveries_ended_before = noon + seconds{1}, .rows_max = 100})) == leased.size()); }) == 3);
    CHECK(turns_of([&] { CHECK(value_of(store.sweep({.deliveries_ended_before = noon + seconds{1}, .rows_max = 100})) == 0); }) == 1);
}

TEST_CASE("while the server is down every verb fails at once, and afterwards all data is present") {
    postgres_server server;
    const auto schema = server.new_schema();
    postgres_store store{schema};
    const auto account = sample_account();
    value_of(store.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
    listen(store, account);
    report(store, account);
    server.stop();
    CHECK(kind_of(store.find_credential(personal_token_key{"tgu_a"})) == error_kind::unavailable);
    CHECK(kind_of(store.create_personal_token(sample_personal_token("tgu_b"), tokens_max)) ==
          error_kind::unavailable);
    CHECK(kind_of(store.append_event(sample_event(account), sample_seed(1), noon)) == error_kind::unavailable);
    CHECK(kind_of(store.due_hooks(noon, 10)) == error_kind::unavailable);
    const lease_request request{hook_id{1}, 1, 1, noon};
    CHECK(kind_of(store.lease({&request, 1}, {noon, noon + seconds{30}})) == error_kind::unavailable);
    const attempt_result ended{.lease = {delivery_id{1}, 1}, .attempt = {.at = noon}};
    CHECK(kind_of(store.complete({&ended, 1}, noon)) == error_kind::unavailable);
    CHECK(kind_of(store.sweep({.expired_at = noon, .rows_max = 9})) == error_kind::unavailable);
    CHECK(kind_of(postgres_store::open(schema)) == error_kind::unavailable);
    server.start();
    REQUIRE(tollgate_test::eventually([&] { return store.find_credential(personal_token_key{"tgu_a"}).has_value(); }));
    CHECK(value_of(store.find_credential(personal_token_key{"tgu_a"})));
    CHECK_FALSE(value_of(store.find_credential(personal_token_key{"tgu_b"})));
    CHECK(lease_due_at(store, noon).size() == 1);
}

TEST_CASE("acknowledged changes survive killing the server and the node") {
    postgres_server server{postgres_server::disk::waited_for};
    const auto schema = server.new_schema();
    { postgres_store created{schema}; }
    std::set<std::int64_t> acknowledged;
    for (int round = 0; round < 4; ++round) {
        number_pipe ids;
        child_process node{[&] {
            ids.close_reading();
            postgres_store store{schema};
            std::vector<std::thread> threads;
            for (int i = 0; i < 3; ++i)
                threads.emplace_back([&] {
                    while (const auto id = store.create_hook(sample_hook(sample_account()), SIZE_MAX))
                        ids.put(id->value());
                });
            for (auto& each : threads) each.join();
            return 0;
        }};
        ids.close_writing();
        for (int n = 0; n < 30; ++n) {
            const auto id = ids.take();
            REQUIRE(id);
            CHECK(acknowledged.insert(*id).second);  // an id is never used again
        }
        if (round % 2 == 0) node.kill();
        else server.kill();
        while (const auto id = ids.take()) CHECK(acknowledged.insert(*id).second);
        if (round % 2 != 0) {
            CHECK(node.wait() == 0);
            server.start();
        }

        postgres_store store{schema};
        std::set<std::int64_t> stored;
        for (const hook& each : value_of(store.hooks_of(sample_account()))) stored.insert(each.id.value());
        CHECK(std::includes(stored.begin(), stored.end(), acknowledged.begin(), acknowledged.end()));
        CHECK(stored.size() <= acknowledged.size() + 3 * (static_cast<std::size_t>(round) + 1));  // in progress
    }
}

TEST_CASE("a code whose grant is revoked while it is created again is not reported as created") {
    const auto schema = postgres_server::shared().new_schema();
    postgres_store store{schema};
    const auto code = sample_code(1, create_sample_application(store));
    CHECK(value_of(store.create_code(code)) == code_result::created);
    tollgate_test::own_connection own{schema};
    REQUIRE(own.run("BEGIN; SELECT FROM tollgate_grants FOR UPDATE; DELETE FROM tollgate_grants"));
    std::optional<result<code_result>> again;
    std::thread creates{[&] { again.emplace(store.create_code(code)); }};
    CHECK(tollgate_test::eventually([&] { return own.blocks_another(schema); }));
    CHECK(own.run("COMMIT"));
    creates.join();
    CHECK(kind_of(*again) == error_kind::not_found);
    CHECK(value_of(store.create_code(code)) == code_result::created);
}

TEST_CASE("a device code is not approved if it is deleted, or its application suspended, while it is answered") {
    const std::string_view meanwhile = GENERATE(
        "DELETE FROM tollgate_device_codes",
        "SELECT FROM tollgate_applications FOR UPDATE; UPDATE tollgate_applications SET suspended = 'operator'");
    CAPTURE(meanwhile);
    const auto schema = postgres_server::shared().new_schema();
    postgres_store store{schema};
    const auto application = create_sample_application(store);
    value_of(store.create_device_code(sample_device_code(1, application)));
    tollgate_test::own_connection own{schema};
    REQUIRE(own.run("BEGIN; " + std::string{meanwhile}));
    std::optional<result<std::optional<device_answer>>> answered;
    std::thread answers{[&] { answered.emplace(store.answer_device_code(sample_decision(1, device_code_state::approved))); }};
    CHECK(tollgate_test::eventually([&] { return own.blocks_another(schema); }));
    CHECK(own.run("COMMIT"));
    answers.join();
    CHECK_FALSE(value_of(*answered));
    CHECK(value_of(store.grants_of(user_id{7})).empty());
}

TEST_CASE("parallel calls never exceed the bound of access tokens") {
    const auto schema = postgres_server::shared().new_schema();
    postgres_store store{schema};
    const auto application = create_sample_application(store);
    value_of(store.change_application(user_id{3}, application, application_fields{.name = "n", .website = "w", .description = "d", .redirect_urls = {}, .acts_for_owner = true}));
    tollgate_test::own_connection own{schema};
    const instant end = noon + seconds{60};
    REQUIRE(own.run("INSERT INTO tollgate_access_tokens (token_digest, user_id, application_id, scopes, created_at, expires_at) "
                    "SELECT sha256(number::text::bytea), 3, " +
                    std::to_string(application.value()) + ", 'a', 0, " + std::to_string(to_unix_milliseconds(end)) +
                    " FROM generate_series(1, " + std::to_string(limits::access_tokens_per_grant_max - 1) + ") AS number"));
    for (const bool for_owner : {false, true}) {
        CAPTURE(for_owner);
        expect_code(store, sample_code(for_owner ? 1 : 2, application, user_id{3}), code_result::created);
        std::atomic<int> created{0};
        in_parallel([&](std::size_t i) {
            const new_access_token token{user_id{3}, application, sample_access_digest(i), sample_scopes("a"), noon, end, for_owner};
            auto redemption = sample_redemption(for_owner ? 1 : 2, application);
            redemption.now = noon;
            redemption.tokens.access_digest = sample_access_digest(100);
            if (i == 0) created += store.redeem_code(redemption) ? 1 : 0;
            else created += store.create_access_token(token) ? 1 : 0;
        });
        CHECK(created == 1);
        for (std::uint64_t i : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 100U})
            value_of(store.revoke(oauth_token_revocation{sample_access_digest(i)}));
    }
}

TEST_CASE("nodes that create hooks concurrently never exceed the bound") {
    const auto schema = postgres_server::shared().new_schema();  // one of them creates the tables
    tollgate_test::check_bound_of_hooks([&] { return postgres_store{schema}; });
}

TEST_CASE("nodes that redeem one code at once: exactly one succeeds, and reuse revokes its tokens") {
    const auto schema = postgres_server::shared().new_schema();
    tollgate_test::check_concurrent_redemptions([&] { return postgres_store{schema}; });
}

TEST_CASE("a credential revoked on one node is refused by others from the next call") {
    auto& server = postgres_server::shared();
    postgres_store one{server.new_schema()}, other{server.last()};
    const auto access = sample_access_token(1);
    for (int round = 0; round < 3; ++round) {
        const auto id = value_of(other.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
        value_of(other.create_access_token(access));
        CHECK(value_of(one.find_credential(personal_token_key{"tgu_a"})));
        CHECK(value_of(one.find_credential(access_token_key{access.token_digest})));
        CHECK(value_of(other.revoke(personal_token_revocation{id})));
        CHECK(value_of(other.revoke(oauth_token_revocation{access.token_digest})));
        CHECK_FALSE(value_of(one.find_credential(personal_token_key{"tgu_a"})));
        CHECK_FALSE(value_of(one.find_credential(access_token_key{access.token_digest})));
    }
}

namespace {

constexpr milliseconds five_minutes{300'000};
instant early_node() noexcept { return postgres::server_clock::node_now() - five_minutes; }
instant late_node() noexcept { return postgres::server_clock::node_now() + five_minutes; }

postgres_store node_with(const std::string& schema, instant (*node_clock)() noexcept) {
    postgres_settings settings;
    settings.callers_clock = node_clock;
    return postgres_store{schema, settings};
}

}  // namespace

TEST_CASE("nodes whose clocks differ by minutes agree on expiry") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    struct node {
        instant (*now)() noexcept;
        postgres_store store;
    };
    node nodes[] = {{&early_node, node_with(schema, &early_node)},
                    {&postgres::server_clock::node_now, node_with(schema, &postgres::server_clock::node_now)},
                    {&late_node, node_with(schema, &late_node)}};
    const auto application = create_sample_application(nodes[0].store);
    const auto account = sample_account();
    listen(nodes[0].store, account);
    std::uint64_t seed = 0;
    for (node& makes : nodes)
        for (node& uses : nodes) {
            CAPTURE(&makes - nodes, &uses - nodes);
            const instant made_at = makes.now();
            for (const std::uint64_t number : {seed + 1, seed + 2}) {
                auto code = sample_code(number, application);
                code.created_at = made_at;
                code.expires_at = made_at + seconds{60};
                expect_code(makes.store, code, code_result::created);
            }
            auto redemption = sample_redemption(seed + 1, application);
            redemption.now = uses.now() + seconds{50};
            redemption.tokens.access_expires_at = redemption.now + seconds{3600};
            expect_redemption(uses.store, redemption, redemption_result::redeemed);
            redemption = sample_redemption(seed + 2, application);
            redemption.now = uses.now() + seconds{70};
            expect_redemption(uses.store, redemption, redemption_result::expired);

            const auto found = found_of(makes.store.find_credential(access_token_key{sample_access_digest(seed + 1)}));
            const auto lasts = *found.expires_at - makes.now();
            CHECK(lasts > seconds{3640});
            CHECK(lasts < seconds{3660});

            report(makes.store, account, 1, makes.now());
            auto terms = sample_terms(makes.now() + seconds{1});
            terms.lease_until = terms.now + seconds{30};
            REQUIRE(lease_due(makes.store, terms).size() == 1);
            expect_none_due(uses.store, uses.now() + seconds{20});
            const auto due = value_of(uses.store.due_hooks(uses.now() + seconds{20}, 10));
            REQUIRE(due.next_at);
            CHECK(*due.next_at - uses.now() > seconds{25});
            CHECK(*due.next_at - uses.now() < seconds{35});
            expect_completed(uses.store,
                           completed(lease_one(uses.store, uses.now() + seconds{40}), delivery_outcome::delivered),
                           completion::done, uses.now());
            seed += 10;
        }
}

TEST_CASE("the store's clock is the server's and may outlive the store") {
    auto& server = postgres_server::shared();
    std::optional<postgres_clock> clock;
    {
        postgres_settings settings;
        settings.callers_clock = nullptr;
        postgres_store store{server.new_schema(), settings};
        clock = store.clock();
        auto code = sample_session(1);
        code.created_at = clock->now();
        value_of(store.create_session(code));
        CHECK(found_of(store.find_session(code.cookie_digest)).created_at == code.created_at);
    }
    const auto off = clock->now() - postgres::server_clock::node_now();
    CHECK(off < seconds{1});
    CHECK(off > seconds{-1});
}

TEST_CASE("a database of version 4 is migrated, and its applications and refresh tokens stay valid") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    {
        auto pool = *postgres_database::open(schema);
        REQUIRE(pool.migrate(postgres::store_component, std::span{postgres::store_steps}.first(4)));
    }
    for (const char* redirect_url : {"NULL", "'https://app.example/back'"})
        postgres_server::run(schema, "INSERT INTO tollgate_applications (owner_id, client_id, secret_digest, name, website, "
                                    "description, redirect_url, created_at) SELECT 3, 'tgi_' || count(*), "
                                    "decode(repeat('ab', 32), 'hex'), 'n', 'w', '', " +
                                        std::string{redirect_url} + ", 1 FROM tollgate_applications");
    postgres_server::run(schema, "INSERT INTO tollgate_grants (user_id, application_id, scopes, created_at) VALUES (7, 1, 'a', 1)");
    postgres_server::run(schema, "INSERT INTO tollgate_refresh_tokens (token_digest, grant_id, scopes, expires_at, ends_at) "
                                "VALUES (decode('" +
                                    tollgate::detail::hex_encode(sample_refresh_digest(1).raw()) +
                                    "', 'hex'), 1, 'a', 99999999999999, 99999999999999)");
    postgres_store store{schema};
    const auto listed = value_of(store.applications_of(user_id{3}));
    REQUIRE(listed.size() == 2);
    for (const auto& each : listed) CHECK(each.type == client_type::confidential);
    CHECK(listed[0].redirect_urls.empty());
    CHECK(listed[1].redirect_urls == std::vector<std::string>{"https://app.example/back"});
    auto refresh = sample_refresh(1, 11, application_id{1});
    refresh.rotation = sample_rotation(1, 2);
    expect_refresh(store, refresh, refresh_result::refreshed);
    CHECK(is_refreshable(store, 2, application_id{1}));
}

TEST_CASE("text that cannot be stored is the client's error, and is never found") {
    auto& server = postgres_server::shared();
    postgres_store store{server.new_schema()};
    for (const std::string& text : {std::string{"a\0b", 3}, std::string{"\xff"}, std::string{"\xed\xa0\x80"}}) {
        auto token = sample_personal_token("tgu_a");
        token.description = text;
        CHECK(kind_of(store.create_personal_token(token, tokens_max)) == error_kind::invalid);
        CHECK_FALSE(value_of(store.find_credential(personal_token_key{text})));
        CHECK_FALSE(value_of(store.find_application(text)));
        CHECK_FALSE(value_of(store.account_of_hook(service_name::from(text).value(), hook_id{1})));
        auto hook = sample_hook(sample_account());
        hook.target_url += text;
        CHECK(kind_of(store.create_hook(hook, 20)) == error_kind::invalid);
    }
    CHECK(value_of(store.personal_tokens_of(user_id{7})).empty());
    CHECK(value_of(store.hooks_of(sample_account())).empty());
}
