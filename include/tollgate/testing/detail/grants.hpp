#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_GRANTS_HPP
#define TOLLGATE_TESTING_DETAIL_GRANTS_HPP

#include <tollgate/testing/detail/codes.hpp>
#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/device_codes.hpp>
#include <tollgate/testing/detail/refresh_tokens.hpp>
#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

/// The rules for grants, for the codes and tokens of a grant, and for sweeping them.
template <class Given>
void add_grant_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    add_code_cases(to, source);
    add_refresh_token_cases(to, source);
    add_device_code_cases(to, source);
    const auto add = adder_of_cases(to, source);

    add("grant: the scopes of a code are granted and listed", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto code = sample_code(1, application);
        expect_nothing(granted_scopes(store, code.user, application), "nothing was granted before");
        expect(value_of(store.grants_of(code.user)).empty(), "a user who granted nothing has an empty list");
        expect_code(store, code, code_result::created);
        expect(value_of(granted_scopes(store, code.user, application)) == code.scopes,
               "what the code is for is granted");
        const auto listed = value_of(store.grants_of(code.user));
        expect(listed.size() == 1, "a grant is listed once");
        expect(listed[0].user == code.user, "a listed grant has its user");
        expect(listed[0].application == application, "a listed grant has its application");
        expect(listed[0].application_name == "Backup for sites", "a listed grant has its application's name");
        expect(listed[0].application_website == "https://app.example", "a listed grant has its application's website");
        expect(listed[0].scopes == code.scopes, "a listed grant has its scopes, in their order");
        expect(listed[0].created_at == code.created_at, "a listed grant has its time, to the millisecond");
        expect(!listed[0].last_used_at, "a grant that was not used says so");
        expect_nothing(granted_scopes(store, user_id{8}, application), "another user granted nothing");
        expect(value_of(store.grants_of(user_id{8})).empty(), "another user granted nothing");
    });

    add("suspension: a suspended application has no access tokens and gets none, until it is resumed", [](auto& store) {
        const auto application = create_sample_application(store), other = create_sample_application(store, "tgi_b");
        const auto client_id = sample_application("tgi_a").client_id;
        const auto reason_of = [&] {
            const auto found = value_of(store.find_application(client_id.view())).value();
            const auto listed = value_of(store.applications_of(found.owner));
            expect(listed.at(0).suspended == found.suspended, "a list tells the same as a search");
            for (const grant& each : value_of(store.grants_of(user_id{7})))
                expect(each.application_is_suspended == (each.application == application && found.suspended),
                       "a listed grant says whether its application is suspended");
            return found.suspended;
        };
        const application_fields allowed{.name = "n", .website = "w", .description = "d", .redirect_urls = {}, .acts_for_owner = true};
        const auto create_owner_token = [&](std::uint64_t seed) {
            return store.create_access_token(
                {user_id{3}, application, sample_access_digest(seed), sample_scopes("a"), noon, noon + seconds{3600}, true});
        };
        value_of(store.change_application(user_id{3}, application, allowed));
        authorize(store, 1, application);
        authorize(store, 2, other);
        expect(!reason_of(), "a new application is not suspended");
        expect_refresh(store, sample_refresh(1, 11, application), refresh_result::refreshed);
        expect_true(create_owner_token(12), "the owner has allowed it");
        expect_code(store, sample_code(3, application), code_result::created);
        value_of(store.create_device_code(sample_device_code(1, application)));
        const auto unknown_id = application_id{other.value() + 1};
        expect_false(store.change_application({}, unknown_id, suspension_change{suspension::by_operator}), "there is no such application");
        expect_false(store.change_application({}, unknown_id, suspension_change{std::nullopt}), "there is no such application");
        for (const std::uint64_t live : {1U, 11U, 12U}) expect_access(store, live);

        for (const auto reason : {suspension::by_operator, suspension::owner_disabled}) {
            expect_true(store.change_application({}, application, suspension_change{reason}), "the application is suspended");
            expect(reason_of() == reason, "an application has the reason of its suspension");
            for (const std::uint64_t gone : {1U, 11U, 12U}) expect_no_access(store, gone);
            expect_refresh(store, sample_refresh(1, 13, application), refresh_result::unknown);
            expect_redemption(store, sample_redemption(3, application), redemption_result::unknown);
            expect_false(create_owner_token(14), "a suspended application gets no token of its owner");
            auto new_code = sample_code(4, application, user_id{8});
            for (const bool only_if_granted : {false, true}) {
                new_code.only_if_granted = only_if_granted;
                expect_code(store, new_code, code_result::suspended);
                expect_code(store, sample_code(3, application), code_result::suspended);
            }
            expect_nothing(store.answer_device_code(sample_decision(1, device_code_state::approved, user_id{8})),
                           "a suspended application gets no code for a device");
            expect(found_of(store.find_device_code(sample_device_code(1, application).device_digest)).state == device_code_state::pending,
                   "the request of the device has no answer");
            expect_nothing(granted_scopes(store, user_id{8}, application), "nothing was granted");
            for (const std::uint64_t never : {3U, 13U, 14U}) expect_no_access(store, never);
        }
        expect(value_of(granted_scopes(store, user_id{7}, application)).has_value(), "grants stay");
        expect_access(store, 2);
        expect(is_refreshable(store, 2, other), "another application is not suspended");

        expect(value_of(store.grants_of(user_id{8})).empty(), "no grant was made");
        expect_true(store.change_application({}, application, suspension_change{std::nullopt}), "the application is resumed");
        expect(found_of(store.answer_device_code(sample_decision(1, device_code_state::approved, user_id{8}))).is_new,
               "the device can be approved again");
        expect(!reason_of(), "a resumed application is not suspended");
        expect_no_access(store, 1);
        expect_refresh(store, sample_refresh(1, 15, application), refresh_result::refreshed);
        expect_redemption(store, sample_redemption(3, application), redemption_result::redeemed);
        expect_true(create_owner_token(16), "the owner has still allowed it");
        for (const std::uint64_t live : {3U, 15U, 16U}) expect_access(store, live);
    });

    add("suspension: no access token is left by calls that overlap with it", [](auto& store) {
        for (std::uint64_t round = 0; round < 5; ++round) {
            const auto application = create_sample_application(store, "tgi_" + std::to_string(round));
            const std::uint64_t base = 1000 * (round + 1);
            for (std::uint64_t i = 0; i < thread_count; ++i) authorize(store, base + i, application);
            for (std::uint64_t i = 0; i < thread_count; ++i)
                expect_code(store, sample_code(base + 100 + i, application), code_result::created);
            in_parallel([&](std::size_t i) {
                if (i == 0) {
                    value_of(store.change_application({}, application, suspension_change{suspension::by_operator}));
                    return;
                }
                value_of(store.refresh_access_token(sample_refresh(base + i, base + 200 + i, application)));
                value_of(store.redeem_code(sample_redemption(base + 100 + i, application)));
            });
            for (std::uint64_t i = 0; i < thread_count; ++i)
                for (const std::uint64_t kind : {0U, 100U, 200U}) expect_no_access(store, base + kind + i);
        }
    });

    add("suspension: calls that overlap with it create a code or grant nothing", [](auto& store) {
        for (std::uint64_t round = 0; round < 5; ++round) {
            const auto application = create_sample_application(store, "tgi_" + std::to_string(round));
            const std::uint64_t base = 1000 * (round + 1);
            const auto user_of = [&](std::size_t i) { return user_id{static_cast<std::int64_t>(base + i)}; };
            for (std::uint64_t i = 0; i < thread_count; ++i) value_of(store.create_device_code(sample_device_code(base + i, application)));
            std::vector<int> created(thread_count);
            in_parallel([&](std::size_t i) {
                const auto approval = sample_decision(base + i, device_code_state::approved, user_of(i));
                if (i == 0) value_of(store.change_application({}, application, suspension_change{suspension::by_operator}));
                else if (i % 2 == 1) created[i] = value_of(store.answer_device_code(approval)).has_value();
                else created[i] = value_of(store.create_code(sample_code(base + i, application, user_of(i)))) == code_result::created;
            });
            for (std::size_t i = 1; i < thread_count; ++i)
                expect(value_of(granted_scopes(store, user_of(i), application)).has_value() == (created[i] != 0),
                       "there is a grant exactly if there is a code");
        }
    });

    add("grant: new scopes are added to those already granted", [](auto& store) {
        const auto application = create_sample_application(store);
        auto code = sample_code(1, application);
        code.scopes = sample_scopes("b a");
        expect_code(store, code, code_result::created);
        const auto first = value_of(store.grants_of(code.user)).at(0);
        code = sample_code(2, application);
        code.scopes = sample_scopes("c a");
        code.created_at = noon + seconds{9};
        expect_code(store, code, code_result::created);
        expect(value_of(granted_scopes(store, code.user, application)) == sample_scopes("b a c"),
               "each scope once, in the order in which they came");
        const auto listed = value_of(store.grants_of(code.user));
        expect(listed.size() == 1, "one user and one application have one grant");
        expect(listed[0].id == first.id && listed[0].created_at == noon, "the grant is the one it was");
        const auto actual = value_of(store.redeem_code(sample_redemption(2, application)));
        expect(actual.scopes == code.scopes, "a code is for its own scopes, not for all that are granted");
    });

    add("grant: without consent a code can only have scopes that were granted", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto without_consent = [&](std::uint64_t seed, const char* scopes) {
            auto code = sample_code(seed, application);
            code.scopes = sample_scopes(scopes);
            code.only_if_granted = true;
            return code;
        };
        expect_code(store, without_consent(1, "a"), code_result::not_granted);
        expect_nothing(granted_scopes(store, user_id{7}, application), "a refused code grants nothing");
        expect(value_of(store.grants_of(user_id{7})).empty(), "and nothing is listed");
        expect_redemption(store, sample_redemption(1, application), redemption_result::unknown);

        auto with_consent = sample_code(2, application);
        with_consent.scopes = sample_scopes("b a");
        expect_code(store, with_consent, code_result::created);
        expect_code(store, without_consent(3, "c a"), code_result::not_granted);
        expect_code(store, without_consent(3, "a"), code_result::created);
        expect_code(store, without_consent(3, "a"), code_result::waiting);
        expect_code(store, without_consent(4, "a b"), code_result::created);
        expect(value_of(granted_scopes(store, user_id{7}, application)) == with_consent.scopes, "granted scopes remain granted");
        const auto actual = value_of(store.redeem_code(sample_redemption(3, application)));
        expect(actual.scopes == sample_scopes("a"), "the code is for its own scopes");

        expect_true(store.revoke(grant_revocation{user_id{7}, application}), "there was such a grant");
        expect_code(store, without_consent(5, "a"), code_result::not_granted);
        expect(value_of(store.grants_of(user_id{7})).empty(), "a revocation is not undone");
    });

    add("grant: more scopes than fit are refused, and nothing changes", [](auto& store) {
        const auto application = create_sample_application(store);
        auto code = sample_code(1, application);
        code.scopes = sample_scopes(std::string(limits::scope_text_bytes_max - 2, 'x'));
        expect_code(store, code, code_result::created);
        auto more = sample_code(2, application);
        more.scopes = sample_scopes("y z");
        expect_error("create_code", store.create_code(more), error_kind::invalid);
        expect(value_of(granted_scopes(store, code.user, application)) == code.scopes, "nothing was granted");
        expect_redemption(store, sample_redemption(2, application), redemption_result::unknown);
        more.scopes = sample_scopes("y");
        expect_code(store, more, code_result::created);
        expect(found_of(granted_scopes(store, code.user, application)).contains("y"), "as many as fit are granted");
    });

    add("grant: grants are listed by user, oldest first", [](auto& store) {
        std::vector<application_id> applications;
        for (const char* name : {"tgi_a", "tgi_b", "tgi_c", "tgi_d"})
            applications.push_back(create_sample_application(store, name));
        std::uint64_t seed = 0;
        for (const std::size_t each : {2U, 0U, 3U, 1U}) {
            auto code = sample_code(++seed, applications[each]);
            code.created_at = noon - seconds{static_cast<std::int64_t>(seed)};
            expect_code(store, code, code_result::created);
            expect_code(store, sample_code(10 + seed, applications[each], user_id{8}), code_result::created);
        }
        const auto first = value_of(store.grants_of(user_id{7}));
        expect_true(store.revoke(grant_revocation{user_id{7}, applications[0]}), "there was such a grant");
        expect_code(store, sample_code(20, applications[0]), code_result::created);
        const auto listed = value_of(store.grants_of(user_id{7}));
        std::size_t at = 0;
        expect(listed.size() == 4, "a user's grants are listed, all of them and no other");
        for (const std::size_t each : {2U, 3U, 1U, 0U})
            expect(listed[at++].application == applications[each], "grants are listed in the order of their making");
        for (const grant& each : first) expect(each.id != listed[3].id, "the id of a revoked grant is not used again");
    });

    add("grant: a revocation deletes its codes and tokens, and changes no other grant", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto other = create_sample_application(store, "tgi_b");
        expect_false(store.revoke(grant_revocation{user_id{7}, application}), "there was no such grant");
        authorize(store, 1, application);
        authorize(store, 2, other);
        authorize(store, 3, application, user_id{8});
        expect_refresh(store, sample_refresh(1, 11, application), refresh_result::refreshed);
        expect_code(store, sample_code(4, application), code_result::created);

        expect_true(store.revoke(grant_revocation{user_id{7}, application}), "there was such a grant");
        for (const std::uint64_t gone : {1U, 11U}) expect_no_access(store, gone);
        expect_refresh(store, sample_refresh(1, 12, application), refresh_result::unknown);
        expect_redemption(store, sample_redemption(4, application), redemption_result::unknown);
        expect_redemption(store, sample_redemption(1, application), redemption_result::unknown);
        for (const std::uint64_t gone : {12U, 4U}) expect_no_access(store, gone);
        expect_nothing(granted_scopes(store, user_id{7}, application), "nothing is granted any more");
        expect(value_of(store.grants_of(user_id{7})).size() == 1, "a revoked grant is not listed");
        expect_false(store.revoke(grant_revocation{user_id{7}, application}), "a grant is revoked once");

        for (const std::uint64_t number : {2U, 3U}) expect_access(store, number);
        expect(is_refreshable(store, 2, other) && is_refreshable(store, 3, application), "others' tokens stay valid");
        expect(value_of(granted_scopes(store, user_id{7}, other)).has_value(), "what was granted to others is granted");

        auto again = sample_code(1, application);
        again.scopes = sample_scopes("itemplatform");
        expect_code(store, again, code_result::created);
        expect(value_of(granted_scopes(store, user_id{7}, application)) == again.scopes,
               "a new grant has its own scopes");
    });

    add("grant: is deleted with its application, and so are its codes and tokens", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto other = create_sample_application(store, "tgi_b");
        authorize(store, 1, application);
        authorize(store, 2, other);
        authorize(store, 3, application, user_id{8});
        expect_code(store, sample_code(4, application), code_result::created);
        expect_false(store.delete_application(user_id{4}, application), "the application is another owner's");
        for (const std::uint64_t number : {1U, 2U, 3U}) expect_access(store, number);

        expect_true(store.delete_application(user_id{3}, application), "the application is the owner's");
        for (const std::uint64_t gone : {1U, 3U}) {
            expect_no_access(store, gone);
            expect_refresh(store, sample_refresh(gone, 10 + gone, application), refresh_result::unknown);
            expect_no_access(store, 10 + gone);
        }
        for (const std::uint64_t code : {1U, 3U, 4U})
            expect_redemption(store, sample_redemption(code, application), redemption_result::unknown);
        expect_nothing(granted_scopes(store, user_id{7}, application), "a grant is deleted with its application");
        expect(value_of(store.grants_of(user_id{8})).empty(), "a grant of a deleted application is not listed");
        expect_error("create_code", store.create_code(sample_code(5, application)), error_kind::not_found);
        expect_access(store, 2);
        expect(value_of(store.grants_of(user_id{7})).size() == 1, "what was granted to others is granted");

        const auto again = create_sample_application(store);
        expect_nothing(granted_scopes(store, user_id{7}, again), "an application of the same name inherits nothing");
    });

    if constexpr (access_token_store<store_given_as<Given>>)
        add("grant: access tokens without a code are deleted with it and with its application", [](auto& store) {
            const auto application = create_sample_application(store);
            authorize(store, 1, application);
            const auto create = [&](std::uint64_t seed, user_id user) {
                auto token = sample_access_token(seed, user);
                token.application = application;
                token.token_digest = sample_access_digest(seed);
                value_of(store.create_access_token(token));
            };
            create(21, user_id{7});
            create(22, user_id{8});
            create(23, user_id{8});
            auto reused = sample_redemption(1, application);
            reused.tokens = sample_tokens(2);
            expect_redemption(store, reused, redemption_result::reused);
            expect_no_access(store, 1);
            expect_access(store, 21);
            value_of(store.revoke(oauth_token_revocation{sample_access_digest(22), application}));
            expect_no_access(store, 22);
            value_of(store.revoke(grant_revocation{user_id{7}, application}));
            expect_no_access(store, 21);
            expect_access(store, 23);
            value_of(store.delete_application(user_id{3}, application));
            expect_no_access(store, 23);
        });

    if constexpr (use_recorder<store_given_as<Given>>)
        add("grant: using an access token counts as a use of its grant", [](auto& store) {
            const auto application = create_sample_application(store);
            const auto other = create_sample_application(store, "tgi_b");
            authorize(store, 1, application);
            authorize(store, 2, other);
            authorize(store, 3, application, user_id{8});
            for (const instant at : {noon + seconds{5}, noon + seconds{9}, noon}) {
                value_of(store.record_use(access_token_key{sample_access_digest(1)}, at, {}));
                const auto listed = value_of(store.grants_of(user_id{7}));
                expect(listed.at(0).last_used_at == at, "the grant says when, to the millisecond");
                expect(!listed.at(1).last_used_at, "another application's grant says nothing of it");
                expect(!value_of(store.grants_of(user_id{8})).at(0).last_used_at, "another user's says nothing of it");
            }
        });

    add("grant: no token remains if it is revoked while its tokens are refreshed", [](auto& store) {
        for (std::uint64_t round = 0; round < 3; ++round) {
            const auto application = create_sample_application(store, "tgi_" + std::to_string(round));
            const std::uint64_t first = round * 1000;
            authorize(store, first, application);
            in_parallel([&](std::size_t i) {
                if (i == 0) {
                    expect_true(store.revoke(grant_revocation{user_id{7}, application}), "there was such a grant");
                    return;
                }
                for (std::uint64_t n = 0; n < 4; ++n)
                    value_of(store.refresh_access_token(sample_refresh(first, first + i * 10 + n, application)));
            });
            for (std::uint64_t n = 0; n < thread_count * 10; ++n) expect_no_access(store, first + n);
            expect(!is_refreshable(store, first, application), "the refresh token is gone");
        }
    });

    add("grant: a code with consent is created, also while the grant is revoked", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        in_parallel([&](std::size_t i) {
            for (std::uint64_t n = 0; n < 20; ++n) {
                if (i == 0) value_of(store.revoke(grant_revocation{user_id{7}, application}));
                else expect(value_of(store.create_code(sample_code(1000 + i * 100 + n, application))) == code_result::created,
                            "must be created: the user has consented");
            }
        });
    });

    add("grant: none remains if its application is deleted while codes are created", [](auto& store) {
        for (std::uint64_t round = 0; round < 3; ++round) {
            const auto application = create_sample_application(store, "tgi_" + std::to_string(round));
            const std::uint64_t first = round * 1000;
            in_parallel([&](std::size_t i) {
                if (i == 0) {
                    expect_true(store.delete_application(user_id{3}, application),
                           "there was such an application");
                    return;
                }
                for (std::uint64_t n = 0; n < 3; ++n) {
                    const std::uint64_t seed = first + i * 10 + n;
                    const auto code = store.create_code(sample_code(seed, application));
                    if (!code) {
                        expect_error("create_code", code, error_kind::not_found);
                        continue;
                    }
                    value_of(store.redeem_code(sample_redemption(seed, application)));
                }
            });
            expect(value_of(store.grants_of(user_id{7})).empty(), "a grant of a deleted application is not listed");
            for (std::uint64_t n = 0; n < thread_count * 10; ++n) expect_no_access(store, first + n);
        }
    });

    add("sweep: codes and tokens are deleted from their expiry on, up to a bound per call", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto sweep = [&](instant now, std::size_t max) { return value_of(store.sweep({.expired_at = now, .rows_max = max})); };
        constexpr milliseconds moment{1};
        // Two codes, one of them redeemed, and so two tokens.
        expect_code(store, sample_code(1, application), code_result::created);
        expect_code(store, sample_code(2, application), code_result::created);
        auto presented = sample_redemption(2, application);
        presented.tokens.access_expires_at = noon + seconds{100};
        presented.tokens.refresh_expires_at = noon + seconds{200};
        presented.tokens.refresh_ends_at = noon + seconds{300};
        expect_redemption(store, presented, redemption_result::redeemed);

        const auto good = [&](std::uint64_t code) {
            return value_of(store.create_code(sample_code(code, application)));
        };
        expect(sweep(noon + seconds{60} - moment, 100) == 0, "nothing has expired");
        expect(sweep(noon + seconds{60}, 0) == 0, "nothing is swept where nothing may be");
        expect(good(1) == code_result::waiting, "the code was not swept");
        expect(sweep(noon + seconds{60}, 100) == 1, "the unredeemed code has expired");
        expect(good(2) == code_result::spent, "a spent code is remembered");
        expect(sweep(noon + seconds{100} - moment, 100) == 0, "the access token is valid");
        expect_access(store, 2);
        expect(sweep(noon + seconds{100}, 100) == 1, "the access token has expired");
        expect_no_access(store, 2);
        expect(sweep(noon + seconds{200} - moment, 100) == 0, "the refresh token is valid");
        expect(is_refreshable(store, 2, application, noon + seconds{200} - moment), "the refresh token is valid");
        expect(sweep(noon + seconds{200}, 100) == 1, "the refresh token has expired");
        const instant forgotten = noon + seconds{60} + seconds{limits::spent_code_seconds};
        expect(sweep(forgotten - moment, 100) == 0, "a spent code is remembered for an hour");
        expect(sweep(forgotten, 100) == 1, "a spent code is forgotten then");
        expect(value_of(granted_scopes(store, user_id{7}, application)).has_value(), "a grant does not expire");

        for (std::uint64_t seed = 10; seed < 15; ++seed) authorize(store, seed, application);
        const instant after = noon + seconds{366 * 86'400};
        std::size_t swept = 0;
        for (const std::size_t max : {4U, 1U, 4U, 4U}) {
            const std::size_t some = sweep(after, max);
            expect(some <= max, "a sweep removes no more than its bound");
            expect(some > 0, "a sweep removes something");
            swept += some;
        }
        while (const std::size_t some = sweep(after, 4)) swept += some;
        expect(swept == 15, "in the end all is swept: five codes, access tokens and refresh tokens");
        for (std::uint64_t seed = 10; seed < 15; ++seed) {
            expect_no_access(store, seed);
            expect_redemption(store, sample_redemption(seed, application), redemption_result::unknown);
        }
    });

    add_reopen_case(to, source, "grant", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        authorize(store, 2, application);
        authorize(store, 3, application, user_id{8});
        expect_code(store, sample_code(4, application), code_result::created);
        value_of(store.revoke(oauth_token_revocation{sample_refresh_digest(2), application}));
        const auto remaining = value_of(store.grants_of(user_id{7})).at(0).id;
        const auto lost = value_of(store.grants_of(user_id{8})).at(0).id;
        value_of(store.revoke(grant_revocation{user_id{8}, application}));
        return [=](auto& reopened) {
            const auto listed = value_of(reopened.grants_of(user_id{7}));
            expect(listed.size() == 1 && listed[0].id == remaining, "a grant is there");
            expect(listed[0].scopes == sample_code(1, application).scopes, "a grant has its scopes");
            expect(value_of(reopened.grants_of(user_id{8})).empty(), "a revoked grant is not there");
            expect_access(reopened, 1);
            for (const std::uint64_t gone : {2U, 3U}) expect_no_access(reopened, gone);
            expect(is_refreshable(reopened, 1, application), "a refresh token is there");
            expect(!is_refreshable(reopened, 2, application), "a revoked one is not");
            expect_redemption(reopened, sample_redemption(4, application), redemption_result::redeemed);
            expect_redemption(reopened, sample_redemption(1, application), redemption_result::redeemed);  // the call is repeated
            auto reused = sample_redemption(1, application);
            reused.tokens = sample_tokens(5);
            expect_redemption(reopened, reused, redemption_result::reused);
            expect_no_access(reopened, 1);
            expect_code(reopened, sample_code(5, application, user_id{8}), code_result::created);
            const auto next = value_of(reopened.grants_of(user_id{8})).at(0).id;
            expect(next != remaining && next != lost, "ids are never used again, not even by the next process");
        };
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_GRANTS_HPP
