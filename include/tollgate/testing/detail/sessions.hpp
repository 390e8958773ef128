#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_SESSIONS_HPP
#define TOLLGATE_TESTING_DETAIL_SESSIONS_HPP

#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <limits>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

namespace detail {

inline void expect_session(const stored_session& actual, const stored_session& session,
                           const std::source_location& at = std::source_location::current()) {
    expect(actual.cookie_digest == session.cookie_digest, "a session has its digest", at);
    expect(actual.user == session.user, "a session has its user", at);
    expect(actual.login == session.login, "a session has its login, byte for byte", at);
    expect(actual.created_at == session.created_at, "a session has its beginning, to the millisecond", at);
    expect(actual.last_seen_at == session.last_seen_at, "a session has its last use, to the millisecond", at);
    expect(actual.signed_in_from == session.signed_in_from, "a session has the network of its sign-in", at);
    expect(actual.user_agent == session.user_agent, "a session has the User-Agent of its sign-in", at);
}

template <class Store>
void expect_session_found(Store& store, const stored_session& session,
                          const std::source_location& at = std::source_location::current()) {
    expect_session(found_of(store.find_session(session.cookie_digest), at), session, at);
}

template <class Store>
void expect_session_unknown(Store& store, const stored_session& session,
                            const std::source_location& at = std::source_location::current()) {
    expect_nothing(store.find_session(session.cookie_digest), "no session is found", at);
}

}  // namespace detail

/// The rules for sessions.
template <class Given>
void add_session_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    const auto add = adder_of_cases(to, source);

    add("session: a created session is found", [](auto& store) {
        const auto session = sample_session(1);
        expect_session_unknown(store, session);
        value_of(store.create_session(session));
        expect_session_found(store, session);
        expect_session_unknown(store, sample_session(2));
        auto close = session;
        auto bytes = session.cookie_digest.bytes();
        bytes[31] ^= 1;
        close.cookie_digest = digest::from_bytes(bytes);
        expect_session_unknown(store, close);
    });

    add("session: a creation that is called again with the same digest is the same", [](auto& store) {
        const auto session = sample_session(1);
        for (int n = 0; n < 2; ++n) value_of(store.create_session(session));
        expect_session_found(store, session);
        auto later = session;
        later.created_at += milliseconds{1};
        expect_error("create_session", store.create_session(later), error_kind::conflict);
        expect_session_found(store, session);
    });

    add("session: a second session with the same digest is a conflict", [](auto& store) {
        const auto first = sample_session(1);
        value_of(store.create_session(first));
        auto second = sample_session(1, user_id{8});
        second.login = "bob@example.com";
        expect_error("create_session", store.create_session(second), error_kind::conflict);
        expect_session_found(store, first);
        value_of(store.end_sessions(sessions_of_user{second.user}));
        expect_session_found(store, first);
    });

    add("session: any login, times and user are stored", [](auto& store) {
        std::uint64_t seed = 0;
        for (const std::string& text : difficult_texts()) {
            auto session = sample_session(++seed);
            session.login = text;
            value_of(store.create_session(session));
            expect_session_found(store, session);
        }
        for (const instant at : difficult_times()) {
            ++seed;
            const user_id large{(std::numeric_limits<std::int64_t>::max)() - static_cast<std::int64_t>(seed)};
            auto session = sample_session(seed, large);
            session.created_at = session.last_seen_at = at;
            value_of(store.create_session(session));
            expect_session_found(store, session);
        }
    });

    add("session: the time of its last use is stored", [](auto& store) {
        auto session = sample_session(1);
        const auto other = sample_session(2);
        value_of(store.touch_session(session.cookie_digest, noon));
        expect_session_unknown(store, session);
        value_of(store.create_session(session));
        value_of(store.create_session(other));
        for (const instant at : {noon + seconds{9}, noon + seconds{10}, noon + seconds{10}, noon}) {
            session.last_seen_at = at;
            value_of(store.touch_session(session.cookie_digest, at));
            expect_session_found(store, session);
            expect_session_found(store, other);
        }
    });

    add("session: an ended session is not found", [](auto& store) {
        const auto stored = sample_session(1), lost = sample_session(2);
        expect_false(store.end_sessions(lost.cookie_digest), "there was no such session");
        value_of(store.create_session(stored));
        value_of(store.create_session(lost));
        expect_true(store.end_sessions(lost.cookie_digest), "there was such a session");
        expect_session_unknown(store, lost);
        expect_false(store.end_sessions(lost.cookie_digest), "a session is ended once");
        value_of(store.touch_session(lost.cookie_digest, noon + seconds{9}));
        expect_session_unknown(store, lost);
        expect_session_found(store, stored);
    });

    add("session: all sessions of one user can be ended, and no others are", [](auto& store) {
        value_of(store.end_sessions(sessions_of_user{user_id{7}}));
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            value_of(store.create_session(sample_session(seed)));
            value_of(store.create_session(sample_session(10 + seed, user_id{8})));
        }
        value_of(store.touch_session(sample_session(2).cookie_digest, noon + seconds{100}));
        value_of(store.end_sessions(sessions_of_user{user_id{7}}));
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            expect_session_unknown(store, sample_session(seed));
            expect_session_found(store, sample_session(10 + seed, user_id{8}));
        }
        value_of(store.create_session(sample_session(1)));
        expect_session_found(store, sample_session(1));
    });

    add("session: all sessions of one user except one can be ended", [](auto& store) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            value_of(store.create_session(sample_session(seed)));
            value_of(store.create_session(sample_session(10 + seed, user_id{8})));
        }
        value_of(store.end_sessions(sessions_of_user{user_id{7}, sample_session(2).cookie_digest}));
        expect_session_found(store, sample_session(2));
        for (const std::uint64_t seed : {1U, 3U}) expect_session_unknown(store, sample_session(seed));
        for (std::uint64_t seed = 11; seed <= 13; ++seed) expect_session_found(store, sample_session(seed, user_id{8}));
        // The one that is left out may be the only one, may be somebody else's, or may not exist.
        value_of(store.end_sessions(sessions_of_user{user_id{7}, sample_session(2).cookie_digest}));
        expect_session_found(store, sample_session(2));
        value_of(store.end_sessions(sessions_of_user{user_id{7}, sample_session(11).cookie_digest}));
        expect_session_unknown(store, sample_session(2));
        value_of(store.end_sessions(sessions_of_user{user_id{8}, sample_session(99).cookie_digest}));
        expect_session_unknown(store, sample_session(11));
    });

    add("session: the sessions of a user are listed, the last used first", [](auto& store) {
        expect(value_of(store.sessions_of(user_id{7})).empty(), "a user without sessions has none");
        std::vector<stored_session> sessions;
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            auto each = sample_session(seed);
            each.last_seen_at = noon + seconds{static_cast<std::int64_t>(seed)};
            each.signed_in_from = seed == 0 ? "" : "203.0.113.0/24";
            each.user_agent = "Browser/" + std::to_string(seed);
            value_of(store.create_session(each));
            sessions.push_back(each);
        }
        value_of(store.create_session(sample_session(10, user_id{8})));
        const auto expect_listed = [&](const std::vector<std::size_t>& order) {
            const auto listed = value_of(store.sessions_of(user_id{7}));
            expect(listed.size() == order.size(), "all of the user's sessions are listed, and no others");
            for (std::size_t i = 0; i < order.size(); ++i) {
                expect(listed[i].cookie_digest == sessions[order[i]].cookie_digest, "sessions are listed by their last use");
                expect_session(listed[i], sessions[order[i]]);
            }
        };
        expect_listed({2, 1, 0});
        sessions[0].last_seen_at = noon + seconds{9};
        value_of(store.touch_session(sessions[0].cookie_digest, sessions[0].last_seen_at));
        expect_listed({0, 2, 1});
        value_of(store.end_sessions(sessions[2].cookie_digest));
        expect_listed({0, 1});
        value_of(store.end_sessions(sessions_of_user{user_id{7}}));
        expect_listed({});
    });

    add("session: a sweep deletes sessions that were created or last used before the given times", [](auto& store) {
        const auto create = [&](std::uint64_t seed, instant created_at, instant seen_at) {
            auto session = sample_session(seed, user_id{static_cast<std::int64_t>(seed)});
            session.created_at = created_at;
            session.last_seen_at = seen_at;
            value_of(store.create_session(session));
            return session;
        };
        constexpr milliseconds moment{1};
        const instant created = noon - seconds{100}, seen = noon;
        const auto fresh = create(1, created, seen), old = create(2, created - moment, seen + seconds{9});
        const auto idle = create(3, created, seen - moment), both = create(4, created - moment, seen - moment);
        auto used = create(5, created, seen - moment);
        used.last_seen_at = seen;
        value_of(store.touch_session(used.cookie_digest, seen));

        expect(value_of(store.sweep({.sessions = session_ends{created - moment, seen - moment}, .rows_max = 100})) == 0,
               "none is that old");
        expect(value_of(store.sweep({.sessions = session_ends{created, seen}, .rows_max = 0})) == 0, "none is swept where none may be");
        expect_session_found(store, old);
        for (int i = 0; i < 3; ++i)
            expect(value_of(store.sweep({.sessions = session_ends{created, seen}, .rows_max = 1})) == 1, "one is swept where one may be");
        expect(value_of(store.sweep({.sessions = session_ends{created, seen}, .rows_max = 100})) == 0,
               "three are too old, or were unused for too long");
        for (const auto& each : {old, idle, both}) expect_session_unknown(store, each);
        for (const auto& each : {fresh, used}) expect_session_found(store, each);
    });

    add("session: exactly one of several parallel calls ends a session, and it is not found afterwards", [](auto& store) {
        for (std::uint64_t round = 0; round < 5; ++round) {
            const auto session = sample_session(round);
            value_of(store.create_session(session));
            const auto end = [&](std::size_t i) {
                value_of(store.touch_session(session.cookie_digest, noon + seconds{static_cast<std::int64_t>(i)}));
                const bool was_there = value_of(store.end_sessions(session.cookie_digest));
                expect_session_unknown(store, session);
                value_of(store.touch_session(session.cookie_digest, noon));
                expect_session_unknown(store, session);
                return was_there;
            };
            expect_one_winner(end, "exactly one end met the session");
        }
    });

    add_reopen_case(to, source, "session", [](auto& store) {
        auto stored = sample_session(1);
        const auto lost = sample_session(2);
        value_of(store.create_session(stored));
        value_of(store.create_session(lost));
        stored.last_seen_at = noon + seconds{9};
        value_of(store.touch_session(stored.cookie_digest, stored.last_seen_at));
        value_of(store.end_sessions(lost.cookie_digest));
        return [=](auto& reopened) {
            expect_session_found(reopened, stored);
            expect_session_unknown(reopened, lost);
        };
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_SESSIONS_HPP
