#pragma once

#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tollgate::inline v0::testing {

/// The rules for refresh tokens, and for revoking either token.
template <class Given>
void add_refresh_token_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    using enum refresh_result;
    const auto add = adder_of_cases(to, source);

    add("refresh token: gives another access token, and stays good", [](auto& store) {
        const auto application = create_sample_application(store);
        auto made = sample_code(1, application);
        made.scopes = sample_scopes("b a c");
        expect_code(store, made, code_result::created);
        expect_redemption(store, sample_redemption(1, application), redemption_result::redeemed);
        for (const std::uint64_t access : {11U, 12U, 13U}) {
            const auto shown = sample_refresh(1, access, application);
            const auto given = value_of(store.refresh_access_token(shown));
            expect(given.result == refreshed, "a good refresh token refreshes");
            expect(given.scopes == made.scopes, "as many scopes as were granted, in their order");
            if constexpr (credential_source<std::remove_reference_t<decltype(store)>>) {
                const auto found = value_of(store.find_access_token(shown.access_digest));
                expect(found.has_value(), "the access token lets its holder in");
                expect(found->user == made.user, "the access token has its user");
                expect(found->scopes == made.scopes, "the access token has its scopes, in their order");
                expect(found->application == application, "the access token has its application");
                expect(found->expires_at == shown.access_expires_at, "the access token has its expiry");
            }
        }
        for (const std::uint64_t access : {1U, 11U, 12U, 13U}) expect_access(store, access);
    });

    add("refresh token: fewer scopes for one access token, never more", [](auto& store) {
        const auto application = create_sample_application(store);
        let_in(store, 1, application);  // user:balance sitesmaker:read
        auto more = sample_code(2, application);
        more.scopes = sample_scopes("itemplatform");
        expect_code(store, more, code_result::created);  // granted, but not to this token

        struct row {
            const char* scopes;
            refresh_result wanted;
        };
        std::uint64_t access = 10;
        for (const row& each : {row{"sitesmaker:read", refreshed}, row{"user:balance", refreshed},
                                row{"sitesmaker:read user:balance", refreshed}, row{"itemplatform", too_wide},
                                row{"sitesmaker:read itemplatform", too_wide}, row{"sitesmaker", too_wide},
                                row{"SITESMAKER:read", too_wide}}) {
            auto shown = sample_refresh(1, ++access, application);
            shown.narrowed = sample_scopes(each.scopes);
            const auto given = value_of(store.refresh_access_token(shown));
            expect(given.result == each.wanted, "a scope that the token does not have is too wide");
            if (given.result == too_wide) {
                expect_no_access(store, access);
                continue;
            }
            expect(given.scopes == *shown.narrowed, "the scopes that were asked for, in their order");
            if constexpr (credential_source<std::remove_reference_t<decltype(store)>>)
                expect(found_of(store.find_access_token(shown.access_digest)).scopes == *shown.narrowed,
                       "the access token has the scopes that were asked for");
        }
        const auto full = value_of(store.refresh_access_token(sample_refresh(1, ++access, application)));
        expect(full.scopes == sample_code(1, application).scopes, "one narrow access token narrows no other");
    });

    add("refresh token: unknown, or another application's", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto other = create_sample_application(store, "tgi_b");
        let_in(store, 1, application);
        expect_refresh(store, sample_refresh(2, 11, application), unknown);
        expect_refresh(store, sample_refresh(1, 11, other), unknown);
        auto shown = sample_refresh(1, 11, application);
        shown.refresh_digest = sample_access_digest(1);
        expect_refresh(store, shown, unknown);
        shown.refresh_digest = sample_code_digest(1);
        expect_refresh(store, shown, unknown);
        expect_no_access(store, 11);
        expect_refresh(store, sample_refresh(1, 11, application), refreshed);
    });

    add("refresh token: lives on with each use, but not beyond its end", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto let_in_for = [&](std::uint64_t seed, seconds lifetime, seconds end) {
            expect_code(store, sample_code(seed, application), code_result::created);
            auto shown = sample_redemption(seed, application);
            shown.now = noon;
            shown.tokens.refresh_expires_at = noon + lifetime;
            shown.tokens.refresh_ends_at = noon + end;
            expect_redemption(store, shown, redemption_result::redeemed);
        };
        std::uint64_t access = 100;
        const auto refresh = [&](std::uint64_t seed, instant now) {
            auto shown = sample_refresh(seed, ++access, application);
            shown.now = now;
            shown.access_expires_at = now + seconds{10};
            shown.refresh_lifetime = seconds{100};
            return value_of(store.refresh_access_token(shown)).result;
        };
        constexpr milliseconds moment{1};

        let_in_for(1, seconds{100}, seconds{1000});
        expect(refresh(1, noon + seconds{100}) == unknown, "it is not good at the moment it expires at");
        expect(refresh(1, noon + seconds{100} - moment) == refreshed, "it is good before");
        expect(refresh(1, noon + seconds{200} - moment) == unknown, "it lives on from its last use, no longer");

        let_in_for(2, seconds{100}, seconds{250});
        for (const int at : {90, 180, 240})
            expect(refresh(2, noon + seconds{at}) == refreshed, "it lives on with each use");
        expect(refresh(2, noon + seconds{250}) == unknown, "it ends, however often it was used");
        expect(refresh(2, noon + seconds{250} - moment) == refreshed, "it is good until then");

        let_in_for(3, seconds{100}, seconds{50});
        expect(refresh(3, noon + seconds{50}) == unknown, "an end before its expiry is its end");
        expect(refresh(3, noon + seconds{50} - moment) == refreshed, "it is good until then");
    });

    add("refresh token: where the access token's digest is there already nothing happened", [](auto& store) {
        const auto application = create_sample_application(store);
        let_in(store, 1, application);
        let_in(store, 2, application);
        expect_error(store.refresh_access_token(sample_refresh(1, 2, application)), error_kind::conflict);
        value_of(store.revoke_oauth_token(application, sample_refresh_digest(1)));
        expect_access(store, 2);  // still the other's
        expect_refresh(store, sample_refresh(2, 12, application), refreshed);
    });

    add("refresh token: refreshing in parallel works", [](auto& store) {
        const auto application = create_sample_application(store);
        let_in(store, 1, application);
        constexpr std::uint64_t each_times = 5;
        in_parallel([&](std::size_t i) {
            for (std::uint64_t n = 0; n < each_times; ++n) {
                const std::uint64_t access = 100 + i * each_times + n;
                expect_refresh(store, sample_refresh(1, access, application), refreshed);
                expect_access(store, access);
            }
        });
        for (std::uint64_t n = 0; n < thread_count * each_times; ++n) expect_access(store, 100 + n);
        expect(is_refreshable(store, 1, application), "the refresh token stays good");
    });

    add("revocation: an access token alone, a refresh token with what was made with it", [](auto& store) {
        const auto application = create_sample_application(store);
        let_in(store, 1, application);
        let_in(store, 2, application);
        expect_refresh(store, sample_refresh(1, 11, application), refreshed);
        value_of(store.revoke_oauth_token(application, sample_access_digest(11)));
        expect_no_access(store, 11);
        expect_access(store, 1);
        expect_refresh(store, sample_refresh(1, 12, application), refreshed);

        value_of(store.revoke_oauth_token(application, sample_refresh_digest(1)));
        for (const std::uint64_t gone : {1U, 12U}) expect_no_access(store, gone);
        expect_refresh(store, sample_refresh(1, 13, application), unknown);
        expect_no_access(store, 13);
        expect_access(store, 2);
        expect(is_refreshable(store, 2, application), "another refresh token lives on");
        expect(value_of(store.granted_scopes(user_id{7}, application)).has_value(), "the grant lives on");
        for (int again = 0; again < 2; ++again)
            value_of(store.revoke_oauth_token(application, sample_refresh_digest(1)));
    });

    add("revocation: what is another application's, or nobody's, stays as it is", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto other = create_sample_application(store, "tgi_b");
        let_in(store, 1, application);
        value_of(store.revoke_oauth_token(other, sample_access_digest(1)));
        value_of(store.revoke_oauth_token(other, sample_refresh_digest(1)));
        value_of(store.revoke_oauth_token(application, sample_code_digest(1)));
        value_of(store.revoke_oauth_token(application, sample_digest(0)));
        expect_access(store, 1);
        expect(is_refreshable(store, 1, application), "a refresh token is revoked by its application");
    });
}

}  // namespace tollgate::testing
