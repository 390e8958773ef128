// What one user, or one user and one application, can fill a store with: both of ours have the same bounds.
#include <tollgate/store/memory.hpp>
#include <tollgate/store/sqlite.hpp>

#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <cstdint>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;

namespace {

/// Either store, empty.
struct memory_case {
    memory_store store;
};
struct sqlite_case {
    tollgate_test::temporary_directory directory;
    sqlite_store store{directory.file("tollgate.db")};
};

}  // namespace

TEMPLATE_TEST_CASE("beyond the bound of codes the oldest is deleted, spent or not", "", memory_case, sqlite_case) {
    TestType given;
    auto& store = given.store;
    const auto application = create_sample_application(store);
    constexpr std::uint64_t bound = limits::codes_per_grant_max;
    expect_code(store, sample_code(9'000, application, user_id{8}), code_result::created);
    authorize(store, 0, application);
    for (std::uint64_t seed = 1; seed < bound; ++seed)
        expect_code(store, sample_code(seed, application), code_result::created);
    expect_code(store, sample_code(0, application), code_result::spent);
    expect_code(store, sample_code(1, application), code_result::waiting);

    expect_code(store, sample_code(bound, application), code_result::created);
    expect_redemption(store, sample_redemption(0, application), redemption_result::unknown);  // forgotten
    CHECK(has_access(store, 0, true));
    expect_code(store, sample_code(1, application), code_result::waiting);
    expect_code(store, sample_code(bound + 1, application), code_result::created);
    expect_redemption(store, sample_redemption(1, application), redemption_result::unknown);
    expect_redemption(store, sample_redemption(2, application), redemption_result::redeemed);
    expect_redemption(store, sample_redemption(bound + 1, application), redemption_result::redeemed);
    expect_redemption(store, sample_redemption(9'000, application), redemption_result::redeemed);  // another user's
}

TEMPLATE_TEST_CASE("beyond the bound of refresh tokens the least recently used is deleted", "", memory_case,
                   sqlite_case) {
    TestType given;
    auto& store = given.store;
    const auto application = create_sample_application(store);
    constexpr std::uint64_t bound = limits::refresh_tokens_per_grant_max;
    authorize(store, 9'000, application, user_id{8});
    for (std::uint64_t seed = 0; seed < bound; ++seed) authorize(store, seed, application);
    auto used = sample_refresh(0, 500, application);
    used.now = noon + seconds{60};
    expect_refresh(store, used, refresh_result::refreshed);  // so that 1 is the one
    CHECK(is_refreshable(store, 1, application));

    authorize(store, bound, application);
    CHECK_FALSE(is_refreshable(store, 1, application));
    CHECK(has_access(store, 1, true));  // for as long as it lasts
    for (const std::uint64_t kept : {std::uint64_t{0}, std::uint64_t{2}, bound - 1, bound, std::uint64_t{9'000}})
        CHECK(is_refreshable(store, kept, application));

    // One that would go at once stays all the same: it is about to be handed out.
    expect_code(store, sample_code(600, application), code_result::created);
    auto brief = sample_redemption(600, application);
    brief.tokens.refresh_expires_at = noon + seconds{10};
    expect_redemption(store, brief, redemption_result::redeemed);
    CHECK(is_refreshable(store, 600, application));
}

TEMPLATE_TEST_CASE("beyond the bound of access tokens the one that expires first is deleted", "", memory_case, sqlite_case) {
    TestType given;
    auto& store = given.store;
    const auto application = create_sample_application(store);
    constexpr std::uint64_t bound = limits::access_tokens_per_grant_max;
    authorize(store, 9'000, application, user_id{8});
    authorize(store, 0, application);
    const auto refresh = [&](std::uint64_t access) {
        auto shown = sample_refresh(0, access, application);
        shown.access_expires_at = noon + seconds{3600} + milliseconds{static_cast<std::int64_t>(access)};
        expect_refresh(store, shown, refresh_result::refreshed);
    };
    for (std::uint64_t access = 1; access < bound; ++access) refresh(access);
    CHECK(has_access(store, 0, true));
    refresh(bound);
    CHECK_FALSE(has_access(store, 0, true));
    for (const std::uint64_t kept : {std::uint64_t{1}, std::uint64_t{2}, bound, std::uint64_t{9'000}})
        CHECK(has_access(store, kept, true));

    auto brief = sample_refresh(0, 5'000, application);
    brief.access_expires_at = noon + seconds{1};
    expect_refresh(store, brief, refresh_result::refreshed);
    CHECK(has_access(store, 5'000, true));  // the one that is about to be handed out stays
    CHECK_FALSE(has_access(store, 1, true));
}

TEMPLATE_TEST_CASE("beyond the bound of sessions the least recently used is deleted", "", memory_case,
                   sqlite_case) {
    TestType given;
    auto& store = given.store;
    const auto found = [&](std::uint64_t seed) {
        return value_of(store.find_session(sample_session(seed).cookie_digest)).has_value();
    };
    constexpr std::uint64_t bound = limits::sessions_per_user_max;
    value_of(store.create_session(sample_session(9'000, user_id{8})));
    for (std::uint64_t seed = 0; seed < bound; ++seed) {
        auto made = sample_session(seed);
        made.last_seen_at = noon + seconds{static_cast<std::int64_t>(seed)};
        value_of(store.create_session(made));
    }
    value_of(store.touch_session(sample_session(0).cookie_digest, noon + seconds{1000}));
    auto next = sample_session(bound);
    next.last_seen_at = noon - seconds{1};
    value_of(store.create_session(next));
    CHECK_FALSE(found(1));
    for (const std::uint64_t kept : {std::uint64_t{0}, std::uint64_t{2}, bound - 1, bound, std::uint64_t{9'000}})
        CHECK(found(kept));
}
