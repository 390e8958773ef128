#include <tollgate/store/key_value.hpp>

#include <support/key_value_databases.hpp>
#include <support/run_store_suite.hpp>

#include <tollgate/store/detail/key_value/keys.hpp>
#include <tollgate/testing/detail/samples.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate::testing;
using namespace tollgate_test;

namespace {

template <class Database>
struct database_of_store {
    template <class... Arguments>
    explicit database_of_store(Arguments&&... arguments) : database(std::forward<Arguments>(arguments)...) {}
    Database database;
};
/// A store with its database.
template <class Database>
class store_with : database_of_store<Database>, public record_store {
public:
    template <class... Arguments>
    explicit store_with(Arguments&&... arguments)
        : database_of_store<Database>(std::forward<Arguments>(arguments)...), record_store{this->database} {}
    using database_of_store<Database>::database;
};

/// Runs each work first with its nth operation failing, for each n, and then in full: whatever fails, the verb reports it.
class exhaustive_database {
public:
    static constexpr bool blocking = false;

    result<void> transact(key_value_work work) {
        return run([&] { return database_.transact(work); });
    }
    result<void> read(key_value_work work) {
        return run([&] { return database_.read(work); });
    }

private:
    template <class Run>
    result<void> run(Run once) {
        constexpr long operations_max = 200;  // of works that change many rows, the first ones suffice
        const std::scoped_lock lock{mutex_};
        for (long nth = 1;; ++nth) {
            database_.fail_at(nth <= operations_max ? nth : 0);
            auto done = once();
            if (!database_.has_failed()) return done;
            if (done || done.error().kind != error_kind::unavailable) throw std::logic_error{"a failure was not reported"};
        }
    }

    std::mutex mutex_;  // the operations of one work are counted
    failing_database database_;
};

std::string text_of(const rows_by_key& rows) {
    std::string all;
    for (const auto& [key, value] : rows) all.append(key).append(value);
    return all;
}

std::size_t count_of(failing_database& database, key_value_detail::table table) {
    std::size_t count = 0;
    for (const auto& [key, value] : database.rows()) count += key.front() == static_cast<char>(table) ? 1 : 0;
    return count;
}

struct telling_database : map_database {
    std::optional<std::uint64_t> commits_seen() const noexcept { return 42; }
};
struct waiting_database : map_database {
    static constexpr bool blocking = true;
};

using failing_store = store_with<failing_database>;
using key_value_detail::table;

application_id create_sample_application(record_store& store) { return store.create_application(sample_application("app_1"), 10).value(); }

}  // namespace

TEST_CASE("a record store on a map passes the suite") {
    std::shared_ptr<map_database> last;
    struct shared_store : database_of_store<std::shared_ptr<map_database>>, record_store {
        explicit shared_store(const std::shared_ptr<map_database>& kept) : database_of_store{kept}, record_store{*kept} {}
    };
    run_store_suite(
        [&] {
            last = std::make_shared<map_database>();
            return std::make_unique<shared_store>(last);
        },
        [&] { return std::make_unique<shared_store>(last); });
}

TEST_CASE("a record store on an optimistic database passes the suite") {
    run_store_suite([] { return std::make_unique<store_with<optimistic_database>>(); });
}

TEST_CASE("a record store passes the suite if all work runs twice") {
    run_store_suite([] { return std::make_unique<store_with<optimistic_database>>(true); });
}

TEST_CASE("a record store passes the suite if every operation fails once") {
    run_store_suite([] { return std::make_unique<store_with<exhaustive_database>>(); });
}

TEST_CASE("a verb that fails changes nothing") {
    failing_store store;
    const auto application = create_sample_application(store);
    REQUIRE(store.create_code(sample_code(1, application)).value() == code_result::created);
    const std::string before = text_of(store.database.rows());
    const auto redemption = sample_redemption(1, application);
    long nth = 1;
    for (;; ++nth) {
        store.database.fail_at(nth);
        const auto redeemed = store.redeem_code(redemption);
        if (!store.database.has_failed()) break;
        REQUIRE_FALSE(redeemed);
        CHECK(redeemed.error().kind == error_kind::unavailable);
        CHECK(text_of(store.database.rows()) == before);
    }
    CHECK(nth > 10);
    store.database.fail_at(0);
    CHECK(store.redeem_code(redemption).value().result == redemption_result::redeemed);
}

TEST_CASE("a verb whose outcome was unknown and that is called again returns the result of its first call") {
    failing_store store;
    const auto application = create_sample_application(store);
    const auto hook = store.create_hook(sample_hook(sample_account()), 10).value();
    // Calls `verb` with an unknown outcome and again, and returns what the second call returns.
    const auto repeat = [&](auto verb) {
        store.database.lose_next_outcome();
        const auto lost = verb();
        REQUIRE_FALSE(lost);
        CHECK(lost.error().kind == error_kind::unavailable);
        const std::string before = text_of(store.database.rows());
        auto repeated = verb();
        CHECK(text_of(store.database.rows()) == before);
        return std::move(repeated).value();
    };
    repeat([&] { return store.create_application(sample_application("app_2"), 10); });
    CHECK(repeat([&] {
        return store.change_application(user_id{3}, application, client_secret_addition{sample_digest(77), sample_digest(5)});
    }));
    const auto token = repeat([&] { return store.create_personal_token(sample_personal_token("AbcDef"), 10); });
    CHECK(repeat([&] {
        return store.renew_personal_token(
            user_id{7}, token, {.secret_digest = sample_digest(1), .created_at = noon,
                                .replaced = sample_personal_token("AbcDef").secret_digest});
    }));
    CHECK(repeat([&] { return store.create_access_token(sample_access_token(1)); }));
    CHECK(repeat([&] { return store.create_code(sample_code(1, application)); }) == code_result::waiting);
    const auto redeemed = repeat([&] { return store.redeem_code(sample_redemption(1, application)); });
    CHECK(redeemed.result == redemption_result::redeemed);
    CHECK(redeemed.user == user_id{7});
    CHECK(redeemed.scopes == sample_code(1, application).scopes);
    auto refresh = sample_refresh(1, 2, application);
    CHECK(repeat([&] { return store.refresh_access_token(refresh); }).result == refresh_result::refreshed);
    refresh.access_digest = sample_access_digest(3);
    refresh.rotation = sample_rotation(1, 4);
    const auto rotated = repeat([&] { return store.refresh_access_token(refresh); });
    CHECK(rotated.result == refresh_result::refreshed);
    CHECK(rotated.successor_seed == refresh.rotation->successor_seed);
    repeat([&] { return store.create_device_code(sample_device_code(1, application)).transform([] { return true; }); });
    repeat([&] { return store.create_session(sample_session(1)).transform([] { return true; }); });
    CHECK(repeat([&] { return store.append_event({sample_account(), "site.published", "1", noon}, {}, noon); }) == 1);
    CHECK(repeat([&] { return store.append_event({sample_account(), "test", "1", noon}, {}, noon, hook); }) == 1);
    CHECK(repeat([&] {
        return store.change_hook(sample_account(), hook, hook_secret_replacement{"whsec_new", noon, sha256(sample_hook(sample_account()).secret)});
    }));
    CHECK(store.deliveries_of(sample_account(), {.hook = hook, .rows_max = 10}).value().size() == 2);
    CHECK(store.find_credential(access_token_key{sample_access_digest(1)}).value());
}

TEST_CASE("the deletion of an application with many tokens continues after a failure") {
    failing_store store;
    const auto application = create_sample_application(store);
    constexpr int users = 300;
    for (int i = 1; i <= users; ++i) {
        REQUIRE(store.create_code(sample_code(static_cast<std::uint64_t>(i), application, user_id{i})).value() == code_result::created);
        REQUIRE(store.redeem_code(sample_redemption(static_cast<std::uint64_t>(i), application)).value().result == redemption_result::redeemed);
    }
    CHECK(store.applications_of(user_id{3}).value().front().users == users);
    constexpr long inside_first_step = 100;
    store.database.fail_at(inside_first_step);
    CHECK_FALSE(store.delete_application(user_id{3}, application));
    // The application is gone at once. Its tokens go with the next sweeps.
    CHECK_FALSE(store.find_application("app_1").value());
    CHECK(store.grants_of(user_id{1}).value().empty());
    CHECK(store.redeem_code(sample_redemption(1, application)).value().result == redemption_result::unknown);
    std::size_t swept = 0;
    for (std::size_t step = 1; step != 0; swept += step) step = store.sweep({.expired_at = noon, .rows_max = 100}).value();
    CHECK(swept > users);
    for (const auto& [key, value] : store.database.rows()) CHECK(key.front() == '#');  // counters
}

TEST_CASE("a suspended application loses its access tokens even after a failure") {
    failing_store store;
    const auto application = create_sample_application(store);
    constexpr std::uint64_t tokens = 700;
    for (std::uint64_t i = 1; i <= tokens; ++i) {
        auto token = sample_access_token(i);
        token.application = application;
        REQUIRE(store.create_access_token(token).value());
    }
    const suspension_change suspended{suspension::by_operator};
    store.database.fail_at(50);
    CHECK_FALSE(store.change_application({}, application, suspended));
    CHECK(store.find_application("app_1").value()->suspended == suspension::by_operator);
    SECTION("when the call is repeated") { CHECK(store.change_application({}, application, suspended).value()); }
    SECTION("by a sweep") { CHECK(store.sweep({.expired_at = noon, .rows_max = 1000}).value() == tokens); }
    CHECK(count_of(store.database, table::access_tokens) == 0);
    CHECK(count_of(store.database, table::ended_applications) == 0);
    CHECK(store.change_application({}, application, suspension_change{}).value());
}

TEST_CASE("a hook with many deliveries is disabled and enabled in steps") {
    failing_store store;
    const auto account = sample_account();
    const auto hook = store.create_hook(sample_hook(account), 10).value();
    constexpr std::uint64_t events = 1300;
    for (std::uint64_t i = 0; i < events; ++i) {
        message_seed seed{};
        std::memcpy(seed.data(), &i, sizeof i);
        REQUIRE(store.append_event({account, "site.published", "1", noon}, seed, noon).value() == 1);
    }
    const lease_request one{hook, 1, 100, noon};
    const auto sent = store.lease({&one, 1}, {noon, noon + seconds{30}}).value();
    REQUIRE(sent.size() == 1);
    const attempt_result gone{.lease = sent.front().lease, .attempt = {.at = noon, .status = 410}, .outcome = delivery_outcome::gone};
    REQUIRE(store.complete({&gone, 1}, noon).value().front() == completion::hook_disabled);
    const auto in_state = [&](delivery_state state) {
        return store.deliveries_of(account, {.hook = hook, .rows_max = 10'000, .state = state}).value().size();
    };
    // All are held at once, although rows are written in steps.
    CHECK(in_state(delivery_state::held) == events - 1);
    CHECK(count_of(store.database, table::held_deliveries) < events - 1);
    CHECK(store.backlog(noon, 10'000).value().due == 0);

    SECTION("workers hold the rest") {
        while (!store.due_hooks(noon, 10).value().hooks.empty()) CHECK(store.lease({&one, 1}, {noon, noon + seconds{30}}).value().empty());
        CHECK(count_of(store.database, table::held_deliveries) == events - 1);
    }
    SECTION("it is enabled before that") {}
    SECTION("enabling fails in between, and workers send the rest") {
        long nth = 20'000;
        store.database.fail_at(nth);
        while (store.change_hook(account, hook, hook_enabling{noon})) {
            // It was enabled before the operation that fails: disable it again.
            store.database.fail_at(0);
            const auto next = store.lease({&one, 1}, {noon, noon + seconds{30}}).value();
            REQUIRE(next.size() == 1);
            const attempt_result again{.lease = next.front().lease, .attempt = {.at = noon, .status = 410}, .outcome = delivery_outcome::gone};
            REQUIRE(store.complete({&again, 1}, noon).value().front() == completion::hook_disabled);
            store.database.fail_at(nth /= 2);
        }
        store.database.fail_at(0);
    }
    CHECK(store.change_hook(account, hook, hook_enabling{noon + seconds{1}}).value());
    CHECK(in_state(delivery_state::held) == 0);
    CHECK(count_of(store.database, table::held_deliveries) == 0);
    CHECK(in_state(delivery_state::waiting) + in_state(delivery_state::given_up) == events);
    CHECK(store.backlog(noon + seconds{1}, 10'000).value().due == in_state(delivery_state::waiting));
}

TEST_CASE("a hook keeps its newest ended deliveries, and their number is bounded") {
    store_with<map_database> store;
    const auto account = sample_account();
    const auto hook = store.create_hook(sample_hook(account), 10).value();
    const std::uint64_t extra = GENERATE(std::uint64_t{1}, std::uint64_t{50});
    const std::uint64_t events = limits::ended_deliveries_per_hook_max + extra;
    std::optional<delivery_lease> open;  // of the oldest delivery, which ends last
    for (std::uint64_t i = 0; i < events; ++i) {
        message_seed seed{};
        std::memcpy(seed.data(), &i, sizeof i);
        REQUIRE(store.append_event({account, "site.published", "1", noon}, seed, noon).value() == 1);
        const lease_request one{hook, 1, 100, noon};
        const auto sent = store.lease({&one, 1}, {noon, noon + seconds{30}}).value();
        REQUIRE(sent.size() == 1);
        if (!open) {
            open = sent.front().lease;
            continue;
        }
        const attempt_result done{.lease = sent.front().lease, .attempt = {.at = noon}, .outcome = delivery_outcome::delivered};
        REQUIRE(store.complete({&done, 1}, noon).value().front() == completion::done);
    }
    const auto listed = [&] { return store.deliveries_of(account, {.hook = hook, .rows_max = 2 * events}).value(); };
    auto all = listed();
    CHECK(all.size() == limits::ended_deliveries_per_hook_max + 1);
    CHECK(all.back().delivery.id == open->delivery);
    const attempt_result late{.lease = *open, .attempt = {.at = noon}, .outcome = delivery_outcome::delivered};
    CHECK(store.complete({&late, 1}, noon).value().front() == completion::done);
    // It is the oldest that has ended, unless it was passed when the oldest ones were removed.
    CHECK(listed().size() == all.size() - (extra == 1 ? 1 : 0));
    all = listed();
    CHECK((all.back().delivery.id == open->delivery) == (extra != 1));

    // What a sweep removes is no longer counted.
    std::size_t swept = 0;
    for (std::size_t step = 1; step != 0; swept += step)
        step = store.sweep({.deliveries_ended_before = noon + milliseconds{1}, .rows_max = 1000}).value();
    CHECK(swept == all.size());
    const lease_request none_left{hook, 1, 100, noon};
    CHECK(store.lease({&none_left, 1}, {noon, noon + seconds{30}}).value().empty());
    for (const auto& [key, value] : store.database.rows()) {
        using key_value_detail::table;
        const auto of = static_cast<table>(key.front());
        CHECK((of == table::counters || of == table::hooks || of == table::hooks_of_event || of == table::last_deliveries ||
               of == table::histories));
    }
}

TEST_CASE("secrets of hooks are encrypted, and encrypted again with a new key") {
    map_database database;
    const auto first_key = secret_keys::parse("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n").value();
    const auto both_keys = secret_keys::parse("fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210\n"
                                              "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n").value();
    const auto new_key = secret_keys::parse("fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210\n").value();
    const auto account = sample_account();
    const std::string secret = sample_hook(account).secret;
    const auto is_stored = [&](std::string_view text) { return text_of(database.rows()).find(text) != std::string::npos; };
    const auto leased = [&](const std::optional<secret_keys>& keys, instant now) {
        record_store store{database, {keys}};
        const auto hook = store.hooks_of(account).value().front().id;
        const lease_request one{hook, 1, 100, noon};
        auto found = store.lease({&one, 1}, {now, now + seconds{30}}).value();
        REQUIRE(found.size() == 1);
        return found.front();
    };
    {
        record_store plain{database};
        const auto hook = plain.create_hook(sample_hook(account), 10).value();
        REQUIRE(plain.change_hook(account, hook, hook_secret_replacement{"whsec_second", noon + seconds{3600}}).value());
        REQUIRE(plain.append_event({account, "site.published", "1", noon}, {}, noon).value() == 1);
        CHECK(plain.encrypt_secrets());  // without a key it does nothing
    }
    CHECK((is_stored(secret) && is_stored("whsec_second")));
    CHECK(record_store(database, {first_key}).encrypt_secrets());
    CHECK_FALSE((is_stored(secret) || is_stored("whsec_second")));
    CHECK(is_stored(first_key.prefix()));
    CHECK(leased(first_key, noon).secret == "whsec_second");
    CHECK(leased(first_key, noon + seconds{60}).previous_secrets == std::vector{secret});
    CHECK(leased({}, noon + seconds{120}).secret.empty());
    CHECK_FALSE(leased({}, noon + seconds{180}).unreadable_secret.empty());

    CHECK(record_store(database, {new_key}).encrypt_secrets().error().kind == error_kind::unavailable);
    CHECK(record_store(database, {both_keys}).encrypt_secrets());
    CHECK_FALSE(is_stored(first_key.prefix()));
    CHECK(leased(new_key, noon + seconds{240}).secret == "whsec_second");
    CHECK(record_store(database, {new_key}).hooks_of(account).value().front().secret_digest == sha256("whsec_second"));
}

TEST_CASE("a damaged record is an internal error that names its table") {
    store_with<map_database> store;
    REQUIRE(store.create_personal_token(sample_personal_token("AbcDef"), 10));
    auto rows = store.database.rows();
    auto& value = rows.at("TAbcDef");
    SECTION("truncated") { value.pop_back(); }
    SECTION("of a later version") { value.front() = '\2'; }
    SECTION("with further bytes") { value += '\0'; }
    store.database.set_rows(rows);
    const auto found = store.find_credential(personal_token_key{"AbcDef"});
    REQUIRE_FALSE(found);
    CHECK(found.error().kind == error_kind::internal);
    CHECK_THAT(found.error().cause, Catch::Contains("table T"));
    CHECK(store.personal_tokens_of(user_id{7}).error().kind == error_kind::internal);
    CHECK_FALSE(store.find_credential(personal_token_key{"other"}).value());
}

TEST_CASE("changes are those of the database if it tells them") {
    CHECK(store_with<telling_database>{}.changes_seen() == 42);
    store_with<map_database> store;
    const auto before = store.changes_seen();
    REQUIRE(before);
    REQUIRE(store.create_hook(sample_hook(sample_account()), 10));
    CHECK(store.changes_seen() == before);
    REQUIRE(store.append_event({sample_account(), "site.published", "1", noon}, {}, noon).value() == 1);
    CHECK(store.changes_seen() != before);
}

TEST_CASE("a record store blocks if its database does") {
    CHECK(may_block(store_with<waiting_database>{}));
    CHECK_FALSE(may_block(store_with<map_database>{}));
}
