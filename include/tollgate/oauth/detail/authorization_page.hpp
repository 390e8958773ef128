#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/oauth/detail/authorization_request.hpp>
#include <tollgate/oauth/detail/consent.hpp>
#include <tollgate/oauth/detail/page_request.hpp>
#include <tollgate/oauth/detail/redirect.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>
#include <tollgate/oauth/detail/settings.hpp>
#include <tollgate/pipeline/detail/answer.hpp>
#include <tollgate/policy/detail/policy_set.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/detail/sign_in_form.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tollgate::inline v0::oauth {

/// The authorization endpoint (RFC 6749 section 3.1): asks a person whether an application may. Refers to what an
/// authorization server owns, and lives no longer than a call.
///
/// Where the request cannot be trusted to say where its answer goes, a page says so, with 400. All else is told the
/// application by a redirect, a failure of ours too; but for what a person can mend by trying again.
template <session_source Sessions, oauth_store Store, class Policies, class Theme>
struct authorization_page {
    const oauth_settings& settings;
    Sessions& sessions;
    Store& store;
    Policies& policies;
    const pipeline::page_maker<Theme>& pages;
    std::string_view form_key;  ///< what codes are made with where nobody was signed in yet

    static constexpr bool signs_in = sign_in_source<Sessions>;

    void answer(const http::request& asked, visit& now, http::response& out) const {
        if (asked.method != http::method::get && asked.method != http::method::head &&
            asked.method != http::method::post) {
            out.add("Allow", "GET, HEAD, POST, OPTIONS");
            if (asked.method == http::method::options) return out.set_status(http::status::no_content);
            return pages.answer_status(out, http::status::method_not_allowed);
        }
        auto read = read_page_request(asked, pages.site());
        if (const auto* status = std::get_if<http::status>(&read)) return pages.answer_status(out, *status);
        const auto& sent = std::get<parameters>(read);
        // Whoever shows nothing at all is no reader of ours, whatever else was sent.
        if (asked.method == http::method::post && !shows_a_form(sent, now.where))
            return pages.answer_status(out, http::status::forbidden);

        auto judged = judge_request(sent, store, settings.services);
        if (!judged) return answer_broken(judged.error(), out);
        if (const auto* why = std::get_if<page_failure>(&*judged))
            return pages.answer_message(out, http::status::bad_request, texts_for(*why, pages.texts().consent));
        if (const auto* no = std::get_if<redirect_failure>(&*judged))
            return answer_url(failure_url({no->redirect, no->state, settings.auth_url}, no->why), out);

        const call to{asked, sent, std::get<authorization_request>(*judged), now, out};
        if (asked.method == http::method::post) take_answer(to);
        else ask(to);
    }

private:
    /// One request that can be answered by a redirect.
    struct call {
        const http::request& asked;
        const parameters& sent;
        const authorization_request& request;
        visit& now;
        http::response& out;

        [[nodiscard]] bool on_one_page() const noexcept { return now.where == place::one_page; }
        /// Where the browser comes back to after signing in.
        [[nodiscard]] std::string return_to() const {
            return std::string{asked.target.path}.append("?").append(to_query(request));
        }
    };

    [[nodiscard]] static bool shows_a_form(const parameters& sent, place where) {
        if (signs_in && where == place::one_page && sent.holds(pipeline::login_name))
            return pipeline::parse_form_nonce(sent.find(nonce_name).value_or("")).has_value();
        return sent.holds(pipeline::form_token_name);
    }

    /// The session, if somebody is signed in; none, too, once a failure to find out was answered.
    [[nodiscard]] std::optional<session> look_for_session(const call& to, bool& answered) const {
        auto found = sessions.session_of(to.asked, to.now.now);
        answered = !found;
        if (!found) {
            answer_error(to, found.error());
            return std::nullopt;
        }
        if (*found) to.now.who = caller{(*found)->user, {}, credential_kind::other, {}};
        return std::move(*found);
    }

    void ask(const call& to) const {
        bool answered = false;
        const auto who = look_for_session(to, answered);
        if (answered) return;
        if (!who) return ask_to_sign_in(to);
        if (to.on_one_page()) return show_consent(to, *who);

        const auto granted = store.granted_scopes(who->user, to.request.client.id);
        if (!granted) return answer_error(to, granted.error());
        if (!*granted || !(*granted)->contains_all(to.request.scopes)) return show_consent(to, *who);
        const auto code = new_secret(secret_kind::authorization_code, policy(policies.random));
        if (!code) return answer_error(to, no_random_bytes());
        auto made = code_for(to, who->user, *code);
        made.only_if_granted = true;
        const auto kept = store.create_code(made);
        if (kept && *kept == code_result::not_granted) return show_consent(to, *who);  // revoked a moment ago
        give_code(to, kept, *code);
    }

    void ask_to_sign_in(const call& to) const {
        if constexpr (signs_in)
            if (to.on_one_page()) return show_sign_in(to, {}, {}, http::status::ok);
        answer_url(sessions.sign_in_url(to.return_to()), to.out);
    }

    void take_answer(const call& to) const {
        if constexpr (signs_in)
            if (to.on_one_page() && to.sent.holds(pipeline::login_name)) return take_sign_in(to);

        bool answered = false;
        const auto who = look_for_session(to, answered);
        if (answered) return;
        if (!who) return answer_url(sign_in_url(to), to.out);
        const auto covered = covered_by(to.request);
        const auto shown = to.sent.find(pipeline::form_token_name).value_or("");
        const auto nonce = pipeline::check_form_token({*who, consent_purpose, covered}, shown);
        if (!nonce) return pages.answer_status(to.out, http::status::forbidden);
        take_decision(to, {.key = who->secret, .nonce = *nonce, .user = who->user, .covered = covered});
    }

    void take_decision(const call& to, const code_seed& seed) const {
        switch (read_decision(to.sent)) {
            case decision::allow: return give_code_of(to, seed);
            case decision::deny: return deny(to);
            case decision::none: return pages.answer_status(to.out, http::status::bad_request);
        }
    }

    void deny(const call& to) const { answer_failure(to, {error_code::access_denied, "The application was not let in."}); }

    [[nodiscard]] std::string sign_in_url(const call& to) const {
        if constexpr (signs_in)
            if (to.on_one_page()) return to.return_to();
        return sessions.sign_in_url(to.return_to());
    }

    /// A form that was sent with login and password: whose they are counts, not who was signed in before.
    void take_sign_in(const call& to) const
        requires signs_in
    {
        const auto decided = read_decision(to.sent);
        if (decided == decision::none) return pages.answer_status(to.out, http::status::bad_request);
        if (decided == decision::deny) return deny(to);

        const auto nonce = pipeline::parse_form_nonce(to.sent.find(nonce_name).value_or(""));
        if (!nonce) return pages.answer_status(to.out, http::status::forbidden);
        const auto login = to.sent.find(pipeline::login_name).value_or("");
        auto password = to.sent.find(pipeline::password_name).value_or("");
        const sign_in_attempt typed{.login = login, .password = password, .client = to.now.client};
        const auto& texts = pages.texts().sign_in;
        if (const auto faults = pipeline::faults_of(typed, texts); !faults.empty())
            return show_sign_in(to, login, faults, http::status::unprocessable_content);
        const auto tried = sessions.sign_in(to.asked, typed, to.now.now, to.out);
        secure_wipe(password);
        if (!tried) return answer_broken(tried.error(), to.out);
        if (tried->result == sign_in_result::throttled) {
            to.out.add("Retry-After", static_cast<std::uint64_t>(tried->retry_after.count()));
            return show_sign_in(to, login, pipeline::faults_of(*tried, texts), http::status::too_many_requests);
        }
        if (!tried->who)
            return show_sign_in(to, login, pipeline::faults_of(*tried, texts), http::status::unprocessable_content);

        const auto user = tried->who->user;
        to.now.who = caller{user, {}, credential_kind::other, {}};
        const auto covered = covered_by(to.request);
        give_code_of(to, {.key = form_key, .nonce = *nonce, .user = user, .covered = covered});
    }

    void show_consent(const call& to, const session& who) const {
        if (who.secret.empty()) return answer_error(to, internal_error("the session has no secret"));
        const auto nonce = pipeline::new_form_nonce(policy(policies.random), to.now.now);
        if (!nonce) return answer_error(to, no_random_bytes());
        const auto token = pipeline::make_form_token({who, consent_purpose, covered_by(to.request)}, *nonce);
        page_frame frame;
        frame.login = who.login;
        show(to, frame, token, nullptr);
    }

    void show_sign_in(const call& to, std::string_view login, const pipeline::form_faults& faults,
                      http::status status) const {
        const auto nonce = pipeline::new_form_nonce(policy(policies.random), to.now.now);
        if (!nonce) return answer_error(to, no_random_bytes());
        const auto text = pipeline::form_nonce_text(*nonce);
        const sign_in_part part{.nonce = text, .login = login, .faults = faults};
        to.out.set_status(status);
        page_frame frame;
        frame.faulty = !faults.empty();
        show(to, frame, {}, &part);
    }

    void show(const call& to, page_frame frame, std::string_view form_token, const sign_in_part* sign_in) const {
        const consent_view view{.texts = pages.texts(),
                                .scopes = pages.scopes(),
                                .request = to.request,
                                .url = to.asked.target.path,
                                .form_token = form_token,
                                .sign_in = sign_in};
        const auto title = consent_title(view);
        frame.title = title;
        frame.shape = page_shape::narrow;
        pages.answer(to.out, frame, [&](http::html_writer& html) { write_consent(html, view); });
    }

    /// The same code however often one form is sent. No store remembers for ever that a code was spent, so an old form
    /// makes a new one each time: it would be the same that somebody may have seen long ago.
    void give_code_of(const call& to, const code_seed& seed) const {
        const auto made_at = pipeline::made_at(seed.nonce);
        const bool remembered = to.now.now < made_at + seconds{limits::spent_code_seconds};
        if (remembered) return keep_and_give_code(to, seed.user, make_code(seed));
        const auto code = new_secret(secret_kind::authorization_code, policy(policies.random));
        if (!code) return answer_error(to, no_random_bytes());
        keep_and_give_code(to, seed.user, *code);
    }

    [[nodiscard]] new_authorization_code code_for(const call& to, user_id user, const secret_text& code) const {
        return {.code_digest = digest_of(code),
                .user = user,
                .application = to.request.client.id,
                .scopes = to.request.scopes,
                .redirect = to.request.redirect,
                .code_challenge = to.request.code_challenge,
                .created_at = to.now.now,
                .expires_at = to.now.now + settings.code_lifetime};
    }

    void keep_and_give_code(const call& to, user_id user, const secret_text& code) const {
        give_code(to, store.create_code(code_for(to, user, code)), code);
    }

    void give_code(const call& to, const result<code_result>& kept, const secret_text& code) const {
        if (!kept) return answer_not_kept(to, kept.error());
        if (*kept == code_result::spent)
            return pages.answer_message(to.out, http::status::conflict, pages.texts().consent.answered);
        answer_url(code_url({to.request.redirect, to.request.state, settings.auth_url}, code), to.out);
        sweep(store, policy(policies.observer), to.now.now, 1);
    }

    void answer_not_kept(const call& to, const error& why) const {
        switch (why.kind) {
            case error_kind::not_found:  // deleted a moment ago
                return pages.answer_message(to.out, http::status::bad_request, pages.texts().consent.unknown_client);
            case error_kind::invalid: return answer_failure(to, {error_code::invalid_scope, why.message});
            default: return answer_error(to, why);
        }
    }

    void answer_failure(const call& to, const failure& why) const {
        answer_url(failure_url({to.request.redirect, to.request.state, settings.auth_url}, why), to.out);
    }

    void answer_error(const call& to, const error& why) const {
        policy(policies.observer).on_problem(why);
        answer_failure(to, to_failure(why));
    }

    /// A page for what is our fault, where nobody else can be told, or where trying again helps.
    void answer_broken(const error& why, http::response& out) const {
        policy(policies.observer).on_problem(why);
        const bool unavailable = why.kind == error_kind::unavailable;
        if (unavailable) out.add("Retry-After", pipeline::retry_after_unavailable_seconds);
        pages.answer_status(out, unavailable ? http::status::service_unavailable : http::status::internal_server_error);
    }

    void answer_url(std::string_view url, http::response& out) const {
        if (const auto led = pipeline::answer_see_other(out, pages.site(), url); !led) answer_broken(led.error(), out);
    }
};

}  // namespace tollgate::oauth
