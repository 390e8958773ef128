#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_SIGN_IN_PAGE_HPP
#define TOLLGATE_PAGES_DETAIL_SIGN_IN_PAGE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/policy/policies.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/detail/sign_in_form.hpp>
#include <tollgate/web/page_theme.hpp>
#include <tollgate/web/session_cookies.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tollgate::inline v0::pages {

/// Query parameters besides `return_to`, as an authorization page appends them to the URL of a sign-in page.
inline constexpr std::string_view prompt_name = "prompt";
inline constexpr std::string_view login_hint_name = "login_hint";

/// The submitted form without the password, or the query.
struct sign_in_form {
    std::string login = {};
    std::string return_to = {};  ///< a path of this site; empty: the overview
    std::string prompt = {};     ///< from the query: the reason why a signed-in user signs in again; empty: they need not
    std::string login_hint = {};  ///< from the query: the login to begin with

    [[nodiscard]] static TOLLGATE_DECL sign_in_form read(const http::form_fields& fields);
};

struct sign_in_view {
    const page_texts& texts;
    std::string_view url;
    bool signed_out = false;  ///< redirected from the sign-out page
    std::string_view lost_cookie = {};  ///< why there is no session after signing in; empty unless that happened
};

TOLLGATE_DECL void write_sign_in(html_writer& html, const sign_in_view& view, const sign_in_form& typed,
                                 const web::form_faults& faults);

struct sign_out_view {
    const page_texts& texts;
    std::string_view url;
    std::string_view form_token;
    std::string_view login;
    std::string_view stale = {};  ///< reason for displaying the form again; empty if there is none
};

/// Confirms sign-out: a GET request must not sign out.
TOLLGATE_DECL void write_sign_out(html_writer& html, const sign_out_view& view);

/// The query parameter of the sign-in page after a successful attempt.
inline constexpr std::string_view signed_in_name = "signed_in";

/// The sign-in page, which says so if the user has signed out.
[[nodiscard]] inline std::string signed_out_url(std::string sign_in_url, bool has_signed_out) {
    return has_signed_out ? sign_in_url.append("?signed_out=1") : sign_in_url;
}

/// A request to the sign-in page.
struct sign_in_context {
    const web::page_language& language;
    const http::request& request;
    const http::form_fields& sent;  ///< the posted form, or the query
    bool is_signed_in = false;      ///< only looked up for the form
    ip_address client;
    instant now;
};

/// To where the user came from, in the language that the sign-in page was read in.
[[nodiscard]] inline result<void> redirect_after_sign_in(const page_environment& pages, const web::page_language& language,
                                                         const sign_in_form& typed, http::response& response) {
    const auto back = pages.renderer.in(language).translate(typed.return_to);
    return web::respond_see_other(response, pages.renderer.site(), back.empty() ? pages.url_of(page::overview, language) : back);
}

/// After signing in, by way of the sign-in page: without the session cookie, that page says what is wrong.
[[nodiscard]] inline result<void> redirect_to_cookie_check(const page_environment& pages, const web::page_language& language,
                                                           const sign_in_form& typed, http::response& response) {
    auto url = pages.url_of(page::sign_in, language).append("?").append(signed_in_name).append("=1");
    if (!typed.return_to.empty()) url.append("&return_to=").append(tollgate::detail::percent_encode(typed.return_to));
    if (url.size() > limits::target_bytes_max) return redirect_after_sign_in(pages, language, typed, response);
    return web::respond_see_other(response, pages.renderer.site(), url);
}

/// The reason for displaying the sign-in page, if it is not for a first attempt.
struct sign_in_reason {
    bool signed_out = false;
    bool cookie_is_lost = false;
};

inline void show_sign_in_form(const page_environment& pages, const web::page_language& language, const sign_in_form& typed,
                       const web::form_faults& faults, http::response& response, const sign_in_reason& reason = {}) {
    const auto lost_cookie = fill_in(language.texts->sign_in.lost_cookie, pages.renderer.site().origin);
    const auto localized = pages.renderer.in(language);
    // The page to return to may redirect to an application.
    const auto reach = typed.return_to.empty() ? web::page_reach::this_site : web::page_reach::other_sites;
    const std::string own_path{find_path(page::sign_in).path()};
    const auto url = localized.url(own_path);
    auto path = own_path;
    const auto add = [&](std::string_view name, std::string_view value) {
        if (!value.empty())
            path.append(path == own_path ? "?" : "&")
                .append(name)
                .append("=")
                .append(tollgate::detail::percent_encode(value));
    };
    add(return_to_name, typed.return_to);
    add(prompt_name, typed.prompt);
    add(login_hint_name, typed.login_hint);
    localized.respond(response,
                      {.title = localized.texts().sign_in.title,
                       .has_errors = !faults.empty(),
                       .shape = page_shape::narrow,
                       .path = path},
                      [&](html_writer& html) {
                          write_sign_in(html, {localized.texts(), url, reason.signed_out, reason.cookie_is_lost ? lost_cookie : ""},
                                        typed, faults);
                      },
                      reach);
}

/// The form; redirects if there is a session, unless a prompt asks for the form.
[[nodiscard]] inline result<void> show_sign_in(page_environment& pages, const sign_in_context& context, http::response& response) {
    auto fresh = sign_in_form::read(context.sent);
    fresh.login = fresh.login_hint;
    if (context.is_signed_in && fresh.prompt.empty()) return redirect_after_sign_in(pages, context.language, fresh, response);
    show_sign_in_form(pages, context.language, fresh, {}, response,
                      {context.sent.value_of("signed_out") == "1", context.sent.value_of(signed_in_name) == "1"});
    return {};
}

[[nodiscard]] inline result<void> post_to_sign_in(page_environment& pages, const sign_in_context& context, http::response& response) {
    const page_texts& texts = *context.language.texts;
    const auto typed = sign_in_form::read(context.sent);
    const sign_in_attempt attempt{
        .login = typed.login, .password = context.sent.value_of(web::password_name), .client = context.client};
    if (const auto faults = web::faults_of(attempt, texts.sign_in); !faults.empty()) {
        response.set_status(http::status::unprocessable_content);
        show_sign_in_form(pages, context.language, typed, faults, response);
        return {};
    }
    const auto tried = pages.sessions.sign_in(context.request, attempt, context.now, response);
    if (!tried) return tried.error();
    if (tried->session)
        pages.policies.observer().on_activity({activity_kind::signed_in, tried->session->user, {}, attempt.client, context.now});
    if (tried->result == sign_in_result::signed_in) return redirect_to_cookie_check(pages, context.language, typed, response);

    const bool throttled = tried->result == sign_in_result::throttled;
    response.set_status(throttled ? http::status::too_many_requests : http::status::unprocessable_content);
    if (throttled) http::add_retry_after(response, tried->retry_after);
    show_sign_in_form(pages, context.language, typed, web::faults_of(*tried, texts.sign_in), response);
    return {};
}

[[nodiscard]] inline result<void> respond_sign_in(page_environment& pages, const sign_in_context& context, http::response& response) {
    return context.request.method == http::method::post ? post_to_sign_in(pages, context, response)
                                                        : show_sign_in(pages, context, response);
}

[[nodiscard]] inline result<void> show_sign_out(page_environment& pages, const page_context& context, http::response& response,
                                                std::string_view stale = {}) {
    const auto localized = pages.renderer.in(context.language);
    const auto path = find_path(page::sign_out).path();
    const auto url = localized.url(path);
    const auto& texts = localized.texts();
    if (!stale.empty()) response.set_status(http::status::forbidden);
    localized.respond(
        response, {.title = texts.sign_in.out_title, .has_errors = !stale.empty(), .shape = page_shape::narrow, .path = path},
        [&](html_writer& html) { write_sign_out(html, {texts, url, context.form_token, context.session.login, stale}); });
    return {};
}

/// Signs out, or shows the form that does.
[[nodiscard]] inline result<void> respond_sign_out(page_environment& pages, const page_context& context, http::response& response) {
    if (context.request.method != http::method::post) return show_sign_out(pages, context, response);
    if (auto ended = pages.sessions.sign_out(context.request, context.now, response); !ended) return ended;
    return web::respond_see_other(response, pages.renderer.site(), signed_out_url(pages.url_of(page::sign_in, context.language), true));
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/sign_in_page.ipp>
#endif

#endif  // TOLLGATE_PAGES_DETAIL_SIGN_IN_PAGE_HPP
