#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/http/detail/client_address.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/web/detail/page.hpp>
#include <tollgate/web/detail/sign_in_form.hpp>
#include <tollgate/web/page_theme.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace tollgate::inline v0::pages {

/// What was typed, but for the password, and where to go afterwards.
struct sign_in_form {
    std::string login = {};
    std::string return_to = {};  ///< a target of this site; empty: to the settings

    [[nodiscard]] static TOLLGATE_DECL sign_in_form read(const http::form_fields& fields);
};

struct sign_in_view {
    const page_texts& texts;
    std::string_view url;
    bool signed_out = false;  ///< they come from the sign-out page
};

TOLLGATE_DECL void write_sign_in(http::html_writer& html, const sign_in_view& view, const sign_in_form& typed,
                                 const pipeline::form_faults& faults);

struct sign_out_view {
    const page_texts& texts;
    std::string_view url;
    std::string_view form_token;
    std::string_view login;
};

/// For those who follow a link: only a form signs out.
TOLLGATE_DECL void write_sign_out(http::html_writer& html, const sign_out_view& view);

/// A request to the sign-in page, whoever sends it.
struct sign_in_visit {
    const http::request& asked;
    const http::form_fields& sent;  ///< what was posted, or the query
    instant now;
};

template <class Pages>
[[nodiscard]] result<void> leave_sign_in(const Pages& pages, const sign_in_form& typed, http::response& out) {
    const auto settings = pages.url_of(room::tokens);
    return pipeline::answer_see_other(out, pages.maker().site(), typed.return_to.empty() ? settings : typed.return_to);
}

template <class Pages>
void answer_sign_in(const Pages& pages, const sign_in_view& view, const sign_in_form& typed,
                    const pipeline::form_faults& faults, http::response& out) {
    // What people come back to may lead them on to an application at once.
    const auto reach = typed.return_to.empty() ? pipeline::page_reach::here : pipeline::page_reach::onward;
    pages.maker().answer(
        out, {.title = view.texts.sign_in.title, .faulty = !faults.empty(), .shape = page_shape::narrow},
        [&](http::html_writer& html) { write_sign_in(html, view, typed, faults); }, reach);
}

/// The form; whoever is signed in already is led on.
template <class Pages>
[[nodiscard]] result<void> show_sign_in(Pages& pages, const sign_in_visit& visit, http::response& out) {
    const auto who = pages.sessions().session_of(visit.asked, visit.now);
    if (!who) return who.error();
    const sign_in_form fresh{.return_to = sign_in_form::read(visit.sent).return_to};
    if (*who) return leave_sign_in(pages, fresh, out);
    const auto url = pages.url_of(room::sign_in);
    answer_sign_in(pages, {pages.maker().texts(), url, visit.sent.value_of("signed_out") == "1"}, fresh, {}, out);
    return {};
}

template <class Pages>
[[nodiscard]] result<void> post_to_sign_in(Pages& pages, const sign_in_visit& visit, http::response& out) {
    const page_texts& texts = pages.maker().texts();
    const auto url = pages.url_of(room::sign_in);
    const auto typed = sign_in_form::read(visit.sent);
    const sign_in_attempt attempt{
        .login = typed.login,
        .password = visit.sent.value_of(pipeline::password_name),
        .client = http::client_address(visit.asked, pages.settings().trusted_proxies),
    };
    if (const auto faults = pipeline::faults_of(attempt, texts.sign_in); !faults.empty()) {
        out.set_status(http::status::unprocessable_content);
        answer_sign_in(pages, {texts, url}, typed, faults, out);
        return {};
    }
    const auto tried = pages.sessions().sign_in(visit.asked, attempt, visit.now, out);
    if (!tried) return tried.error();
    if (tried->result == sign_in_result::signed_in) return leave_sign_in(pages, typed, out);

    const bool throttled = tried->result == sign_in_result::throttled;
    out.set_status(throttled ? http::status::too_many_requests : http::status::unprocessable_content);
    if (throttled)
        out.add("Retry-After", static_cast<std::uint64_t>((std::max)(tried->retry_after.count(), seconds::rep{1})));
    answer_sign_in(pages, {texts, url}, typed, pipeline::faults_of(*tried, texts.sign_in), out);
    return {};
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/sign_in_page.ipp>
#endif
