#include <tollgate/store/sqlite.hpp>

#include <support/child_process.hpp>
#include <support/disk_faults.hpp>
#include <support/eventually.hpp>
#include <support/store_processes.hpp>
#include <support/temporary_directory.hpp>
#include <tollgate/store/detail/sqlite/migrations.hpp>
#include <tollgate/store/detail/sqlite/schema.hpp>
#include <tollgate/store/sqlite_database.hpp>
#include <tollgate/testing/detail/delivering.hpp>
#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <catch2/catch.hpp>
#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate::testing::detail;
using tollgate_test::child_process;
using tollgate_test::all_or_nothing;
using tollgate_test::progress;
using tollgate_test::number_pipe;
using tollgate_test::temporary_directory;

namespace {

constexpr application_id first_application{1};

bool has_token(sqlite_store& store, std::uint64_t seed) {
    return value_of(store.find_credential(access_token_key{sample_access_digest(seed)})).has_value();
}

template <class T>
result<void> settle(result<T> outcome) {
    if (!outcome) return std::move(outcome).error();
    return {};
}

result<void> settle(bool as_expected) {
    if (!as_expected) return internal_error("the verb gave something else than expected");
    return {};
}

/// An application with a user whose code 1 is redeemed and whose code 2 is not; two sessions; a hook.
void furnish(sqlite_store& store) {
    REQUIRE(create_sample_application(store) == first_application);
    value_of(store.change_application(user_id{3}, first_application, application_fields{"Backup for sites", "https://app.example", "", {}, true}));
    REQUIRE(value_of(store.create_access_token({user_id{3}, first_application, sample_access_digest(20), sample_scopes("a"), noon,
                                               noon + seconds{3600}, true})));
    value_of(store.create_device_code(sample_device_code(1, first_application)));
    authorize(store, 1, first_application);
    expect_code(store, sample_code(2, first_application), code_result::created);
    value_of(store.create_session(sample_session(1)));
    value_of(store.create_session(sample_session(2)));
    value_of(store.create_hook(sample_hook(sample_account()), 20));
    value_of(store.create_personal_token(sample_personal_token("tgu_a"), tokens_max));
}

struct verb {
    const char* name;
    result<void> (*act)(sqlite_store&);
    progress (*done)(sqlite_store&);
};

const verb verbs[] = {
    {"create_application",
     [](sqlite_store& store) { return settle(store.create_application(sample_application("tgi_b"), 100)); },
     [](sqlite_store& store) { return progress{value_of(store.find_application("tgi_b")).has_value()}; }},
    {"update_application",
     [](sqlite_store& store) {
         return settle(store.change_application(user_id{3}, first_application, application_fields{"n", "w", "d", {}, false}));
     },
     [](sqlite_store& store) {
         return all_or_nothing({value_of(store.find_application("tgi_a"))->name == "n",
                                !value_of(store.find_oauth_token(sample_access_digest(20)))});
     }},
    {"create_owner_token",
     [](sqlite_store& store) {
         return settle(store.create_access_token({user_id{3}, first_application, sample_access_digest(21),
                                                 sample_scopes("a"), noon, noon + seconds{60}, true}));
     },
     [](sqlite_store& store) { return progress{has_token(store, 21)}; }},
    {"create_device_code", [](sqlite_store& store) { return store.create_device_code(sample_device_code(2, first_application)); },
     [](sqlite_store& store) {
         return progress{value_of(store.find_device_code(sample_device_code(2, first_application).user_digest)).has_value()};
     }},
    {"answer_device_code",
     [](sqlite_store& store) {
         return settle(store.answer_device_code(sample_decision(1, device_code_state::approved, user_id{8})));
     },
     [](sqlite_store& store) {
         return all_or_nothing({value_of(store.find_device_code(sample_device_code(1, first_application).user_digest))->state ==
                                    device_code_state::approved,
                                !value_of(store.grants_of(user_id{8})).empty()});
     }},
    {"add_client_secret",
     [](sqlite_store& store) {
         return settle(store.change_application(user_id{3}, first_application, client_secret_addition{sample_digest(50)}));
     },
     [](sqlite_store& store) {
         return progress{value_of(store.find_application("tgi_a"))->secret_digest == sample_digest(50)};
     }},
    {"set_suspension",
     [](sqlite_store& store) { return settle(store.change_application({}, first_application, suspension_change{suspension::by_operator})); },
     [](sqlite_store& store) {
         return all_or_nothing({value_of(store.find_application("tgi_a"))->suspended.has_value(), !has_token(store, 1)});
     }},
    {"delete_application",
     [](sqlite_store& store) { return settle(store.delete_application(user_id{3}, first_application)); },
     [](sqlite_store& store) {
         return all_or_nothing({!value_of(store.find_application("tgi_a")), !has_token(store, 1),
                                value_of(store.grants_of(user_id{7})).empty()});
     }},
    {"create_code",
     [](sqlite_store& store) {
         auto code = sample_code(3, first_application);
         code.scopes = sample_scopes("itemplatform");
         return settle(store.create_code(code));
     },
     [](sqlite_store& store) {
         return progress{value_of(granted_scopes(store, user_id{7}, first_application))->contains("itemplatform")};
     }},
    {"create_code for a new grant",
     [](sqlite_store& store) { return settle(store.create_code(sample_code(3, first_application, user_id{8}))); },
     [](sqlite_store& store) { return progress{!value_of(store.grants_of(user_id{8})).empty()}; }},
    {"redeem_code",
     [](sqlite_store& store) {
         const auto outcome = store.redeem_code(sample_redemption(2, first_application));
         return outcome ? settle(outcome->result == redemption_result::redeemed) : settle(outcome);
     },
     [](sqlite_store& store) { return progress{has_token(store, 2)}; }},
    {"redeem_code again",
     [](sqlite_store& store) {
         auto redemption = sample_redemption(1, first_application);
         redemption.tokens = sample_tokens(3);
         const auto outcome = store.redeem_code(redemption);
         return outcome ? settle(outcome->result == redemption_result::reused) : settle(outcome);
     },
     [](sqlite_store& store) { return progress{!has_token(store, 1)}; }},
    {"refresh_access_token",
     [](sqlite_store& store) {
         const auto outcome = store.refresh_access_token(sample_refresh(1, 11, first_application));
         return outcome ? settle(outcome->result == refresh_result::refreshed) : settle(outcome);
     },
     [](sqlite_store& store) { return progress{has_token(store, 11)}; }},
    {"refresh_access_token with a rotation",
     [](sqlite_store& store) {
         auto refresh = sample_refresh(1, 11, first_application);
         refresh.rotation = sample_rotation(1, 2);
         const auto outcome = store.refresh_access_token(refresh);
         return outcome ? settle(outcome->result == refresh_result::refreshed) : settle(outcome);
     },
     [](sqlite_store& store) {
         return all_or_nothing({has_token(store, 11), is_refreshable(store, 2, first_application),
                                !is_refreshable(store, 1, first_application)});
     }},
    {"revoke_oauth_token",
     [](sqlite_store& store) { return settle(store.revoke(oauth_token_revocation{sample_refresh_digest(1), first_application})); },
     [](sqlite_store& store) { return progress{!has_token(store, 1)}; }},
    {"revoke_grant", [](sqlite_store& store) { return settle(store.revoke(grant_revocation{user_id{7}, first_application})); },
     [](sqlite_store& store) {
         return all_or_nothing({!has_token(store, 1), value_of(store.grants_of(user_id{7})).empty()});
     }},
    {"sweep_expired",
     [](sqlite_store& store) {
         const auto swept = store.sweep({.expired_at = noon + seconds{400 * 86'400}, .rows_max = 100});
         return swept ? settle(*swept == 6) : settle(swept);
     },
     [](sqlite_store& store) { return progress{!has_token(store, 1)}; }},
    {"record_access_token_use",
     [](sqlite_store& store) { return store.record_use(access_token_key{sample_access_digest(1)}, noon, {}); },
     [](sqlite_store& store) {
         return all_or_nothing({value_of(store.find_credential(access_token_key{sample_access_digest(1)}))->last_used_at.has_value(),
                                value_of(store.grants_of(user_id{7})).at(0).last_used_at.has_value()});
     }},
    {"record_personal_token_use", [](sqlite_store& store) { return store.record_use(personal_token_key{"tgu_a"}, noon, "192.0.2.0/24"); },
     [](sqlite_store& store) {
         return progress{value_of(store.find_credential(personal_token_key{"tgu_a"}))->last_used_at.has_value()};
     }},
    {"create_session", [](sqlite_store& store) { return store.create_session(sample_session(3)); },
     [](sqlite_store& store) {
         return progress{value_of(store.find_session(sample_session(3).cookie_digest)).has_value()};
     }},
    {"touch_session",
     [](sqlite_store& store) { return store.touch_session(sample_session(1).cookie_digest, noon + seconds{99}); },
     [](sqlite_store& store) {
         const auto found = value_of(store.find_session(sample_session(1).cookie_digest));
         return progress{found->last_seen_at == noon + seconds{99}};
     }},
    {"end_session", [](sqlite_store& store) { return settle(store.end_sessions(sample_session(1).cookie_digest)); },
     [](sqlite_store& store) {
         return progress{!value_of(store.find_session(sample_session(1).cookie_digest)).has_value()};
     }},
    {"end_sessions_of", [](sqlite_store& store) { return store.end_sessions(sessions_of_user{user_id{7}}); },
     [](sqlite_store& store) {
         return all_or_nothing({!value_of(store.find_session(sample_session(1).cookie_digest)),
                                !value_of(store.find_session(sample_session(2).cookie_digest))});
     }},
    {"sweep_sessions", [](sqlite_store& store) { return settle(store.sweep({.sessions = session_ends{noon, noon + seconds{9}}, .rows_max = 100})); },
     [](sqlite_store& store) {
         return all_or_nothing({!value_of(store.find_session(sample_session(1).cookie_digest)),
                                !value_of(store.find_session(sample_session(2).cookie_digest))});
     }},
};

}  // namespace

TEST_CASE("when the disk fails at the nth change, each verb of OAuth and of sessions is done completely or not at all") {
    const auto& each = GENERATE(from_range(std::begin(verbs), std::end(verbs)));
    const int code = GENERATE(SQLITE_FULL, SQLITE_IOERR_FSYNC);
    CAPTURE(each.name, code);

    tollgate_test::fail_each_disk_change(
        code,
        [](const std::string& path, const sqlite_settings& settings) {
            sqlite_store store{path, settings};
            furnish(store);
            return store;
        },
        each.act, each.done,
        [&](const std::string& path) {
            sqlite_store again{path};
            CHECK(each.done(again) == progress{true});
        });
}

TEST_CASE("no statement of the store scans a table or sorts more rows than it returns") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    // The store's connections are inspected when SQLite opens them.
    static std::vector<sqlite3*> opened;
    opened.clear();
    const auto note = +[](sqlite3* each, const char**, const sqlite3_api_routines*) {
        opened.push_back(each);
        return SQLITE_OK;
    };
    REQUIRE(sqlite3_auto_extension(reinterpret_cast<void (*)()>(note)) == SQLITE_OK);
    sqlite_settings settings;
    settings.readers_max = 1;
    settings.cached_credentials_max = 0;
    sqlite_store store{path, settings};

    const auto account = sample_account();
    const auto token = value_of(store.create_personal_token(sample_personal_token("tgu_a"), 100));
    value_of(store.find_credential(personal_token_key{"tgu_a"}));
    value_of(store.personal_tokens_of(user_id{7}));
    value_of(store.record_use(personal_token_key{"tgu_a"}, noon, "192.0.2.0/24"));
    value_of(store.revoke(personal_token_revocation{token}));
    const auto hook = value_of(store.create_hook(sample_hook(account), 20));
    value_of(store.hooks_of(account));
    value_of(store.account_of_hook(account.service, hook));
    value_of(store.change_hook(account, hook, hook_secret_replacement{"whsec_bmV3", noon}));
    value_of(store.append_event(sample_event(account), sample_seed(1), noon));
    auto leased = lease_due_at(store, noon);
    leased.push_back(lease_due_at(store, noon + seconds{60}).at(0));  // its lease had ended
    const std::vector<attempt_result> ended{completed(leased[0], delivery_outcome::retry),
                                            completed(leased[1], delivery_outcome::gone)};
    value_of(store.complete(ended, noon));
    value_of(testing::detail::deliveries_of(store, account, hook, 100, {}));
    value_of(testing::detail::attempts_of(store, account, hook, 100, {}));
    value_of(store.change_hook(account, hook, hook_enabling{noon}));
    value_of(store.resend(account, leased[0].lease.delivery, noon));
    value_of(store.complete({{completed(lease_due_at(store, noon).at(0), delivery_outcome::delivered)}}, noon));
    value_of(store.sweep({.deliveries_ended_before = noon + seconds{1}, .rows_max = 100}));
    value_of(store.append_event(sample_event(account), sample_seed(2), noon));
    value_of(store.delete_hook(account, hook));
    const auto application = value_of(store.create_application(sample_application("tgi_a"), 100));
    value_of(store.find_application("tgi_a"));
    value_of(store.applications_of(user_id{3}));
    value_of(store.change_application(user_id{3}, application, client_secret_addition{digest{}}));
    value_of(store.change_application(user_id{3}, application, older_secret_removal{}));
    for (const auto& reason : {std::optional{suspension::by_operator}, std::optional<suspension>{}})
        value_of(store.change_application({}, application, suspension_change{reason}));
    value_of(store.change_application(user_id{3}, application, application_fields{"n", "w", "d", {}, true}));
    value_of(store.create_access_token({user_id{3}, application, sample_access_digest(20), sample_scopes("a"), noon, noon, true}));
    value_of(store.change_application(user_id{3}, application, application_fields{"n", "w", "d", {}, false}));
    value_of(store.create_device_code(sample_device_code(1, application)));
    value_of(store.find_device_code(sample_device_code(1, application).user_digest));
    value_of(store.answer_device_code(sample_decision(1, device_code_state::approved, user_id{9})));
    value_of(store.find_oauth_token(sample_digest(1)));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) value_of(store.create_code(sample_code(seed, application)));
    auto wider = sample_code(4, application);
    wider.scopes = sample_scopes("itemplatform");
    value_of(store.create_code(wider));
    value_of(granted_scopes(store, user_id{7}, application));
    for (std::uint64_t seed = 1; seed <= 2; ++seed) value_of(store.redeem_code(sample_redemption(seed, application)));
    value_of(store.redeem_code(sample_redemption(2, application)));
    value_of(store.refresh_access_token(sample_refresh(1, 11, application)));
    auto rotated = sample_refresh(1, 12, application);
    rotated.rotation = sample_rotation(1, 2);
    value_of(store.refresh_access_token(rotated));
    value_of(store.revoke(oauth_token_revocation{sample_access_digest(11), application}));
    value_of(store.revoke(oauth_token_revocation{sample_refresh_digest(1), application}));
    value_of(store.grants_of(user_id{7}));
    value_of(store.create_access_token(sample_access_token(1)));
    value_of(store.find_credential(access_token_key{sample_access_token(1).token_digest}));
    value_of(store.record_use(access_token_key{sample_access_token(1).token_digest}, noon, {}));
    value_of(store.revoke(oauth_token_revocation{sample_access_token(1).token_digest}));
    value_of(store.sweep({.expired_at = noon + seconds{86'400}, .rows_max = 100}));
    value_of(store.revoke(grant_revocation{user_id{7}, application}));
    value_of(store.delete_application(user_id{3}, application));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) value_of(store.create_session(sample_session(seed)));
    value_of(store.find_session(sample_session(1).cookie_digest));
    value_of(store.touch_session(sample_session(1).cookie_digest, noon));
    value_of(store.end_sessions(sample_session(1).cookie_digest));
    value_of(store.sweep({.sessions = session_ends{noon, noon + seconds{9}}, .rows_max = 1}));
    value_of(store.end_sessions(sessions_of_user{user_id{7}}));

    std::size_t looked_at = 0;
    const auto look_at = [&](sqlite3* on) {
        std::vector<std::string> statements;
        for (sqlite3_stmt* each = sqlite3_next_stmt(on, nullptr); each != nullptr;
             each = sqlite3_next_stmt(on, each))
            statements.emplace_back(sqlite3_sql(each));
        for (const std::string& text : statements) {
            if (text.find("tollgate_") == std::string::npos || text.find("tollgate_schema") != std::string::npos)
                continue;  // not a table of the store
            CAPTURE(text);
            sqlite3_stmt* plan = nullptr;
            REQUIRE(sqlite3_prepare_v2(on, ("EXPLAIN QUERY PLAN " + text).c_str(), -1, &plan, nullptr) ==
                    SQLITE_OK);
            while (sqlite3_step(plan) == SQLITE_ROW) {
                const std::string step{reinterpret_cast<const char*>(sqlite3_column_text(plan, 3))};
                if (step == "SCAN CONSTANT ROW") continue;
                // This index has only the deliveries that are being sent.
                if (step == "SCAN tollgate_deliveries USING INDEX tollgate_deliveries_leased") continue;
                CHECK_THAT(step, !Catch::StartsWith("SCAN"));
                // The list of one user is short and may be sorted; a truncated result must come from an index.
                if (text.find("LIMIT") != std::string::npos) CHECK_THAT(step, !Catch::Contains("TEMP B-TREE"));
            }
            sqlite3_finalize(plan);
            ++looked_at;
        }
    };
    sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(note));
    for (sqlite3* each : opened) look_at(each);
    CHECK(looked_at > 80);
}

TEST_CASE("a store of version 5 is migrated, and its applications and refresh tokens stay valid") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    {
        auto file = *sqlite::database::open(path);
        REQUIRE(sqlite::migrate(file, sqlite::store_component, std::span{sqlite::store_steps}.first(5)));
        for (int i = 0; i < 2; ++i)
            REQUIRE(file.run("INSERT INTO tollgate_applications (owner, client_id, secret_digest, name, website, description, "
                             "redirect_url, created_at) VALUES (3, ?, ?, 'n', 'w', '', ?, 1)",
                             "tgi_" + std::to_string(i), sample_digest(1),
                             i == 0 ? std::nullopt : std::optional<std::string>{"https://app.example/back"}));
        REQUIRE(file.run("INSERT INTO tollgate_grants (user, application, scopes, created_at) VALUES (7, 1, 'a', 1)"));
        REQUIRE(file.run("INSERT INTO tollgate_refresh_tokens (token_digest, access_grant, scopes, expires_at, ends_at) "
                         "VALUES (?, 1, 'a', ?2, ?2)",
                         sample_refresh_digest(1), noon + seconds{60}));
    }
    sqlite_store store{path};
    const auto listed = value_of(store.applications_of(user_id{3}));
    REQUIRE(listed.size() == 2);
    for (const auto& each : listed) CHECK(each.type == client_type::confidential);
    CHECK(listed[0].redirect_urls.empty());
    CHECK(listed[1].redirect_urls == std::vector<std::string>{"https://app.example/back"});
    auto refresh = sample_refresh(1, 11, first_application);
    refresh.rotation = sample_rotation(1, 2);
    expect_refresh(store, refresh, refresh_result::refreshed);
    CHECK(is_refreshable(store, 2, first_application));
}

TEST_CASE("processes that redeem one code at once: exactly one succeeds, and reuse revokes its tokens") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    tollgate_test::check_concurrent_redemptions([&] { return sqlite_store{path}; });
}

TEST_CASE("processes that refresh one token at once all succeed") {
    constexpr int process_count = 4;
    constexpr std::uint64_t each_times = 5;
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    {
        sqlite_store store{path};
        REQUIRE(create_sample_application(store) == first_application);
        authorize(store, 1, first_application);
    }
    const auto codes = tollgate_test::run_processes(process_count, [&](number_pipe& start, int number) {
        sqlite_store store{path};
        start.take();
        const auto first = 100 + static_cast<std::uint64_t>(number) * each_times;
        for (std::uint64_t n = 0; n < each_times; ++n) {
            const auto outcome = store.refresh_access_token(sample_refresh(1, first + n, first_application));
            if (!outcome || outcome->result != refresh_result::refreshed) return 1;
        }
        return 0;
    });
    CHECK(codes == std::vector<int>(process_count, 0));
    sqlite_store store{path};
    for (std::uint64_t n = 0; n < process_count * each_times; ++n) CHECK(has_token(store, 100 + n));
    CHECK(is_refreshable(store, 1, first_application));
}

TEST_CASE("issued tokens survive kill -9, and their codes stay redeemed") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    {
        sqlite_store store{path};
        REQUIRE(create_sample_application(store) == first_application);
    }
    const auto user_of = [](std::uint64_t seed) { return user_id{static_cast<std::int64_t>(seed) + 1}; };
    std::vector<std::uint64_t> acknowledged;
    for (std::uint64_t round = 0; round < 4; ++round) {
        number_pipe seeds;
        child_process server{[&] {
            seeds.close_reading();
            sqlite_store store{path};
            std::vector<std::thread> threads;
            for (std::uint64_t i = 0; i < 3; ++i)
                threads.emplace_back([&, i] {
                    for (std::uint64_t seed = round * 100'000 + i * 10'000;; ++seed) {
                        if (!store.create_code(sample_code(seed, first_application, user_of(seed)))) return;
                        const auto outcome = store.redeem_code(sample_redemption(seed, first_application));
                        if (!outcome || outcome->result != redemption_result::redeemed) return;
                        if (!seeds.put(static_cast<std::int64_t>(seed))) return;
                    }
                });
            for (auto& each : threads) each.join();
            return 1;
        }};
        seeds.close_writing();
        for (std::uint64_t n = 0; n < 5 + round * 10; ++n) {
            const auto seed = seeds.take();
            REQUIRE(seed);
            acknowledged.push_back(static_cast<std::uint64_t>(*seed));
        }
        server.kill();
        while (const auto seed = seeds.take()) acknowledged.push_back(static_cast<std::uint64_t>(*seed));
    }
    sqlite_store store{path};
    for (const std::uint64_t seed : acknowledged) {
        CHECK(has_token(store, seed));
        CHECK(is_refreshable(store, seed, first_application));
    }
    const std::uint64_t last = acknowledged.back();
    expect_redemption(store, sample_redemption(last, first_application), redemption_result::reused);
    CHECK_FALSE(has_token(store, last));
}

TEST_CASE("a credential revoked in one process is refused by others from the next call") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    sqlite_store one{path}, other{path};
    REQUIRE(create_sample_application(one) == first_application);
    for (std::uint64_t round = 0; round < 5; ++round) {
        const std::uint64_t seed = round * 10;
        authorize(one, seed, first_application);
        CHECK(has_token(other, seed));
        CHECK(has_token(one, seed));
        expect_refresh(other, sample_refresh(seed, seed + 1, first_application), refresh_result::refreshed);
        CHECK(has_token(one, seed + 1));
        switch (round) {
            case 0: value_of(other.revoke(grant_revocation{user_id{7}, first_application})); break;
            case 1: value_of(other.revoke(oauth_token_revocation{sample_refresh_digest(seed), first_application})); break;
            case 2:
                expect_redemption(other, sample_redemption(seed, first_application), redemption_result::reused);
                break;
            case 3: value_of(other.sweep({.expired_at = noon + seconds{86'400}, .rows_max = 100})); break;
            default: value_of(other.delete_application(user_id{3}, first_application));
        }
        CHECK_FALSE(has_token(one, seed));
        CHECK_FALSE(has_token(one, seed + 1));
    }
}

TEST_CASE("optional writes do not wait for another process") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    sqlite_store store{path};  // waits for five seconds otherwise
    const auto personal = sample_personal_token("tgu_a");
    const auto access = sample_access_token(1);
    value_of(store.create_personal_token(personal, tokens_max));
    value_of(store.create_access_token(access));
    auto locking = *sqlite::database::open(path);
    {
        auto change = sqlite::transaction::begin(locking);
        REQUIRE(change);
        CHECK(tollgate_test::eventually([&] {  // a busy machine may take longer now and then
            const auto before = std::chrono::steady_clock::now();
            expect_error(store.record_use(personal_token_key{"tgu_a"}, noon, "192.0.2.0/24"), error_kind::unavailable);
            expect_error(store.record_use(access_token_key{access.token_digest}, noon, {}), error_kind::unavailable);
            return std::chrono::steady_clock::now() - before < seconds{3};
        }));
    }
    value_of(store.record_use(personal_token_key{"tgu_a"}, noon, "192.0.2.0/24"));
    value_of(store.record_use(access_token_key{access.token_digest}, noon, {}));
    // Other writes wait for the usual time.
    number_pipe locked;
    child_process other{[&] {
        locked.close_reading();
        auto writer = sqlite::database::open(path);
        auto change = sqlite::transaction::begin(*writer);
        locked.put(1);
        std::this_thread::sleep_for(milliseconds{400});
        return change ? 0 : 1;
    }};
    REQUIRE(locked.take());
    value_of(store.create_access_token(sample_access_token(2)));
    CHECK(other.wait() == 0);
}

TEST_CASE("a hook keeps its replaced secrets, up to the bound, until it is deleted") {
    temporary_directory directory;
    const auto path = directory.file("tollgate.db");
    sqlite_store store{path};
    const auto id = value_of(store.create_hook(sample_hook(sample_account()), 20));
    auto other = *sqlite::database::open(path);
    using row = std::pair<std::string, instant>;
    const auto secrets = [&] {
        std::vector<row> all;
        auto rows = other.prepare("SELECT secret, valid_until FROM tollgate_hook_secrets ORDER BY id DESC");
        while (const auto next = value_of(rows.next<std::string, instant>()))
            all.emplace_back(std::get<0>(*next), std::get<1>(*next));
        return all;
    };
    CHECK(secrets().empty());
    std::vector<row> expected;
    std::string last = sample_hook(sample_account()).secret;
    for (int i = 0; i < 6; ++i) {
        const auto next = "whsec_" + std::to_string(i);
        value_of(store.change_hook(sample_account(), id, hook_secret_replacement{next, noon + seconds{i}}));
        expected.insert(expected.begin(), {std::exchange(last, next), noon + seconds{i}});
        expected.resize((std::min)(expected.size(), limits::previous_secrets_max));
        CHECK(secrets() == expected);
    }
    value_of(store.delete_hook(sample_account(), id));
    CHECK(secrets().empty());
}
