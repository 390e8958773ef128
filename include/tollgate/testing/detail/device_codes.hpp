#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_DEVICE_CODES_HPP
#define TOLLGATE_TESTING_DETAIL_DEVICE_CODES_HPP

#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tollgate::inline v0::testing {

/// The rules for introspection, for tokens of an application's owner, and for device codes.
template <class Given>
void add_device_code_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    using enum device_code_state;
    const auto add = adder_of_cases(to, source);

    add("oauth token: tokens of both kinds are found, with user, application and scopes", [](auto& store) {
        const auto application = create_sample_application(store);
        authorize(store, 1, application);
        const auto access = value_of(store.find_oauth_token(sample_access_digest(1)));
        const auto refresh = value_of(store.find_oauth_token(sample_refresh_digest(1)));
        expect(access && !access->is_refresh_token, "an access token is found");
        expect(refresh && refresh->is_refresh_token, "a refresh token is found");
        for (const auto& each : {*access, *refresh}) {
            expect(each.user == user_id{7}, "a token has its user");
            expect(each.application == application, "a token has its application");
            expect(each.client_id == client_id_text::from("tgi_a"), "a token has its client_id");
            expect(each.scopes == sample_code(1, application).scopes, "a token has its scopes, in their order");
        }
        expect(access->created_at == sample_redemption(1, application).now, "an access token has its time");
        expect(access->expires_at == sample_tokens(1).access_expires_at, "an access token has its end");
        expect(refresh->expires_at == sample_tokens(1).refresh_expires_at, "a refresh token has its end");
        expect_nothing(store.find_oauth_token(sample_access_digest(2)), "it was not created");
        expect_nothing(store.find_oauth_token(sample_code_digest(1)), "a code is no token");
        value_of(store.revoke(oauth_token_revocation{sample_refresh_digest(1), application}));
        expect_nothing(store.find_oauth_token(sample_access_digest(1)), "a revoked access token is not found");
        expect_nothing(store.find_oauth_token(sample_refresh_digest(1)), "a revoked refresh token is not found");
    });

    add("owner token: is created for the owner only, and works only while the owner allows it", [](auto& store) {
        const auto application = create_sample_application(store);
        const application_fields allowed{.name = "n", .website = "w", .description = "d", .redirect_urls = {},
                                         .acts_for_owner = true};
        const auto create = [&](std::uint64_t seed, user_id user, application_id client) {
            new_access_token token{user, client, sample_access_digest(seed), sample_scopes("sitesmaker"), noon, noon + seconds{60}};
            token.for_owner = true;
            return store.create_access_token(token);
        };
        expect_false(create(1, user_id{3}, application), "an owner has to allow it");
        value_of(store.change_application(user_id{3}, application, allowed));
        expect_false(create(1, user_id{7}, application), "a user is not the owner");
        expect_false(create(1, user_id{3}, application_id{application.value() + 1}), "there is no such application");
        expect_no_access(store, 1);
        expect_true(create(1, user_id{3}, application), "the owner has allowed it");
        expect_access(store, 1);
        const auto found = value_of(store.find_oauth_token(sample_access_digest(1)));
        expect(found && found->user == user_id{3} && found->scopes == sample_scopes("sitesmaker"),
               "the token is the owner's, with its scopes");
        expect(found->created_at == noon && found->expires_at == noon + seconds{60}, "the token has its time and its end");
        new_access_token again{user_id{4}, application, sample_access_digest(1), sample_scopes("a"), noon, noon};
        expect_error("create_access_token", store.create_access_token(again), error_kind::conflict);
        for (const auto type : {client_type::public_client, client_type::resource_server}) {
            auto other = sample_application(to_text(type));
            other.type = type;
            const auto id = value_of(store.create_application(other, limits::applications_per_user_max));
            value_of(store.change_application(user_id{3}, id, allowed));
            expect_false(create(9, user_id{3}, id), "only a confidential client proves who it is");
        }

        authorize(store, 5, application, user_id{3});
        auto forbidden = allowed;
        forbidden.acts_for_owner = false;
        expect_false(store.change_application(user_id{4}, application, forbidden), "the application is another owner's");
        expect_access(store, 1);
        value_of(store.change_application(user_id{3}, application, forbidden));
        expect_no_access(store, 1);
        expect_access(store, 5);
        value_of(store.change_application(user_id{3}, application, allowed));
        expect_true(create(2, user_id{3}, application), "the owner has allowed it again");
        value_of(store.revoke(grant_revocation{user_id{3}, application}));
        expect_no_access(store, 2);
        expect_true(create(3, user_id{3}, application), "the right is the application's");
        value_of(store.delete_application(user_id{3}, application));
        expect_no_access(store, 3);
    });

    add("application: a list has the number of users of each application", [](auto& store) {
        const auto application = create_sample_application(store);
        create_sample_application(store, "tgi_b");
        for (std::uint64_t seed = 1; seed <= 3; ++seed)
            authorize(store, seed, application, user_id{static_cast<std::int64_t>(6 + seed)});
        authorize(store, 4, application);
        const auto users = [&] {
            const auto listed = value_of(store.applications_of(user_id{3}));
            expect(listed.size() == 2 && listed[1].users == 0, "the other has no users");
            return listed[0].users;
        };
        expect(users() == 3, "each user counts once");
        value_of(store.revoke(grant_revocation{user_id{8}, application}));
        expect(users() == 2, "a user who revoked no longer counts");
    });

    add("device code: is found by either code and can be answered once", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto device_code = sample_device_code(1, application);
        value_of(store.create_device_code(device_code));
        value_of(store.create_device_code(sample_device_code(2, application)));
        for (const auto& code : {device_code.device_digest, device_code.user_digest}) {
            const auto found = value_of(store.find_device_code(code));
            expect(found.has_value(), "it is found by either code");
            expect(found->device_digest == device_code.device_digest, "it has its code");
            expect(found->application == application && found->client_id == client_id_text::from("tgi_a"),
                   "it has its application");
            expect(found->scopes == device_code.scopes, "it has its scopes, in their order");
            expect(found->requested_from == device_code.requested_from, "it has its address");
            expect(found->created_at == device_code.created_at && found->expires_at == device_code.expires_at, "it has its times");
            expect(found->state == pending, "it is pending");
        }
        value_of(store.create_device_code(device_code));  // the call is repeated
        auto other = device_code;
        other.device_digest = sample_device_code(3, application).device_digest;
        expect_error("create_device_code", store.create_device_code(other), error_kind::conflict);
        expect_nothing(store.find_device_code(sample_digest(0)), "it was not created");
        auto unknown = sample_decision(1, approved);
        unknown.user_digest = sample_digest(0);
        expect_nothing(store.answer_device_code(unknown), "there is no such code");
        unknown.user_digest = device_code.device_digest;
        expect_nothing(store.answer_device_code(unknown), "a request is answered by the user's code, not by the device's");
        auto late = sample_decision(1, approved);
        late.now = device_code.expires_at;
        expect_nothing(store.answer_device_code(late), "the request has expired");
        expect_nothing(granted_scopes(store, user_id{7}, application), "nothing was granted");
        const auto expect_answer = [&](const device_decision& decision, const device_answer& expected, std::string_view rule) {
            const auto answer = found_of(store.answer_device_code(decision));
            expect(answer.is_new == expected.is_new && answer.state == expected.state && answer.user == expected.user, rule);
            const auto found = found_of(store.find_device_code(decision.user_digest));
            expect(found.state == expected.state && found.answered_by == expected.user, "the answer stays, with its user");
        };
        expect_answer(sample_decision(1, denied), {true, denied, user_id{7}}, "the request was pending");
        expect_answer(sample_decision(1, approved), {false, denied, user_id{7}}, "a request is answered once");
        expect_nothing(granted_scopes(store, user_id{7}, application), "a denial grants nothing");
        expect_answer(sample_decision(2, approved, user_id{8}), {true, approved, user_id{8}}, "each has its answer");
        expect_answer(sample_decision(2, approved, user_id{7}), {false, approved, user_id{8}}, "the first user stays");
        expect_nothing(granted_scopes(store, user_id{7}, application), "the second user granted nothing");
        expect(value_of(granted_scopes(store, user_id{8}, application)) == device_code.scopes, "an approval grants the scopes");
        expect_nothing(store.answer_device_code([&] {
            auto expired = sample_decision(2, approved, user_id{8});
            expired.now = device_code.expires_at;
            return expired;
        }()), "an answered request expires, too");
        const auto redemption = [&](std::uint64_t seed) {
            auto shown = sample_redemption(seed, application);
            shown.code_digest = sample_device_code(seed, application).device_digest;
            return value_of(store.redeem_code(shown));
        };
        expect(redemption(1).result == redemption_result::unknown, "a denied device has no code");
        const auto redeemed = redemption(2);
        expect(redeemed.result == redemption_result::redeemed, "an approved device redeems its code");
        expect(redeemed.user == user_id{8} && redeemed.scopes == device_code.scopes, "its code has the user and the scopes");
    });

    add("device code: one that is approved just before it expires can be redeemed for a minute", [](auto& store) {
        const auto application = create_sample_application(store);
        for (const std::uint64_t seed : {1U, 2U}) {
            const auto device_code = sample_device_code(seed, application);
            value_of(store.create_device_code(device_code));
            auto decision = sample_decision(seed, approved);
            decision.now = device_code.expires_at - milliseconds{1};
            expect(found_of(store.answer_device_code(decision)).is_new, "the request is answered in time");
            auto presented = sample_redemption(seed, application);
            presented.code_digest = device_code.device_digest;
            presented.now = decision.now + seconds{limits::approved_device_code_seconds} - milliseconds{seed == 1 ? 1 : 0};
            value_of(store.sweep({.expired_at = presented.now, .rows_max = 100}));
            const auto expected = seed == 1 ? redemption_result::redeemed : redemption_result::unknown;
            const auto result = value_of(store.redeem_code(presented)).result;
            expect(result == expected || (seed == 2 && result == redemption_result::expired), "the device has a minute to poll");
        }
    });

    add("device code: needs new codes and a known application, and is kept for some minutes after its expiry", [](auto& store) {
        const auto application = create_sample_application(store);
        const auto device_code = sample_device_code(1, application);
        value_of(store.create_device_code(device_code));
        auto again = sample_device_code(2, application);
        again.user_digest = device_code.user_digest;
        expect_error("create_device_code", store.create_device_code(again), error_kind::conflict);
        again = sample_device_code(2, application);
        again.device_digest = device_code.device_digest;
        expect_error("create_device_code", store.create_device_code(again), error_kind::conflict);
        expect_error("create_device_code", store.create_device_code(sample_device_code(3, application_id{application.value() + 1})),
                     error_kind::not_found);
        const instant end = device_code.expires_at + seconds{limits::expired_device_code_seconds};
        expect(value_of(store.sweep({.expired_at = end - milliseconds{1}, .rows_max = 10})) == 0,
               "a device that still polls is told that it has expired");
        expect(value_of(store.find_device_code(device_code.device_digest)).has_value(), "it is there after its expiry");
        expect(value_of(store.sweep({.expired_at = end, .rows_max = 0})) == 0, "nothing is swept");
        expect(value_of(store.sweep({.expired_at = end, .rows_max = 10})) == 1, "it is swept");
        expect_nothing(store.find_device_code(device_code.device_digest), "it was swept");

        value_of(store.create_device_code(device_code));
        value_of(store.delete_application(user_id{3}, application));
        expect_nothing(store.find_device_code(device_code.device_digest), "a device code is deleted with its application");
    });

    add("device code: exactly one of several parallel answers is accepted, and stays", [](auto& store) {
        const auto application = create_sample_application(store);
        for (std::uint64_t round = 0; round < 5; ++round) {
            const auto device_code = sample_device_code(round, application);
            value_of(store.create_device_code(device_code));
            const auto answer_of = [](std::size_t i) { return i % 2 == 0 ? approved : denied; };
            const auto user_of = [&](std::size_t i) { return user_id{static_cast<std::int64_t>(100 * (round + 1) + i)}; };
            std::vector<device_answer> answers(thread_count);
            const auto answer = [&](std::size_t i) {
                answers[i] = found_of(store.answer_device_code(sample_decision(round, answer_of(i), user_of(i))));
                return answers[i].is_new;
            };
            const auto winner = expect_one_winner(answer, "exactly one answer is accepted");
            expect(found_of(store.find_device_code(device_code.device_digest)).state == answer_of(winner), "the accepted answer stays");
            for (std::size_t i = 0; i < thread_count; ++i) {
                expect(answers[i].state == answer_of(winner) && answers[i].user == user_of(winner), "all learn the accepted answer");
                const auto granted = value_of(granted_scopes(store, user_of(i), application));
                expect(granted.has_value() == (i == winner && answer_of(winner) == approved), "only the accepted approval grants");
            }
        }
    });

    add_reopen_case(to, source, "device code", [](auto& store) {
        const auto application = create_sample_application(store);
        for (const std::uint64_t seed : {1U, 2U, 3U}) value_of(store.create_device_code(sample_device_code(seed, application)));
        expect(found_of(store.answer_device_code(sample_decision(2, approved))).is_new, "the request was pending");
        expect(found_of(store.answer_device_code(sample_decision(3, denied))).is_new, "the request was pending");
        return [=](auto& reopened) {
            for (const auto& [seed, state] : {std::pair{1U, pending}, std::pair{2U, approved}, std::pair{3U, denied}}) {
                const auto device_code = sample_device_code(seed, application);
                const auto found = found_of(reopened.find_device_code(device_code.device_digest));
                expect(found.state == state, "a device code has its answer");
                expect(found.scopes == device_code.scopes && found.expires_at == device_code.expires_at,
                       "a device code has its scopes and its end");
            }
            expect(found_of(reopened.answer_device_code(sample_decision(1, denied))).is_new, "the request was pending");
            const auto again = found_of(reopened.answer_device_code(sample_decision(2, denied, user_id{8})));
            expect(!again.is_new && again.user == user_id{7}, "a request is answered once");
        };
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_DEVICE_CODES_HPP
