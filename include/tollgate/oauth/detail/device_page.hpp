#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_DEVICE_PAGE_HPP
#define TOLLGATE_OAUTH_DETAIL_DEVICE_PAGE_HPP

#include <tollgate/contract/session_source.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/oauth/detail/consent.hpp>
#include <tollgate/oauth/detail/device_codes.hpp>
#include <tollgate/oauth/detail/kept_oauth_page.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/policy/policies.hpp>
#include <tollgate/web/detail/form.hpp>
#include <tollgate/web/detail/one_time.hpp>
#include <tollgate/web/detail/page.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::oauth {

inline constexpr std::string_view user_code_name = "user_code";
/// The purposes of its forms, for their form tokens: typing a code, and deciding on the request of one.
inline constexpr std::string_view device_code_purpose = "oauth/device/code";
inline constexpr std::string_view device_decision_purpose = "oauth/device/decision";

/// The form to type a code in.
struct device_form_view {
    const page_texts& texts;
    std::string_view url;
    std::string_view form_token;
    std::string_view typed;
    const web::form_faults& faults;
    std::string_view notice = {};  ///< reason for displaying the form again; empty if there is none
};
TOLLGATE_DECL void write_device_form(html_writer& html, const device_form_view& view);

/// The query parameter of the page that asks for a decision: the code that the user entered, sealed, so that no link skips entering it.
inline constexpr std::string_view device_request_name = "request";

/// The query parameter of the page that shows the result of a decision: a sealed name of that page.
inline constexpr std::string_view device_result_name = "result";

/// The page with the result of a decision: `answer` is what the request was answered with.
[[nodiscard]] TOLLGATE_DECL std::string_view device_result_of(const device_answer& answer, const device_decision& decision) noexcept;
/// Null for any other name than `device_result_of` returns.
[[nodiscard]] TOLLGATE_DECL const message_texts* find_device_result(std::string_view name, const device_texts& texts) noexcept;

/// The request of a device, to be allowed or denied.
struct device_request_view {
    const page_texts& texts;
    std::string_view operator_name;  ///< name of the site's operator
    const web::scope_text_list& scopes;
    std::string_view url;
    std::string_view form_token;
    std::string_view user_code;
    const application& client;
    const device_code& request;
    std::string_view login;  ///< login of the user
    bool can_sign_out = false;
    std::string_view notice = {};  ///< reason for displaying the form again; empty if there is none
};
TOLLGATE_DECL void write_device_request(html_writer& html, const device_request_view& view);

/// The page where a user types the code that a device shows, and allows or denies its request (RFC 8628 section 3.3). Refers
/// to members of an authorization server, for the duration of a call.
///
/// The user has to be signed in, and wrong codes are counted per user. A code in the URL is put into the form, no more: the
/// person compares it with the device (section 5.4).
struct device_page {
    const account_service_settings& settings;
    const session_source_ref& sessions;
    const oauth_store_ref& store;
    const tollgate::policies& policies;
    web::localized_pages pages;
    window_limiter& limiter;  ///< limiter of wrong codes
    pipeline::row_call& row_call;
    kept_oauth_page& context;

    /// Responds, unless the owner of the application has to be looked up first, or the user wants to be signed out.
    void respond() const {
        const parameters& sent = context.sent;
        const auto url = pages.translate(row_call.request.target.path);
        if (!context.signed_in)
            return redirect_to_sign_in(with_code(url, parse_user_code(sent.find(user_code_name).value_or(""))), row_call.response);
        const device_call call{row_call.request, sent, *context.signed_in, row_call.response, url};
        if (row_call.request.method == http::method::post) return handle_form(call);
        if (const auto result = sent.find(device_result_name)) return show_result(call, *result);
        if (const auto typed = sent.find(device_request_name)) return show_typed_request(call, *typed);
        show_form(call, {});
    }

    /// Signs the user out. After the next sign-in, the browser returns to this page with the same code.
    void sign_out() const {
        const auto ended = sessions.sign_out(row_call.request, row_call.state.now, row_call.response);
        if (!ended) return respond_error(ended.error(), row_call.response);
        const auto code = parse_user_code(context.sent.find(user_code_name).value_or(""));
        redirect_to_sign_in(with_code(pages.translate(row_call.request.target.path), code), row_call.response);
    }

private:
    struct device_call {
        const http::request& request;
        const parameters& sent;
        const session& signed_in;
        http::response& response;
        std::string url;  ///< URL of this page

        [[nodiscard]] std::string typed() const { return sent.find(user_code_name).value_or(""); }
    };

    /// The address of this page for a code.
    [[nodiscard]] static std::string with_code(std::string url, const std::optional<std::string>& code) {
        if (code) url.append("?").append(user_code_name).append("=").append(*code);
        return url;
    }

    void redirect_to_sign_in(std::string_view return_to, http::response& response) const {
        if (const auto redirected = web::respond_see_other(response, pages.site(), sessions.sign_in_url(return_to)); !redirected)
            respond_error(redirected.error(), response);
    }

    void handle_form(const device_call& call) const {
        const auto token = call.sent.find(web::form_token_name).value_or("");
        const auto code = parse_user_code(call.typed());
        const auto decided = read_decision(call.sent);
        const bool decides = code && decided != decision::none;
        const web::form_binding binding = decides ? web::form_binding{call.signed_in, device_decision_purpose, *code}
                                                  : web::form_binding{call.signed_in, device_code_purpose, {}};
        const bool is_valid = web::check_form_token(binding, token).has_value();
        // A form without any token is not from this site.
        if (!is_valid && token.empty()) return pages.respond_status(call.response, http::status::forbidden);
        if (!code) return show_fault(call, pages.texts().device.malformed, http::status::unprocessable_content);
        // If the session was replaced, for example by signing in again in another tab, its form is displayed again.
        const auto notice = is_valid ? std::string{} : web::stale_reason(call.signed_in, token, pages.texts().forms);
        if (!is_valid && !decides) return show_form(call, {}, notice, web::is_for_other_user(call.signed_in, token));
        if (decided == decision::other_user && is_valid) {
            context.wants_sign_out = sessions.signs_in();
            return context.wants_sign_out ? void() : pages.respond_status(call.response, http::status::bad_request);
        }

        const auto key = limit_key::of(call.signed_in.user);
        // The form token of a decision is bound to the code, so that it is not a guess.
        const bool may_be_guess = !decides || !is_valid;
        const auto window = limiter.peek(key, settings.oauth.user_code_attempts, row_call.state.now);
        if (window.remaining == 0 && may_be_guess) return refuse_attempt(call, window);
        const auto found = find_code(*code);
        if (!found) return respond_error(found.error(), call.response);
        if (*found && !may_be_guess) return answer(call, **found, decided);
        const bool is_pending =
            *found && (*found)->state == device_code_state::pending && !has_expired(**found, row_call.state.now);
        if (is_pending && !notice.empty()) return show_request(call, *code, **found, notice, with_code(call.url, code));
        if (is_pending) return redirect_to_request(call, *code);
        if (may_be_guess) static_cast<void>(limiter.take(key, settings.oauth.user_code_attempts, row_call.state.now));
        show_fault(call, pages.texts().device.unknown, http::status::unprocessable_content);
    }

    void refuse_attempt(const device_call& call, const limit_decision& window) const {
        http::add_retry_after(call.response, window.resets_at - row_call.state.now);
        const auto wait = std::chrono::ceil<seconds>(window.resets_at - row_call.state.now);
        const auto text = fill_in(pages.texts().device.too_many, web::duration_text(wait, pages.texts().sign_in.durations));
        show_fault(call, text, http::status::too_many_requests);
    }

    void show_fault(const device_call& call, std::string_view text, http::status status) const {
        web::form_faults faults;
        faults.add(user_code_name, text, pages.texts().device.code);
        call.response.set_status(status);
        show_form(call, faults);
    }

    /// `is_empty`: without the code of the request.
    void show_form(const device_call& call, const web::form_faults& faults, std::string_view notice = {}, bool is_empty = false) const {
        if (!notice.empty()) call.response.set_status(http::status::forbidden);
        const auto token = new_form_token(call, device_code_purpose, {});
        if (!token) return respond_error(token.error(), call.response);
        auto typed = call.typed();
        if (is_empty || typed.size() > user_code_typed_bytes_max) typed.clear();
        const device_form_view view{pages.texts(), call.url, *token, typed, faults, notice};
        const auto path = pages.path_of(with_code(call.url, parse_user_code(typed)));
        auto frame = make_frame(call);
        frame.path = path;
        frame.has_errors = !faults.empty() || !notice.empty();
        pages.respond(call.response, frame, [&](html_writer& html) { write_device_form(html, view); });
    }

    /// The page that asks for a decision has a URL of its own, to which the browser can return.
    void redirect_to_request(const device_call& call, const std::string& code) const {
        redirect_to_sealed(call, with_code(call.url, code).append("&").append(device_request_name).append("="), code);
    }

    /// Displays the form if this session has not entered a code recently; otherwise the decision, if there is one.
    void show_typed_request(const device_call& call, std::string_view sealed) const {
        const auto text = web::open_sealed(call.signed_in, sealed, row_call.state.now);
        const auto code = text ? parse_user_code(*text) : std::nullopt;
        if (!code) return show_form(call, {});
        const auto found = find_code(*code);
        if (!found) return respond_error(found.error(), call.response);
        if (!*found || has_expired(**found, row_call.state.now)) return show_fault(call, pages.texts().device.unknown, http::status::ok);
        const auto own_url = with_code(call.url, code).append("&").append(device_request_name).append("=").append(sealed);
        if ((*found)->state == device_code_state::pending) return show_request(call, *code, **found, {}, own_url);
        const device_decision same{.user_digest = digest_of_user_code(*code),
                                   .user = call.signed_in.user,
                                   .answer = (*found)->state,
                                   .redirect = {},
                                   .now = row_call.state.now};
        respond_result(call, *find_device_result(device_result_of({false, (*found)->state, (*found)->answered_by}, same),
                                                 pages.texts().device),
                       own_url);
    }

    [[nodiscard]] result<std::optional<device_code>> find_code(std::string_view code) const {
        if (!context.code) {
            auto found = store.find_device_code(digest_of_user_code(code));
            if (!found) return found;
            context.code = *std::move(found);
        }
        return *context.code;
    }

    /// The application of a request. Empty if the page has been answered, because the application does not exist any more or gets no codes,
    /// and if its owner has to be looked up.
    [[nodiscard]] std::optional<application> find_client(const device_call& call, const device_code& request) const {
        if (!context.client) {
            auto found = store.find_application(request.client_id.view());
            if (!found) respond_error(found.error(), call.response);
            else if (!*found) show_fault(call, pages.texts().device.unknown, http::status::unprocessable_content);
            if (!found || !*found) return std::nullopt;
            context.client = *std::move(found);
            context.is_stopped = context.client->suspended.has_value();
            context.owner = owner_to_ask(*context.client, sessions);
            if (context.owner) return std::nullopt;
        }
        if (context.is_stopped) {
            pages.respond_message(call.response, http::status::bad_request, pages.texts().consent.stopped_client, make_frame(call));
            return std::nullopt;
        }
        return context.client;
    }

    /// `own_url`: where this page can be requested again.
    void show_request(const device_call& call, const std::string& code, const device_code& request, std::string_view notice,
                      std::string_view own_url) const {
        const auto client = find_client(call, request);
        if (!client) return;
        const auto token = new_form_token(call, device_decision_purpose, code);
        if (!token) return respond_error(token.error(), call.response);
        const device_request_view view{pages.texts(), pages.operator_name(), pages.scopes(),       call.url,     *token, code,
                                       *client,       request,               call.signed_in.login, sessions.signs_in(), notice};
        if (!notice.empty()) call.response.set_status(http::status::forbidden);
        const auto path = pages.path_of(own_url);
        const auto title = fill_in(pages.texts().consent.title, client->name);
        auto frame = make_frame(call);
        frame.title = title;
        frame.path = path;
        frame.has_errors = !notice.empty();
        pages.respond(call.response, frame, [&](html_writer& html) { write_device_request(html, view); });
    }

    /// Redirects to a page with the result, so that reloading does not repeat the decision. The same user gets the same result again.
    void answer(const device_call& call, const device_code& request, decision decided) const {
        std::optional<application> client;
        if (decided == decision::allow && request.state == device_code_state::pending) {
            client = find_client(call, request);
            if (!client) return;
        }
        const device_decision decision{.user_digest = digest_of_user_code(*parse_user_code(call.typed())),
                                       .user = call.signed_in.user,
                                       .answer = decided == decision::allow ? device_code_state::approved : device_code_state::denied,
                                       .redirect = std::string{device_grant_type},
                                       .now = row_call.state.now};
        const auto answered = store.answer_device_code(decision);
        const bool is_gone = answered ? !*answered : answered.error().kind == error_kind::not_found;  // expired or deleted in the meantime
        if (is_gone) return show_fault(call, pages.texts().device.unknown, http::status::unprocessable_content);
        if (!answered) return respond_error(answered.error(), call.response);
        if (client && (*answered)->is_new) report_granted(call, client->name);
        redirect_to_result(call, device_result_of(**answered, decision));
        oauth::remove_expired(store, policies.observer(), row_call.state.now, 1);
    }

    /// The name of the result is encrypted for the session, so that no link shows a result that there was not.
    void redirect_to_result(const device_call& call, std::string_view result) const {
        redirect_to_sealed(call, call.url + "?" + std::string{device_result_name} + "=", result);
    }

    /// To `url` followed by the text, sealed for the session.
    void redirect_to_sealed(const device_call& call, std::string url, std::string_view text) const {
        web::seal_nonce nonce;
        if (!policies.random().fill(nonce)) return respond_error(random_source_error(), call.response);
        const auto sealed = web::seal(call.signed_in, text, nonce, row_call.state.now);
        if (!sealed) return respond_error(internal_error("a part of the device page's URL could not be sealed"), call.response);
        if (const auto redirected = web::respond_see_other(call.response, pages.site(), url.append(*sealed)); !redirected)
            respond_error(redirected.error(), call.response);
    }

    /// The form if it is not a recent result of this session.
    void show_result(const device_call& call, std::string_view sealed) const {
        const auto name = web::open_sealed(call.signed_in, sealed, row_call.state.now);
        const message_texts* const texts = name ? find_device_result(*name, pages.texts().device) : nullptr;
        if (texts == nullptr) return show_form(call, {});
        respond_result(call, *texts, call.url + "?" + std::string{device_result_name} + "=" + std::string{sealed});
    }

    void respond_result(const device_call& call, const message_texts& texts, std::string_view own_url) const {
        const auto explanation = fill_in(texts.explanation, call.signed_in.login);
        const auto path = pages.path_of(own_url);
        auto frame = make_frame(call);
        frame.path = path;
        pages.respond_message(call.response, http::status::ok, {texts.heading, explanation}, frame);
    }

    void report_granted(const device_call& call, std::string client_name) const {
        policies.observer().on_activity({activity_kind::access_granted, call.signed_in.user, std::move(client_name),
                                         row_call.state.client, row_call.state.now});
    }

    [[nodiscard]] page_frame make_frame(const device_call& call) const {
        page_frame frame;
        frame.title = pages.texts().device.title;
        frame.shape = page_shape::narrow;
        frame.login = call.signed_in.login;
        return frame;
    }

    [[nodiscard]] result<std::string> new_form_token(const device_call& call, std::string_view purpose, std::string_view text) const {
        return web::new_form_token({call.signed_in, purpose, text}, policies.random(), row_call.state.now);
    }

    void respond_error(const error& error, http::response& response) const {
        respond_error_page(error, pages, policies, row_call.observed(), response);
    }
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/device_page.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_DEVICE_PAGE_HPP
