#include <tollgate/store/memory.hpp>

#include <tollgate/store/suite/samples.hpp>

#include <support/run_store_suite.hpp>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <new>
#include <string>

namespace {

// What the calling thread still may allocate; none: as much as it likes. Counted for this thread alone.
thread_local std::optional<long> allocations_left;
thread_local long allocations_made = 0;

}  // namespace

// The whole program's, so that every allocation of a verb can be made to fail, each in its turn.
void* operator new(std::size_t size) {
    ++allocations_made;
    if (allocations_left && (*allocations_left)-- <= 0) throw std::bad_alloc{};
    if (void* made = std::malloc(size == 0 ? 1 : size)) return made;
    throw std::bad_alloc{};
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

using namespace tollgate;
using namespace tollgate::store_suite;

TEST_CASE("the memory store passes the store suite") {
    tollgate_test::run_store_suite([] { return memory_store{}; });
}

TEST_CASE("a memory store refuses more than it may hold, and says which setting it was") {
    memory_store store{{.personal_tokens_max = 2, .access_tokens_max = 2, .hooks_max = 2}};

    const auto first = value_of(store.create_personal_token(sample_personal_token("tgu_1")));
    value_of(store.create_personal_token(sample_personal_token("tgu_2")));
    auto refused = store.create_personal_token(sample_personal_token("tgu_3"));
    expect_problem(refused, problem_kind::unavailable);
    CHECK_THAT(refused.error().cause, Catch::Contains("memory_settings::personal_tokens_max"));
    expect_problem(store.create_personal_token(sample_personal_token("tgu_2")), problem_kind::conflict);
    value_of(store.revoke_personal_token(first));
    value_of(store.create_personal_token(sample_personal_token("tgu_3")));

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

TEST_CASE("a memory store allocates nothing to find a credential") {
    memory_store store;
    const auto personal = sample_personal_token("tgu_a");
    const auto access = sample_access_token(1);
    value_of(store.create_personal_token(personal));
    value_of(store.create_access_token(access));

    const long before = allocations_made;
    bool all = true;
    for (int i = 0; i < 100; ++i) {
        const auto found = store.find_personal_token("tgu_a");
        const auto none = store.find_personal_token("tgu_b");
        const auto other = store.find_access_token(access.token_digest);
        const auto unknown = store.find_access_token(digest{});
        all = all && found && *found && none && !*none && other && *other && unknown && !*unknown;
    }
    const long made = allocations_made - before;
    CHECK(all);
    CHECK(made == 0);
}

namespace {

/// Calls `verb` with memory for 0, 1, 2, ... allocations until it succeeds; `nothing_happened` after each failure.
template <class Verb, class Check>
void fail_each_allocation(Verb verb, Check nothing_happened) {
    for (long n = 0;; ++n) {
        REQUIRE(n < 100);
        allocations_left = n;
        auto done = verb();
        allocations_left.reset();
        if (done) {
            CHECK(n > 0);
            return;
        }
        CAPTURE(n);
        CHECK(done.error().kind == problem_kind::unavailable);
        nothing_happened();
    }
}

}  // namespace

TEST_CASE("a memory store that runs out of memory in the middle of a verb has done nothing of it") {
    memory_store store;
    const auto kept = sample_personal_token("tgu_kept");
    value_of(store.create_personal_token(kept));

    const auto personal = sample_personal_token("tgu_a");
    fail_each_allocation([&] { return store.create_personal_token(personal); },
                         [&] {
                             CHECK_FALSE(value_of(store.find_personal_token("tgu_a")));
                             CHECK(value_of(store.personal_tokens_of(personal.user)).size() == 1);
                             for (std::int64_t id = 2; id < 50; ++id) CHECK_FALSE(value_of(store.revoke_personal_token(token_id{id})));
                         });
    CHECK(value_of(store.find_personal_token("tgu_a")));
    CHECK(value_of(store.personal_tokens_of(personal.user)).size() == 2);
    fail_each_allocation([&] { return store.personal_tokens_of(personal.user); }, [] {});

    const auto access = sample_access_token(1);
    fail_each_allocation([&] { return store.create_access_token(access); },
                         [&] { CHECK_FALSE(value_of(store.find_access_token(access.token_digest))); });
    CHECK(value_of(store.find_access_token(access.token_digest)));

    const auto made = sample_hook(sample_account());
    for (std::size_t count = 0; count < 6; ++count) {
        fail_each_allocation([&] { return store.create_hook(made, 6); },
                             [&] {
                                 CHECK(value_of(store.hooks_of(made.account)).size() == count);
                                 std::size_t known = 0;
                                 for (std::int64_t id = 1; id < 100; ++id)
                                     if (value_of(store.account_of_hook(made.account.service, hook_id{id}))) ++known;
                                 CHECK(known == count);
                             });
        CHECK(value_of(store.hooks_of(made.account)).size() == count + 1);
    }
    fail_each_allocation([&] { return store.hooks_of(made.account); }, [] {});
}
