#include <tollgate/store/sqlite.hpp>

#include <tollgate/testing/detail/expect.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/allocations.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <optional>
#include <vector>

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

using namespace tollgate;
using namespace tollgate::testing;
using tollgate_test::allocations_left;

namespace {

/// What a verb failed with; none if it succeeded. Nothing else happens here: an assertion would need memory.
struct verb {
    const char* name;
    std::function<std::optional<error_kind>(sqlite_store&)> run;
};

std::optional<error_kind> failure_of(const auto& returned) noexcept {
    if (returned) return std::nullopt;
    return returned.error().kind;
}

}  // namespace

TEST_CASE("a store that runs out of memory says so, and keeps its connections") {
    tollgate_test::temporary_directory directory;
    sqlite_settings settings;
    settings.readers_max = 1;  // a place that is lost would be the last one
    settings.busy_wait_max = milliseconds{50};
    settings.cached_credentials_max = 0;
    sqlite_store store{directory.file("test.db"), settings};
    const auto token = sample_access_token(1);
    value_of(store.create_access_token(token));
    const auto account = sample_account();
    const auto hook = sample_hook(account);
    const std::vector<verb> verbs{
        {"find_access_token", [&](sqlite_store& in) { return failure_of(in.find_access_token(token.token_digest)); }},
        {"record_access_token_use", [&](sqlite_store& in) { return failure_of(in.record_access_token_use(token.token_digest, noon)); }},
        {"create_hook", [&](sqlite_store& in) { return failure_of(in.create_hook(hook, 1000)); }},
        {"hooks_of", [&](sqlite_store& in) { return failure_of(in.hooks_of(account)); }},
    };
    const auto still_works = [&] {
        CHECK(value_of(store.find_access_token(token.token_digest)));
        value_of(store.record_access_token_use(token.token_digest, noon));
    };
    for (const verb& each : verbs) {
        CAPTURE(each.name);
        bool was_whole = false;
        for (long n = 0; n < 500 && !was_whole; ++n) {
            CAPTURE(n);
            allocations_left = n;
            const auto failed = each.run(store);
            allocations_left.reset();
            was_whole = !failed;
            if (failed) CHECK(*failed == error_kind::unavailable);
            still_works();
        }
        CHECK(was_whole);
    }
}

#endif
