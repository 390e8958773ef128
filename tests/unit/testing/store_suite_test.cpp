#include <tollgate/testing/store_suite.hpp>

#include <tollgate/store/memory.hpp>

#include <support/run_store_suite.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;

namespace {

/// Defects of an adapter.
enum class defect {
    none,
    throws,
    omits_scopes,
    omits_the_application,
    ignores_case,
    caches_unknown_tokens,
    replaces_instead_of_conflict,
    reports_conflicts_as_invalid,
    lists_newest_first,
    truncates_descriptions,
    truncates_to_seconds,
    does_not_revoke,
    always_reports_a_revocation,
    hides_expired_tokens,
    accepts_one_hook_too_many,
    accepts_one_hook_too_few,
    counts_before_creating,
    trims_targets,
    stores_manual_as_api,
    deletes_hooks_of_others,
    finds_hooks_at_any_service,
    reuses_hook_ids,
    accepts_one_token_too_many,
    replaces_secrets_of_others,
    updates_hooks_of_others,
    accepts_one_update_too_many,
    updates_only_the_event,
    changes_the_source,
    counts_before_updating,
    does_not_record_use,
    caches_revoked_personal_tokens,
    deletes_the_oldest_access_token,
    caches_revoked_access_tokens,
    caches_old_secrets,
    caches_unknown_tokens_beside_the_store,
    loses_renewals,
    ignores_the_replaced_token_secret,
    ignores_the_replaced_hook_secret,
    lists_hooks_without_their_digest,
    ignores_idempotency_keys,
};

/// The memory store with one defect.
class adapter {
public:
    explicit adapter(defect defect, std::shared_ptr<memory_store> inner = std::make_shared<memory_store>())
        : defect_{defect}, stored_{std::move(inner)} {}

    ~adapter() {
        if (renewed_) static_cast<void>(inner_.renew_personal_token(renewed_->first, renewed_->second, before_renewal_));
    }

    lookup<token_credential> cached_credential(const credential_key& key) const noexcept {
        const auto stored = *inner_.find_credential(key);
        const auto* const personal = std::get_if<personal_token_key>(&key);
        const std::scoped_lock lock{mutex_};
        auto& before = cached_[std::string{personal != nullptr ? personal->username : std::get<access_token_key>(key).token_digest.raw()}];
        if (personal != nullptr) {
            if (is(defect::caches_unknown_tokens_beside_the_store) && before.is_miss()) return before;
            if (is(defect::caches_revoked_personal_tokens) && before.is_hit() && !stored) return before;
            if (is(defect::caches_old_secrets) && before.is_hit() && stored) return before;
        } else if (is(defect::caches_revoked_access_tokens) && before.is_hit() && !stored) {
            return before;
        }
        return before = stored ? lookup<token_credential>::hit(*stored) : lookup<token_credential>::miss();
    }

    result<std::optional<token_credential>> find_credential(const credential_key& key) {
        if (const auto* const personal = std::get_if<personal_token_key>(&key)) return find_personal_token(personal->username);
        auto found = inner_.find_credential(key);
        if (found && *found) {
            if (is(defect::omits_the_application)) (*found)->application.reset();
            if (is(defect::hides_expired_tokens) && (*found)->expires_at < testing::noon) found->reset();
        }
        return found;
    }
    result<std::optional<token_credential>> find_personal_token(std::string_view username) {
        if (is(defect::throws)) throw std::runtime_error{"connection lost"};
        std::string name{username};
        if (is(defect::ignores_case))
            for (char& each : name) each = tollgate::detail::ascii_lower(each);
        if (is(defect::caches_unknown_tokens)) {
            const std::scoped_lock lock{mutex_};
            if (unknown_.count(name) != 0) return std::optional<token_credential>{};
        }
        auto found = inner_.find_credential(personal_token_key{name});
        if (found && !*found && is(defect::caches_unknown_tokens)) {
            const std::scoped_lock lock{mutex_};
            unknown_.insert(name);
        }
        if (found && *found && is(defect::omits_scopes)) (*found)->scopes = scope_set{};
        return found;
    }
    result<token_id> create_personal_token(new_personal_token token, std::size_t tokens_per_user_max) {
        if (is(defect::ignores_case)) {
            std::string name{token.username.view()};
            for (char& each : name) each = tollgate::detail::ascii_lower(each);
            token.username = token_username::from(name).value();
        }
        if (is(defect::truncates_descriptions)) token.description = token.description.substr(0, 50);
        if (is(defect::truncates_to_seconds)) token.created_at = std::chrono::floor<seconds>(token.created_at);
        if (is(defect::accepts_one_token_too_many)) ++tokens_per_user_max;
        auto id = inner_.create_personal_token(token, tokens_per_user_max);
        if (!id && is(defect::reports_conflicts_as_invalid)) id.error().kind = error_kind::invalid;
        if (!id && is(defect::replaces_instead_of_conflict)) {
            for (std::int64_t old = 1; old < 10; ++old)
                if (auto revoked = inner_.revoke(personal_token_revocation{token_id{old}}); revoked && *revoked) break;
            return inner_.create_personal_token(token, tokens_per_user_max);
        }
        return id;
    }
    result<std::vector<personal_token>> personal_tokens_of(user_id user) {
        auto found = inner_.personal_tokens_of(user);
        if (found && is(defect::lists_newest_first)) std::reverse(found->begin(), found->end());
        return found;
    }
    result<bool> renew_personal_token(user_id user, token_id id, personal_token_renewal renewed) {
        if (is(defect::ignores_the_replaced_token_secret)) renewed.replaced.reset();
        if (is(defect::loses_renewals)) {
            const auto tokens = *inner_.personal_tokens_of(user);
            for (const personal_token& each : tokens) {
                const auto stored = *inner_.find_credential(personal_token_key{each.username.view()});
                if (each.id == id) before_renewal_ = {stored->secret_digest, each.created_at, each.expires_at};
            }
            renewed_ = std::pair{user, id};
        }
        return inner_.renew_personal_token(user, id, renewed);
    }
    result<bool> revoke(const revocation& revoked) {
        if (!std::holds_alternative<personal_token_revocation>(revoked)) return inner_.revoke(revoked);
        if (is(defect::does_not_revoke)) return true;
        auto done = inner_.revoke(revoked);
        return is(defect::always_reports_a_revocation) ? result<bool>{true} : done;
    }
    result<bool> create_access_token(const new_access_token& token) {
        auto done = inner_.create_access_token(token);
        if (done || done.error().kind != error_kind::too_many_requests || !is(defect::deletes_the_oldest_access_token)) return done;
        static_cast<void>(inner_.revoke(oauth_token_revocation{testing::sample_access_token(0).token_digest}));
        return inner_.create_access_token(token);
    }
    result<void> record_use(const credential_key& key, instant now, std::string_view from) {
        if (is(defect::does_not_record_use) && std::holds_alternative<access_token_key>(key)) return {};
        return inner_.record_use(key, now, from);
    }

    result<hook_id> create_hook(new_hook hook, std::size_t hooks_per_event_max) {
        if (is(defect::accepts_one_hook_too_many)) ++hooks_per_event_max;
        if (is(defect::accepts_one_hook_too_few) && hooks_per_event_max > 0) --hooks_per_event_max;
        if (is(defect::trims_targets))
            while (hook.target_url.ends_with(' ')) hook.target_url.pop_back();
        if (is(defect::stores_manual_as_api)) hook.source = hook_source::api;
        if (is(defect::ignores_idempotency_keys)) hook.idempotency_key.reset();
        if (is(defect::counts_before_creating)) {
            if (count(hook.account, hook.event) >= hooks_per_event_max) return invalid("too many");
            hooks_per_event_max = SIZE_MAX;
        }
        auto id = inner_.create_hook(hook, hooks_per_event_max);
        if (id && is(defect::reuses_hook_ids)) {
            const std::scoped_lock lock{mutex_};
            return hook_id{++hooks_there_};
        }
        return id;
    }
    result<std::vector<hook>> hooks_of(const account_ref& account) {
        const std::scoped_lock lock{mutex_};
        auto found = inner_.hooks_of(account);
        if (found)
            for (hook& each : *found)
                if (updated_.contains(each.id)) each.source = hook_source::api;
        if (found && is(defect::lists_hooks_without_their_digest))
            for (hook& each : *found) each.secret_digest = {};
        return found;
    }
    result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) {
        if (is(defect::finds_hooks_at_any_service))
            for (const char* each : {"sitesmaker", "itemplatform"})
                if (auto found = inner_.account_of_hook(*service_name::from(each), id); found && *found) return found;
        return inner_.account_of_hook(service, id);
    }
    result<bool> change_hook(account_ref account, hook_id id, hook_change change) {
        auto* const replacement = std::get_if<hook_secret_replacement>(&change);
        auto* const fields = std::get_if<hook_fields>(&change);
        if (replacement != nullptr && is(defect::ignores_the_replaced_hook_secret)) replacement->replaced.reset();
        if ((replacement != nullptr && is(defect::replaces_secrets_of_others)) || (fields != nullptr && is(defect::updates_hooks_of_others)))
            if (const auto owner = inner_.account_of_hook(account.service, id); owner && *owner) account = **owner;
        if (fields == nullptr) return inner_.change_hook(account, id, change);
        if (is(defect::accepts_one_update_too_many)) ++fields->hooks_per_event_max;
        if (is(defect::updates_only_the_event)) {
            const auto hooks = *inner_.hooks_of(account);
            for (const hook& each : hooks)
                if (each.id == id) fields->target_url = each.target_url;
        }
        if (is(defect::changes_the_source)) {
            const std::scoped_lock lock{mutex_};
            updated_.insert(id);
        }
        if (is(defect::counts_before_updating)) {
            if (count(account, fields->event) >= fields->hooks_per_event_max) return invalid("too many");
            fields->hooks_per_event_max = SIZE_MAX;
        }
        return inner_.change_hook(account, id, change);
    }
    result<bool> delete_hook(account_ref account, hook_id id) {
        if (is(defect::deletes_hooks_of_others)) {
            const auto owner = inner_.account_of_hook(*service_name::from("sitesmaker"), id);
            if (owner && *owner) account = **owner;
        }
        if (is(defect::reuses_hook_ids)) {
            const std::scoped_lock lock{mutex_};
            hooks_there_ = (std::max)(hooks_there_ - 1, std::int64_t{0});
        }
        return inner_.delete_hook(account, id);
    }

private:
    [[nodiscard]] bool is(defect other) const noexcept { return defect_ == other; }

    /// The number of hooks a short time ago.
    std::size_t count(const account_ref& account, const std::string& event) {
        const auto hooks = inner_.hooks_of(account);
        for (int i = 0; i < 10; ++i) std::this_thread::yield();
        return static_cast<std::size_t>(
            std::count_if(hooks->begin(), hooks->end(), [&](const hook& each) { return each.event == event; }));
    }

    defect defect_;
    std::shared_ptr<memory_store> stored_;
    memory_store& inner_ = *stored_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, lookup<token_credential>> cached_;
    std::optional<std::pair<user_id, token_id>> renewed_;
    personal_token_renewal before_renewal_{};
    std::set<std::string> unknown_;
    std::set<hook_id> updated_;
    std::int64_t hooks_there_ = 0;
};
static_assert(token_store<adapter> && credential_cache<adapter> && use_recorder<adapter> && hook_store<adapter>);

struct hooks_alone {
    memory_store inner;

    result<hook_id> create_hook(const new_hook& hook, std::size_t max) { return inner.create_hook(hook, max); }
    result<std::vector<hook>> hooks_of(const account_ref& account) { return inner.hooks_of(account); }
    result<std::optional<account_ref>> account_of_hook(const service_name& service, hook_id id) {
        return inner.account_of_hook(service, id);
    }
    result<bool> change_hook(const account_ref& account, hook_id id, const hook_change& change) {
        return inner.change_hook(account, id, change);
    }
    result<bool> delete_hook(const account_ref& account, hook_id id) { return inner.delete_hook(account, id); }
};
static_assert(hook_store<hooks_alone> && !token_store<hooks_alone>);

struct sessions_alone : protected memory_store {
    using memory_store::create_session;
    using memory_store::end_sessions;
    using memory_store::find_session;
    using memory_store::sessions_of;
    using memory_store::sweep;
    using memory_store::touch_session;
};
static_assert(session_store<sessions_alone> && !hook_store<sessions_alone>);

struct applications_alone : private memory_store {
    using memory_store::applications_of;
    using memory_store::change_application;
    using memory_store::create_application;
    using memory_store::delete_application;
    using memory_store::find_application;
};
static_assert(application_store<applications_alone> && !oauth_store<applications_alone>);

}  // namespace

TEST_CASE("each defect of an adapter is detected by its case") {
    using row = tollgate_test::mutant<defect>;
    tollgate_test::check_mutants<adapter, defect>({
        row{defect::throws, "personal token: a created token is found", ""},
        row{defect::omits_scopes, "personal token: scopes are returned in their order, from none to all"},
        row{defect::omits_the_application, "access token: a created token is found"},
        row{defect::ignores_case, "personal token: a username is compared byte for byte"},
        row{defect::caches_unknown_tokens, "personal token: a created token is found"},
        row{defect::replaces_instead_of_conflict, "personal token: a second token with the same username is a conflict"},
        row{defect::reports_conflicts_as_invalid, "personal token: a second token with the same username is a conflict"},
        row{defect::lists_newest_first, "personal token: tokens are listed by user, oldest first"},
        row{defect::truncates_descriptions, "personal token: descriptions are returned byte for byte"},
        row{defect::truncates_to_seconds, "personal token: times to the millisecond, the largest user id and any digest are stored"},
        row{defect::does_not_revoke, "personal token: a revoked token is not found"},
        row{defect::always_reports_a_revocation, "personal token: revoking an unknown token returns false"},
        row{defect::hides_expired_tokens, "access token: an expired token is still found, with its expiry"},
        row{defect::accepts_one_hook_too_many, "hook: an account has at most the bound for one event"},
        row{defect::accepts_one_hook_too_few, "hook: an account has at most the bound for one event"},
        row{defect::trims_targets, "hook: text is returned byte for byte"},
        row{defect::stores_manual_as_api, "hook: hooks are listed by account, oldest first"},
        row{defect::deletes_hooks_of_others, "hook: an account is identified by its service and number"},
        row{defect::finds_hooks_at_any_service, "hook: its account is found only by its own service"},
        row{defect::reuses_hook_ids, "hook: ids are never reused"},
        row{defect::accepts_one_token_too_many, "personal token: a user has at most the bound"},
        row{defect::replaces_secrets_of_others, "hook: only its own account can replace its secret, and nothing else changes"},
        row{defect::updates_hooks_of_others, "hook: only its own account can update it, and an update changes only event and target"},
        row{defect::accepts_one_update_too_many, "hook: an update does not exceed the bound for one account and event"},
        row{defect::updates_only_the_event, "hook: only its own account can update it, and an update changes only event and target"},
        row{defect::changes_the_source, "hook: only its own account can update it, and an update changes only event and target"},
        row{defect::does_not_record_use, "access token: the time of its last use is stored"},
        row{defect::caches_revoked_personal_tokens, "personal token: a revoked token is not found"},
        row{defect::deletes_the_oldest_access_token, "access token: a valid one is not deleted, however many newer ones there are"},
        row{defect::caches_revoked_access_tokens, "access token: a revoked token is not found"},
        row{defect::caches_old_secrets, "personal token: only its user can replace its secret"},
        row{defect::caches_unknown_tokens_beside_the_store, "personal token: a created token is found"},
        row{defect::ignores_the_replaced_token_secret,
            "personal token: a secret is replaced only if it is the given one, by exactly one of several parallel calls"},
        row{defect::ignores_the_replaced_hook_secret,
            "hook: a secret is replaced only if it is the given one, by exactly one of several parallel calls"},
        row{defect::lists_hooks_without_their_digest,
            "hook: a secret is replaced only if it is the given one, by exactly one of several parallel calls"},
        row{defect::ignores_idempotency_keys,
            "hook: of several creations with one idempotency key, exactly one succeeds, until the hook is deleted"}});
}

TEST_CASE("the store suite detects a bound that is not checked atomically") {
    const auto [injected, rule] = GENERATE(table<defect, const char*>({
        {defect::counts_before_creating, "hook: parallel creations do not exceed the bound"},
        {defect::counts_before_updating, "hook: parallel updates do not exceed the bound"},
    }));
    CAPTURE(rule);
    CHECK(tollgate_test::is_caught_in_time([has = injected] { return std::make_unique<adapter>(has); }, rule));
}

TEST_CASE("the store suite tests the contracts of a store, also through a pointer") {
    std::size_t hook_cases = 0, all_cases = 0;
    CHECK(testing::run([] { return std::make_unique<hooks_alone>(); },
                           [&](const testing::case_result& each) {
                               if (tollgate_test::is_about_the_report(each.name)) return;
                               CHECK(each.name.starts_with("hook: "));
                               CHECK(each.message.empty());
                               ++hook_cases;
                           }));
    CHECK(testing::run([] { return std::make_shared<memory_store>(); }, [&](const testing::case_result&) { ++all_cases; }));
    CHECK(hook_cases > 10);
    CHECK(all_cases > hook_cases + 10);
    CHECK_FALSE(testing::run([] { return adapter{defect::does_not_revoke}; }, [](const testing::case_result&) {}));
}

TEST_CASE("the store suite detects lost data after reopening") {
    const auto make = [] { return std::make_unique<memory_store>(); };
    std::size_t failed = 0;
    testing::run(make, make, [&](const testing::case_result& each) { failed += each.passed ? 0 : 1; });
    CHECK(failed == 8);  // one of each family
}

TEST_CASE("the store suite detects a renewal that is lost after reopening") {
    std::shared_ptr<memory_store> stored;
    for (const auto& [injected, is_caught] : {std::pair{defect::none, false}, std::pair{defect::loses_renewals, true}}) {
        CAPTURE(is_caught);
        const auto make = [&, has = injected] {
            return std::make_unique<adapter>(has, stored = std::make_shared<memory_store>());
        };
        const auto reopen = [&, has = injected] { return std::make_unique<adapter>(has, stored); };
        CHECK(tollgate_test::breaks_rule(make, reopen, "personal token: everything is present after the store is reopened") == is_caught);
    }
}

TEST_CASE("the store suite reports whether durability was tested") {
    const auto message = [](const auto& all) {
        const auto entry = std::find_if(all.begin(), all.end(), [](const auto& each) { return each.name() == "durability"; });
        return entry == all.end() ? std::string{} : entry->run().message;
    };
    const auto make = [] { return std::make_unique<memory_store>(); };
    CHECK(message(testing::cases(make)) == "not tested: there is no reopen()");
    CHECK(message(testing::cases(make, make)) == "tested with reopen()");
}

TEST_CASE("the store suite reports that a store is not empty, instead of the errors that result from it") {
    const auto check = [](auto store, const char* held) {
        CAPTURE(held);
        std::vector<testing::case_result> failed;
        std::size_t rules = 0;
        testing::run([&] { return store; }, [&](const testing::case_result& each) {
            if (!tollgate_test::is_about_the_report(each.name)) ++rules;
            if (!each.passed) failed.push_back(each);
        });
        CHECK(failed.size() == rules - 1);  // the first rule got an empty store
        for (const auto& each : failed) {
            CAPTURE(each.name);
            CHECK(each.message == std::string{"make() must return an empty store each time, but this one already holds "} + held);
        }
    };
    check(std::make_shared<memory_store>(), "personal tokens");
    check(std::make_shared<hooks_alone>(), "webhooks");
    check(std::make_shared<sessions_alone>(), "sessions");
    check(std::make_shared<applications_alone>(), "applications");
}

namespace {

/// Sessions, hooks with a misspelled member, and an outbox with a backlog.
struct half_store : sessions_alone {
    using memory_store::append_event;
    using memory_store::backlog;
    using memory_store::complete;
    using memory_store::deliveries_of;
    using memory_store::due_hooks;
    using memory_store::lease;
    using memory_store::resend;

    using memory_store::account_of_hook;
    using memory_store::create_hook;
    using memory_store::hooks_of;
    using memory_store::change_hook;
    result<bool> remove_hook(const account_ref& account, hook_id id) { return delete_hook(account, id); }
};
static_assert(session_store<half_store> && !hook_store<half_store> && outbox<half_store>);

}  // namespace

TEST_CASE("the suite names the contracts it found, and fails for an incomplete one", "[testing][store_suite]") {
    std::vector<testing::case_result> report;
    const bool right = testing::run<testing::contracts::session_store>(
        [] { return std::make_unique<half_store>(); }, [&](const testing::case_result& each) { report.push_back(each); });
    CHECK_FALSE(right);
    struct {
        const char* name;
        bool passed;
        const char* message;
    } const rows[] = {
        {"contract: token_store", true, "not found"},
        {"contract: access_token_store", true, "not found"},
        {"contract: credential_cache", true, "not found"},
        {"contract: use_recorder", true, "not found"},
        {"contract: hook_store", false,
         "the store has members of hook_store, but does not satisfy it; static_assert(tollgate::hook_store<your_store>)"},
        {"contract: outbox", false, "its rules are not tested, because the store does not satisfy hook_store"},
        {"contract: shared_outbox", true, "not found"},
        {"contract: backlog_source", false, "its rules are not tested, because the store does not satisfy outbox"},
        {"contract: application_store", true, "not found"},
        {"contract: oauth_store", true, "not found"},
        {"contract: session_store", true, "found"},
        {"durability", true, "not tested: there is no reopen()"},
    };
    REQUIRE(report.size() > std::size(rows));
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        CAPTURE(rows[i].name);
        CHECK(report[i].name == rows[i].name);
        CHECK(report[i].passed == rows[i].passed);
        CHECK_THAT(report[i].message, Catch::StartsWith(rows[i].message));
    }
    CHECK(std::all_of(report.begin() + std::size(rows), report.end(),
                      [](const auto& each) { return each.passed && each.name.starts_with("session: ") && each.message.empty(); }));
}

TEST_CASE("a failure names the verb, the expected result and the actual one", "[testing][store_suite]") {
    const auto message_of = [](auto check) {
        try {
            check();
        } catch (const testing::failed& failure) {
            return failure.message;
        }
        return std::string{};
    };
    using testing::expect_error;
    const result<int> conflict = error{error_kind::conflict, "It is taken.", "UNIQUE failed"};
    CHECK(message_of([&] { expect_error("create_hook", conflict, error_kind::conflict); }).empty());
    CHECK_THAT(message_of([&] { expect_error("create_hook", conflict, error_kind::invalid); }),
               Catch::EndsWith(": create_hook must fail with invalid, but failed with conflict: It is taken. (UNIQUE failed)"));
    CHECK_THAT(message_of([&] { expect_error("create_hook", result<int>{1}, error_kind::invalid); }),
               Catch::EndsWith(": create_hook must fail with invalid, but succeeded"));
    CHECK_THAT(message_of([&] { expect_error("create_hook", result<int>{error{error_kind::invalid, {}, {}}}, error_kind::invalid); }),
               Catch::EndsWith(": create_hook must fail with invalid, but its error has no message for the client"));
    CHECK_THAT(message_of([&] { testing::value_of(conflict); }),
               Catch::EndsWith(": this must succeed, but the store returned conflict: It is taken. (UNIQUE failed)"));
}
