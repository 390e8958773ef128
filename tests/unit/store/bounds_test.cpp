// The bounds on the rows of one user, or of one user and one application; both stores have the same ones.
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

/// One of the two stores, empty.
struct memory_case {
    memory_store store;
};
struct sqlite_case {
    tollgate_test::temporary_directory directory;
    sqlite_store store{directory.file("tollgate.db")};
};

}  // namespace

TEMPLATE_TEST_CASE("beyond the bound of codes the oldest is deleted, spent or not", "", memory_case, sqlite_case) {
    TestType opened;
    auto& store = opened.store;
    const auto application = create_sample_application(store);
    constexpr std::uint64_t bound = limits::codes_per_grant_max;
    expect_code(store, sample_code(9'000, application, user_id{8}), code_result::created);
    authorize(store, 0, application);
    for (std::uint64_t seed = 1; seed < bound; ++seed)
        expect_code(store, sample_code(seed, application), code_result::created);
    expect_code(store, sample_code(0, application), code_result::spent);
    expect_code(store, sample_code(1, application), code_result::waiting);

    expect_code(store, sample_code(bound, application), code_result::created);
    expect_redemption(store, sample_redemption(0, application), redemption_result::unknown);  // deleted
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
    TestType opened;
    auto& store = opened.store;
    const auto application = create_sample_application(store);
    constexpr std::uint64_t bound = limits::refresh_tokens_per_grant_max;
    authorize(store, 9'000, application, user_id{8});
    for (std::uint64_t seed = 0; seed < bound; ++seed) authorize(store, seed, application);
    auto used = sample_refresh(0, 500, application);
    used.now = noon + seconds{60};
    expect_refresh(store, used, refresh_result::refreshed);  // so that token 1 is the least recently used
    CHECK(is_refreshable(store, 1, application));

    authorize(store, bound, application);
    CHECK_FALSE(is_refreshable(store, 1, application));
    CHECK(has_access(store, 1, true));  // until it expires
    for (const std::uint64_t remaining : {std::uint64_t{0}, std::uint64_t{2}, bound - 1, bound, std::uint64_t{9'000}})
        CHECK(is_refreshable(store, remaining, application));

    // A token that would be deleted at once is kept: it was just issued.
    expect_code(store, sample_code(600, application), code_result::created);
    auto brief = sample_redemption(600, application);
    brief.tokens.refresh_expires_at = noon + seconds{10};
    expect_redemption(store, brief, redemption_result::redeemed);
    CHECK(is_refreshable(store, 600, application));
}

TEMPLATE_TEST_CASE("beyond the bound of access tokens the one that expires first is deleted", "", memory_case, sqlite_case) {
    TestType opened;
    auto& store = opened.store;
    const auto application = create_sample_application(store);
    constexpr std::uint64_t bound = limits::access_tokens_per_grant_max;
    authorize(store, 9'000, application, user_id{8});
    authorize(store, 0, application);
    const auto refresh = [&](std::uint64_t access) {
        auto request = sample_refresh(0, access, application);
        request.access_expires_at = noon + seconds{3600} + milliseconds{static_cast<std::int64_t>(access)};
        expect_refresh(store, request, refresh_result::refreshed);
    };
    for (std::uint64_t access = 1; access < bound; ++access) refresh(access);
    CHECK(has_access(store, 0, true));
    refresh(bound);
    CHECK_FALSE(has_access(store, 0, true));
    for (const std::uint64_t remaining : {std::uint64_t{1}, std::uint64_t{2}, bound, std::uint64_t{9'000}})
        CHECK(has_access(store, remaining, true));

    auto brief = sample_refresh(0, 5'000, application);
    brief.access_expires_at = noon + seconds{1};
    expect_refresh(store, brief, refresh_result::refreshed);
    CHECK(has_access(store, 5'000, true));  // the token that was just issued is kept
    CHECK_FALSE(has_access(store, 1, true));
}

TEMPLATE_TEST_CASE("beyond the bound of sessions the least recently used is deleted", "", memory_case,
                   sqlite_case) {
    TestType opened;
    auto& store = opened.store;
    const auto found = [&](std::uint64_t seed) {
        return value_of(store.find_session(sample_session(seed).cookie_digest)).has_value();
    };
    constexpr std::uint64_t bound = limits::sessions_per_user_max;
    value_of(store.create_session(sample_session(9'000, user_id{8})));
    for (std::uint64_t seed = 0; seed < bound; ++seed) {
        auto session = sample_session(seed);
        session.last_seen_at = noon + seconds{static_cast<std::int64_t>(seed)};
        value_of(store.create_session(session));
    }
    value_of(store.touch_session(sample_session(0).cookie_digest, noon + seconds{1000}));
    auto next = sample_session(bound);
    next.last_seen_at = noon - seconds{1};
    value_of(store.create_session(next));
    CHECK_FALSE(found(1));
    for (const std::uint64_t remaining : {std::uint64_t{0}, std::uint64_t{2}, bound - 1, bound, std::uint64_t{9'000}})
        CHECK(found(remaining));
}
