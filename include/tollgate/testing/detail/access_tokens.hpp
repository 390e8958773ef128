#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_ACCESS_TOKENS_HPP
#define TOLLGATE_TESTING_DETAIL_ACCESS_TOKENS_HPP

#include <tollgate/base/limits.hpp>
#include <tollgate/testing/detail/credentials.hpp>
#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

namespace detail {

template <class Store>
void expect_token_unknown(Store& store, const digest& token,
                          const std::source_location& at = std::source_location::current()) {
    expect(!looked_up(store, access_token_key{token}, at), "no access token is found", at);
}

}  // namespace detail

/// The rules for access tokens.
template <class Given>
void add_access_token_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    const auto add = adder_of_cases(to, source);

    add("access token: a created token is found", [](auto& store) {
        const auto token = sample_access_token(1);
        expect_token_unknown(store, token.token_digest);
        value_of(store.create_access_token(token));
        expect_token_found(store, token);
        expect_token_found(store, token);
    });

    add("access token: all bytes of a digest are compared", [](auto& store) {
        const auto token = sample_access_token(1);
        value_of(store.create_access_token(token));
        for (const std::size_t position : {std::size_t{0}, std::size_t{8}, std::size_t{31}}) {
            auto bytes = token.token_digest.bytes();
            bytes[position] ^= 1;
            expect_token_unknown(store, digest::from_bytes(bytes));
        }
        expect_token_unknown(store, digest{});
        expect_token_found(store, token);
    });

    add("access token: any digest, scopes and times are stored", [](auto& store) {
        std::uint64_t seed = 0;
        for (const instant at : difficult_times()) {
            auto token = sample_access_token(seed, user_id{static_cast<std::int64_t>(seed) + 1});
            if (seed == 0) token.token_digest = digest{};
            token.scopes = seed % 2 == 0 ? scope_set{} : sample_scopes("b a c");
            token.expires_at = at;
            ++seed;
            value_of(store.create_access_token(token));
            expect_token_found(store, token);
        }
    });

    add("access token: an expired token is still found, with its expiry", [](auto& store) {
        auto token = sample_access_token(1);
        token.created_at = from_unix_seconds(1);
        token.expires_at = from_unix_seconds(2);
        value_of(store.create_access_token(token));
        expect_token_found(store, token);
    });

    add("access token: a creation that is called again with the same digest is the same", [](auto& store) {
        const auto token = sample_access_token(1);
        for (int n = 0; n < 2; ++n) expect_true(store.create_access_token(token), "a repeated call returns the result of the first");
        expect_token_found(store, token);
        auto of_another = token;
        of_another.application = application_id{token.application.value() + 1};
        expect_error("create_access_token", store.create_access_token(of_another), error_kind::conflict);
        expect_token_found(store, token);
    });

    add("access token: a second token with the same digest is a conflict", [](auto& store) {
        const auto first = sample_access_token(1);
        value_of(store.create_access_token(first));
        auto second = first;
        second.user = user_id{8};
        second.scopes = sample_scopes("itemplatform");
        expect_error("create_access_token", store.create_access_token(second), error_kind::conflict);
        expect_token_found(store, first);
    });

    add("access token: a valid one is not deleted, however many newer ones there are", [](auto& store) {
        const auto token_of = [](std::size_t seed) {
            auto token = sample_access_token(seed);
            token.expires_at = noon + seconds{3600} + milliseconds{static_cast<std::int64_t>(seed)};
            return token;
        };
        const auto first = token_of(0);
        value_of(store.create_access_token(first));
        std::size_t last = 0;
        while (last < limits::access_tokens_per_grant_max) {
            const auto created = store.create_access_token(token_of(last + 1));
            if (!created) {
                expect(created.error().kind == error_kind::too_many_requests, "a store may refuse a token, if there are too many");
                expect(created.error().retry_at == first.expires_at, "there is room when a token has expired");
                break;
            }
            ++last;
        }
        expect_token_found(store, first);
        expect_token_found(store, token_of(last));
        auto later = token_of(last + 1);
        later.created_at = first.expires_at;
        value_of(store.create_access_token(later));
        expect_token_found(store, later);
        if (last > 0) expect_token_found(store, token_of(1));
    });

    add("access token: a revoked token is not found", [](auto& store) {
        const auto stored = sample_access_token(1), lost = sample_access_token(2);
        expect_false(store.revoke(oauth_token_revocation{lost.token_digest}), "there was no such token");
        value_of(store.create_access_token(stored));
        value_of(store.create_access_token(lost));
        expect_token_found(store, lost);
        expect_true(store.revoke(oauth_token_revocation{lost.token_digest}), "there was such a token");
        expect_token_unknown(store, lost.token_digest);
        expect_token_found(store, stored);
        expect_false(store.revoke(oauth_token_revocation{lost.token_digest}), "a token is revoked once");
    });

    if constexpr (use_recorder<store_given_as<Given>>)
        add("access token: the time of its last use is stored", [](auto& store) {
            const auto used = sample_access_token(1), idle = sample_access_token(2);
            value_of(store.create_access_token(used));
            value_of(store.create_access_token(idle));
            value_of(store.record_use(access_token_key{sample_digest(3)}, noon, {}));
            expect_token_unknown(store, sample_digest(3));
            expect(!found_of(store.find_credential(access_token_key{used.token_digest})).last_used_at,
                   "an unused token has no time of last use");
            for (const instant at : {noon + seconds{5}, noon + seconds{9}, noon}) {
                value_of(store.record_use(access_token_key{used.token_digest}, at, {}));
                expect(found_of(store.find_credential(access_token_key{used.token_digest})).last_used_at == at,
                       "a found token says when, to the millisecond");
                expect(!found_of(store.find_credential(access_token_key{idle.token_digest})).last_used_at, "another does not");
            }
            expect_token_found(store, used);
        });

    add("access token: exactly one of several parallel creations with the same digest succeeds", [](auto& store) {
        for (std::uint64_t round = 0; round < 5; ++round) {
            const auto token_of = [&](std::size_t i) {
                return sample_access_token(round, user_id{static_cast<std::int64_t>(i) + 1});
            };
            const auto create = [&](std::size_t i) {
                return succeeds_unless(error_kind::conflict, "create_access_token", store.create_access_token(token_of(i)));
            };
            expect_token_found(store, token_of(expect_one_winner(create, "exactly one creation wins")));
        }
    });

    add("access token: exactly one of several parallel revocations succeeds", [](auto& store) {
        for (std::uint64_t round = 0; round < 5; ++round) {
            const auto token = sample_access_token(round);
            value_of(store.create_access_token(token));
            const auto revoke = [&](std::size_t) {
                const bool was_there = value_of(store.revoke(oauth_token_revocation{token.token_digest}));
                expect_token_unknown(store, token.token_digest);
                return was_there;
            };
            expect_one_winner(revoke, "exactly one revocation met the token");
        }
    });

    add_reopen_case(to, source, "access token", [](auto& store) {
        const auto stored = sample_access_token(1), lost = sample_access_token(2);
        value_of(store.create_access_token(stored));
        value_of(store.create_access_token(lost));
        value_of(store.revoke(oauth_token_revocation{lost.token_digest}));
        return [=](auto& reopened) {
            expect_token_found(reopened, stored);
            expect_token_unknown(reopened, lost.token_digest);
        };
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_ACCESS_TOKENS_HPP
