#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_AUTHORIZATION_PAGE_HPP
#define TOLLGATE_OAUTH_DETAIL_AUTHORIZATION_PAGE_HPP

#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/http/detail/cookies.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/oauth/detail/authorization_request.hpp>
#include <tollgate/oauth/detail/consent.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/oauth/detail/redirect.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/policy/policies.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/detail/sign_in_form.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tollgate::inline v0::oauth {

/// The authorization endpoint (RFC 6749 section 3.1), which asks a user to authorize an application. Refers to members
/// of an authorization server, for the duration of a call.
///
/// If the redirect URL cannot be trusted, the response is a 400 page. All other errors, server errors included, are
/// redirected to the application, but only after sign-in, and unless the user can resolve them by trying again.
struct authorization_page {
    const account_service_settings& settings;
    const session_source_ref& sessions;
    const oauth_store_ref& store;
    const tollgate::policies& policies;
    web::localized_pages pages;
    std::string_view form_cookie;  ///< the name of the cookie of a browser to which a form with sign-in was sent
    pipeline::observed_request observed;

    void respond(const http::request& request, request_state& context, http::response& response) const {
        const auto read = read_page_or_answer(request, pages, response);
        if (!read) return;
        const parameters& sent = *read;
        // A form without any token is not from this site.
        if (request.method == http::method::post && !sent.holds(web::form_token_name))
            return pages.respond_status(response, http::status::forbidden);

        context.note_client(sent.find("client_id").value_or(""));
        auto judged = oauth::judge_request(sent, store, settings.services, [&](user_id user) { return is_active(sessions, user); });
        if (!judged) return respond_error_page(judged.error(), response);
        if (const auto* failure = std::get_if<page_failure>(&*judged)) {
            context.error = to_code(*failure);
            return respond_page_failure(*failure, sent, response);
        }
        if (auto* failed = std::get_if<redirect_failure>(&*judged))
            return respond_redirect_failure(request, sent, context, response, *failed);

        const authorization_call call{request, sent, std::get<authorization_request>(*judged), context, response};
        if (request.method == http::method::post) handle_form(call);
        else handle_get(call);
    }

private:
    /// Displays the redirect_uri as text, never as a link, because it may be part of an attack.
    void respond_page_failure(page_failure failed, const parameters& sent, http::response& response) const {
        const auto& texts = pages.texts().consent;
        const auto& message = texts_for(failed, texts);
        const auto received = sent.find("redirect_uri");
        pages.respond_message(response, http::status::bad_request, message, {}, [&](html_writer& html) {
            if (failed == page_failure::unregistered_redirect && received) write_received_redirect(html, texts, *received);
        });
    }

    /// An invalid request is redirected to the application only for a signed-in user: anyone can register an application,
    /// and links of this site must not redirect strangers to other sites. The exception is `prompt=none`, which forbids to show
    /// anything (RFC 9700 section 4.11.2).
    void respond_redirect_failure(const http::request& request, const parameters& sent, request_state& context,
                                  http::response& response, const redirect_failure& failed) const {
        const auto found = find_session(sessions, request, context);
        if (!found) return respond_error_page(found.error(), response);
        const bool is_silent = sent.find("prompt") == "none" && request.method != http::method::post;
        if (*found || is_silent) {
            context.error = failed.failure.code;
            return redirect_to(failure_url({failed.redirect, failed.state, settings.auth_url}, failed.failure), response);
        }
        // Forms of this site carry valid parameters only.
        if (request.method == http::method::post) return pages.respond_status(response, http::status::forbidden);
        const auto back = std::string{request.target.path}.append("?").append(to_query(sent));
        redirect_to_page(sessions.sign_in_url(pages.translate(back)), response);
    }

    /// A request with a valid redirect URL.
    struct authorization_call {
        const http::request& request;
        const parameters& sent;
        const authorization_request& authorization;
        request_state& context;
        http::response& response;

        [[nodiscard]] bool on_one_page() const noexcept { return context.endpoint == endpoint::one_page; }
    };

    /// This page with the whole request.
    [[nodiscard]] std::string url_of(const authorization_call& call, const authorization_request& authorization) const {
        return pages.translate(std::string{call.request.target.path}.append("?").append(to_query(authorization)));
    }

    /// Where the browser returns to after signing in, which the request must not ask for once more.
    [[nodiscard]] std::string return_to(const authorization_call& call) const {
        auto signed_in = call.authorization;
        signed_in.prompt.login = signed_in.prompt.select_account = false;
        signed_in.login_hint.reset();
        return url_of(call, signed_in);
    }

    /// The sign-in page, with what the request says about the sign-in.
    [[nodiscard]] std::string first_sign_in_url(const authorization_call& call) const {
        auto url = sessions.sign_in_url(return_to(call));
        const auto add = [&](std::string_view name, std::string_view value) {
            url.append(url.find('?') == std::string::npos ? "?" : "&")
                .append(name)
                .append("=")
                .append(tollgate::detail::percent_encode(value));
        };
        const prompt_set& prompt = call.authorization.prompt;
        const auto& login_hint = call.authorization.login_hint;
        if (prompt.login || prompt.select_account)
            add("prompt", to_text({.login = prompt.login, .select_account = prompt.select_account}));
        if (login_hint) add("login_hint", *login_hint);
        return url;
    }

    /// The secret of a browser that is not signed in, so that the form with sign-in has a token, too. It is in a cookie, which
    /// other sites can neither read nor set. Empty if there is none.
    [[nodiscard]] std::string form_secret_of(const http::request& request) const {
        const auto cookie = http::find_cookie(request.fields, form_cookie);
        return cookie && is_well_formed(secret_kind::session, *cookie) ? std::string{*cookie} : std::string{};
    }

    /// Returns the secret of the request's form cookie, or sends a new cookie if there is none. Empty after an error, which has been
    /// answered.
    [[nodiscard]] std::string make_form_secret(const authorization_call& call) const {
        if (auto known = form_secret_of(call.request); !known.empty()) return known;
        const auto secret = tollgate::new_secret(secret_kind::session, policies.random());
        if (secret && http::add_cookie(call.response, {.name = form_cookie, .value = *secret, .secure = pages.site().secure}))
            return std::string{std::string_view{*secret}};
        respond_error_page(random_source_error(), call.response);
        return {};
    }

    void handle_get(const authorization_call& call) const {
        const auto found = find_session(sessions, call.request, call.context);
        if (!found) return respond_error_page(found.error(), call.response);
        const auto& session = *found;
        const prompt_set& prompt = call.authorization.prompt;
        if (!session && prompt.none) return send_failure(call, {error_code::login_required, "The user is not signed in."});
        // This page has no way to sign out, so another user can only sign in on the sign-in page.
        if (!session || prompt.login || (prompt.select_account && !sessions.signs_in())) return request_sign_in(call);
        if (call.on_one_page() || prompt.consent || prompt.select_account || !may_skip_consent(call)) return ask(call, *session);

        const auto code = tollgate::new_secret(secret_kind::authorization_code, policies.random());
        if (!code) return send_error(call, random_source_error());
        auto new_code = code_for(call, session->user, *code);
        new_code.only_if_granted = true;
        const auto stored = store.create_code(new_code);
        if (stored && *stored == code_result::not_granted) return ask(call, *session);
        send_code(call, stored, *code);
    }

    /// Only for the redirect URLs that the owner registered: another port of a loopback address, or another page of a
    /// website, may belong to someone else, and any program can pose as a public client (RFC 8252 section 8.6). HEAD must
    /// not create codes.
    [[nodiscard]] static bool may_skip_consent(const authorization_call& call) {
        const application& client = call.authorization.client;
        return call.request.method == http::method::get && client.type == client_type::confidential &&
               std::any_of(client.redirect_urls.begin(), client.redirect_urls.end(), [&](const std::string& each) {
                   return equals_registered(each, call.authorization.redirect);
               });
    }

    void request_sign_in(const authorization_call& call) const {
        if (sessions.signs_in())
            if (call.on_one_page()) {
                const auto& hint = call.authorization.login_hint;
                return show_sign_in(call, hint ? trim_login(*hint) : std::string_view{}, {}, http::status::ok);
            }
        redirect_to_page(first_sign_in_url(call), call.response);
    }

    void handle_form(const authorization_call& call) const {
        if (sessions.signs_in())
            if (call.on_one_page() && call.sent.holds(web::login_name)) return handle_sign_in_form(call);

        const auto found = find_session(sessions, call.request, call.context);
        if (!found) return respond_error_page(found.error(), call.response);
        const auto& session = *found;
        if (!session) return redirect_to_page(sign_in_url(call), call.response);
        const auto signed_text = signed_text_of(call.authorization);
        const auto form_token = call.sent.find(web::form_token_name).value_or("");
        const auto nonce = web::check_form_token({*session, consent_purpose, signed_text}, form_token);
        // The form of a session that was replaced, for example by signing in again in another tab: who is signed in now decides.
        if (!nonce) return show_consent(call, *session, web::stale_reason(*session, form_token, pages.texts().forms));
        apply_decision(call, {.key = session->secret, .nonce = *nonce, .user = session->user, .signed_text = signed_text});
    }

    void apply_decision(const authorization_call& call, const code_derivation& derivation) const {
        switch (read_decision(call.sent)) {
            case decision::allow: return issue_code(call, derivation);
            case decision::deny: return deny(call);
            case decision::other_user: return sign_out(call);
            case decision::none: return pages.respond_status(call.response, http::status::bad_request);
        }
    }

    /// Ends the session and returns to the same request.
    void sign_out(const authorization_call& call) const {
        if (sessions.signs_in()) {
            const auto ended = sessions.sign_out(call.request, call.context.now(), call.response);
            if (!ended) return respond_error_page(ended.error(), call.response);
            redirect_to_page(sign_in_url(call), call.response);
        } else {
            pages.respond_status(call.response, http::status::bad_request);
        }
    }

    void deny(const authorization_call& call) const {
        send_failure(call, {error_code::access_denied, "The user denied the request."});
    }

    [[nodiscard]] std::string sign_in_url(const authorization_call& call) const {
        if (sessions.signs_in())
            if (call.on_one_page()) return return_to(call);
        return sessions.sign_in_url(return_to(call));
    }

    /// A form with login and password: the session that it begins counts, not an earlier one.
    void handle_sign_in_form(const authorization_call& call) const {
        const auto secret = form_secret_of(call.request);
        const auto signed_text = signed_text_of(call.authorization);
        const auto form_token = call.sent.find(web::form_token_name).value_or("");
        const auto nonce = web::check_form_token({secret, sign_in_purpose, signed_text}, form_token);
        const auto sent_login = call.sent.find(web::login_name).value_or("");
        const auto login = trim_login(sent_login);
        if (!nonce) {
            const auto lost_cookie = fill_in(pages.texts().sign_in.lost_cookie, pages.site().origin);
            return show_sign_in(call, login, {}, http::status::forbidden, secret.empty() ? lost_cookie : pages.texts().forms.stale);
        }
        const auto decided = read_decision(call.sent);
        if (decided == decision::deny) return deny(call);
        if (decided != decision::allow) return pages.respond_status(call.response, http::status::bad_request);

        const auto password = call.sent.find(web::password_name).value_or("");
        const sign_in_attempt typed{.login = login, .password = password, .client = call.context.client};
        const auto& texts = pages.texts().sign_in;
        if (const auto faults = web::faults_of(typed, texts); !faults.empty())
            return show_sign_in(call, login, faults, http::status::unprocessable_content);
        const auto outcome = sessions.sign_in(call.request, typed, call.context.now(), call.response);
        if (!outcome) return respond_error_page(outcome.error(), call.response);
        if (outcome->result == sign_in_result::throttled) {
            http::add_retry_after(call.response, outcome->retry_after);
            return show_sign_in(call, login, web::faults_of(*outcome, texts), http::status::too_many_requests);
        }
        if (!outcome->session)
            return show_sign_in(call, login, web::faults_of(*outcome, texts), http::status::unprocessable_content);

        const auto user = outcome->session->user;
        report(call, activity_kind::signed_in, user, {});
        call.context.user = caller_on_page(user);
        issue_code(call, {.key = secret, .nonce = *nonce, .user = user, .signed_text = signed_text});
    }

    /// Shows the consent form, unless the request forbids it.
    void ask(const authorization_call& call, const session& session) const {
        if (call.authorization.prompt.none)
            return send_failure(call, {error_code::consent_required, "The user has to be asked for consent."});
        show_consent(call, session);
    }

    /// `notice` is the reason for displaying a form again, with 403, or empty.
    void show_consent(const authorization_call& call, const session& session, std::string_view notice = {}) const {
        const auto token = web::new_form_token({session, consent_purpose, signed_text_of(call.authorization)}, policies.random(),
                                               call.context.now());
        if (!token) return send_error(call, token.error());
        page_frame frame;
        frame.login = session.login;
        frame.has_errors = !notice.empty();
        if (!notice.empty()) call.response.set_status(http::status::forbidden);
        show(call, frame, *token, nullptr, notice);
    }

    void show_sign_in(const authorization_call& call, std::string_view login, const web::form_faults& faults,
                      http::status status, std::string_view notice = {}) const {
        const auto secret = make_form_secret(call);
        if (secret.empty()) return;
        const auto token = web::new_form_token({secret, sign_in_purpose, signed_text_of(call.authorization)}, policies.random(),
                                               call.context.now());
        if (!token) return respond_error_page(token.error(), call.response);
        const sign_in_part part{.login = login, .faults = faults};
        call.response.set_status(status);
        page_frame frame;
        frame.has_errors = !faults.empty() || !notice.empty();
        show(call, frame, *token, &part, notice);
    }

    void show(const authorization_call& call, page_frame frame, std::string_view form_token,
              const sign_in_part* sign_in, std::string_view notice) const {
        const auto url = pages.translate(call.request.target.path);
        const auto path = pages.path_of(url_of(call, call.authorization));
        const consent_view view{.texts = pages.texts(),
                                .operator_name = pages.operator_name(),
                                .scopes = pages.scopes(),
                                .request = call.authorization,
                                .url = url,
                                .form_token = form_token,
                                .sign_in = sign_in,
                                .login = frame.login,
                                .can_sign_out = sessions.signs_in(),
                                .notice = notice};
        const auto title = consent_title(view);
        frame.title = title;
        frame.shape = page_shape::narrow;
        frame.path = path;
        pages.respond(call.response, frame, [&](html_writer& html) { write_consent(html, view); });
    }

    /// Submitting a form twice gives the same code. Stores forget redeemed codes after some time, so an old form gets a
    /// new code each time: the derived one may have been disclosed by then.
    void issue_code(const authorization_call& call, const code_derivation& derivation) const {
        const auto made_at = web::made_at(derivation.nonce);
        const bool remembered =
            made_at <= call.context.now() && call.context.now() < made_at + seconds{limits::spent_code_seconds};
        if (remembered) return store_and_send_code(call, derivation.user, make_code(derivation));
        const auto code = tollgate::new_secret(secret_kind::authorization_code, policies.random());
        if (!code) return send_error(call, random_source_error());
        store_and_send_code(call, derivation.user, *code);
    }

    [[nodiscard]] redirect_target target_of(const authorization_call& call) const noexcept {
        return {call.authorization.redirect, call.authorization.state, settings.auth_url};
    }

    [[nodiscard]] new_authorization_code code_for(const authorization_call& call, user_id user,
                                                  const secret_text& code) const {
        return {.code_digest = digest_of(code),
                .user = user,
                .application = call.authorization.client.id,
                .scopes = call.authorization.scopes,
                .redirect = call.authorization.redirect,
                .code_challenge = call.authorization.code_challenge,
                .created_at = call.context.now(),
                .expires_at = call.context.now() + settings.oauth.code_lifetime};
    }

    void store_and_send_code(const authorization_call& call, user_id user, const secret_text& code) const {
        const auto stored = store.create_code(code_for(call, user, code));
        if (stored && *stored == code_result::created)
            report(call, activity_kind::access_granted, user, call.authorization.client.name);
        send_code(call, stored, code);
    }

    void report(const authorization_call& call, activity_kind kind, user_id user, std::string subject) const {
        policies.observer().on_activity({kind, user, std::move(subject), call.context.client, call.context.now()});
    }

    void send_code(const authorization_call& call, const result<code_result>& stored, const secret_text& code) const {
        if (!stored) return respond_store_failure(call, stored.error());
        if (*stored == code_result::suspended) {  // in the meantime
            call.context.error = error_code::unauthorized_client;
            return pages.respond_message(call.response, http::status::bad_request, pages.texts().consent.stopped_client);
        }
        if (*stored == code_result::spent)
            return pages.respond_message(call.response, http::status::conflict, pages.texts().consent.answered);
        redirect_to(code_url(target_of(call), code), call.response);
        oauth::remove_expired(store, policies.observer(), call.context.now(), 1);
    }

    void respond_store_failure(const authorization_call& call, const error& error) const {
        switch (error.kind) {
            case error_kind::not_found:  // deleted in the meantime
                return pages.respond_message(call.response, http::status::bad_request,
                                             pages.texts().consent.unknown_client);
            case error_kind::invalid: return send_failure(call, {error_code::invalid_scope, error.message});
            default: return send_error(call, error);
        }
    }

    void send_failure(const authorization_call& call, const failure& error) const {
        call.context.error = error.code;
        redirect_to(failure_url(target_of(call), error), call.response);
    }

    void send_error(const authorization_call& call, const error& error) const {
        observed.report(policies, error);
        send_failure(call, to_failure(error));
    }

    /// A page for server errors that cannot be redirected, or where trying again helps.
    void respond_error_page(const error& error, http::response& response) const {
        oauth::respond_error_page(error, pages, policies, observed, response);
    }

    /// To a page of this site. An encoded request may be longer than a request target may be: 414 then, with a page.
    void redirect_to_page(std::string_view url, http::response& response) const {
        if (url.size() > limits::target_bytes_max)
            return pages.respond_message(response, http::status::uri_too_long, pages.texts().errors.too_long);
        redirect_to(url, response);
    }

    void redirect_to(std::string_view url, http::response& response) const {
        if (const auto redirected = web::respond_see_other(response, pages.site(), url); !redirected)
            respond_error_page(redirected.error(), response);
    }
};

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_AUTHORIZATION_PAGE_HPP
