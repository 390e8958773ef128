#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_REFRESH_TOKENS_HPP
#define TOLLGATE_TESTING_DETAIL_REFRESH_TOKENS_HPP

#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

namespace detail {

/// Presents the token with seed `presented` of a family: that of seed 1, which is replaced by 2, 3, ...
[[nodiscard]] inline token_refresh replacing(std::uint64_t presented, std::uint64_t access, application_id application,
                                             instant now = noon + seconds{2}) {
    auto refresh = sample_refresh(presented, access, application);
    refresh.now = now;
    refresh.rotation = sample_rotation(1, presented + 1);
    return refresh;
}

}  // namespace detail

/// The rules for refresh tokens, and for revoking either token.
template <class Given>
void add_refresh_token_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    using enum refresh_result;
    const auto add = adder_of_cases(to, source);

    add("refresh token: returns another access token and stays valid", [](auto& store) {
        const auto application = create_sample_application(store);
        auto code = sample_code(1, application);
        code.scopes = sample_scopes("b a c");
        expect_code(store, code, code_result::created);
        expect_redemption(store, sample_redemption(1, application), redemption_result::redeemed);
        for (const std::uint64_t access : {11U, 12U, 13U}) {
            const auto presented = sample_refresh(1, access, application);
            const auto actual = value_of(store.refresh_access_token(presented));
            expect(actual.result == refreshed, "a valid refresh token refreshes");
            expect(actual.scopes == code.scopes, "as many scopes as were granted, in their order");
            expect_access(store, new_access_token{code.user, application, presented.access_digest, code.scopes, presented.now,
                                                  presented.access_expires_at});
        }
        for (const std::uint64_t access : {1U, 11U, 12U, 13U}) expect_access(store, access);
    });

    add("refresh token: an access token may have fewer scopes, but not more", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);  // user:balance sitesmaker:read
        auto more = sample_code(2, application);
        more.scopes = sample_scopes("itemplatform");
        expect_code(store, more, code_result::created);  // granted, but not to this token

        struct row {
            const char* scopes;
            const char* covering;
            refresh_result expected;
        };
        std::uint64_t access = 10;
        for (const row& each : {row{"sitesmaker:read", "sitesmaker:read", refreshed}, row{"user:balance", "user:balance", refreshed},
                                row{"sitesmaker:read user:balance", "sitesmaker:read user:balance", refreshed},
                                row{"user:balance:today", "user:balance", refreshed}, row{"itemplatform", "itemplatform", too_wide},
                                row{"sitesmaker:read itemplatform", "sitesmaker:read itemplatform", too_wide},
                                row{"sitesmaker", "sitesmaker", too_wide}, row{"sitesmaker:read", "sitesmaker", too_wide},
                                row{"SITESMAKER:read", "SITESMAKER:read", too_wide}}) {
            auto presented = sample_refresh(1, ++access, application);
            presented.narrowed = sample_scopes(each.scopes);
            presented.covering = sample_scopes(each.covering);
            const auto actual = value_of(store.refresh_access_token(presented));
            expect(actual.result == each.expected, "the token must have the covering scopes");
            if (actual.result == too_wide) {
                expect_no_access(store, access);
                continue;
            }
            expect(actual.scopes == *presented.narrowed, "the requested scopes, in their order");
            expect_access(store, new_access_token{user_id{7}, application, presented.access_digest, *presented.narrowed, presented.now,
                                                  presented.access_expires_at});
        }
        const auto full = value_of(store.refresh_access_token(sample_refresh(1, ++access, application)));
        expect(full.scopes == sample_code(1, application).scopes, "one narrow access token narrows no other");
    });

    add("refresh token: an unknown one, or one of another application, is refused", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto other = create_sample_application(store, "tgi_b");
        authorize(store, 1, application);
        expect_refresh(store, sample_refresh(2, 11, application), unknown);
        expect_refresh(store, sample_refresh(1, 11, other), unknown);
        auto presented = sample_refresh(1, 11, application);
        presented.refresh_digest = sample_access_digest(1);
        expect_refresh(store, presented, unknown);
        presented.refresh_digest = sample_code_digest(1);
        expect_refresh(store, presented, unknown);
        expect_no_access(store, 11);
        expect_refresh(store, sample_refresh(1, 11, application), refreshed);
    });

    add("refresh token: each use prolongs it, but not beyond its end", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto authorize_for = [&](std::uint64_t seed, seconds lifetime, seconds end) {
            expect_code(store, sample_code(seed, application), code_result::created);
            auto presented = sample_redemption(seed, application);
            presented.now = noon;
            presented.tokens.refresh_expires_at = noon + lifetime;
            presented.tokens.refresh_ends_at = noon + end;
            expect_redemption(store, presented, redemption_result::redeemed);
        };
        std::uint64_t access = 100;
        const auto refresh = [&](std::uint64_t seed, instant now) {
            auto presented = sample_refresh(seed, ++access, application);
            presented.now = now;
            presented.access_expires_at = now + seconds{10};
            presented.refresh_lifetime = seconds{100};
            return value_of(store.refresh_access_token(presented)).result;
        };
        constexpr milliseconds moment{1};

        authorize_for(1, seconds{100}, seconds{1000});
        expect(refresh(1, noon + seconds{100}) == unknown, "it is invalid from the moment of its expiry");
        expect(refresh(1, noon + seconds{100} - moment) == refreshed, "it is valid before");
        expect(refresh(1, noon + seconds{200} - moment) == unknown, "it expires its lifetime after its last use");

        authorize_for(2, seconds{100}, seconds{250});
        for (const int at : {90, 180, 240})
            expect(refresh(2, noon + seconds{at}) == refreshed, "each use extends it");
        expect(refresh(2, noon + seconds{250}) == unknown, "it ends, however often it was used");
        expect(refresh(2, noon + seconds{250} - moment) == refreshed, "it is valid until then");

        authorize_for(3, seconds{100}, seconds{50});
        expect(refresh(3, noon + seconds{50}) == unknown, "an end before its expiry is its end");
        expect(refresh(3, noon + seconds{50} - moment) == refreshed, "it is valid until then");
    });

    add("refresh token: after a use, both tokens are found with the times of that use", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        auto presented = sample_refresh(1, 11, application);
        presented.now = noon + seconds{20};
        presented.access_expires_at = noon + seconds{50};
        expect_refresh(store, presented, refreshed);
        const auto access = found_of(store.find_oauth_token(presented.access_digest));
        expect(access.created_at == presented.now, "an access token has the time of its refresh");
        expect(access.expires_at == presented.access_expires_at, "an access token has its end");
        const auto first = found_of(store.find_oauth_token(sample_access_digest(1)));
        expect(first.created_at == sample_redemption(1, application).now && first.expires_at == sample_tokens(1).access_expires_at,
               "the access token of the code keeps its times");
        const auto end_of = [&](std::uint64_t seed) { return found_of(store.find_oauth_token(sample_refresh_digest(seed))).expires_at; };
        expect(end_of(1) == presented.now + presented.refresh_lifetime, "a refresh token expires its lifetime after its last use");

        presented = replacing(1, 12, application, noon + seconds{40});
        expect_refresh(store, presented, refreshed);
        expect(end_of(2) == presented.now + presented.refresh_lifetime, "a successor expires its lifetime after its creation");
        expect(found_of(store.find_oauth_token(sample_access_digest(12))).created_at == presented.now,
               "an access token has the time of its refresh, with a rotation, too");
        presented = replacing(2, 13, application, noon + seconds{60});
        presented.refresh_lifetime = seconds{400 * 86'400};
        expect_refresh(store, presented, refreshed);
        expect(end_of(3) == sample_tokens(1).refresh_ends_at, "no successor lives longer than the first one may");
    });

    add("refresh token: if the access token's digest already exists, nothing changes", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        authorize(store, 2, application);
        expect_error("refresh_access_token", store.refresh_access_token(sample_refresh(1, 2, application)), error_kind::conflict);
        value_of(store.revoke(oauth_token_revocation{sample_refresh_digest(1), application}));
        expect_access(store, 2);  // still the other's
        expect_refresh(store, sample_refresh(2, 12, application), refreshed);
    });

    add("refresh token: can be used in parallel", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        constexpr std::uint64_t each_times = 5;
        in_parallel([&](std::size_t i) {
            for (std::uint64_t n = 0; n < each_times; ++n) {
                const std::uint64_t access = 100 + i * each_times + n;
                expect_refresh(store, sample_refresh(1, access, application), refreshed);
                expect_access(store, access);
            }
        });
        for (std::uint64_t n = 0; n < thread_count * each_times; ++n) expect_access(store, 100 + n);
        expect(is_refreshable(store, 1, application), "the refresh token stays valid");
    });

    add("rotation: the successor replaces the token, with the same end and code", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        const auto first = value_of(store.refresh_access_token(replacing(1, 11, application)));
        expect(first.result == refreshed, "a valid refresh token refreshes");
        expect(first.scopes == sample_code(1, application).scopes, "with as many scopes as were granted");
        expect(first.successor_seed == sample_rotation(1, 2).successor_seed, "the seed of a first use is the request's");
        for (const std::uint64_t access : {1U, 11U}) expect_access(store, access);
        expect(!is_refreshable(store, 1, application), "a replaced token is invalid without its family");
        expect(is_refreshable(store, 2, application), "its successor is valid");
        for (std::uint64_t next = 2; next < 6; ++next)
            expect_refresh(store, replacing(next, 10 + next, application, noon + seconds{next}), refreshed);

        const instant end = sample_tokens(1).refresh_ends_at;
        auto late = replacing(6, 30, application, noon + seconds{300 * 86'400});
        expect_refresh(store, late, unknown);  // not used for longer than its lifetime
        late.refresh_lifetime = seconds{400 * 86'400};
        late.now = noon + seconds{9};
        expect_refresh(store, late, refreshed);
        expect_refresh(store, replacing(7, 31, application, end), unknown);
        expect(is_refreshable(store, 7, application, end - milliseconds{1}), "it is valid until the end of the first");

        expect_redemption(store, sample_redemption(1, application), redemption_result::reused);
        expect(!is_refreshable(store, 7, application), "reuse of the code revokes what replaced its token");
        for (const std::uint64_t access : {1U, 11U, 12U, 30U}) expect_no_access(store, access);
    });

    add("rotation: fewer scopes are those of one access token, not of the successor", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);  // user:balance sitesmaker:read
        const auto all = sample_code(1, application).scopes;
        auto narrow = replacing(1, 11, application);
        narrow.narrowed = narrow.covering = sample_scopes("sitesmaker:read");
        const auto first = value_of(store.refresh_access_token(narrow));
        expect(first.result == refreshed && first.scopes == *narrow.narrowed, "the access token has the requested scopes");
        expect(found_of(store.find_oauth_token(sample_access_digest(11))).scopes == *narrow.narrowed, "it is found with them");
        expect(found_of(store.find_oauth_token(sample_refresh_digest(2))).scopes == all, "the successor has all that were granted");
        const auto next = value_of(store.refresh_access_token(replacing(2, 12, application)));
        expect(next.result == refreshed && next.scopes == all, "the next access token has all that were granted");
    });

    add("rotation: in the grace period a repeated request gets the same successor", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        const instant at = noon + seconds{2};
        expect_refresh(store, replacing(1, 11, application, at), refreshed);
        auto again = replacing(1, 12, application, at + seconds{30} - milliseconds{1});
        again.rotation->successor_seed = sample_digest(1);
        again.rotation->successor_digest = sample_digest(2);
        const auto actual = value_of(store.refresh_access_token(again));
        expect(actual.result == refreshed, "the previous token is valid during the grace period");
        expect(actual.successor_seed == sample_rotation(1, 2).successor_seed, "the successor stays the same");
        expect_access(store, 12);
        expect(is_refreshable(store, 2, application), "the successor stays valid");

        auto wide = replacing(1, 13, application, at);
        wide.narrowed = wide.covering = sample_scopes("never:granted");
        expect_refresh(store, wide, too_wide);
        expect_no_access(store, 13);
        wide = replacing(2, 14, application, at);
        wide.narrowed = wide.covering = sample_scopes("never:granted");
        expect_refresh(store, wide, too_wide);
        expect(is_refreshable(store, 2, application), "a request that is refused replaces nothing");
    });

    add("rotation: reuse revokes the grant, however old the token is", [](auto& store) {
        for (const bool is_old : {false, true}) {
            const auto application = create_sample_application(store, is_old ? "tgi_old" : "tgi_last");
            const auto other = create_sample_application(store, is_old ? "tgi_old_other" : "tgi_last_other");
            const std::uint64_t base = is_old ? 100 : 200;
            authorize(store, base, application);
            authorize(store, base + 50, application);
            authorize(store, base + 60, other);
            const auto replace = [&](std::uint64_t presented, std::uint64_t access, instant now) {
                auto replacement = replacing(presented, access, application, now);
                replacement.rotation->family_digest = sample_digest(base);
                return replacement;
            };
            const instant at = noon + seconds{2};
            expect_refresh(store, replace(base, base + 11, at), refreshed);
            if (is_old) expect_refresh(store, replace(base + 1, base + 12, at + seconds{1}), refreshed);
            const instant reused_at = is_old ? at + seconds{1} : at + seconds{30};
            auto stolen = replace(base, base + 13, reused_at);
            stolen.application = other;
            expect_refresh(store, stolen, unknown);
            stolen.application = application;
            auto of_no_family = stolen;
            of_no_family.rotation->family_digest = sample_digest(base + 1);
            expect_refresh(store, of_no_family, unknown);
            expect(value_of(granted_scopes(store, user_id{7}, application)).has_value(), "the grant remains until then");

            const auto actual = value_of(store.refresh_access_token(stolen));
            expect(actual.result == reused, "refresh_access_token returns the right result");
            expect(actual.revoked_user == user_id{7}, "the result of a reuse names the user whose grant it revoked");
            for (const std::uint64_t gone : {base, base + 11, base + 12, base + 13, base + 50}) expect_no_access(store, gone);
            for (const std::uint64_t gone : {base, base + 1, base + 2, base + 50})
                expect(!is_refreshable(store, gone, application), "all refresh tokens of the grant are gone");
            expect_nothing(granted_scopes(store, user_id{7}, application), "the grant was revoked");
            expect_refresh(store, stolen, unknown);
            expect_access(store, base + 60);
            expect(is_refreshable(store, base + 60, other), "tokens of another application stay valid");
        }
    });

    add("refresh token: a refresh that is called again with the same digests is the same refresh", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        auto presented = sample_refresh(1, 11, application);
        for (int n = 0; n < 2; ++n) {
            const auto actual = value_of(store.refresh_access_token(presented));
            expect(actual.result == refreshed && actual.scopes == sample_code(1, application).scopes,
                   "a repeated call returns the result of the first");
            expect_access(store, 11);
        }
        const auto rotated = replacing(1, 12, application, noon + seconds{3});
        for (const seconds later : {seconds{0}, seconds{0}, rotated.rotation->grace, seconds{3600}}) {
            auto again = rotated;
            again.now += later;
            const auto actual = value_of(store.refresh_access_token(again));
            expect(actual.result == refreshed && actual.successor_seed == rotated.rotation->successor_seed,
                   "a repeated call returns the seed of the first, also after the grace");
            expect(is_refreshable(store, 2, application), "a repeated call revokes nothing");
            expect_access(store, 12);
        }
        auto other = rotated;
        other.now += seconds{3600};
        other.access_digest = sample_access_digest(13);
        expect_refresh(store, other, reused);
        expect_no_access(store, 12);
    });

    add("rotation: if a digest already exists, nothing changes", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        authorize(store, 7, application);
        auto taken = replacing(1, 11, application);
        taken.rotation->successor_digest = sample_refresh_digest(7);
        expect_error("refresh_access_token", store.refresh_access_token(taken), error_kind::conflict);
        expect_no_access(store, 11);
        expect_error("refresh_access_token", store.refresh_access_token(replacing(1, 7, application)), error_kind::conflict);
        expect(is_refreshable(store, 1, application), "a token that could not be replaced stays valid");
        expect_refresh(store, replacing(1, 12, application), refreshed);
    });

    add("rotation: parallel uses all get the same successor", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        std::mutex mutex;
        std::vector<digest> seeds;
        in_parallel([&](std::size_t i) {
            auto presented = replacing(1, 100 + i, application);
            presented.rotation->successor_seed = sample_digest(i);
            presented.rotation->successor_digest = sample_refresh_digest(100 + i);
            const auto actual = value_of(store.refresh_access_token(presented));
            expect(actual.result == refreshed && actual.successor_seed.has_value(), "each use refreshes");
            const std::scoped_lock lock{mutex};
            seeds.push_back(*actual.successor_seed);
        });
        for (const digest& each : seeds) expect(each == seeds.front(), "all uses have one successor");
        std::size_t good = 0;
        for (std::uint64_t i = 0; i < thread_count; ++i) good += is_refreshable(store, 100 + i, application) ? 1 : 0;
        expect(good == 1, "exactly one successor is valid");
    });

    add("rotation: a token can be found and revoked by its digest and by that of its family", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto other = create_sample_application(store, "tgi_b");
        for (const bool by_family : {false, true}) {
            const std::uint64_t seed = by_family ? 20 : 10;
            authorize(store, seed, application);
            auto presented = replacing(seed, seed + 5, application);
            presented.rotation->family_digest = sample_digest(seed);
            expect_refresh(store, presented, refreshed);
            const digest known_by = by_family ? sample_digest(seed) : sample_refresh_digest(seed + 1);
            const auto found = value_of(store.find_oauth_token(known_by));
            expect(found && found->is_refresh_token && found->application == application, "the token is found");
            value_of(store.revoke(oauth_token_revocation{known_by, other}));
            expect(is_refreshable(store, seed + 1, application), "a token is revoked by its application");
            value_of(store.revoke(oauth_token_revocation{known_by, application}));
            expect(!is_refreshable(store, seed + 1, application), "the token is gone");
            expect_nothing(store.find_oauth_token(known_by), "the token is not found any more");
            expect_no_access(store, seed + 5);
            expect_refresh(store, presented, unknown);
        }
    });

    add("revocation: an access token is revoked alone, a refresh token with its access tokens", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        authorize(store, 2, application);
        expect_refresh(store, sample_refresh(1, 11, application), refreshed);
        value_of(store.revoke(oauth_token_revocation{sample_access_digest(11), application}));
        expect_no_access(store, 11);
        expect_access(store, 1);
        expect_refresh(store, sample_refresh(1, 12, application), refreshed);

        value_of(store.revoke(oauth_token_revocation{sample_refresh_digest(1), application}));
        for (const std::uint64_t gone : {1U, 12U}) expect_no_access(store, gone);
        expect_refresh(store, sample_refresh(1, 13, application), unknown);
        expect_no_access(store, 13);
        expect_access(store, 2);
        expect(is_refreshable(store, 2, application), "another refresh token stays valid");
        expect(value_of(granted_scopes(store, user_id{7}, application)).has_value(), "the grant remains");
        for (int again = 0; again < 2; ++again)
            value_of(store.revoke(oauth_token_revocation{sample_refresh_digest(1), application}));
    });

    add("revocation: unknown tokens and those of other applications are not changed", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto other = create_sample_application(store, "tgi_b");
        authorize(store, 1, application);
        value_of(store.revoke(oauth_token_revocation{sample_access_digest(1), other}));
        value_of(store.revoke(oauth_token_revocation{sample_refresh_digest(1), other}));
        value_of(store.revoke(oauth_token_revocation{sample_code_digest(1), application}));
        value_of(store.revoke(oauth_token_revocation{sample_digest(0), application}));
        expect_access(store, 1);
        expect(is_refreshable(store, 1, application), "a refresh token is revoked by its application");
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_REFRESH_TOKENS_HPP
