#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_PERSONAL_TOKENS_HPP
#define TOLLGATE_TESTING_DETAIL_PERSONAL_TOKENS_HPP

#include <tollgate/testing/detail/credentials.hpp>
#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

namespace detail {

template <class Store>
void expect_token_found(Store& store, const new_personal_token& token,
                        const std::source_location& at = std::source_location::current()) {
    const auto found = looked_up(store, personal_token_key{token.username.view()}, at);
    expect(found.has_value(), "a personal token that was created is found", at);
    expect(found->user == token.user, "a found token has its user", at);
    expect(found->secret_digest == token.secret_digest, "a found token has its digest", at);
    expect(found->scopes == token.scopes, "a found token has its scopes, in their order", at);
    expect(found->expires_at == token.expires_at, "a personal token has its end, or none", at);
    expect(!found->application, "a personal token belongs to no application", at);
}

template <class Store>
void expect_token_unknown(Store& store, std::string_view username,
                          const std::source_location& at = std::source_location::current()) {
    expect(!looked_up(store, personal_token_key{username}, at), "no personal token is found", at);
}

inline void expect_token_listed(const personal_token& listed, token_id id, const new_personal_token& token,
                                const std::source_location& at = std::source_location::current()) {
    expect(listed.id == id, "a listed token has the id that create gave", at);
    expect(listed.user == token.user, "a listed token has its user", at);
    expect(listed.username == token.username, "a listed token has its username", at);
    expect(listed.description == token.description, "a listed token has its description, byte for byte", at);
    expect(listed.scopes == token.scopes, "a listed token has its scopes, in their order", at);
    expect(listed.created_at == token.created_at, "a listed token has its time, to the millisecond", at);
}

}  // namespace detail

/// The rules for personal tokens.
template <class Given>
void add_personal_token_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    const auto add = adder_of_cases(to, source);

    add("personal token: a created token is found", [](auto& store) {
        expect_token_unknown(store, "tgu_a");  // looked up before, so that a cache has something to get wrong
        const auto token = sample_personal_token("tgu_a");
        value_of(store.create_personal_token(token, tokens_max));
        expect_token_found(store, token);
        expect_token_found(store, token);
    });

    add("personal token: a username is compared byte for byte", [](auto& store) {
        value_of(store.create_personal_token(sample_personal_token("tgu_Abc"), tokens_max));
        for (const std::string& other : names_like_abc("tgu_")) expect_token_unknown(store, other);
        expect_token_unknown(store, std::string(10'000, 'x'));
        // A name that is not UTF-8 is unknown or refused, but never found.
        const auto odd = store.find_credential(personal_token_key{"\xff\xfe"});
        expect(!odd || !odd->has_value(), "bytes that are no UTF-8 name no token");
    });

    add("personal token: a username may have the maximum length", [](auto& store) {
        const auto token = sample_personal_token(std::string(token_username::bytes_max, 'u'));
        value_of(store.create_personal_token(token, tokens_max));
        expect_token_found(store, token);
        expect_token_unknown(store, std::string(token_username::bytes_max - 1, 'u'));
        expect_token_unknown(store, std::string(token_username::bytes_max + 1, 'u'));
    });

    add("personal token: a creation or renewal that is called again with the same digests is the same", [](auto& store) {
        auto token = sample_personal_token("tgu_a");
        const auto id = value_of(store.create_personal_token(token, 1));
        expect(value_of(store.create_personal_token(token, 1)) == id, "a repeated call returns the id of the first");
        auto of_another = token;
        of_another.user = user_id{token.user.value() + 1};
        expect_error("create_personal_token", store.create_personal_token(of_another, 1), error_kind::conflict);
        expect(value_of(store.personal_tokens_of(token.user)).size() == 1, "a repeated call creates nothing");

        personal_token_renewal renewed{sample_digest(70), noon, {}, token.secret_digest};
        for (int n = 0; n < 2; ++n)
            expect_true(store.renew_personal_token(token.user, id, renewed), "a repeated call returns the result of the first");
        renewed.secret_digest = sample_digest(71);
        expect_false(store.renew_personal_token(token.user, id, renewed), "another call finds another secret");
        token.secret_digest = sample_digest(70);
        expect_token_found(store, token);
    });

    add("personal token: a second token with the same username is a conflict", [](auto& store) {
        const auto first = sample_personal_token("tgu_a");
        const auto id = value_of(store.create_personal_token(first, tokens_max));
        auto second = sample_personal_token("tgu_a", user_id{8});
        second.secret_digest = sample_digest(99);
        expect_error("create_personal_token", store.create_personal_token(second, tokens_max), error_kind::conflict);
        expect(value_of(store.personal_tokens_of(second.user)).empty(), "a refused token is not listed");
        second.user = first.user;
        expect_error("create_personal_token", store.create_personal_token(second, tokens_max), error_kind::conflict);
        expect_token_found(store, first);
        const auto listed = value_of(store.personal_tokens_of(first.user));
        expect(listed.size() == 1, "the first token is listed once");
        expect_token_listed(listed[0], id, first);
    });

    add("personal token: tokens are listed by user, oldest first", [](auto& store) {
        std::vector<new_personal_token> tokens;
        std::vector<token_id> ids;
        for (const char* name : {"tgu_z", "tgu_a", "tgu_m", "tgu_b"}) {
            tokens.push_back(sample_personal_token(name));
            // Later tokens have earlier times: the order must be that of creation.
            tokens.back().created_at = noon - seconds{static_cast<std::int64_t>(tokens.size())};
            ids.push_back(value_of(store.create_personal_token(tokens.back(), tokens_max)));
            const auto other = sample_personal_token(std::string{name} + "_other", user_id{8});
            value_of(store.create_personal_token(other, tokens_max));
        }
        const auto listed = value_of(store.personal_tokens_of(user_id{7}));
        expect(listed.size() == tokens.size(), "a user's tokens are listed, all of them and no other");
        for (std::size_t i = 0; i < listed.size(); ++i) {
            expect_token_listed(listed[i], ids[i], tokens[i]);
            expect(!listed[i].last_used_at, "an unused token has no time of last use");
        }
        expect(value_of(store.personal_tokens_of(user_id{9})).empty(), "a user without tokens has an empty list");
    });

    add("personal token: a revoked token is not found", [](auto& store) {
        const auto stored = sample_personal_token("tgu_kept");
        const auto lost = sample_personal_token("tgu_lost");
        const auto stored_id = value_of(store.create_personal_token(stored, tokens_max));
        const auto lost_id = value_of(store.create_personal_token(lost, tokens_max));
        expect_token_found(store, lost);
        expect_true(store.revoke(personal_token_revocation{lost_id}), "there was such a token");
        expect_token_unknown(store, lost.username);
        expect_token_found(store, stored);
        const auto listed = value_of(store.personal_tokens_of(stored.user));
        expect(listed.size() == 1, "a revoked token is not listed");
        expect_token_listed(listed[0], stored_id, stored);
    });

    add("personal token: revoking an unknown token returns false", [](auto& store) {
        expect_false(store.revoke(personal_token_revocation{token_id{1}}), "there was no such token");
        const auto id = value_of(store.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
        expect_false(store.revoke(personal_token_revocation{token_id{id.value() + 1}}), "there was no such token");
        expect_false(store.revoke(personal_token_revocation{token_id{(std::numeric_limits<std::int64_t>::max)()}}),
               "there was no such token");
        expect_true(store.revoke(personal_token_revocation{id}), "there was such a token");
        expect_false(store.revoke(personal_token_revocation{id}), "a token is revoked once");
    });

    add("personal token: ids are never reused, usernames may be", [](auto& store) {
        auto token = sample_personal_token("tgu_a");
        const auto first = value_of(store.create_personal_token(token, tokens_max));
        value_of(store.revoke(personal_token_revocation{first}));
        expect_token_unknown(store, token.username);
        token.secret_digest = sample_digest(1234);
        const auto second = value_of(store.create_personal_token(token, tokens_max));
        expect(first != second, "the id of a revoked token is not used again");
        expect_token_found(store, token);
        expect_false(store.revoke(personal_token_revocation{first}), "the old id names nothing");
        expect_token_found(store, token);
    });

    add("personal token: descriptions are returned byte for byte", [](auto& store) {
        std::int64_t count = 0;
        const auto next = [&](const std::string& description) {
            ++count;
            auto token = sample_personal_token("tgu_" + std::to_string(count), user_id{count});
            token.description = description;
            return token;
        };
        for (const std::string& text : difficult_texts()) {
            const auto token = next(text);
            const auto id = value_of(store.create_personal_token(token, tokens_max));
            expect_token_listed(value_of(store.personal_tokens_of(token.user)).at(0), id, token);
        }
        for (const std::string& text : refusable_texts()) {
            const auto token = next(text);
            const auto id = store.create_personal_token(token, tokens_max);
            if (id)
                expect_token_listed(value_of(store.personal_tokens_of(token.user)).at(0), *id, token);
            else
                expect(value_of(store.personal_tokens_of(token.user)).empty(), "a refused token is not listed");
        }
    });

    add("personal token: scopes are returned in their order, from none to all", [](auto& store) {
        const std::string full = "b:" + std::string(limits::scope_text_bytes_max - 4, 'x') + " a";
        std::int64_t count = 0;
        for (const std::string& list :
             {std::string{}, std::string{"one"}, std::string{"b a c"}, std::string{"a:b a:b:c !#$%&'()"}, full}) {
            ++count;
            auto token = sample_personal_token("tgu_" + std::to_string(count), user_id{count});
            token.scopes = sample_scopes(list);
            const auto id = value_of(store.create_personal_token(token, tokens_max));
            expect_token_found(store, token);
            expect_token_listed(value_of(store.personal_tokens_of(token.user)).at(0), id, token);
        }
    });

    add("personal token: times to the millisecond, the largest user id and any digest are stored", [](auto& store) {
        std::size_t count = 0;
        for (const instant at : difficult_times()) {
            auto token = sample_personal_token(
                "tgu_" + std::to_string(count),
                user_id{(std::numeric_limits<std::int64_t>::max)() - static_cast<std::int64_t>(count)});
            token.created_at = at;
            token.secret_digest = count == 0 ? digest{} : sample_digest(count);
            ++count;
            const auto id = value_of(store.create_personal_token(token, tokens_max));
            expect_token_found(store, token);
            expect_token_listed(value_of(store.personal_tokens_of(token.user)).at(0), id, token);
        }
    });

    add("personal token: exactly one of several parallel creations with the same username succeeds", [](auto& store) {
        for (int round = 0; round < 5; ++round) {
            const std::string username = "tgu_" + std::to_string(round);
            const auto create = [&](std::size_t i) {
                auto token = sample_personal_token(username);
                token.secret_digest = sample_digest(i);
                return succeeds_unless(error_kind::conflict, "create_personal_token", store.create_personal_token(token, tokens_max));
            };
            const auto winner = expect_one_winner(create, "exactly one creation wins");
            expect(found_of(store.find_credential(personal_token_key{username})).secret_digest == sample_digest(winner),
                   "the token is the winner's");
        }
    });

    add("personal token: a user has at most the bound", [](auto& store) {
        const auto create = [&](std::string_view username, user_id user, std::size_t max) {
            return store.create_personal_token(sample_personal_token(username, user), max);
        };
        expect_error("create_personal_token", create("tgu_0", user_id{7}, 0), error_kind::invalid);
        const auto first = value_of(create("tgu_1", user_id{7}, 2));
        value_of(create("tgu_2", user_id{7}, 2));
        expect_error("create_personal_token", create("tgu_3", user_id{7}, 2), error_kind::invalid);
        expect_token_unknown(store, "tgu_3");
        value_of(create("tgu_4", user_id{8}, 1));
        value_of(create("tgu_5", user_id{7}, 3));
        value_of(store.revoke(personal_token_revocation{first}));
        expect_error("create_personal_token", create("tgu_6", user_id{7}, 2), error_kind::invalid);
        value_of(create("tgu_6", user_id{7}, 3));
        value_of(create("tgu_7", user_id{7}, (std::numeric_limits<std::size_t>::max)()));
        expect(value_of(store.personal_tokens_of(user_id{7})).size() == 4, "as many are there as were created");
    });

    add("personal token: has the given expiry, or none", [](auto& store) {
        std::int64_t count = 0;
        const instant later = noon + milliseconds{1};
        for (const std::optional<instant> end : {std::optional<instant>{}, std::optional{noon}, std::optional{later}}) {
            ++count;
            auto token = sample_personal_token("tgu_" + std::to_string(count), user_id{count});
            token.expires_at = end;
            value_of(store.create_personal_token(token, tokens_max));
            expect_token_found(store, token);
            expect(value_of(store.personal_tokens_of(token.user)).at(0).expires_at == end, "a listed token says when");
        }
    });

    add("personal token: only its user can replace its secret", [](auto& store) {
        auto token = sample_personal_token("tgu_a");
        const auto other = sample_personal_token("tgu_b");
        const auto id = value_of(store.create_personal_token(token, tokens_max));
        value_of(store.create_personal_token(other, tokens_max));
        const personal_token_renewal renewed{sample_digest(77), noon + seconds{5}, noon + seconds{9}};
        expect_false(store.renew_personal_token(user_id{8}, id, renewed), "the token is another user's");
        expect_false(store.renew_personal_token(token.user, token_id{id.value() + 100}, renewed), "there is no such token");
        expect_token_found(store, token);
        expect_true(store.renew_personal_token(token.user, id, renewed), "the token is the user's");
        token.secret_digest = renewed.secret_digest;
        token.created_at = renewed.created_at;
        token.expires_at = renewed.expires_at;
        expect_token_found(store, token);
        expect_token_listed(value_of(store.personal_tokens_of(token.user)).at(0), id, token);
        token.expires_at.reset();
        expect_true(store.renew_personal_token(token.user, id, {token.secret_digest, token.created_at, {}}), "the token is the user's");
        expect_token_found(store, token);
        expect_token_found(store, other);
    });

    add("personal token: a secret is replaced only if it is the given one, by exactly one of several parallel calls", [](auto& store) {
        const auto token = sample_personal_token("tgu_a");
        const auto id = value_of(store.create_personal_token(token, tokens_max));
        const auto replace = [&](const digest& replaced, const digest& secret) {
            return store.renew_personal_token(token.user, id, {secret, noon, {}, replaced});
        };
        const auto secret = [&] { return value_of(store.personal_tokens_of(token.user)).at(0).secret_digest; };
        expect(secret() == token.secret_digest, "a listed token has the digest of its secret");
        expect_false(replace(sample_digest(78), sample_digest(79)), "its secret is another one");
        expect(secret() == token.secret_digest, "the secret stays");
        expect_true(replace(token.secret_digest, sample_digest(79)), "its secret is the given one");
        expect(secret() == sample_digest(79), "the secret was replaced");
        for (std::uint64_t round = 0; round < 5; ++round) {
            const auto before = secret();
            const auto digest_of_thread = [&](std::size_t i) { return sample_digest(1000 * (round + 1) + i); };
            const auto winner = expect_one_winner([&](std::size_t i) { return value_of(replace(before, digest_of_thread(i))); },
                                                  "exactly one call replaces a secret");
            expect(secret() == digest_of_thread(winner), "its secret stays");
        }
    });

    add("personal token: parallel creations do not exceed the bound", [](auto& store) {
        for (std::int64_t round = 1; round <= 3; ++round) {
            constexpr std::size_t bound = thread_count * 2, each_tries = 4;
            std::atomic<std::size_t> won{0};
            in_parallel([&](std::size_t i) {
                for (std::size_t n = 0; n < each_tries; ++n) {
                    const auto name = std::to_string(round) + "_" + std::to_string(i) + "_" + std::to_string(n);
                    const auto id = store.create_personal_token(sample_personal_token(name, user_id{round}), bound);
                    if (succeeds_unless(error_kind::invalid, "create_personal_token", id)) ++won;
                }
            });
            expect(won == bound, "exactly as many are created as the bound permits");
            expect(value_of(store.personal_tokens_of(user_id{round})).size() == bound, "as many are there as won");
        }
    });

    if constexpr (use_recorder<store_given_as<Given>>)
        add("personal token: time and network of its last use are stored and listed", [](auto& store) {
            const auto used = sample_personal_token("tgu_used"), idle = sample_personal_token("tgu_idle");
            value_of(store.create_personal_token(used, tokens_max));
            value_of(store.create_personal_token(idle, tokens_max));
            value_of(store.record_use(personal_token_key{"tgu_unknown"}, noon, "192.0.2.0/24"));
            expect_token_unknown(store, "tgu_unknown");
            expect(!found_of(store.find_credential(personal_token_key{"tgu_used"})).last_used_at,
                   "an unused token has no time of last use");
            for (const instant at : {noon + seconds{5}, noon + seconds{9}, noon}) {
                const std::string from =
                    at == noon ? "" : "2001:db8:" + std::to_string(to_unix_milliseconds(at) % 9) + "::/48";
                value_of(store.record_use(personal_token_key{"tgu_used"}, at, from));
                expect(found_of(store.find_credential(personal_token_key{"tgu_used"})).last_used_at == at, "a found token says when");
                const auto listed = value_of(store.personal_tokens_of(used.user));
                expect(listed.at(0).last_used_at == at, "a listed token says when, to the millisecond");
                expect(listed.at(0).last_used_from == from, "a listed token says from where");
                expect(!listed.at(1).last_used_at, "another token says nothing of it");
            }
            expect_token_found(store, used);
        });

    add("personal token: readers see complete tokens while others create and revoke them", [](auto& store) {
        constexpr int rounds = 40;
        in_parallel([&](std::size_t i) {
            const std::string own = "tgu_" + std::to_string(i);
            const std::string neighbours = "tgu_" + std::to_string((i + 1) % thread_count);
            for (int round = 0; round < rounds; ++round) {
                const auto token = sample_personal_token(own, user_id{static_cast<std::int64_t>(i) + 1});
                const auto id = value_of(store.create_personal_token(token, tokens_max));
                expect_token_found(store, token);
                const auto found = value_of(store.find_credential(personal_token_key{neighbours}));
                if (found)
                    expect(found->secret_digest == sample_personal_token(neighbours).secret_digest &&
                               found->scopes == token.scopes,
                           "a token is seen whole or not at all");
                expect_true(store.revoke(personal_token_revocation{id}), "a token is revoked by its creator");
                expect_token_unknown(store, own);
            }
        });
    });

    add_reopen_case(to, source, "personal token", [](auto& store) {
        const auto stored = sample_personal_token("tgu_kept");
        const auto lost = sample_personal_token("tgu_lost");
        auto renewed = sample_personal_token("tgu_renewed", user_id{8});
        const auto stored_id = value_of(store.create_personal_token(stored, tokens_max));
        const auto lost_id = value_of(store.create_personal_token(lost, tokens_max));
        value_of(store.revoke(personal_token_revocation{lost_id}));
        const auto renewed_id = value_of(store.create_personal_token(renewed, tokens_max));
        renewed.secret_digest = sample_digest(77);
        renewed.created_at = noon + seconds{5};
        renewed.expires_at = noon + seconds{9};
        expect_true(store.renew_personal_token(renewed.user, renewed_id,
                                               {renewed.secret_digest, renewed.created_at, renewed.expires_at}),
                    "the token is the user's");
        return [=](auto& reopened) {
            expect_token_found(reopened, stored);
            expect_token_unknown(reopened, lost.username);
            expect_token_listed(value_of(reopened.personal_tokens_of(stored.user)).at(0), stored_id, stored);
            expect_token_found(reopened, renewed);
            expect_token_listed(value_of(reopened.personal_tokens_of(renewed.user)).at(0), renewed_id, renewed);
            const auto next = value_of(reopened.create_personal_token(sample_personal_token("tgu_next"), tokens_max));
            expect(next != stored_id && next != lost_id, "ids are never used again, not even by the next process");
        };
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_PERSONAL_TOKENS_HPP
