#include <tollgate/store/postgres.hpp>
#include <tollgate/store/postgres_database.hpp>

#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/expect.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/failing_new.hpp>
#include <support/own_connection.hpp>
#include <support/postgres_server.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;
using tollgate_test::fail_each_allocation;
using tollgate_test::postgres_server;

namespace {

new_access_token token_of(std::uint64_t seed, user_id user) {
    auto token = sample_access_token(seed);
    token.user = user;
    return token;
}

}  // namespace

TEST_CASE("after memory ran out in the middle of a response, the next call gets its own response") {
    postgres_settings settings;
    settings.connections_max = 1;  // so that the same connection is used if it was kept
    postgres_store store{postgres_server::shared().new_schema(), settings};
    const auto first = token_of(1, user_id{7}), second = token_of(2, user_id{8});
    value_of(store.create_access_token(first));
    value_of(store.create_access_token(second));
    fail_each_allocation([&](auto short_of_memory) {
        const auto first_found = short_of_memory([&] { return store.find_credential(access_token_key{first.token_digest}); });
        if (first_found) CHECK((*first_found)->user == user_id{7});
        else CHECK(first_found.error().kind == error_kind::unavailable);
        const auto found = store.find_credential(access_token_key{second.token_digest});
        REQUIRE(found);
        REQUIRE(*found);
        CHECK((*found)->user == user_id{8});
        CHECK((*found)->secret_digest == second.token_digest);
        CHECK(value_of(store.find_credential(access_token_key{first.token_digest}))->user == user_id{7});
        return first_found.has_value();
    });
}

TEST_CASE("after memory ran out within the caller's transaction, it continues without the event, or fails as a whole") {
    const auto schema = postgres_server::shared().new_schema();
    postgres_store store{schema};
    const auto account = sample_account();
    listen(store, account);
    tollgate_test::own_connection own{schema};
    postgres_own_transaction outbox{store, own.handle()};
    const auto events = [&] { return postgres_server::run(schema, "SELECT count(*) FROM tollgate_events").at(0); };
    long continued = 0;
    fail_each_allocation([&](auto short_of_memory) {
        REQUIRE(own.run("BEGIN"));
        const auto appended = short_of_memory([&] { return outbox.append_event(sample_event(account), sample_seed(1), noon); });
        if (!appended) CHECK(appended.error().kind == error_kind::unavailable);
        REQUIRE(PQpipelineStatus(own.handle()) == PQ_PIPELINE_OFF);
        // As a whole if the server had done everything, but there was no memory for its results.
        if (!appended && PQtransactionStatus(own.handle()) == PQTRANS_INTRANS) ++continued;
        REQUIRE(own.run(appended ? "ROLLBACK" : "COMMIT"));
        REQUIRE(events() == "0");
        return appended.has_value();
    });
    CHECK(continued > 3);
}

#endif
