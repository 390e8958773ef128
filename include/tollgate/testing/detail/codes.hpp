#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_CODES_HPP
#define TOLLGATE_TESTING_DETAIL_CODES_HPP

#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

/// The rules for authorization codes: creation, redemption, reuse.
template <class Given>
void add_code_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    using enum redemption_result;
    const auto add = adder_of_cases(to, source);

    add("code: none is created for an unknown application", [](auto& store) {
        const auto application = create_sample_application(store);
        const application_id other{application.value() + 1};
        auto code = sample_code(1, other);
        for (const bool only_if_granted : {false, true}) {
            code.only_if_granted = only_if_granted;
            expect_error("create_code", store.create_code(code), error_kind::not_found);
        }
        expect_nothing(granted_scopes(store, user_id{7}, other), "an unknown application has no grant");
        expect(value_of(store.grants_of(user_id{7})).empty(), "the user has granted nothing");
        expect_redemption(store, sample_redemption(1, other), unknown);
    });

    add("code: creating it again changes nothing", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto code = sample_code(1, application);
        expect_code(store, code, code_result::created);
        auto again = code;
        again.scopes = sample_scopes("itemplatform");
        again.redirect = "https://app.example/elsewhere";
        again.expires_at = noon + seconds{600};
        expect_code(store, again, code_result::waiting);
        expect_code(store, code, code_result::waiting);
        expect(value_of(granted_scopes(store, user_id{7}, application)) == code.scopes,
               "nothing was granted by the second");
        auto presented = sample_redemption(1, application);
        presented.redirect_uri = again.redirect;
        expect_redemption(store, presented, redirect_mismatch);
        expect_redemption(store, sample_redemption(1, application), redeemed);
        expect_code(store, code, code_result::spent);
        expect_code(store, again, code_result::spent);
        expect_access(store, 1);
    });

    add("code: is redeemed for an access token and a refresh token", [](auto& store) {
        const auto application = create_sample_application(store);
        auto code = sample_code(1, application, user_id{8});
        code.scopes = sample_scopes("b a c");
        expect_code(store, code, code_result::created);
        expect_no_access(store, 1);
        const auto actual = value_of(store.redeem_code(sample_redemption(1, application)));
        expect(actual.result == redeemed, "a valid code is redeemed");
        expect(actual.user == user_id{8}, "a redeemed code says whose it was");
        expect(actual.scopes == code.scopes, "a redeemed code says what was granted, in its order");
        expect_access(store, new_access_token{user_id{8}, application, sample_access_digest(1), code.scopes, noon,
                                              sample_tokens(1).access_expires_at});
        expect(is_refreshable(store, 1, application), "the refresh token is valid");
    });

    add("code: an unknown one, or one of another application, is refused", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto other = create_sample_application(store, "tgi_b");
        expect_code(store, sample_code(1, application), code_result::created);
        expect_redemption(store, sample_redemption(2, application), unknown);
        expect_redemption(store, sample_redemption(1, other), unknown);
        expect_no_access(store, 1);
        expect(!is_refreshable(store, 1, application) && !is_refreshable(store, 1, other), "there is no refresh token");
        expect_redemption(store, sample_redemption(1, application), redeemed);
        expect_redemption(store, sample_redemption(1, other), unknown);
        expect_access(store, 1);
    });

    add("code: is valid until it expires", [](auto& store) {
        const auto application = create_sample_application(store);
        for (std::uint64_t seed = 1; seed <= 2; ++seed)
            expect_code(store, sample_code(seed, application), code_result::created);
        auto late = sample_redemption(1, application), in_time = sample_redemption(2, application);
        late.now = noon + seconds{60};
        in_time.now = late.now - milliseconds{1};
        expect_redemption(store, late, expired);
        expect_no_access(store, 1);
        expect_redemption(store, in_time, redeemed);
        expect_access(store, 2);
    });

    add("code: a redirect_uri that is sent must equal its own, byte for byte", [](auto& store) {
        const auto application = create_sample_application(store);
        std::uint64_t seed = 0;
        for (const std::string& text : difficult_texts()) {
            auto code = sample_code(++seed, application);
            code.redirect = "https://app.example/" + text;
            expect_code(store, code, code_result::created);
            auto presented = sample_redemption(seed, application);
            for (const std::string& other : {code.redirect + "/", code.redirect + " ", std::string{},
                                             std::string{"https://App.example/"} + text, code.redirect.substr(1)}) {
                presented.redirect_uri = other;
                expect_redemption(store, presented, redirect_mismatch);
                expect_no_access(store, seed);
            }
            presented.redirect_uri = code.redirect;
            expect_redemption(store, presented, redeemed);
        }
        expect_code(store, sample_code(++seed, application), code_result::created);
        expect_redemption(store, sample_redemption(seed, application), redeemed);  // none presented is fine, too
    });

    add("code: a verifier is required if there was a challenge, must match it, and is refused otherwise", [](auto& store) {
        const auto application = create_sample_application(store);
        const std::string one(43, 'a'), other = std::string(42, 'a') + "A";
        struct row {
            std::optional<std::string> challenge, presented;
            redemption_result expected;
        };
        std::uint64_t seed = 0;
        for (const row& each : {row{{}, {}, redeemed}, row{{}, one, verifier_mismatch}, row{one, {}, verifier_mismatch},
                                row{one, other, verifier_mismatch}, row{one, "", verifier_mismatch}, row{one, one, redeemed}}) {
            auto code = sample_code(++seed, application);
            code.code_challenge = each.challenge;
            expect_code(store, code, code_result::created);
            auto presented = sample_redemption(seed, application);
            presented.code_challenge = each.presented;
            expect_redemption(store, presented, each.expected);
            if (each.expected == redeemed) continue;
            expect_no_access(store, seed);
            presented.code_challenge = each.challenge;
            expect_redemption(store, presented, redeemed);  // it was still good
        }
    });

    add("code: reuse revokes the tokens that were created from it, and nothing else", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        authorize(store, 2, application);
        expect_refresh(store, sample_refresh(1, 11, application), refresh_result::refreshed);
        expect_refresh(store, sample_refresh(2, 12, application), refresh_result::refreshed);
        auto presented = sample_redemption(1, application);
        presented.tokens = sample_tokens(3);
        for (int round = 0; round < 2; ++round) {
            const auto actual = value_of(store.redeem_code(presented));
            expect(actual.result == reused, "redeem_code returns the right result");
            expect(actual.user == (round == 0 ? std::optional{user_id{7}} : std::nullopt),
                   "the result of a reuse names the user whose tokens it revoked");
            for (const std::uint64_t gone : {1U, 11U, 3U}) expect_no_access(store, gone);
            expect(!is_refreshable(store, 1, application), "the refresh token made of the code is revoked");
            expect(!is_refreshable(store, 3, application), "a spent code yields no token");
        }
        for (const std::uint64_t number : {2U, 12U}) expect_access(store, number);
        expect(is_refreshable(store, 2, application), "another code's tokens stay valid");
        expect(value_of(granted_scopes(store, user_id{7}, application)).has_value(), "the grant remains");
        expect_code(store, sample_code(1, application), code_result::spent);
    });

    add("code: reuse is detected despite other errors, and long after the code has expired", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto other = create_sample_application(store, "tgi_b");
        const instant last = noon + seconds{60} + seconds{limits::spent_code_seconds} - milliseconds{1};
        authorize(store, 1, application);
        expect_redemption(store, sample_redemption(1, other), unknown);  // another application must not cause a revocation
        expect_access(store, 1);
        value_of(store.sweep({.expired_at = last, .rows_max = 100}));
        expect_code(store, sample_code(1, application), code_result::spent);
        auto presented = sample_redemption(1, application);
        presented.now = last;
        presented.tokens = sample_tokens(2);
        presented.redirect_uri = "https://elsewhere.example/";
        presented.code_challenge = std::string(43, 'a');
        expect_redemption(store, presented, reused);
        expect(!is_refreshable(store, 1, application), "the refresh token made of the code is revoked");
    });

    add("code: a redemption that is called again with the same digests is the same redemption", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        auto presented = sample_redemption(1, application);
        for (const seconds later : {seconds{0}, seconds{40}, seconds{limits::spent_code_seconds}}) {
            presented.now = sample_redemption(1, application).now + later;
            const auto again = value_of(store.redeem_code(presented));
            expect(again.result == redeemed, "a repeated call returns the result of the first");
            expect(again.user == user_id{7} && again.scopes == sample_code(1, application).scopes,
                   "a repeated call returns the user and the scopes of the first");
            expect_access(store, 1);
            expect(is_refreshable(store, 1, application), "a repeated call revokes nothing");
        }
        presented.tokens.refresh_digest = sample_refresh_digest(2);
        expect_redemption(store, presented, reused);
        expect_no_access(store, 1);
        expect_redemption(store, sample_redemption(1, application), reused);  // its refresh token is revoked
        expect_no_access(store, 1);
    });

    add("code: one that was redeemed just now may be repeated without harm, if the request says so", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        auto presented = sample_redemption(1, application);
        const instant redeemed_at = presented.now;
        presented.tokens = sample_tokens(2);
        presented.grace = seconds{30};
        presented.now = redeemed_at + seconds{30} - milliseconds{1};
        expect_redemption(store, presented, repeated);
        expect_access(store, 1);
        expect_no_access(store, 2);
        expect(is_refreshable(store, 1, application) && !is_refreshable(store, 2, application), "the first tokens stay valid");
        presented.now = redeemed_at + seconds{30};
        expect_redemption(store, presented, reused);
        expect_no_access(store, 1);
        expect(!is_refreshable(store, 1, application), "the refresh token made of the code is revoked");
    });

    add("code: if a new digest already exists, nothing changes", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        expect_code(store, sample_code(2, application), code_result::created);
        auto presented = sample_redemption(2, application);
        presented.tokens.access_digest = sample_access_digest(1);
        expect_error("redeem_code", store.redeem_code(presented), error_kind::conflict);
        expect(!is_refreshable(store, 2, application), "both tokens are made, or none");
        presented = sample_redemption(2, application);
        presented.tokens.refresh_digest = sample_refresh_digest(1);
        expect_error("redeem_code", store.redeem_code(presented), error_kind::conflict);
        expect_no_access(store, 2);
        expect_code(store, sample_code(2, application), code_result::waiting);
        expect_redemption(store, sample_redemption(2, application), redeemed);
        expect_access(store, 1);
        expect_access(store, 2);
    });

    add("code: exactly one of several parallel redemptions succeeds, and the others revoke its tokens", [](auto& store) {
        const auto application = create_sample_application(store);
        for (std::uint64_t round = 0; round < 5; ++round) {
            expect_code(store, sample_code(round, application), code_result::created);
            const auto redeem = [&](std::size_t i) {
                auto presented = sample_redemption(round, application);
                presented.tokens = sample_tokens(round * thread_count + i);
                const auto actual = value_of(store.redeem_code(presented));
                expect(actual.result == redeemed || actual.result == reused, "a code is redeemed, or it was before");
                return actual.result == redeemed;
            };
            expect_one_winner(redeem, "exactly one redemption wins");
            for (std::uint64_t i = 0; i < thread_count; ++i) {
                expect_no_access(store, round * thread_count + i);
                expect(!is_refreshable(store, round * thread_count + i, application),
                       "reuse revokes, in parallel, too");
            }
        }
    });

    add("code: a form that is submitted twice creates one code, also in parallel", [](auto& store) {
        const auto application = create_sample_application(store);
        for (std::uint64_t round = 0; round < 5; ++round) {
            const auto create = [&](std::size_t) {
                const auto actual = value_of(store.create_code(sample_code(round, application)));
                expect(actual == code_result::created || actual == code_result::waiting, "a code is new, or waits");
                return actual == code_result::created;
            };
            expect_one_winner(create, "exactly one creation makes the code");
            expect_redemption(store, sample_redemption(round, application), redeemed);
        }
        expect(value_of(store.grants_of(user_id{7})).size() == 1, "one user and one application have one grant");
    });

    add("code: one that expired before it was redeemed is created again", [](auto& store) {
        const auto application = create_sample_application(store), other = create_sample_application(store, "tgi_b");
        const auto first = sample_code(1, application);
        expect_code(store, first, code_result::created);
        auto again = first;
        auto presented = sample_redemption(1, application);
        presented.now = noon + seconds{60};
        expect_redemption(store, presented, expired);

        // Nothing of the first one remains but the grant.
        again.created_at = noon + seconds{60};
        again.expires_at = noon + seconds{120};
        again.user = user_id{8};
        again.application = other;
        again.scopes = sample_scopes("b a");
        again.redirect = "https://other.example/back";
        again.code_challenge = std::string(43, 'a');
        expect_code(store, again, code_result::created);
        expect(value_of(granted_scopes(store, first.user, application)) == first.scopes, "a grant does not expire with its code");
        expect(value_of(granted_scopes(store, again.user, other)) == again.scopes, "the scopes of the second code are granted");
        expect_redemption(store, presented, unknown);
        presented.application = other;
        expect_redemption(store, presented, verifier_mismatch);
        presented.code_challenge = again.code_challenge;
        presented.redirect_uri = first.redirect;
        expect_redemption(store, presented, redirect_mismatch);
        presented.redirect_uri = again.redirect;
        const auto actual = value_of(store.redeem_code(presented));
        expect(actual.result == redeemed, "the second code is redeemed");
        expect(actual.user == again.user && actual.scopes == again.scopes, "it is for the second user and scopes");
        again.created_at = noon + seconds{180};
        expect_code(store, again, code_result::spent);
    });

    add("code: one that would expire soon is created again", [](auto& store) {
        const auto application = create_sample_application(store);
        auto code = sample_code(1, application);
        const auto create_at = [&](instant now, seconds lifetime, code_result expected) {
            code.created_at = now;
            code.expires_at = now + lifetime;
            expect_code(store, code, expected);
        };
        create_at(noon, seconds{60}, code_result::created);
        create_at(noon + seconds{30} - milliseconds{1}, seconds{60}, code_result::waiting);
        create_at(noon + seconds{30} - milliseconds{1}, seconds{600}, code_result::waiting);
        create_at(noon + seconds{50} - milliseconds{1}, seconds{20}, code_result::waiting);
        create_at(noon + seconds{50}, seconds{20}, code_result::created);
        auto presented = sample_redemption(1, application);
        presented.now = noon + seconds{70};
        expect_redemption(store, presented, expired);
        presented.now -= milliseconds{1};
        expect_redemption(store, presented, redeemed);
        create_at(noon + seconds{70} - milliseconds{1}, seconds{60}, code_result::spent);
    });

    add("code: of users who approve the same device at once, one has a grant", [](auto& store) {
        const auto application = create_sample_application(store);
        for (std::uint64_t round = 0; round < 5; ++round) {
            const auto user_of = [&](std::size_t i) { return user_id{static_cast<std::int64_t>(100 + round * thread_count + i)}; };
            in_parallel([&](std::size_t i) {
                auto code = sample_code(round, application);
                code.user = user_of(i);
                const auto actual = value_of(store.create_code(code));
                expect(actual == code_result::created || actual == code_result::waiting, "a code is new, or waits");
            });
            std::size_t grants = 0;
            for (std::size_t i = 0; i < thread_count; ++i) grants += value_of(store.grants_of(user_of(i))).size();
            expect(grants == 1, "the user whose code was created has a grant, and no other one");
        }
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_CODES_HPP
