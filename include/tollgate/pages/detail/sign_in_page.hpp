#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/policy/detail/policy_set.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/detail/sign_in_form.hpp>
#include <tollgate/web/page_theme.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace tollgate::inline v0::pages {

/// The submitted form without the password.
struct sign_in_form {
    std::string login = {};
    std::string return_to = {};  ///< a path of this site; empty: the settings

    [[nodiscard]] static TOLLGATE_DECL sign_in_form read(const http::form_fields& fields);
};

struct sign_in_view {
    const page_texts& texts;
    std::string_view url;
    bool signed_out = false;  ///< redirected from the sign-out page
};

TOLLGATE_DECL void write_sign_in(html_writer& html, const sign_in_view& view, const sign_in_form& typed,
                                 const web::form_faults& faults);

struct sign_out_view {
    const page_texts& texts;
    std::string_view url;
    std::string_view form_token;
    std::string_view login;
};

/// Confirms sign-out: a GET request must not sign out.
TOLLGATE_DECL void write_sign_out(html_writer& html, const sign_out_view& view);

/// A request to the sign-in page.
struct sign_in_context {
    const http::request& request;
    const http::form_fields& sent;  ///< the posted form, or the query
    instant now;
};

template <class Pages>
[[nodiscard]] result<void> redirect_after_sign_in(const Pages& pages, const sign_in_form& typed,
                                                  http::response& response) {
    const auto settings = pages.url_of(page::tokens);
    return web::answer_see_other(response, pages.renderer().site(),
                                 typed.return_to.empty() ? settings : typed.return_to);
}

template <class Pages>
void answer_sign_in(const Pages& pages, const sign_in_view& view, const sign_in_form& typed,
                    const web::form_faults& faults, http::response& response) {
    // The page to return to may redirect to an application.
    const auto reach = typed.return_to.empty() ? web::page_reach::this_site : web::page_reach::other_sites;
    pages.renderer().answer(
        response, {.title = view.texts.sign_in.title, .has_errors = !faults.empty(), .shape = page_shape::narrow},
        [&](html_writer& html) { write_sign_in(html, view, typed, faults); }, reach);
}

/// The form; redirects if there is a session.
template <class Pages>
[[nodiscard]] result<void> show_sign_in(Pages& pages, const sign_in_context& context, http::response& response) {
    const auto who = pages.sessions().session_of(context.request, context.now);
    if (!who) return who.error();
    const sign_in_form fresh{.return_to = sign_in_form::read(context.sent).return_to};
    if (*who) return redirect_after_sign_in(pages, fresh, response);
    const auto url = pages.url_of(page::sign_in);
    answer_sign_in(pages, {pages.renderer().texts(), url, context.sent.value_of("signed_out") == "1"}, fresh, {},
                   response);
    return {};
}

template <class Pages>
[[nodiscard]] result<void> post_to_sign_in(Pages& pages, const sign_in_context& context, http::response& response) {
    const page_texts& texts = pages.renderer().texts();
    const auto url = pages.url_of(page::sign_in);
    const auto typed = sign_in_form::read(context.sent);
    const sign_in_attempt attempt{
        .login = typed.login,
        .password = context.sent.value_of(web::password_name),
        .client = http::client_address(context.request, pages.settings().trusted_proxies,
                                       pages.settings().client_named_by),
    };
    if (const auto faults = web::faults_of(attempt, texts.sign_in); !faults.empty()) {
        response.set_status(http::status::unprocessable_content);
        answer_sign_in(pages, {texts, url}, typed, faults, response);
        return {};
    }
    const auto tried = pages.sessions().sign_in(context.request, attempt, context.now, response);
    if (!tried) return tried.error();
    if (tried->who)
        report_activity(policy(pages.policies().observer),
                        {activity_kind::signed_in, tried->who->user, {}, attempt.client, context.now});
    if (tried->result == sign_in_result::signed_in) return redirect_after_sign_in(pages, typed, response);

    const bool throttled = tried->result == sign_in_result::throttled;
    response.set_status(throttled ? http::status::too_many_requests : http::status::unprocessable_content);
    if (throttled)
        response.add("Retry-After",
                     static_cast<std::uint64_t>((std::max)(tried->retry_after.count(), seconds::rep{1})));
    answer_sign_in(pages, {texts, url}, typed, web::faults_of(*tried, texts.sign_in), response);
    return {};
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/sign_in_page.ipp>
#endif
