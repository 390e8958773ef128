// The bounds on the rows of one user, or of one user and one application; both stores have the same ones.
#include <tollgate/store/memory.hpp>
#include <tollgate/store/sqlite.hpp>

#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

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

TEMPLATE_TEST_CASE("beyond the bound of access tokens the next one is refused, until one expires", "", memory_case, sqlite_case) {
    TestType opened;
    auto& store = opened.store;
    const auto application = create_sample_application(store);
    constexpr std::uint64_t bound = limits::access_tokens_per_grant_max;
    authorize(store, 9'000, application, user_id{8});
    authorize(store, 0, application);
    const auto refresh = [&](std::uint64_t access) {
        auto request = sample_refresh(0, access, application);
        request.access_expires_at = noon + seconds{3600} + milliseconds{static_cast<std::int64_t>(access)};
        return request;
    };
    for (std::uint64_t access = 1; access < bound; ++access) expect_refresh(store, refresh(access), refresh_result::refreshed);
    const auto check_refused = [&](const auto& done) {
        REQUIRE_FALSE(done);
        CHECK(done.error().kind == error_kind::too_many_requests);
        CHECK(done.error().retry_at == sample_tokens(0).access_expires_at);
        CHECK(done.error().message.find("1000 valid access tokens") != std::string::npos);
    };
    auto extra = refresh(bound);
    check_refused(store.refresh_access_token(extra));
    expect_code(store, sample_code(5'000, application), code_result::created);
    check_refused(store.redeem_code(sample_redemption(5'000, application)));
    CHECK_FALSE(is_refreshable(store, 5'000, application));  // nothing of the pair was created
    expect_code(store, sample_code(5'000, application), code_result::waiting);
    check_refused(store.create_access_token({user_id{7}, application, sample_access_digest(bound + 1), sample_scopes("a"), noon, noon + seconds{9}}));
    for (const std::uint64_t kept : {std::uint64_t{0}, std::uint64_t{1}, bound - 1, std::uint64_t{9'000}})
        CHECK(has_access(store, kept, true));
    for (const std::uint64_t refused : {bound, bound + 1}) CHECK_FALSE(has_access(store, refused, false));

    // The first has expired.
    extra.now = sample_tokens(0).access_expires_at;
    expect_refresh(store, extra, refresh_result::refreshed);
    CHECK(has_access(store, bound, true));
    CHECK(has_access(store, 1, true));
    const auto still_full = store.refresh_access_token([&] {
        auto request = refresh(bound + 1);
        request.now = extra.now;
        return request;
    }());
    REQUIRE_FALSE(still_full);
    CHECK(still_full.error().retry_at == refresh(1).access_expires_at);
}

TEST_CASE("tokens of an owner have the same bound") {
    memory_store store;
    const auto application = create_sample_application(store);
    const application_fields allowed{.name = "n", .website = "w", .description = "d", .redirect_urls = {}, .acts_for_owner = true};
    value_of(store.change_application(user_id{3}, application, allowed));
    const auto create = [&](std::uint64_t seed, instant now) {
        return store.create_access_token({user_id{3}, application, sample_access_digest(seed), sample_scopes("a"), now, now + seconds{60}, true});
    };
    for (std::uint64_t seed = 0; seed < limits::access_tokens_per_grant_max; ++seed) CHECK(create(seed, noon));
    const auto refused = create(5'000, noon + seconds{60} - milliseconds{1});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().retry_at == noon + seconds{60});
    CHECK(create(5'000, noon + seconds{60}));
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
