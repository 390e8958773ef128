#include <tollgate/store/postgres.hpp>

#include <tollgate/testing/store_suite.hpp>

#include <support/postgres_server.hpp>
#include <support/stall_guard.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

using namespace tollgate;
using namespace tollgate::testing;
using tollgate_test::postgres_server;

namespace {

/// The tables that the server's plans scan. The server is configured to avoid scans where possible, and to log
/// every plan, also those of foreign keys.
std::set<std::string> tables_read_whole(const std::string& log) {
    std::set<std::string> found;
    constexpr std::string_view marks = "Seq Scan on tollgate_";
    for (auto at = log.find(marks); at != std::string::npos; at = log.find(marks, at + 1)) {
        const auto begin = at + std::string_view{"Seq Scan on "}.size();
        found.insert(log.substr(begin, log.find_first_of(" \n", begin) - begin));
    }
    return found;
}

}  // namespace

TEST_CASE("the PostgreSQL store passes the store suite, and none of its statements scans a table") {
    postgres_server server{postgres_server::disk::ignored,
                           {"session_preload_libraries=auto_explain", "auto_explain.log_min_duration=0",
                            "auto_explain.log_nested_statements=on", "enable_seqscan=off"}};
    std::string schema;
    for (const auto& each : cases([&] { return postgres_store{schema = server.emptied_schema()}; }, [&] { return postgres_store{schema}; })) {
        tollgate_test::stall_guard::progress(each.name());
        const auto outcome = each.run();
        INFO(outcome.name << ": " << outcome.message);
        CHECK(outcome.passed);
    }
    const auto log = server.log();
    CHECK_THAT(log, Catch::Contains("Index Scan using tollgate_deliveries_of_hook_pending"));
    CHECK(tables_read_whole(log) == std::set<std::string>{});
    // A scan would have been detected.
    server.run("SELECT count(*) FROM test_1.tollgate_hooks WHERE secret = 'x'");
    CHECK(tables_read_whole(server.log()) == std::set<std::string>{"tollgate_hooks"});
}

TEST_CASE("lookups of credentials are planned once, without a scan, from an empty table on") {
    postgres_server server{postgres_server::disk::ignored,
                           {"session_preload_libraries=auto_explain", "auto_explain.log_min_duration=0", "auto_explain.log_verbose=on",
                            "autovacuum=off"}};
    const auto schema = server.new_schema();
    server.run("CREATE TABLE test_1.owners (id bigint PRIMARY KEY, requests bigint, balance numeric)");
    postgres_settings settings;
    settings.cached_credentials_max = 0;
    settings.owner_query = "SELECT requests, 60, balance, 'EUR' FROM owners WHERE owners.id = owner.id";
    postgres_store store{schema, settings};
    const auto name = token_username::from("tgu_0000000000000000000001");
    REQUIRE(name);
    const auto planned_before = 5;  // the server plans with the values of the parameters five times before it uses a generic plan
    for (const auto& [look_up, index] :
         {std::pair<std::function<bool()>, std::string>{[&] { return store.find_credential(personal_token_key{name->view()}).has_value(); },
                                                        "tollgate_personal_tokens_username_key"},
          {[&] { return store.find_credential(access_token_key{digest_of("none")}).has_value(); }, "tollgate_access_tokens_pkey"}}) {
        for (int i = 0; i < planned_before; ++i) CHECK(look_up());
        const auto before = server.log().size();
        for (int i = 0; i < 3; ++i) CHECK(look_up());
        const auto log = server.log().substr(before);
        INFO(log);
        CHECK(log.find("Output: $1") != std::string::npos);
        CHECK(log.find(index) != std::string::npos);
        CHECK(log.find("owners_pkey") != std::string::npos);
        CHECK(log.find("Seq Scan") == std::string::npos);
    }
}
