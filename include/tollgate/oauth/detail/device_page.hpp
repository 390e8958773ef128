#pragma once

#include <tollgate/contract/session_source.hpp>
#include <tollgate/oauth/detail/consent.hpp>
#include <tollgate/oauth/detail/device_codes.hpp>
#include <tollgate/oauth/detail/paths.hpp>
#include <tollgate/oauth/detail/settings.hpp>
#include <tollgate/oauth/detail/token_endpoint.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/pipeline/detail/error_response.hpp>
#include <tollgate/policy/detail/policy_set.hpp>
#include <tollgate/web/detail/form.hpp>
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
};
TOLLGATE_DECL void write_device_form(html_writer& html, const device_form_view& view);

/// The request of a device, to be allowed or denied.
struct device_request_view {
    const page_texts& texts;
    std::string_view operator_name;  ///< of the site
    const web::scope_text_list& scopes;
    std::string_view url;
    std::string_view form_token;
    std::string_view user_code;
    const application& client;
    const device_code& request;
    std::string_view login;  ///< as whom the user is signed in
};
TOLLGATE_DECL void write_device_request(html_writer& html, const device_request_view& view);

/// The page where a user types the code that a device shows, and allows or denies its request (RFC 8628 section 3.3). Refers
/// to members of an authorization server, for the duration of a call.
///
/// The user has to be signed in, and wrong codes are counted per user. A code in the URL is put into the form, no more: the
/// person compares it with the device (section 5.4).
template <session_source Sessions, oauth_store Store, class Policies, class Theme>
struct device_page {
    const oauth_settings& settings;
    Sessions& sessions;
    Store& store;
    Policies& policies;
    web::localized_pages<Theme> pages;
    window_limiter& limiter;  ///< of wrong codes
    pipeline::observed_request observed;

    void answer(const http::request& request, request_context& context, http::response& response) const {
        const auto read = read_page_or_answer(request, pages, response);
        if (!read) return;
        const parameters& sent = *read;
        const auto who = sessions.session_of(request, context.now);
        if (!who) return answer_error(who.error(), response);
        if (!*who) return redirect_to_sign_in(sent, request, response);
        context.who = caller{(*who)->user, {}, credential_kind::other, {}};
        const call with{request, sent, **who, context, context.now, response, pages.translate(request.target.path)};
        if (request.method != http::method::post) return show_form(with, {});
        handle_form(with);
    }

private:
    struct call {
        const http::request& request;
        const parameters& sent;
        const session& who;
        const request_context& context;
        instant now;
        http::response& response;
        std::string url;  ///< of this page

        [[nodiscard]] std::string typed() const { return sent.find(user_code_name).value_or("").substr(0, 64); }
    };

    void redirect_to_sign_in(const parameters& sent, const http::request& request, http::response& response) const {
        auto url = pages.translate(request.target.path);
        if (const auto code = parse_user_code(sent.find(user_code_name).value_or("")))
            url.append("?").append(user_code_name).append("=").append(*code);
        if (const auto led = web::answer_see_other(response, pages.site(), sessions.sign_in_url(url)); !led)
            answer_error(led.error(), response);
    }

    void handle_form(const call& with) const {
        const auto token = with.sent.find(web::form_token_name).value_or("");
        const auto code = parse_user_code(with.typed());
        const auto decided = read_decision(with.sent);
        const bool decides = code && (decided == decision::allow || decided == decision::deny);
        const web::form_binding binding = decides ? web::form_binding{with.who, device_decision_purpose, *code}
                                                  : web::form_binding{with.who, device_code_purpose, {}};
        if (!web::check_form_token(binding, token)) return pages.answer_status(with.response, http::status::forbidden);
        if (!code) return show_fault(with, pages.texts().device.malformed, http::status::unprocessable_content);

        const auto key = limit_key::of(with.who.user);
        const auto window = limiter.peek(key, settings.user_code_attempts, with.now);
        if (window.remaining == 0) return refuse_attempt(with, window);
        const auto found = store.find_device_code(digest_of_user_code(*code));
        if (!found) return answer_error(found.error(), with.response);
        const bool waits =
            *found && (*found)->state == device_code_state::pending && with.now < (*found)->expires_at;
        if (!waits) {
            static_cast<void>(limiter.take(key, settings.user_code_attempts, with.now));
            return show_fault(with, pages.texts().device.unknown, http::status::unprocessable_content);
        }
        switch (decided) {
            case decision::other_user:
            case decision::none: return show_request(with, *code, **found);
            case decision::deny: return deny(with, *code);
            case decision::allow: return allow(with, *code, **found);
        }
    }

    void refuse_attempt(const call& with, const verdict& window) const {
        with.response.add("Retry-After", pipeline::seconds_until(window.resets_at, with.now));
        const auto wait = std::chrono::ceil<seconds>(window.resets_at - with.now);
        const auto text = fill_in(pages.texts().device.too_many, web::duration_text(wait, pages.texts().sign_in.durations));
        show_fault(with, text, http::status::too_many_requests);
    }

    void show_fault(const call& with, std::string_view text, http::status status) const {
        web::form_faults faults;
        faults.add(user_code_name, text, pages.texts().device.code);
        with.response.set_status(status);
        show_form(with, faults);
    }

    void show_form(const call& with, const web::form_faults& faults) const {
        const auto token = new_form_token(with, device_code_purpose, {});
        if (!token) return;
        const auto typed = with.typed();
        const device_form_view view{pages.texts(), with.url, *token, typed, faults};
        const auto path = pages.path_of(with.url);
        auto frame = make_frame(with);
        frame.path = path;
        frame.has_errors = !faults.empty();
        pages.answer(with.response, frame, [&](html_writer& html) { write_device_form(html, view); });
    }

    void show_request(const call& with, const std::string& code, const device_code& request) const {
        const auto client = store.find_application(request.client_id.view());
        if (!client) return answer_error(client.error(), with.response);
        if (!*client) return show_fault(with, pages.texts().device.unknown, http::status::unprocessable_content);
        const auto token = new_form_token(with, device_decision_purpose, code);
        if (!token) return;
        const device_request_view view{pages.texts(), pages.operator_name(), pages.scopes(), with.url,     *token,
                                       code,          **client,              request,        with.who.login};
        const auto path = pages.path_of(with.url).append("?").append(user_code_name).append("=").append(code);
        const auto title = fill_in(pages.texts().consent.title, (*client)->name);
        auto frame = make_frame(with);
        frame.title = title;
        frame.path = path;
        pages.answer(with.response, frame, [&](html_writer& html) { write_device_request(html, view); });
    }

    void deny(const call& with, const std::string& code) const {
        const auto denied = store.answer_device_code(digest_of_user_code(code), device_code_state::denied);
        if (!denied) return answer_error(denied.error(), with.response);
        const auto& texts = pages.texts().device;
        pages.answer_message(with.response, http::status::ok, *denied ? texts.denied : texts.answered, make_frame(with));
    }

    /// The code is created first: only one user can create it, and after a later failure the user can try again.
    void allow(const call& with, const std::string& code, const device_code& request) const {
        const auto created = store.create_code({.code_digest = request.device_digest,
                                                .user = with.who.user,
                                                .application = request.application,
                                                .scopes = request.scopes,
                                                .redirect = std::string{device_grant_type},
                                                .code_challenge = {},
                                                .created_at = with.now,
                                                .expires_at = request.expires_at});
        if (!created && created.error().kind == error_kind::not_found)  // deleted in the meantime
            return show_fault(with, pages.texts().device.unknown, http::status::unprocessable_content);
        if (!created) return answer_error(created.error(), with.response);
        if (*created == code_result::created) report_granted(with, request);
        const auto approved = store.answer_device_code(digest_of_user_code(code), device_code_state::approved);
        if (!approved) return answer_error(approved.error(), with.response);
        const auto& texts = pages.texts().device;
        const bool is_first = *created == code_result::created;
        pages.answer_message(with.response, http::status::ok, is_first ? texts.approved : texts.answered, make_frame(with));
        remove_expired(store, policy(policies.observer), with.now, 1);
    }

    void report_granted(const call& with, const device_code& request) const {
        const auto client = store.find_application(request.client_id.view());
        report_activity(policy(policies.observer),
                        {activity_kind::access_granted, with.who.user, client && *client ? (*client)->name : std::string{},
                         with.context.client, with.now});
    }

    [[nodiscard]] page_frame make_frame(const call& with) const {
        page_frame frame;
        frame.title = pages.texts().device.title;
        frame.shape = page_shape::narrow;
        frame.login = with.who.login;
        return frame;
    }

    /// Empty after an error, which has been answered.
    [[nodiscard]] std::optional<std::string> new_form_token(const call& with, std::string_view purpose,
                                                            std::string_view text) const {
        const auto nonce = web::new_form_nonce(policy(policies.random), with.now);
        if (nonce && !with.who.secret.empty()) return web::make_form_token({with.who, purpose, text}, *nonce);
        answer_error(nonce ? internal_error("the session has no secret") : random_source_error(), with.response);
        return std::nullopt;
    }

    void answer_error(const error& why, http::response& response) const {
        observed.report(policies, why);
        const bool is_unavailable = why.kind == error_kind::unavailable;
        if (is_unavailable) response.add("Retry-After", pipeline::retry_after_unavailable_seconds);
        pages.answer_status(response, is_unavailable ? http::status::service_unavailable
                                                     : http::status::internal_server_error);
    }
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/device_page.ipp>
#endif
