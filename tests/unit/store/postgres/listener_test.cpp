#include <tollgate/store/detail/postgres/listener.hpp>

#include <tollgate/store/postgres.hpp>
#include <tollgate/store/postgres_database.hpp>
#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/eventually.hpp>
#include <support/postgres_server.hpp>
#include <support/tcp_proxy.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;
using tollgate_test::eventually;
using tollgate_test::postgres_server;
using tollgate_test::tcp_proxy;

// A row is cached if it is found while the proxy forwards nothing to the server.

namespace {

using steady = std::chrono::steady_clock;
using mode = tcp_proxy::mode;

std::string schema_of(const std::string& connection_string) {
    return connection_string.substr(connection_string.find("options="));
}

postgres_settings caching_settings(std::size_t entries_max = 1024) {
    postgres_settings settings;
    settings.cached_credentials_max = entries_max;
    settings.connection_wait_max = seconds{2};
    settings.connect_wait_max = seconds{2};
    settings.response_wait_max = seconds{2};
    return settings;
}

instant now() { return postgres::server_clock::node_now(); }

/// A token that has not expired: others cause no notification.
new_access_token access_token(std::uint64_t seed, user_id user = user_id{7}) {
    auto token = sample_access_token(seed, user);
    token.created_at = now();
    token.expires_at = token.created_at + seconds{3600};
    return token;
}

/// A node with a cache, behind a proxy, and another node without one.
struct two_nodes {
    postgres_server& server;
    const std::string schema = server.new_schema();
    tcp_proxy proxy{server.socket_path()};
    postgres_store caching{proxy.connection_string(schema_of(schema) + " dbname=" + server.database()), caching_settings()};
    postgres_store other{schema};

    explicit two_nodes(postgres_server& on = postgres_server::shared()) : server{on} {
        REQUIRE(eventually([&] { return caching.changes()->read().has_value(); }));
    }

    bool finds(std::string_view username) {
        const auto found = caching.find_credential(personal_token_key{username});
        return found && *found;
    }
    bool finds(const digest& token) {
        const auto found = caching.find_credential(access_token_key{token});
        return found && *found;
    }
    bool is_hit(std::string_view username) { return caching.cached_credential(personal_token_key{username}).is_hit(); }
    bool is_hit(const digest& token) { return caching.cached_credential(access_token_key{token}).is_hit(); }
    /// Without a query of the server.
    template <class Name>
    bool is_cached(const Name& name) {
        if (!is_hit(name)) return false;  // a query would end only with its time limit
        proxy.set_mode(mode::hang);
        // Other threads read the clock, too: the end of trust is not tested here.
        const bool is_there = finds(name);
        proxy.set_mode(mode::forward);
        return is_there;
    }
    /// Whether a cached row is still cached after the changes of that time were received.
    template <class Name>
    bool keeps(const Name& name, const std::function<void()>& meanwhile) {
        wait_for_changes();
        REQUIRE(finds(name));
        meanwhile();
        wait_for_changes();
        return is_cached(name);
    }
    /// Waits until all changes committed so far are received: notifications have the order of the commits.
    void wait_for_changes() {
        const auto name = "tgu_marker" + std::to_string(++markers), beside = "tgu_beside" + std::to_string(markers);
        const auto marker = value_of(other.create_personal_token(sample_personal_token(name, marker_user), tokens_max));
        const auto other_marker = value_of(other.create_personal_token(sample_personal_token(beside, user_beside), tokens_max));
        REQUIRE(finds(name));
        CHECK(value_of(other.revoke(personal_token_revocation{marker})));
        // On a busy machine nothing is a hit for a while, because the cache is not trusted.
        const auto is_trusted = [&] { return finds(beside) && is_hit(beside); };
        REQUIRE(eventually([&] { return is_trusted() && !is_hit(name) && is_trusted(); }));
        CHECK(value_of(other.revoke(personal_token_revocation{other_marker})));
    }
    /// How long it was still found after `change` had returned.
    template <class Name>
    milliseconds age_after(const Name& name, const std::function<void()>& change) {
        REQUIRE(finds(name));
        change();
        const auto changed_at = steady::now();
        auto last_seen_at = changed_at;
        for (auto now = changed_at; now < changed_at + milliseconds{1100}; now = steady::now()) {
            if (finds(name)) last_seen_at = now;
            std::this_thread::sleep_for(milliseconds{1});
        }
        return std::chrono::duration_cast<milliseconds>(last_seen_at - changed_at);
    }
    static constexpr user_id marker_user{999}, user_beside{998};
    int markers = 0;
};

/// For a test that stops the server.
struct own_server {
    postgres_server alone;
};
struct two_nodes_alone : own_server, two_nodes {
    two_nodes_alone() : two_nodes{alone} {}
};

}  // namespace

TEST_CASE_METHOD(two_nodes, "a cached credential takes no round trip") {
    const auto access = access_token(1);
    value_of(caching.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
    value_of(caching.create_access_token(access));
    // On a busy machine the node may receive no notification for so long that it queries the server again.
    CHECK(eventually([&] { return finds("tgu_a") && is_cached("tgu_a"); }));
    CHECK(eventually([&] { return finds(access.token_digest) && is_cached(access.token_digest); }));
    CHECK(eventually([&] {
        if (!finds("tgu_a") || !finds(access.token_digest)) return false;
        proxy.set_mode(mode::hang);
        bool all_found = true;
        for (int i = 0; i < 100 && all_found; ++i) {
            const auto personal = caching.find_credential(personal_token_key{"tgu_a"});
            const auto oauth = caching.find_credential(access_token_key{access.token_digest});
            all_found = personal && oauth;
            if (!all_found) break;
            CHECK((*personal)->user == user_id{7});
            CHECK((*personal)->scopes == sample_personal_token("tgu_a").scopes);
            CHECK((*oauth)->secret_digest == access.token_digest);
            CHECK((*oauth)->expires_at == access.expires_at);
            CHECK((*oauth)->application == access.application);
        }
        const auto personal = caching.cached_credential(personal_token_key{"tgu_a"});
        const auto oauth = caching.cached_credential(access_token_key{access.token_digest});
        CHECK_FALSE(caching.find_credential(personal_token_key{"tgu_b"}));  // which was not queried before
        CHECK(caching.cached_credential(personal_token_key{"tgu_b"}).is_unknown());
        proxy.set_mode(mode::forward);
        if (!all_found || !personal.is_hit() || !oauth.is_hit()) return false;
        CHECK(personal->user == user_id{7});
        CHECK(oauth->expires_at == access.expires_at);
        return true;
    }));
}

TEST_CASE("a caching store returns the results of one without a cache") {
    auto& server = postgres_server::shared();
    const auto schema = server.new_schema();
    postgres_store caching{schema, caching_settings()}, other{schema, caching_settings()}, without{schema};
    CHECK_FALSE(without.changes()->read());
    REQUIRE(eventually([&] { return caching.changes()->read() && other.changes()->read(); }));
    for (std::uint64_t round = 0; round < 20; ++round) {
        const auto name = "tgu_" + std::to_string(round);
        const auto access = access_token(round);
        // Looked up before they are created: that a row is missing is removed from this node's cache at once, from others' soon.
        for (auto* each : {&caching, &other}) {
            CHECK_FALSE(value_of(each->find_credential(personal_token_key{name})));
            CHECK_FALSE(value_of(each->find_credential(access_token_key{access.token_digest})));
        }
        const auto id = value_of(caching.create_personal_token(sample_personal_token(name), tokens_max));
        value_of(caching.create_access_token(access));
        CHECK(value_of(caching.find_credential(personal_token_key{name})));
        CHECK(value_of(caching.find_credential(access_token_key{access.token_digest})));
        if (round == 0)
            CHECK(eventually([&] { return value_of(other.find_credential(personal_token_key{name})) &&
                                          value_of(other.find_credential(access_token_key{access.token_digest})); }));
        CHECK(value_of(caching.revoke(personal_token_revocation{id})));
        CHECK(value_of(caching.revoke(oauth_token_revocation{access.token_digest})));
        CHECK_FALSE(value_of(caching.find_credential(personal_token_key{name})));
        CHECK_FALSE(value_of(caching.find_credential(access_token_key{access.token_digest})));
    }
}

TEST_CASE_METHOD(two_nodes, "a token is refused as soon as a call of this node that removes it has returned") {
    const auto application = create_sample_application(other);
    const auto issue = [&](std::uint64_t seed) {
        auto code = sample_code(seed, application);
        code.created_at = now();
        code.expires_at = now() + seconds{60};
        expect_code(caching, code, code_result::created);
        auto redemption = sample_redemption(seed, application);
        redemption.now = now();
        redemption.tokens.access_expires_at = now() + seconds{3600};
        redemption.tokens.refresh_expires_at = redemption.tokens.refresh_ends_at = now() + seconds{86'400};
        CHECK_FALSE(finds(redemption.tokens.access_digest));
        expect_redemption(caching, redemption, redemption_result::redeemed);
        CHECK(finds(redemption.tokens.access_digest));
        return redemption;
    };
    auto redemption = issue(1);
    expect_redemption(caching, redemption, redemption_result::reused);
    CHECK_FALSE(finds(redemption.tokens.access_digest));

    redemption = issue(2);
    auto refresh = sample_refresh(2, 1002, application);
    refresh.now = now();
    refresh.access_expires_at = now() + seconds{3600};
    CHECK_FALSE(finds(refresh.access_digest));
    value_of(caching.refresh_access_token(refresh));
    CHECK(finds(refresh.access_digest));
    value_of(caching.revoke(oauth_token_revocation{refresh.access_digest, application}));
    CHECK_FALSE(finds(refresh.access_digest));
    CHECK(finds(redemption.tokens.access_digest));
    value_of(caching.revoke(oauth_token_revocation{redemption.tokens.refresh_digest, application}));
    CHECK_FALSE(finds(redemption.tokens.access_digest));

    redemption = issue(3);
    CHECK(value_of(caching.revoke(grant_revocation{user_id{7}, application})));
    CHECK_FALSE(finds(redemption.tokens.access_digest));

    // One more than the bound of one user and one application is refused; the others stay valid.
    const auto check_refused = [](const auto& done) {
        REQUIRE_FALSE(done);
        CHECK(done.error().kind == error_kind::too_many_requests);
    };
    const auto fill = [&](application_id of, std::uint64_t seed) {
        const auto id = std::to_string(of.value());
        postgres_server::run(schema, "INSERT INTO tollgate_access_tokens SELECT sha256((i || '-" + std::to_string(seed) + "')::bytea), 7, " + id +
                                         ", '', 0, extract(epoch FROM now()) * 1000 + 7200000, NULL FROM generate_series(1, " +
                                         std::to_string(limits::access_tokens_per_grant_max) +
                                         " - (SELECT count(*) FROM tollgate_access_tokens WHERE user_id = 7 AND application_id = " + id + ")) AS i");
    };
    const auto first = access_token(5000);
    value_of(caching.create_access_token(first));
    fill(first.application, 1);
    const auto one_more = caching.create_access_token(access_token(5001));
    check_refused(one_more);
    CHECK(one_more.error().retry_at == first.expires_at);
    CHECK(finds(first.token_digest));
    CHECK_FALSE(finds(access_token(5001).token_digest));
    auto later = access_token(5001);
    later.created_at = first.expires_at;
    later.expires_at = first.expires_at + seconds{3600};
    value_of(caching.create_access_token(later));

    // The same by a refresh, and by the redemption of a code, which stays valid.
    const auto kept = issue(5);
    fill(application, 2);
    refresh = sample_refresh(5, 1006, application);
    refresh.now = now();
    refresh.access_expires_at = now() + seconds{3600};
    check_refused(caching.refresh_access_token(refresh));
    auto code = sample_code(6, application);
    code.created_at = now();
    code.expires_at = now() + seconds{60};
    expect_code(caching, code, code_result::created);
    redemption = sample_redemption(6, application);
    redemption.now = now();
    redemption.tokens.access_expires_at = now() + seconds{3600};
    check_refused(caching.redeem_code(redemption));
    expect_code(caching, code, code_result::waiting);
    CHECK(finds(kept.tokens.access_digest));
    for (const auto& refused : {refresh.access_digest, redemption.tokens.access_digest}) CHECK_FALSE(finds(refused));
    CHECK(value_of(caching.revoke(grant_revocation{user_id{7}, application})));

    redemption = issue(4);
    CHECK(value_of(caching.delete_application(user_id{3}, application)));
    CHECK_FALSE(finds(redemption.tokens.access_digest));
}

TEST_CASE_METHOD(two_nodes, "every removal of a token by another client of the database invalidates the cache at once") {
    const auto access = access_token(1).token_digest;
    struct row {
        const char* name;
        std::function<void()> change;
        bool is_there_still = false;
    };
    std::optional<token_id> id;
    const auto sql = [&](std::string script) { return [this, script] { postgres_server::run(schema, script); }; };
    const row rows[] = {
        {"revoked", [&] {
             CHECK(value_of(other.revoke(personal_token_revocation{*id})));
             CHECK(value_of(other.revoke(oauth_token_revocation{access})));
         }},
        {"deleted by hand", sql("DELETE FROM tollgate_personal_tokens; DELETE FROM tollgate_access_tokens")},
        {"truncated", sql("TRUNCATE tollgate_personal_tokens, tollgate_access_tokens")},
        {"another's from now on",
         sql("UPDATE tollgate_personal_tokens SET user_id = 8; UPDATE tollgate_access_tokens SET user_id = 8")},
        {"with other scopes",
         sql("UPDATE tollgate_personal_tokens SET scopes = 'x'; UPDATE tollgate_access_tokens SET scopes = 'x'")},
        {"among those of thousands",
         sql("INSERT INTO tollgate_access_tokens SELECT sha256(i::text::bytea), 100 + i, 3, '', 0, "
             "extract(epoch FROM now()) * 1000 + 3600000, NULL FROM generate_series(1, 5000) AS i; "
             "DELETE FROM tollgate_personal_tokens; DELETE FROM tollgate_access_tokens")},
    };
    for (const row& each : rows) {
        CAPTURE(each.name);
        id = value_of(other.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
        value_of(other.create_access_token(access_token(1)));
        const auto is_as_made = [](const auto& found) {
            return value_of(found) && value_of(found)->user == user_id{7} && value_of(found)->scopes.text() != "x";
        };
        CHECK(eventually([&] { return is_as_made(caching.find_credential(personal_token_key{"tgu_a"})) &&
                                      is_as_made(caching.find_credential(access_token_key{access})); }));
        each.change();
        CHECK(eventually([&] { return !is_as_made(caching.find_credential(personal_token_key{"tgu_a"})) &&
                                      !is_as_made(caching.find_credential(access_token_key{access})); }));
        postgres_server::run(schema, "TRUNCATE tollgate_personal_tokens, tollgate_access_tokens");
    }
}

TEST_CASE_METHOD(two_nodes, "frequent changes send no notification and evict nothing") {
    auto connections = postgres_database::open(schema);
    REQUIRE(connections);
    auto listening = connections->open_another();
    REQUIRE(listening);
    postgres::batch listen{milliseconds{0}}, query{milliseconds{0}};
    listen.add("LISTEN tollgate_changes");
    query.add("SELECT 1");
    REQUIRE_FALSE(listening->run(listen).failed);
    const auto notifications = [&] {
        REQUIRE_FALSE(listening->run(query).failed);
        std::vector<std::string> all;
        while (const auto each = listening->take_notification())
            if (each->payload != "users " + std::to_string(marker_user.value()) &&
                each->payload != "users " + std::to_string(user_beside.value()))
                all.push_back(each->payload);
        return all;
    };
    const auto application = create_sample_application(other);
    value_of(other.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
    value_of(other.create_access_token(access_token(1)));
    CHECK(keeps("tgu_a", [&] {
        value_of(other.create_access_token(access_token(2)));
        value_of(other.create_access_token(sample_access_token(3)));  // which has expired long ago
        value_of(other.create_personal_token(sample_personal_token("tgu_b"), tokens_max));
        value_of(other.record_use(personal_token_key{"tgu_a"}, noon, "192.0.2.0/24"));
        value_of(other.record_use(access_token_key{access_token(1).token_digest}, noon, {}));
        expect_code(other, sample_code(1, application), code_result::created);
        expect_redemption(other, sample_redemption(1, application), redemption_result::redeemed);
        value_of(other.refresh_access_token(sample_refresh(1, 1001, application)));
        CHECK(value_of(other.sweep({.expired_at = now(), .rows_max = 100})) > 1);
    }));
    CHECK(notifications() == std::vector<std::string>{});
    CHECK(value_of(other.revoke(oauth_token_revocation{access_token(1).token_digest})));
    CHECK(notifications() == std::vector<std::string>{"users 7"});
    for (const char* change : {"scopes = 'x'", "expires_at = 1"}) {  // by hand
        CAPTURE(change);
        postgres_server::run(schema, std::string{"UPDATE tollgate_personal_tokens SET "} + change + " WHERE username = 'tgu_b'");
        CHECK(notifications() == std::vector<std::string>{"users 7"});
    }
    server.run("NOTIFY tollgate_changes, 'users 5 8'");  // by an integrator's own tables
    CHECK(keeps("tgu_a", [&] { server.run("NOTIFY tollgate_changes, 'users 5 8'"); }));
    for (const char* each : {"users 5 7", "all", "", "users", "users 5,7", "users x", "users 0", "users -5", "groups 5"}) {
        CAPTURE(each);
        if (std::string_view{each} == "users") continue;  // of no user
        CHECK_FALSE(keeps("tgu_a", [&] { server.run("NOTIFY tollgate_changes, '" + std::string{each} + "'"); }));
    }
}

TEST_CASE_METHOD(two_nodes, "a use that this node recorded is in its cache") {
    value_of(caching.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
    value_of(caching.create_access_token(access_token(1)));
    CHECK(finds("tgu_a"));
    CHECK(finds(access_token(1).token_digest));
    value_of(caching.record_use(personal_token_key{"tgu_a"}, noon, "192.0.2.0/24"));
    value_of(caching.record_use(access_token_key{access_token(1).token_digest}, noon, {}));
    CHECK(value_of(caching.find_credential(personal_token_key{"tgu_a"}))->last_used_at == noon);
    CHECK(value_of(caching.find_credential(access_token_key{access_token(1).token_digest}))->last_used_at == noon);
}

TEST_CASE_METHOD(two_nodes, "without notifications no row is returned from the cache for more than a second") {
    for (const auto failure : {mode::hang, mode::disconnect}) {
        CAPTURE(static_cast<int>(failure));
        const auto name = "tgu_" + std::to_string(static_cast<int>(failure));
        const auto id = value_of(other.create_personal_token(sample_personal_token(name), tokens_max));
        // The last moment at which the server is reachable.
        const auto age = age_after(name, [&] {
            proxy.set_mode(failure);
            CHECK(value_of(other.revoke(personal_token_revocation{id})));
        });
        CHECK(age < seconds{1});
        CHECK_FALSE(caching.find_credential(personal_token_key{name}));
        proxy.set_mode(mode::forward);
        // The node recovers and receives the changes of that time.
        const auto is_gone = [&] {
            const auto found = caching.find_credential(personal_token_key{name});
            REQUIRE_FALSE((found && *found));
            return found.has_value();
        };
        CHECK(eventually(is_gone));
        value_of(other.create_personal_token(sample_personal_token(name + "_"), tokens_max));
        CHECK(eventually([&] { return caching.changes()->read().has_value(); }));
        CHECK(eventually([&] { return finds(name + "_") && is_cached(name + "_"); }));
    }
}

TEST_CASE_METHOD(two_nodes_alone, "after a restart of the server or a lost connection all rows are queried again") {
    const auto id = value_of(other.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
    value_of(other.create_personal_token(sample_personal_token("tgu_b"), tokens_max));
    CHECK(finds("tgu_a"));
    CHECK(finds("tgu_b"));
    // Between the two no notification is sent.
    postgres_server::run(schema, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                               "WHERE datname = current_database() AND (query LIKE 'LISTEN%' "
                               "OR query = 'SELECT 1')");
    CHECK(value_of(other.revoke(personal_token_revocation{id})));
    CHECK(eventually([&] { return !finds("tgu_a"); }));
    REQUIRE(eventually([&] { return caching.changes()->read().has_value(); }));
    CHECK_FALSE(finds("tgu_a"));
    CHECK(finds("tgu_b"));

    server.stop(SIGINT);
    server.start();
    CHECK(eventually([&] { return caching.changes()->read() && finds("tgu_b") && is_cached("tgu_b"); }));
}

TEST_CASE("after a revocation has returned, no thread of that store finds the token") {
    auto& server = postgres_server::shared();
    postgres_store store{server.new_schema(), caching_settings()};
    REQUIRE(eventually([&] { return store.changes()->read().has_value(); }));
    constexpr std::uint64_t rounds = 40;
    std::atomic<std::uint64_t> current{0}, revoked{0};
    std::atomic<bool> done{false};
    std::atomic<int> late{0}, found_there{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i)
        readers.emplace_back([&] {
            while (!done) {
                const auto round = current.load();
                const bool was_revoked = revoked.load() >= round;
                const auto found = store.find_credential(access_token_key{sample_digest(round)});
                if (found && *found) ++(was_revoked ? late : found_there);
            }
        });
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        value_of(store.create_access_token(access_token(round)));
        const int found_before = found_there;
        current = round;
        CHECK(eventually([&] { return found_there > found_before; }));
        CHECK(value_of(store.revoke(oauth_token_revocation{sample_digest(round)})));
        revoked = round;
        CHECK_FALSE(value_of(store.find_credential(access_token_key{sample_digest(round)})));
    }
    done = true;
    for (auto& each : readers) each.join();
    CHECK(late == 0);
    CHECK(found_there > 0);
}

TEST_CASE("a server that no longer accepts writes is not believed: they may go to another one", "[postgres][cache]") {
    postgres_server alone;
    two_nodes nodes{alone};
    const auto become = [&](const std::string& value) {
        postgres_server::run(alone.connection_string(), "ALTER SYSTEM SET default_transaction_read_only = " + value);
        postgres_server::run(alone.connection_string(), "SELECT pg_reload_conf()");
    };
    const auto is_trusted = [&] { return nodes.caching.changes()->read().has_value(); };
    become("on");
    CHECK(eventually([&] { return !is_trusted() && !nodes.caching.changes_seen(); }));
    become("off");
    CHECK(eventually(is_trusted));
}
