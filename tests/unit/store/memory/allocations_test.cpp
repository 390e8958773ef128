#include <tollgate/store/memory.hpp>

#include <tollgate/store/suite/expect.hpp>
#include <tollgate/store/suite/samples.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>

// Clang links the operators of its sanitizers into the program itself, where a second pair finds no place. Allocations are
// counted in all other builds.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TOLLGATE_TEST_NEW_IS_TAKEN
#endif
#endif

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

namespace {

// What the calling thread still may allocate; none: as much as it likes. Counted for this thread alone.
thread_local std::optional<long> allocations_left;
thread_local long allocations_made = 0;

}  // namespace

// The whole program's, so that every allocation of a verb can be made to fail, each in its turn. Not inlined: where one of
// a pair is and the other is not, GCC takes malloc and delete for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations_made;
    if (allocations_left && (*allocations_left)-- <= 0) throw std::bad_alloc{};
    if (void* made = std::malloc(size == 0 ? 1 : size)) return made;
    throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return operator new(size);
    } catch (...) {
        return nullptr;
    }
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

using namespace tollgate;
using namespace tollgate::store_suite;

TEST_CASE("a memory store allocates nothing to find a credential") {
    memory_store store;
    const auto personal = sample_personal_token("tgu_a");
    const auto access = sample_access_token(1);
    value_of(store.create_personal_token(personal, tokens_max));
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
    value_of(store.create_personal_token(kept, tokens_max));

    const auto personal = sample_personal_token("tgu_a");
    fail_each_allocation([&] { return store.create_personal_token(personal, tokens_max); },
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

#endif
