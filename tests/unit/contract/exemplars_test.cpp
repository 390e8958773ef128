#include <tollgate/contract/authenticator.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/key_value_store.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/outbox.hpp>
#include <tollgate/contract/payload_format.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/contract/rate_limiter.hpp>
#include <tollgate/contract/router.hpp>
#include <tollgate/contract/scope_checker.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/target_rule.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/web/page_theme.hpp>

#include <tollgate/http/handler.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/policy/default_policies.hpp>
#include <tollgate/policy/segment_router.hpp>
#include <tollgate/store/memory.hpp>
#include <tollgate/store/memory_tokens.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Every exemplar equals the one in its header's comment (a test of the sources compares them) and fulfils its
// contract. Near misses follow: types that an integrator may plausibly write and that the concept must refuse.

namespace exemplars {

using namespace tollgate;
using std::chrono::days;
using std::chrono::hours;

struct nothing {};

struct any_agent {
    bool accepts(std::string_view) const noexcept { return true; }
};
static_assert(agent_rule<any_agent>);

struct agent_that_may_throw {
    bool accepts(std::string_view) const { return true; }
};
struct agent_that_is_not_const {
    bool accepts(std::string_view) noexcept { return true; }
};
struct agent_that_answers_with_a_number {
    int accepts(std::string_view) const noexcept { return 1; }
};
static_assert(!agent_rule<nothing>);
static_assert(!agent_rule<agent_that_may_throw>);
static_assert(!agent_rule<agent_that_is_not_const>);
static_assert(!agent_rule<agent_that_answers_with_a_number>);

class copied_map {
public:
    result<void> transact(key_value_work work) {
        const std::scoped_lock lock{mutex_};
        transaction changed = committed_;
        auto done = work(changed);
        if (done) committed_ = std::move(changed);
        return done;
    }
    result<void> read(key_value_work work) {
        const std::scoped_lock lock{mutex_};
        return work(committed_);
    }

private:
    struct transaction {
        result<bool> get(std::string_view key, std::string& value) {
            const auto found = rows.find(key);
            if (found != rows.end()) value = found->second;
            return found != rows.end();
        }
        result<void> put(std::string_view key, std::string_view value) {
            rows.insert_or_assign(std::string{key}, std::string{value});
            return {};
        }
        result<void> erase(std::string_view key) {
            if (const auto found = rows.find(key); found != rows.end()) rows.erase(found);
            return {};
        }
        result<void> scan(std::string_view first, std::string_view end, std::size_t rows_max, key_value_visitor visit) {
            for (auto row = rows.lower_bound(first); row != rows.end() && row->first < end && rows_max-- != 0; ++row)
                if (!visit(row->first, row->second)) break;
            return {};
        }
        std::map<std::string, std::string, std::less<>> rows;
    };

    std::mutex mutex_;
    transaction committed_;
};
static_assert(key_value_store<copied_map> && !shared_key_value_store<copied_map>);

struct map_without_read {
    result<void> transact(key_value_work work);
};
struct map_whose_read_returns_nothing : map_without_read {
    void read(key_value_work work);
};
struct map_that_counts_commits : copied_map {
    std::optional<std::uint64_t> commits_seen() const noexcept { return 1; }
};
struct map_that_may_throw_when_asked : copied_map {
    std::optional<std::uint64_t> commits_seen() const { return 1; }
};
static_assert(!key_value_store<nothing>);
static_assert(!key_value_store<map_without_read>);
static_assert(!key_value_store<map_whose_read_returns_nothing>);
static_assert(shared_key_value_store<map_that_counts_commits>);
static_assert(!shared_key_value_store<map_that_may_throw_when_asked>);

struct rows_without_scan {
    result<bool> get(std::string_view key, std::string& value);
    result<void> put(std::string_view key, std::string_view value);
    result<void> erase(std::string_view key);
};
struct rows_of_views : rows_without_scan {
    result<void> scan(std::string_view first, std::string_view end, std::size_t rows_max, key_value_visitor visit);
};
struct rows_whose_get_returns_the_value : rows_of_views {
    result<std::string> get(std::string_view key);
};
static_assert(!key_value_transaction<rows_without_scan>);
static_assert(key_value_transaction<rows_of_views>);
static_assert(!key_value_transaction<rows_whose_get_returns_the_value>);

struct shared_password {
    static constexpr std::string_view scheme = "Shared";
    static constexpr std::string_view challenge = "Shared realm=\"api\"";
    static constexpr bool blocking = false;
    result<std::optional<caller>> identify(std::string_view credentials, const credential_source_ref&, instant) const {
        if (!equal_in_constant_time(credentials, "please")) return std::optional<caller>{};
        return std::optional{caller{user_id{1}, *scope_set::parse("user:balance"), credential_kind::other, {}}};
    }
};
static_assert(authenticator<shared_password>);

struct pass_without_challenge {
    static constexpr std::string_view scheme = "Shared";
    result<std::optional<caller>> identify(std::string_view, auto&, instant) const { return std::optional<caller>{}; }
};
struct pass_that_cannot_say_nobody {
    static constexpr std::string_view scheme = "Shared";
    static constexpr std::string_view challenge = "Shared";
    result<caller> identify(std::string_view, auto&, instant) const { return not_found(); }
};
struct pass_for_another_store {
    static constexpr std::string_view scheme = "Shared";
    static constexpr std::string_view challenge = "Shared";
    result<std::optional<caller>> identify(std::string_view, nothing&, instant) const { return std::optional<caller>{}; }
};
static_assert(!authenticator<pass_without_challenge>);
static_assert(!authenticator<pass_that_cannot_say_nobody>);
static_assert(!authenticator<pass_for_another_store>);

struct stopped_clock {
    instant now() const noexcept { return instant{}; }
};
static_assert(tollgate::time_source<stopped_clock>);

struct clock_of_the_library {
    std::chrono::system_clock::time_point now() const noexcept { return {}; }
};
struct clock_that_ticks_when_read {
    instant at;
    instant now() noexcept { return at += seconds{1}; }
};
static_assert(!tollgate::time_source<nothing>);
static_assert(!tollgate::time_source<clock_of_the_library>);
static_assert(!tollgate::time_source<clock_that_ticks_when_read>);

struct counting_observer {
    std::atomic<std::uint64_t>* responses;
    void on_request(const request_record&) const noexcept { ++*responses; }
    void on_refusal(const refusal_record&) const noexcept { ++*responses; }
    void on_problem(const problem_record&) const noexcept {}
};
static_assert(observer<counting_observer>);

struct observer_of_requests_alone {
    void on_request(const request_record&) const noexcept {}
};
struct observer_that_may_throw {
    void on_request(const request_record&) const {}
    void on_refusal(const refusal_record&) const noexcept {}
    void on_problem(const problem_record&) const noexcept {}
};
static_assert(!observer<observer_of_requests_alone>);
static_assert(!observer<observer_that_may_throw>);

struct delivery_counter : no_observer {
    std::atomic<std::uint64_t>* delivered;
    void on_attempt(const delivery_record& record) const noexcept {
        if (record.result.outcome == delivery_outcome::delivered) ++*delivered;
    }
};
static_assert(delivery_observer<delivery_counter>);

struct observer_of_attempts_that_may_throw : no_observer {
    void on_attempt(const delivery_record&) const {}
};
static_assert(!delivery_observer<no_observer>);
static_assert(!delivery_observer<observer_of_attempts_that_may_throw>);

struct activity_printer : no_observer {
    void on_activity(const activity& done) const noexcept {
        const std::string_view kind = to_text(done.kind);
        std::printf("%.*s\n", static_cast<int>(kind.size()), kind.data());
    }
};
static_assert(activity_observer<activity_printer>);

struct observer_of_activities_that_may_throw : no_observer {
    void on_activity(const activity&) const {}
};
static_assert(!activity_observer<no_observer>);
static_assert(!activity_observer<observer_of_activities_that_may_throw>);

struct only_for_tests {
    bool fill(std::span<std::byte> bytes) const noexcept {
        for (std::byte& each : bytes) each = std::byte{7};
        return true;
    }
};
static_assert(random_source<only_for_tests>);

struct source_that_cannot_fail {
    void fill(std::span<std::byte>) const noexcept {}
};
struct source_of_numbers {
    std::uint64_t operator()() const noexcept { return 7; }
};
static_assert(!random_source<source_that_cannot_fail>);
static_assert(!random_source<source_of_numbers>);

struct night_limiter {
    window_limiter counted;
    limit_decision take(const limit_key& key, quota allowed, instant now) noexcept {
        return counted.take(key, at_night(now) ? quota{allowed.requests * 10, allowed.window} : allowed, now);
    }
    limit_decision peek(const limit_key& key, quota allowed, instant now) noexcept {
        return counted.peek(key, at_night(now) ? quota{allowed.requests * 10, allowed.window} : allowed, now);
    }
    static bool at_night(instant now) noexcept { return (now.time_since_epoch() % days{1}) < hours{6}; }
};
static_assert(rate_limiter<night_limiter>);

struct limiter_that_only_takes {
    limit_decision take(const limit_key&, quota, instant) noexcept { return {}; }
};
struct limiter_that_says_yes_or_no {
    bool take(const limit_key&, quota, instant) noexcept { return true; }
    bool peek(const limit_key&, quota, instant) noexcept { return true; }
};
struct limiter_that_may_throw {
    limit_decision take(const limit_key&, quota, instant) { return {}; }
    limit_decision peek(const limit_key&, quota, instant) { return {}; }
};
struct limiter_that_may_throw_when_it_takes : unlimited {
    limit_decision take(const limit_key& key, const quota& allowed, instant now) const { return unlimited::take(key, allowed, now); }
};
static_assert(!rate_limiter<limiter_that_only_takes>);
static_assert(!rate_limiter<limiter_that_says_yes_or_no>);
static_assert(!rate_limiter<limiter_that_may_throw>);
static_assert(!rate_limiter<limiter_that_may_throw_when_it_takes>);

static_assert(router<segment_router>);

struct router_that_is_never_built {
    route_match find(http::method, std::string_view) const noexcept { return {}; }
};
struct router_that_learns_while_it_finds {
    void build(std::span<const route_pattern>) {}
    route_match find(http::method, std::string_view) noexcept { return {}; }
};
static_assert(!router<router_that_is_never_built>);
static_assert(!router<router_that_learns_while_it_finds>);

struct exact_scopes {
    bool covers(const scope_set& granted, std::string_view required) const noexcept {
        return granted.contains(required);
    }
};
static_assert(scope_checker<exact_scopes>);

struct scopes_as_text {
    bool covers(const std::string& granted, std::string_view required) const noexcept {
        return granted.find(required) != std::string::npos;
    }
};
static_assert(!scope_checker<scopes_as_text>);
static_assert(!scope_checker<nothing>);

struct bare_theme {
    page_texts wording;
    std::span<const page_texts> texts() const noexcept { return {&wording, 1}; }
    std::string scope_text(std::string_view scope, const service_catalog&, const page_texts&) const {
        return std::string{scope};
    }
    std::string style_sheet() const { return "body { max-width: 40rem; margin: 2rem auto; }"; }
    void begin_page(html_writer& html, const page_frame& frame) const {
        html.add("<!doctype html><html lang=\"en\"><title>{}</title>", frame.title);
        html.add("<link rel=\"stylesheet\" href=\"{}\"><main>", frame.style_url);
    }
    void end_page(html_writer& html, const page_frame&) const { html.add("</main></html>"); }
};
static_assert(page_theme<bare_theme>);

struct site_sessions {
    result<std::optional<session>> session_of(const http::request& request, instant) {
        const auto cookie = request.fields.find(http::field_id::cookie);
        if (cookie != "site=ann-is-here") return std::optional<session>{};
        return std::optional{session{user_id{1}, "ann", std::string{cookie}}};
    }
    std::string sign_in_url(std::string_view return_to) const {
        return "/login?next=" + http::percent_encode(return_to);
    }
};
static_assert(session_source<site_sessions>);

struct sessions_without_a_way_in {
    result<std::optional<session>> session_of(const http::request&, instant) { return std::optional<session>{}; }
};
static_assert(!session_source<sessions_without_a_way_in>);

struct sessions_that_begin_here : site_sessions {
    result<sign_in_response> sign_in(const http::request&, const sign_in_attempt&, instant, http::response&) {
        return sign_in_response{};
    }
    result<void> sign_out(const http::request&, instant, http::response&) { return {}; }
};
struct sessions_that_never_end : site_sessions {
    result<sign_in_response> sign_in(const http::request&, const sign_in_attempt&, instant, http::response&) {
        return sign_in_response{};
    }
};
static_assert(sign_in_source<sessions_that_begin_here>);
static_assert(!sign_in_source<site_sessions>);
static_assert(!sign_in_source<sessions_that_never_end>);

struct partners_only {
    result<void> check(const http::url& target) const {
        if (target.host == "hooks.partner.example") return {};
        return invalid("target_url must be at hooks.partner.example.");
    }
    bool allows(const ip_address&) const noexcept { return true; }
};
static_assert(target_rule<partners_only>);

struct rule_for_texts_alone {
    result<void> check(const http::url&) const { return {}; }
};
struct rule_without_words {
    bool check(const http::url&) const { return true; }
    bool allows(const ip_address&) const noexcept { return true; }
};
struct rule_that_changes : partners_only {
    result<void> check(const http::url&) { return {}; }
};
static_assert(!target_rule<rule_for_texts_alone>);
static_assert(!target_rule<rule_without_words>);
static_assert(!target_rule<rule_that_changes>);

struct shop_directory {
    static constexpr bool blocking = true;  // asks a database
    result<balance> balance_of(user_id user);
    result<std::vector<account>> accounts_of(user_id user, std::string_view service);
};
static_assert(user_directory<shop_directory> && !quota_source<shop_directory>);

struct directory_without_accounts {
    result<balance> balance_of(user_id);
    result<std::optional<quota>> quota_of(user_id);
};
struct directory_that_throws_instead {
    balance balance_of(user_id);
    std::vector<account> accounts_of(user_id, std::string_view);
    std::optional<quota> quota_of(user_id);
};
struct directory_of_plain_numbers {
    result<balance> balance_of(account_id);
    result<std::vector<account>> accounts_of(account_id, std::string_view);
    result<std::optional<quota>> quota_of(account_id);
};
static_assert(!user_directory<directory_without_accounts>);
static_assert(!user_directory<directory_that_throws_instead>);
static_assert(!user_directory<directory_of_plain_numbers>);

static_assert(token_store<memory_store> && credential_source<memory_store> && hook_store<memory_store>);
static_assert(oauth_store<memory_store> && session_store<memory_store> && use_recorder<memory_store>);

/// Enough to let callers in, and no more.
struct credentials_alone {
    result<std::optional<token_credential>> find_credential(const credential_key&);
};
struct access_tokens_that_are_never_revoked : credentials_alone {
    result<bool> create_access_token(const new_access_token&);
};
struct theme_without_an_end {
    std::span<const page_texts> texts() const noexcept;
    std::string scope_text(std::string_view, const service_catalog&, const page_texts&) const;
    std::string style_sheet() const;
    void begin_page(html_writer&, const page_frame&) const;
};
struct theme_of_words_for_one_call {
    std::vector<page_texts> texts() const noexcept;
    std::string scope_text(std::string_view, const service_catalog&, const page_texts&) const;
    std::string style_sheet() const;
    void begin_page(html_writer&, const page_frame&) const;
    void end_page(html_writer&, const page_frame&) const;
};
static_assert(!page_theme<theme_without_an_end>);
static_assert(!page_theme<theme_of_words_for_one_call>);
struct hooks_without_a_bound {
    result<hook_id> create_hook(const new_hook&);
    result<std::vector<hook>> hooks_of(const account_ref&);
    result<std::optional<account_ref>> account_of_hook(const service_name&, hook_id);
    result<bool> change_hook(const account_ref&, hook_id, const hook_change&);
    result<bool> delete_hook(const account_ref&, hook_id);
};
struct hooks_that_are_deleted_by_anybody {
    result<hook_id> create_hook(const new_hook&, std::size_t);
    result<std::vector<hook>> hooks_of(const account_ref&);
    result<std::optional<account_ref>> account_of_hook(const service_name&, hook_id);
    result<bool> change_hook(const account_ref&, hook_id, const hook_change&);
    result<bool> delete_hook(hook_id);
};
/// A verb that a request may fail by.
struct uses_that_are_counted {
    result<bool> record_use(const credential_key&, instant, std::string_view);
};
struct tokens_without_a_bound : memory_store {
    result<token_id> create_personal_token(const new_personal_token&);
};
struct applications_without_a_bound : memory_store {
    result<application_id> create_application(const new_application&);
};
/// Read first, said to be redeemed then: of two that come at once both win.
struct codes_that_are_redeemed_in_two_steps : memory_store {
    result<std::optional<new_authorization_code>> redeem_code(const digest&);
};
struct sessions_that_are_swept_whole : memory_store {
    result<std::size_t> sweep(const session_ends&);
};
static_assert(credential_source<credentials_alone>);
static_assert(!use_recorder<credentials_alone> && !use_recorder<uses_that_are_counted>);
static_assert(!token_store<tokens_without_a_bound> && oauth_store<tokens_without_a_bound>);
static_assert(!application_store<applications_without_a_bound> && grant_store<applications_without_a_bound>);
static_assert(!grant_store<codes_that_are_redeemed_in_two_steps>);
static_assert(!session_store<sessions_that_are_swept_whole>);
static_assert(access_token_store<memory_store> && !access_token_store<memory_token_store> && token_store<memory_token_store>);
static_assert(!access_token_store<credentials_alone> && !access_token_store<access_tokens_that_are_never_revoked>);
static_assert(!token_store<credentials_alone>);
static_assert(!token_store<nothing>);
static_assert(!hook_store<hooks_without_a_bound>);
static_assert(!hook_store<hooks_that_are_deleted_by_anybody>);

struct passwords_that_blame_nobody {
    result<bool> check_password(std::string_view, std::string_view);
};
static_assert(!password_source<passwords_that_blame_nobody>);

struct shop_passwords {
    std::mutex mutex;
    std::string password = "please";
    std::uint64_t changes = 0;

    result<std::optional<user_id>> check_password(std::string_view login, std::string_view typed) {
        const std::scoped_lock held{mutex};
        const bool is_right = equal_in_constant_time(typed, password);  // for an unknown login, too
        return login == "ann" && is_right ? std::optional{user_id{1}} : std::nullopt;
    }
    result<std::optional<checked_password>> check_password(const sign_in_attempt& attempt) {
        const std::scoped_lock held{mutex};
        const bool is_right = equal_in_constant_time(attempt.password, password);
        if (attempt.login != "ann" || !is_right) return std::optional<checked_password>{};
        return std::optional{checked_password{user_id{1}, std::to_string(changes)}};
    }
    result<std::string> password_version(std::string_view login) {
        const std::scoped_lock held{mutex};
        return login == "ann" ? std::to_string(changes) : std::string{};
    }
    result<void> set_password(const checked_password& current, std::string_view new_password) {
        const std::scoped_lock held{mutex};
        if (current.version != std::to_string(changes)) return error{error_kind::conflict, "The password was changed.", {}};
        password = new_password;
        ++changes;
        return {};
    }
};
static_assert(versioned_password_source<shop_passwords> && password_store<shop_passwords>);

struct passwords_whose_version_is_a_number : shop_passwords {
    result<int> password_version(std::string_view);
};
struct passwords_that_are_set_unseen : shop_passwords {
    result<void> set_password(user_id, std::string_view);
};
static_assert(!versioned_password_source<passwords_whose_version_is_a_number>);
static_assert(!password_store<passwords_that_are_set_unseen>);

static_assert(!session_store<nothing>);
static_assert(!oauth_store<nothing> && !application_store<nothing> && !grant_store<nothing>);

struct events_alone {
    result<std::size_t> append_event(const event&, const message_seed&, instant);
};
struct events_that_nobody_counts {
    result<void> append_event(const event&, const message_seed&, instant);
};
static_assert(event_sink<events_alone> && !outbox<events_alone>);
static_assert(!event_sink<nothing> && !event_sink<events_that_nobody_counts> && !outbox<nothing>);

struct data_alone {
    result<void> write(const due_delivery& sent, instant, http::field_block& fields, std::string& body) const {
        body = sent.event->data;
        fields.add("Content-Type", "application/json");
        return {};
    }
};
static_assert(payload_format<data_alone>);

struct format_with_fields_of_text {
    result<void> write(const due_delivery&, instant, std::string& fields, std::string& body) const;
};
struct format_that_changes {
    result<void> write(const due_delivery&, instant, http::field_block&, std::string&);
};
static_assert(!payload_format<nothing>);
static_assert(!payload_format<format_with_fields_of_text>);
static_assert(!payload_format<format_that_changes>);

struct hello {
    static constexpr bool blocking = false;
    void handle(const http::request&, http::response& response) noexcept { response.body() = "hello"; }
    void handle(const http::refusal& refusal, http::response& response) noexcept { response.set_status(refusal.status); }
};
static_assert(http::handler<hello>);

struct hello_without_a_word_for_refusals {
    void handle(const http::request&, http::response&) noexcept {}
};
struct hello_that_may_throw {
    void handle(const http::request&, http::response&) {}
    void handle(const http::refusal&, http::response&) noexcept {}
};
static_assert(!http::handler<hello_without_a_word_for_refusals>);
static_assert(!http::handler<hello_that_may_throw>);

}  // namespace exemplars

using namespace tollgate;

TEST_CASE("the exemplar night_limiter raises the quota at night") {
    exemplars::night_limiter limiter{window_limiter{key_capacity{64, 64}, tollgate::detail::siphash_key{}}};
    const auto key = limit_key::of(user_id{1});
    const quota allowed{1, seconds{3600}};
    CHECK(limiter.take(key, allowed, from_unix_seconds(3 * 3600)).limit == 10);
    CHECK(limiter.peek(key, allowed, from_unix_seconds(3 * 3600)).remaining == 9);
    CHECK(limiter.take(limit_key::of(user_id{2}), allowed, from_unix_seconds(12 * 3600)).limit == 1);
}

TEST_CASE("the exemplar shared_password accepts its password") {
    const credential_source_ref store;
    CHECK(*exemplars::shared_password{}.identify("please", store, instant{}));
    CHECK_FALSE(*exemplars::shared_password{}.identify("Please", store, instant{}));
}

TEST_CASE("the exemplar exact_scopes compares exactly") {
    const auto granted = *scope_set::parse("sitesmaker");
    CHECK(exemplars::exact_scopes{}.covers(granted, "sitesmaker"));
    CHECK_FALSE(exemplars::exact_scopes{}.covers(granted, "sitesmaker:read"));
}

TEST_CASE("the exemplar partners_only accepts one host") {
    CHECK(exemplars::partners_only{}.check(*http::url::parse("https://hooks.partner.example/in")));
    for (const char* const other : {"https://example.com/x", "https://hooks.partner.example.evil.example/in"})
        CHECK_FALSE(exemplars::partners_only{}.check(*http::url::parse(other)));
}

TEST_CASE("the exemplar shop_passwords refuses to change a password that another request has changed") {
    exemplars::shop_passwords passwords;
    CHECK(*passwords.check_password("ann", "please") == user_id{1});
    CHECK_FALSE(*passwords.check_password("ann", "Please"));
    CHECK_FALSE(*passwords.check_password({.login = "ann", .password = "Please", .client = {}}));
    const auto checked = **passwords.check_password({.login = "ann", .password = "please", .client = {}});
    CHECK(checked.version == *passwords.password_version("ann"));
    CHECK(passwords.set_password(checked, "another one"));
    CHECK(checked.version != *passwords.password_version("ann"));
    CHECK(passwords.set_password(checked, "a third one").error().kind == error_kind::conflict);
    CHECK(*passwords.check_password("ann", "another one") == user_id{1});
}

TEST_CASE("the exemplar site_sessions recognizes Ann") {
    http::request request;
    CHECK_FALSE(*exemplars::site_sessions{}.session_of(request, instant{}));
    request.fields.add("Cookie", "site=ann-is-here");
    CHECK((*exemplars::site_sessions{}.session_of(request, instant{}))->user == user_id{1});
    CHECK(exemplars::site_sessions{}.sign_in_url("/en/?a=b").starts_with("/login?next="));
}

TEST_CASE("the exemplar theme shows the page title") {
    std::string page;
    html_writer html{page};
    exemplars::bare_theme{}.begin_page(html, {.title = "Tokens & keys", .style_url = "/style.css"});
    CHECK(page.find("<title>Tokens &amp; keys</title>") != std::string::npos);
}
