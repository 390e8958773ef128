#include <tollgate/testing/store_suite.hpp>

#include <tollgate/store/memory.hpp>

#include <support/run_store_suite.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;

namespace {

/// Defects of an adapter for applications, grants and sessions.
enum class defect {
    none,
    finds_clients_in_any_case,
    keeps_one_redirect,
    accepts_one_application_too_many,
    any_user_adds_a_secret,
    any_user_deletes,
    keeps_tokens_of_deleted_applications,
    keeps_tokens_of_suspended_applications,
    refreshes_for_suspended_applications,
    redeems_codes_of_suspended_applications,
    creates_owner_tokens_for_suspended_applications,
    forgets_why_it_suspended,
    creates_codes_for_suspended_applications,
    approves_devices_for_suspended_applications,
    keeps_the_latest_time,
    sweeps_what_ends_far_ahead,
    sweeps_sessions_from_far_ahead,
    lists_suspended_applications_as_usable,
    creates_codes_for_unknown_applications,
    reports_a_waiting_code_as_created,
    replaces_granted_scopes,
    returns_all_granted_scopes,
    grants_without_consent,
    redeems_twice,
    reuse_revokes_nothing,
    reuse_revokes_the_whole_grant,
    redeems_at_expiry,
    ignores_the_client,
    ignores_the_redirect_uri,
    requires_a_redirect_uri,
    accepts_a_verifier_without_challenge,
    revokes_on_a_mismatch,
    rotates_refresh_tokens,
    does_not_rotate,
    keeps_owner_tokens,
    keeps_one_secret,
    ignores_the_replaced_secret,
    does_not_find_refresh_tokens,
    does_not_find_tokens_by_family,
    creates_owner_tokens_for_any_user,
    finds_devices_by_device_code_only,
    answers_device_codes_twice,
    answers_expired_requests,
    returns_the_last_user_who_answered,
    approves_without_a_code,
    grants_what_was_denied,
    has_no_grace_period,
    has_a_longer_grace_period,
    does_not_detect_reuse,
    compares_scopes_by_name,
    does_not_name_the_user_of_a_reused_code,
    names_the_user_of_each_reuse_of_a_code,
    does_not_name_the_user_of_a_reused_refresh_token,
    widens_scopes,
    narrows_scopes_permanently,
    refreshes_after_the_end,
    does_not_prolong,
    revokes_for_other_clients,
    keeps_access_tokens_of_revoked_refresh_tokens,
    keeps_codes_of_revoked_grants,
    lists_grants_by_application,
    sweeps_too_early,
    sweeps_too_much,
    sweeps_spent_codes_early,
    does_not_record_use_of_grants,
    does_not_record_use_of_sessions,
    records_no_earlier_use_of_sessions,
    recreates_ended_sessions,
    ends_only_one_session,
    ends_the_excepted_session,
    lists_sessions_by_creation,
    sweeps_used_sessions,
    sweeps_with_swapped_times,
    sorts_redirect_urls,
    ignores_the_end_of_owner_tokens,
    keeps_codes_that_expire_soon,
    has_no_grace_period_for_codes,
    forgets_expired_device_codes,
    ends_approved_device_codes_with_their_requests,
    recreates_codes_for_the_first_user,
    recreates_codes_for_the_first_application,
    recreates_codes_with_the_first_scopes,
    recreates_codes_with_the_first_redirect,
    recreates_codes_with_the_first_challenge,
    creates_unknown_codes_without_consent,
    narrows_the_successor,
    finds_refreshed_tokens_with_the_time_of_the_code,
    keeps_the_first_end_of_refresh_tokens,
    checks_before_answering,
    loses_device_codes,
    loses_answers_to_devices,
    takes_a_repeated_redemption_for_reuse,
    takes_a_repeated_refresh_for_reuse,
    forgets_the_older_secret_when_repeated,
};

/// The memory store with one defect.
class adapter {
public:
    explicit adapter(defect defect, std::shared_ptr<memory_store> inner = std::make_shared<memory_store>())
        : defect_{defect}, stored_{std::move(inner)} {}

    result<std::optional<token_credential>> find_credential(const credential_key& key) { return inner_.find_credential(key); }
    result<token_id> create_personal_token(const new_personal_token& token, std::size_t max) {
        return inner_.create_personal_token(token, max);
    }
    result<std::vector<personal_token>> personal_tokens_of(user_id user) { return inner_.personal_tokens_of(user); }
    result<bool> renew_personal_token(user_id user, token_id id, const personal_token_renewal& renewed) {
        return inner_.renew_personal_token(user, id, renewed);
    }
    result<bool> create_access_token(new_access_token token) {
        if (!token.for_owner) return inner_.create_access_token(token);
        const resumed application{*this, token.application, defect::creates_owner_tokens_for_suspended_applications};
        if (is(defect::creates_owner_tokens_for_any_user)) token.user = user_id{3};
        if (is(defect::ignores_the_end_of_owner_tokens)) token.expires_at = token.created_at + seconds{3600};
        return inner_.create_access_token(token);
    }
    result<void> record_use(const credential_key& key, instant now, std::string_view from) {
        const auto found = *inner_.find_credential(key);
        auto done = inner_.record_use(key, now, from);
        if (found && found->application && is(defect::does_not_record_use_of_grants)) grants_seen_ = true;
        return done;
    }

    result<application_id> create_application(new_application application, std::size_t max) {
        if (is(defect::keeps_one_redirect) && application.redirect_urls.size() > 1) application.redirect_urls.resize(1);
        if (is(defect::accepts_one_application_too_many)) ++max;
        return inner_.create_application(application, max);
    }
    result<std::optional<application>> find_application(std::string_view client_id) {
        if (is(defect::finds_clients_in_any_case) && client_id == "tgi_abc") client_id = "tgi_Abc";
        return inner_.find_application(client_id);
    }
    result<std::vector<application>> applications_of(user_id owner) { return inner_.applications_of(owner); }
    result<bool> change_application(std::optional<user_id> changed_by, application_id id, application_change change) {
        if (auto* const fields = std::get_if<application_fields>(&change)) {
            if (is(defect::sorts_redirect_urls)) std::sort(fields->redirect_urls.begin(), fields->redirect_urls.end());
            if (is(defect::keeps_owner_tokens)) fields->acts_for_owner = true;
        }
        if (auto* const suspension = std::get_if<suspension_change>(&change)) {
            if (suspension->suspended && is(defect::forgets_why_it_suspended)) suspension->suspended = tollgate::suspension::by_operator;
            return keeping_tokens_of(id, defect::keeps_tokens_of_suspended_applications,
                                     [&] { return inner_.change_application(changed_by, id, change); });
        }
        auto* const added = std::get_if<client_secret_addition>(&change);
        if (added != nullptr && is(defect::any_user_adds_a_secret)) changed_by = user_id{3};
        if (added != nullptr && is(defect::ignores_the_replaced_secret)) added->replaced.reset();
        if (added != nullptr && is(defect::forgets_the_older_secret_when_repeated) &&
            (*inner_.find_application("tgi_a"))->secret_digest == added->secret_digest)
            static_cast<void>(inner_.change_application(changed_by, id, older_secret_removal{}));
        auto done = inner_.change_application(changed_by, id, change);
        if (added != nullptr && is(defect::keeps_one_secret))
            static_cast<void>(inner_.change_application(changed_by, id, older_secret_removal{}));
        return done;
    }
    result<std::optional<oauth_token>> find_oauth_token(const digest& token) {
        auto found = inner_.find_oauth_token(token);
        if (found && *found && is(defect::does_not_find_refresh_tokens) && (*found)->is_refresh_token) found->reset();
        if (found && *found && is(defect::does_not_find_tokens_by_family) && token == testing::sample_digest(20)) found->reset();
        const std::scoped_lock lock{mutex_};
        if (found && *found && is(defect::finds_refreshed_tokens_with_the_time_of_the_code) && refreshed_.contains(token.bytes()))
            (*found)->created_at = testing::noon + seconds{1};
        if (found && *found && is(defect::keeps_the_first_end_of_refresh_tokens) && first_ends_.contains(token.bytes()))
            (*found)->expires_at = first_ends_.at(token.bytes());
        return found;
    }
    result<void> create_device_code(const new_device_code& token) {
        note_time(token.created_at);
        const std::scoped_lock lock{mutex_};
        created_here_.insert(token.device_digest.bytes());
        return inner_.create_device_code(token);
    }
    result<std::optional<device_code>> find_device_code(const digest& code) {
        auto found = inner_.find_device_code(code);
        if (found && *found && is(defect::finds_devices_by_device_code_only) && (*found)->device_digest != code)
            found->reset();
        const std::scoped_lock lock{mutex_};
        if (found && *found && !created_here_.contains((*found)->device_digest.bytes())) {
            if (is(defect::loses_device_codes)) found->reset();
            else if (is(defect::loses_answers_to_devices)) (*found)->state = device_code_state::pending;
        }
        return found;
    }
    result<std::optional<device_answer>> answer_device_code(device_decision decision) {
        if (is(defect::answers_expired_requests)) decision.now = testing::noon;
        decision.now = note_time(decision.now);
        const auto found = *inner_.find_device_code(decision.user_digest);
        const bool was_pending = found && found->state == device_code_state::pending;
        if (is(defect::checks_before_answering))
            for (int i = 0; i < 10; ++i) std::this_thread::yield();
        std::optional<resumed> application;
        if (found) application.emplace(*this, found->application, defect::approves_devices_for_suspended_applications);
        auto done = inner_.answer_device_code(decision);
        if (!done || !*done) return done;
        if (is(defect::checks_before_answering) && was_pending) (*done)->is_new = true;
        if (is(defect::answers_device_codes_twice)) (*done)->is_new = true;
        if (is(defect::returns_the_last_user_who_answered)) (*done)->user = decision.user;
        if (is(defect::approves_without_a_code)) static_cast<void>(inner_.revoke(grant_revocation{decision.user, found->application}));
        if (is(defect::grants_what_was_denied)) static_cast<void>(inner_.create_code(code_of(*found, decision)));
        return done;
    }
    result<bool> delete_application(user_id owner, application_id id) {
        if (is(defect::any_user_deletes)) owner = user_id{3};
        return keeping_tokens_of(id, defect::keeps_tokens_of_deleted_applications,
                                 [&] { return inner_.delete_application(owner, id); });
    }
    result<code_result> create_code(new_authorization_code code) {
        const resumed application{*this, code.application, defect::creates_codes_for_suspended_applications};
        note_time(code.created_at);
        if (is(defect::grants_without_consent)) code.only_if_granted = false;
        if (const std::scoped_lock lock{mutex_}; codes_.contains(code.code_digest.bytes())) {
            const new_authorization_code& first = codes_.at(code.code_digest.bytes());
            const bool is_over = first.expires_at <= code.created_at;
            if (!is_over && is(defect::keeps_codes_that_expire_soon)) return code_result::waiting;
            if (is_over && is(defect::recreates_codes_for_the_first_user)) code.user = first.user;
            if (is_over && is(defect::recreates_codes_for_the_first_application)) code.application = first.application;
            if (is_over && is(defect::recreates_codes_with_the_first_scopes)) code.scopes = first.scopes;
            if (is_over && is(defect::recreates_codes_with_the_first_redirect)) code.redirect = first.redirect;
            if (is_over && is(defect::recreates_codes_with_the_first_challenge)) code.code_challenge = first.code_challenge;
        }
        if (is(defect::replaces_granted_scopes)) {
            const auto before = *testing::detail::granted_scopes(inner_, code.user, code.application);
            if (before && before->text() != code.scopes.text() && before->text() == "b a")
                static_cast<void>(inner_.revoke(grant_revocation{code.user, code.application}));
        }
        auto done = inner_.create_code(code);
        if (done && *done == code_result::created) {
            const std::scoped_lock lock{mutex_};
            codes_.insert_or_assign(code.code_digest.bytes(), code);
        }
        if (!done && is(defect::creates_codes_for_unknown_applications)) return code_result::created;
        if (!done && code.only_if_granted && is(defect::creates_unknown_codes_without_consent)) return code_result::not_granted;
        if (done && is(defect::reports_a_waiting_code_as_created) && *done == code_result::waiting) return code_result::created;
        return done;
    }
    result<redeemed_code> redeem_code(code_redemption redemption) {
        using enum redemption_result;
        redemption.now = note_time(redemption.now);
        if (is(defect::has_no_grace_period_for_codes)) redemption.grace = seconds{0};
        if (is(defect::takes_a_repeated_redemption_for_reuse))
            if (const std::scoped_lock lock{mutex_}; first_ends_.contains(redemption.tokens.refresh_digest.bytes()))
                redemption.tokens = testing::sample_tokens(999);
        const resumed application{*this, redemption.application, defect::redeems_codes_of_suspended_applications};
        if (is(defect::ends_approved_device_codes_with_their_requests))
            if (const auto request = *inner_.find_device_code(redemption.code_digest); request && request->expires_at <= redemption.now)
                return redeemed_code{expired, {}, {}};
        if (is(defect::redeems_at_expiry)) redemption.now -= milliseconds{1};
        if (is(defect::ignores_the_redirect_uri)) redemption.redirect_uri.reset();
        if (is(defect::requires_a_redirect_uri) && !redemption.redirect_uri) return redeemed_code{redirect_mismatch, {}, {}};
        if (is(defect::ignores_the_client)) redemption.application = application_id{1};
        const auto before = *testing::detail::granted_scopes(inner_, user_id{7}, redemption.application);
        const auto revoked = is(defect::reuse_revokes_nothing)
                              ? *inner_.find_credential(access_token_key{testing::sample_access_digest(1)})
                              : std::nullopt;
        auto outcome = inner_.redeem_code(redemption);
        if (!outcome) return outcome;
        if (outcome->result == redeemed) {
            const std::scoped_lock lock{mutex_};
            first_ends_.emplace(redemption.tokens.refresh_digest.bytes(), redemption.tokens.refresh_expires_at);
        }
        if (is(defect::returns_all_granted_scopes) && outcome->result == redeemed)
            outcome->scopes = before.value_or(outcome->scopes);
        if (is(defect::does_not_name_the_user_of_a_reused_code) && outcome->result == reused) outcome->user.reset();
        if (is(defect::names_the_user_of_each_reuse_of_a_code) && outcome->result == reused) outcome->user = user_id{7};
        if (is(defect::redeems_twice) && outcome->result == reused) return redeemed_code{redeemed, user_id{7}, {}};
        if (is(defect::reuse_revokes_nothing) && outcome->result == reused && revoked)
            static_cast<void>(inner_.create_access_token({revoked->user, *revoked->application, revoked->secret_digest,
                                                          revoked->scopes, testing::noon, *revoked->expires_at}));
        if (is(defect::reuse_revokes_the_whole_grant) && outcome->result == reused)
            static_cast<void>(inner_.revoke(grant_revocation{user_id{7}, redemption.application}));
        if (is(defect::accepts_a_verifier_without_challenge) && outcome->result == verifier_mismatch && redemption.code_challenge) {
            redemption.code_challenge.reset();
            return inner_.redeem_code(redemption);
        }
        if (is(defect::revokes_on_a_mismatch) && (outcome->result == redirect_mismatch || outcome->result == verifier_mismatch))
            static_cast<void>(inner_.revoke(grant_revocation{user_id{7}, redemption.application}));
        return outcome;
    }
    result<refreshed_token> refresh_access_token(token_refresh refresh) {
        using enum refresh_result;
        refresh.now = note_time(refresh.now);
        const resumed application{*this, refresh.application, defect::refreshes_for_suspended_applications};
        if (is(defect::refreshes_after_the_end)) refresh.now -= milliseconds{1};
        if (is(defect::does_not_prolong)) refresh.refresh_lifetime = seconds{1};
        if (is(defect::widens_scopes) && refresh.narrowed && refresh.narrowed->contains("itemplatform"))
            refresh.narrowed.reset(), refresh.covering = {};
        if (is(defect::compares_scopes_by_name) && refresh.narrowed) refresh.covering = *refresh.narrowed;
        if (is(defect::does_not_rotate)) refresh.rotation.reset();
        if (is(defect::takes_a_repeated_refresh_for_reuse))
            if (const std::scoped_lock lock{mutex_}; refreshed_.contains(refresh.access_digest.bytes()))
                refresh.access_digest = testing::sample_access_digest(999);
        if (is(defect::has_no_grace_period) && refresh.rotation) refresh.rotation->grace = seconds{0};
        if (is(defect::has_a_longer_grace_period) && refresh.rotation) refresh.rotation->grace += seconds{1};
        if (is(defect::narrows_the_successor)) {
            const std::scoped_lock lock{mutex_};
            if (const auto narrowed = narrowed_successors_.find(refresh.refresh_digest.bytes());
                narrowed != narrowed_successors_.end() && !refresh.narrowed)
                refresh.narrowed = refresh.covering = narrowed->second;
            else if (refresh.narrowed && refresh.rotation)
                narrowed_successors_.emplace(refresh.rotation->successor_digest.bytes(), *refresh.narrowed);
        }
        auto outcome = inner_.refresh_access_token(refresh);
        if (outcome && outcome->result == refreshed) {
            const std::scoped_lock lock{mutex_};
            refreshed_.insert(refresh.access_digest.bytes());
        }
        if (outcome && is(defect::does_not_name_the_user_of_a_reused_refresh_token)) outcome->revoked_user.reset();
        if (outcome && is(defect::does_not_detect_reuse) && outcome->result == reused) return refreshed_token{};
        if (!outcome || outcome->result != refreshed) return outcome;
        if (is(defect::rotates_refresh_tokens))
            static_cast<void>(inner_.revoke(oauth_token_revocation{refresh.refresh_digest, refresh.application}));
        if (is(defect::narrows_scopes_permanently)) {
            if (narrowed_ && !refresh.narrowed) outcome->scopes = *narrowed_;
            if (refresh.narrowed) narrowed_ = *refresh.narrowed;
        }
        return outcome;
    }
    result<bool> revoke(const revocation& revoked) {
        if (const auto* const given = std::get_if<grant_revocation>(&revoked)) {
            auto done = inner_.revoke(revoked);
            if (done && *done && is(defect::keeps_codes_of_revoked_grants))
                static_cast<void>(inner_.create_code(testing::sample_code(4, given->application, given->user)));
            return done;
        }
        const auto* const token = std::get_if<oauth_token_revocation>(&revoked);
        if (token == nullptr) return inner_.revoke(revoked);
        if (is(defect::revokes_for_other_clients)) return inner_.revoke(oauth_token_revocation{token->token_digest});
        const auto kept =
            is(defect::keeps_access_tokens_of_revoked_refresh_tokens) && token->token_digest == testing::sample_refresh_digest(1)
                ? *inner_.find_credential(access_token_key{testing::sample_access_digest(1)})
                : std::nullopt;
        auto done = inner_.revoke(revoked);
        if (kept)
            static_cast<void>(inner_.create_access_token(
                {kept->user, *kept->application, kept->secret_digest, kept->scopes, testing::noon, *kept->expires_at}));
        return done;
    }
    result<std::vector<grant>> grants_of(user_id user) {
        auto found = inner_.grants_of(user);
        if (found && is(defect::lists_grants_by_application))
            std::sort(found->begin(), found->end(),
                      [](const grant& a, const grant& b) { return a.application < b.application; });
        if (found && is(defect::lists_suspended_applications_as_usable))
            for (grant& each : *found) each.application_is_suspended = false;
        if (found && grants_seen_)
            for (grant& each : *found) each.last_used_at.reset();
        return found;
    }
    result<std::size_t> sweep(sweep_request request) {
        if (request.sessions) {
            auto& [created_before, seen_before] = *request.sessions;
            if (is(defect::sweeps_sessions_from_far_ahead) && created_before < testing::noon - std::chrono::days{20})
                created_before = testing::noon + std::chrono::days{1};
            if (is(defect::sweeps_used_sessions)) seen_before += milliseconds{1};
            if (is(defect::sweeps_with_swapped_times)) std::swap(created_before, seen_before);
        }
        if (!request.expired_at) return inner_.sweep(request);
        instant& now = *request.expired_at;
        if (is(defect::sweeps_what_ends_far_ahead) && now < testing::noon) now += 2 * std::chrono::days{30};
        if (is(defect::sweeps_too_early)) now += milliseconds{1};
        if (is(defect::sweeps_too_much)) request.rows_max *= 10;
        if (is(defect::forgets_expired_device_codes)) now += seconds{limits::expired_device_code_seconds};
        if (is(defect::sweeps_spent_codes_early)) now += seconds{limits::spent_code_seconds};
        return inner_.sweep(request);
    }

    result<void> create_session(const stored_session& session) { return inner_.create_session(session); }
    result<std::optional<stored_session>> find_session(const digest& cookie) { return inner_.find_session(cookie); }
    result<void> touch_session(const digest& cookie, instant now) {
        if (is(defect::does_not_record_use_of_sessions)) return {};
        if (is(defect::records_no_earlier_use_of_sessions))
            if (const auto found = *inner_.find_session(cookie)) now = (std::max)(now, found->last_seen_at);
        if (is(defect::recreates_ended_sessions) && !*inner_.find_session(cookie)) {
            auto back = testing::sample_session(1);
            back.cookie_digest = cookie;
            return inner_.create_session(back);
        }
        return inner_.touch_session(cookie, now);
    }
    result<std::vector<stored_session>> sessions_of(user_id user) {
        auto listed = inner_.sessions_of(user);
        if (is(defect::lists_sessions_by_creation)) std::reverse(listed->begin(), listed->end());
        return listed;
    }
    result<bool> end_sessions(session_selection ended) {
        if (auto* const of = std::get_if<sessions_of_user>(&ended)) {
            if (is(defect::ends_the_excepted_session)) of->except.reset();
            if (is(defect::ends_only_one_session)) ended = testing::sample_session(1).cookie_digest;
        }
        return inner_.end_sessions(ended);
    }

private:
    [[nodiscard]] bool is(defect other) const noexcept { return defect_ == other; }

    /// The latest time that was noted, with the defect that keeps it.
    instant note_time(instant now) {
        const std::scoped_lock lock{mutex_};
        latest_ = (std::max)(latest_, now);
        return is(defect::keeps_the_latest_time) ? latest_ : now;
    }

    /// Calls the verb; with this defect, it revokes no access token of the application.
    template <class Verb>
    result<bool> keeping_tokens_of(application_id id, defect keeping, Verb verb) {
        std::vector<std::pair<digest, token_credential>> live_tokens;
        if (is(keeping))
            for (std::uint64_t seed = 0; seed < 100; ++seed)
                if (const auto found = *inner_.find_credential(access_token_key{testing::sample_access_digest(seed)}))
                    if (found->application == id) live_tokens.emplace_back(testing::sample_access_digest(seed), *found);
        auto done = verb();
        for (const auto& [token, row] : live_tokens)
            static_cast<void>(inner_.create_access_token(
                {row.user, *row.application, token, row.scopes, testing::noon, *row.expires_at}));
        return done;
    }

    /// With this defect, the application is not suspended for its lifetime.
    class resumed {
    public:
        resumed(adapter& store, application_id id, defect resuming) : store_{store}, id_{id} {
            if (!store.is(resuming)) return;
            for (const char* client_id : {"tgi_a", "tgi_b"})
                if (const auto found = *store.inner_.find_application(client_id); found && found->id == id) reason_ = found->suspended;
            if (reason_) static_cast<void>(store.inner_.change_application({}, id, suspension_change{std::nullopt}));
        }
        resumed(const resumed&) = delete;
        resumed& operator=(const resumed&) = delete;
        ~resumed() {
            if (reason_) static_cast<void>(store_.inner_.change_application({}, id_, suspension_change{reason_}));
        }

    private:
        adapter& store_;
        application_id id_;
        std::optional<suspension> reason_;
    };

    using bytes = std::array<std::uint8_t, digest::size_bytes>;

    defect defect_;
    std::shared_ptr<memory_store> stored_;
    memory_store& inner_ = *stored_;
    std::atomic<bool> grants_seen_ = false;
    std::optional<scope_set> narrowed_;
    std::mutex mutex_;
    instant latest_{};
    std::map<bytes, new_authorization_code> codes_;
    std::map<bytes, scope_set> narrowed_successors_;
    std::map<bytes, instant> first_ends_;
    std::set<bytes> refreshed_, created_here_;
};
static_assert(token_store<adapter> && use_recorder<adapter> && oauth_store<adapter> && session_store<adapter>);
static_assert(!hook_store<adapter>);

struct sessions_alone {
    memory_store inner;

    result<void> create_session(const stored_session& session) { return inner.create_session(session); }
    result<std::optional<stored_session>> find_session(const digest& cookie) { return inner.find_session(cookie); }
    result<void> touch_session(const digest& cookie, instant now) { return inner.touch_session(cookie, now); }
    result<std::vector<stored_session>> sessions_of(user_id user) { return inner.sessions_of(user); }
    result<bool> end_sessions(const session_selection& ended) { return inner.end_sessions(ended); }
    result<std::size_t> sweep(const sweep_request& request) { return inner.sweep(request); }
};
static_assert(session_store<sessions_alone> && !oauth_store<sessions_alone>);

}  // namespace

TEST_CASE("each defect of an OAuth adapter is detected by its case") {
    using row = tollgate_test::mutant<defect>;
    tollgate_test::check_mutants<adapter, defect>({
        row{defect::finds_clients_in_any_case, "application: a client_id is compared byte for byte"},
        row{defect::keeps_one_redirect, "application: each type is stored, with none, one or several redirect URLs"},
        row{defect::accepts_one_application_too_many, "application: an owner has at most the bound"},
        row{defect::any_user_adds_a_secret, "application: only its owner can add a second secret"},
        row{defect::any_user_deletes, "application: only its owner can delete it"},
        row{defect::keeps_tokens_of_deleted_applications, "grant: is deleted with its application, and so are its codes and tokens"},
        row{defect::keeps_tokens_of_suspended_applications,
            "suspension: a suspended application has no access tokens and gets none, until it is resumed"},
        row{defect::refreshes_for_suspended_applications,
            "suspension: a suspended application has no access tokens and gets none, until it is resumed"},
        row{defect::redeems_codes_of_suspended_applications,
            "suspension: a suspended application has no access tokens and gets none, until it is resumed"},
        row{defect::creates_owner_tokens_for_suspended_applications,
            "suspension: a suspended application has no access tokens and gets none, until it is resumed"},
        row{defect::lists_suspended_applications_as_usable,
            "suspension: a suspended application has no access tokens and gets none, until it is resumed"},
        row{defect::forgets_why_it_suspended,
            "suspension: a suspended application has no access tokens and gets none, until it is resumed"},
        row{defect::creates_codes_for_suspended_applications,
            "suspension: a suspended application has no access tokens and gets none, until it is resumed"},
        row{defect::approves_devices_for_suspended_applications,
            "suspension: a suspended application has no access tokens and gets none, until it is resumed"},
        row{defect::keeps_the_latest_time, "clock: a code that was created by a clock that is ahead has expired, and is replaced"},
        row{defect::keeps_the_latest_time, "clock: reuse of a code that was redeemed by a clock that is ahead is detected"},
        row{defect::keeps_the_latest_time, "clock: reuse of a refresh token that was replaced by a clock that is ahead is detected"},
        row{defect::keeps_the_latest_time, "clock: a device code that was created by a clock that is ahead has expired"},
        row{defect::sweeps_what_ends_far_ahead,
            "clock: a sweep by a clock that is behind deletes nothing, and each row goes when its end has passed"},
        row{defect::sweeps_sessions_from_far_ahead, "session: a sweep by a clock that is behind deletes none"},
        row{defect::creates_codes_for_unknown_applications, "code: none is created for an unknown application"},
        row{defect::reports_a_waiting_code_as_created, "code: creating it again changes nothing"},
        row{defect::replaces_granted_scopes, "grant: new scopes are added to those already granted"},
        row{defect::returns_all_granted_scopes, "grant: new scopes are added to those already granted"},
        row{defect::grants_without_consent, "grant: without consent a code can only have scopes that were granted"},
        row{defect::redeems_twice, "code: exactly one of several parallel redemptions succeeds, and the others revoke its tokens"},
        row{defect::reuse_revokes_nothing, "code: reuse revokes the tokens that were created from it, and nothing else"},
        row{defect::reuse_revokes_the_whole_grant, "code: reuse revokes the tokens that were created from it, and nothing else"},
        row{defect::does_not_name_the_user_of_a_reused_code,
            "code: reuse revokes the tokens that were created from it, and nothing else"},
        row{defect::names_the_user_of_each_reuse_of_a_code,
            "code: reuse revokes the tokens that were created from it, and nothing else"},
        row{defect::does_not_name_the_user_of_a_reused_refresh_token, "rotation: reuse revokes the grant, however old the token is"},
        row{defect::redeems_at_expiry, "code: is valid until it expires"},
        row{defect::ignores_the_client, "code: an unknown one, or one of another application, is refused"},
        row{defect::ignores_the_redirect_uri, "code: a redirect_uri that is sent must equal its own, byte for byte"},
        row{defect::requires_a_redirect_uri, "code: is redeemed for an access token and a refresh token"},
        row{defect::accepts_a_verifier_without_challenge,
            "code: a verifier is required if there was a challenge, must match it, and is refused otherwise"},
        row{defect::revokes_on_a_mismatch,
            "code: a verifier is required if there was a challenge, must match it, and is refused otherwise"},
        row{defect::rotates_refresh_tokens, "refresh token: returns another access token and stays valid"},
        row{defect::does_not_rotate, "rotation: the successor replaces the token, with the same end and code"},
        row{defect::keeps_owner_tokens, "owner token: is created for the owner only, and works only while the owner allows it"},
        row{defect::creates_owner_tokens_for_any_user,
            "owner token: is created for the owner only, and works only while the owner allows it"},
        row{defect::keeps_one_secret, "application: only its owner can add a second secret"},
        row{defect::does_not_find_tokens_by_family, "rotation: a token can be found and revoked by its digest and by that of its family"},
        row{defect::does_not_find_refresh_tokens, "oauth token: tokens of both kinds are found, with user, application and scopes"},
        row{defect::finds_devices_by_device_code_only, "device code: is found by either code and can be answered once"},
        row{defect::answers_device_codes_twice, "device code: is found by either code and can be answered once"},
        row{defect::answers_expired_requests, "device code: is found by either code and can be answered once"},
        row{defect::returns_the_last_user_who_answered, "device code: is found by either code and can be answered once"},
        row{defect::approves_without_a_code, "device code: is found by either code and can be answered once"},
        row{defect::grants_what_was_denied, "device code: is found by either code and can be answered once"},
        row{defect::ignores_the_replaced_secret, "application: only its owner can add a second secret"},
        row{defect::has_no_grace_period, "rotation: in the grace period a repeated request gets the same successor"},
        row{defect::has_a_longer_grace_period, "rotation: reuse revokes the grant, however old the token is"},
        row{defect::does_not_detect_reuse, "rotation: reuse revokes the grant, however old the token is"},
        row{defect::compares_scopes_by_name, "refresh token: an access token may have fewer scopes, but not more"},
        row{defect::widens_scopes, "refresh token: an access token may have fewer scopes, but not more"},
        row{defect::narrows_scopes_permanently, "refresh token: an access token may have fewer scopes, but not more"},
        row{defect::refreshes_after_the_end, "refresh token: each use prolongs it, but not beyond its end"},
        row{defect::does_not_prolong, "refresh token: each use prolongs it, but not beyond its end"},
        row{defect::revokes_for_other_clients, "revocation: unknown tokens and those of other applications are not changed"},
        row{defect::keeps_access_tokens_of_revoked_refresh_tokens,
            "revocation: an access token is revoked alone, a refresh token with its access tokens"},
        row{defect::keeps_codes_of_revoked_grants, "grant: a revocation deletes its codes and tokens, and changes no other grant"},
        row{defect::lists_grants_by_application, "grant: grants are listed by user, oldest first"},
        row{defect::sweeps_too_early, "sweep: codes and tokens are deleted from their expiry on, up to a bound per call"},
        row{defect::sweeps_too_much, "sweep: codes and tokens are deleted from their expiry on, up to a bound per call"},
        row{defect::sweeps_spent_codes_early, "code: reuse is detected despite other errors, and long after the code has expired"},
        row{defect::does_not_record_use_of_grants, "grant: using an access token counts as a use of its grant"},
        row{defect::does_not_record_use_of_sessions, "session: the time of its last use is stored"},
        row{defect::records_no_earlier_use_of_sessions, "session: the time of its last use is stored"},
        row{defect::recreates_ended_sessions, "session: an ended session is not found"},
        row{defect::ends_only_one_session, "session: all sessions of one user can be ended, and no others are"},
        row{defect::ends_the_excepted_session, "session: all sessions of one user except one can be ended"},
        row{defect::lists_sessions_by_creation, "session: the sessions of a user are listed, the last used first"},
        row{defect::sweeps_used_sessions, "session: a sweep deletes sessions that were created or last used before the given times"},
        row{defect::sweeps_with_swapped_times, "session: a sweep deletes sessions that were created or last used before the given times"},
        row{defect::sorts_redirect_urls, "application: only its owner can change it"},
        row{defect::ignores_the_end_of_owner_tokens,
            "owner token: is created for the owner only, and works only while the owner allows it"},
        row{defect::keeps_codes_that_expire_soon, "code: one that would expire soon is created again"},
        row{defect::has_no_grace_period_for_codes, "code: one that was redeemed just now may be repeated without harm, if the request says so"},
        row{defect::ends_approved_device_codes_with_their_requests,
            "device code: one that is approved just before it expires can be redeemed for a minute"},
        row{defect::forgets_expired_device_codes,
            "device code: needs new codes and a known application, and is kept for some minutes after its expiry"},
        row{defect::recreates_codes_for_the_first_user, "code: one that expired before it was redeemed is created again"},
        row{defect::recreates_codes_for_the_first_application, "code: one that expired before it was redeemed is created again"},
        row{defect::recreates_codes_with_the_first_scopes, "code: one that expired before it was redeemed is created again"},
        row{defect::recreates_codes_with_the_first_redirect, "code: one that expired before it was redeemed is created again"},
        row{defect::recreates_codes_with_the_first_challenge, "code: one that expired before it was redeemed is created again"},
        row{defect::creates_unknown_codes_without_consent, "code: none is created for an unknown application"},
        row{defect::narrows_the_successor, "rotation: fewer scopes are those of one access token, not of the successor"},
        row{defect::finds_refreshed_tokens_with_the_time_of_the_code,
            "refresh token: after a use, both tokens are found with the times of that use"},
        row{defect::takes_a_repeated_redemption_for_reuse, "code: a redemption that is called again with the same digests is the same redemption"},
        row{defect::takes_a_repeated_refresh_for_reuse, "refresh token: a refresh that is called again with the same digests is the same refresh"},
        row{defect::forgets_the_older_secret_when_repeated,
            "application: a creation or an added secret that is called again with the same digests is the same"},
        row{defect::keeps_the_first_end_of_refresh_tokens,
            "refresh token: after a use, both tokens are found with the times of that use"}});
}

TEST_CASE("the store suite detects an answer to a device that is not checked atomically") {
    CHECK(tollgate_test::is_caught_in_time([] { return std::make_unique<adapter>(defect::checks_before_answering); },
                                           "device code: exactly one of several parallel answers is accepted, and stays"));
}

TEST_CASE("the store suite detects device codes that are lost after reopening") {
    std::shared_ptr<memory_store> stored;
    for (const auto& [injected, is_caught] :
         {std::pair{defect::none, false}, std::pair{defect::loses_device_codes, true}, std::pair{defect::loses_answers_to_devices, true}}) {
        CAPTURE(static_cast<int>(injected));
        const auto make = [&, has = injected] {
            return std::make_unique<adapter>(has, stored = std::make_shared<memory_store>());
        };
        const auto reopen = [&, has = injected] { return std::make_unique<adapter>(has, stored); };
        CHECK(tollgate_test::breaks_rule(make, reopen, "device code: everything is present after the store is reopened") == is_caught);
    }
}

TEST_CASE("the store suite accepts a store of sessions only") {
    std::size_t count = 0;
    CHECK(testing::run([] { return std::make_unique<sessions_alone>(); },
                           [&](const testing::case_result& each) {
                               if (tollgate_test::is_about_the_report(each.name)) return;
                               CHECK(each.name.starts_with("session: "));
                               ++count;
                           }));
    CHECK(count > 5);
}
