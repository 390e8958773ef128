#include <tollgate/store/memory.hpp>

#include <tollgate/store/suite/samples.hpp>

#include <support/run_store_suite.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;
using namespace tollgate::store_suite;

TEST_CASE("the memory store passes the store suite") {
    tollgate_test::run_store_suite([] { return memory_store{}; });
}

TEST_CASE("a memory store refuses more than it may hold, and says which setting it was") {
    memory_store store{{.personal_tokens_max = 2, .access_tokens_max = 2, .hooks_max = 2}};

    const auto first = value_of(store.create_personal_token(sample_personal_token("tgu_1"), tokens_max));
    value_of(store.create_personal_token(sample_personal_token("tgu_2"), tokens_max));
    auto refused = store.create_personal_token(sample_personal_token("tgu_3"), tokens_max);
    expect_problem(refused, problem_kind::unavailable);
    CHECK_THAT(refused.error().cause, Catch::Contains("memory_settings::personal_tokens_max"));
    expect_problem(store.create_personal_token(sample_personal_token("tgu_2"), tokens_max), problem_kind::conflict);
    value_of(store.revoke_personal_token(first));
    value_of(store.create_personal_token(sample_personal_token("tgu_3"), tokens_max));

    value_of(store.create_access_token(sample_access_token(1)));
    expect_problem(store.create_access_token(sample_access_token(1)), problem_kind::conflict);
    value_of(store.create_access_token(sample_access_token(2)));
    auto refused_access = store.create_access_token(sample_access_token(3));
    expect_problem(refused_access, problem_kind::unavailable);
    CHECK_THAT(refused_access.error().cause, Catch::Contains("memory_settings::access_tokens_max"));
    value_of(store.revoke_access_token(sample_access_token(1).token_digest));
    value_of(store.create_access_token(sample_access_token(3)));

    const auto account = sample_account();
    const auto hook = value_of(store.create_hook(sample_hook(account), 20));
    value_of(store.create_hook(sample_hook(sample_account("itemplatform")), 20));
    auto refused_hook = store.create_hook(sample_hook(account), 20);
    expect_problem(refused_hook, problem_kind::unavailable);
    CHECK_THAT(refused_hook.error().cause, Catch::Contains("memory_settings::hooks_max"));
    value_of(store.delete_hook(account, hook));
    value_of(store.create_hook(sample_hook(account), 20));
}
