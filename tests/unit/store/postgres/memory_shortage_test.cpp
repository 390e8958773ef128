#include <tollgate/store/postgres.hpp>

#include <tollgate/testing/detail/expect.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/allocations.hpp>
#include <support/postgres_server.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

using namespace tollgate;
using namespace tollgate::testing;
using tollgate_test::allocations_left;
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
    bool was_whole = false;
    for (long n = 0; n < 200 && !was_whole; ++n) {
        CAPTURE(n);
        allocations_left = n;
        const auto first_found = store.find_access_token(first.token_digest);
        allocations_left.reset();
        was_whole = first_found.has_value();
        if (first_found) CHECK((*first_found)->user == user_id{7});
        else CHECK(first_found.error().kind == error_kind::unavailable);
        const auto found = store.find_access_token(second.token_digest);
        REQUIRE(found);
        REQUIRE(*found);
        CHECK((*found)->user == user_id{8});
        CHECK((*found)->secret_digest == second.token_digest);
        CHECK(value_of(store.find_access_token(first.token_digest))->user == user_id{7});
    }
    CHECK(was_whole);
}

#endif
