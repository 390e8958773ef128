#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_SECURITY_PAGE_HPP
#define TOLLGATE_PAGES_DETAIL_SECURITY_PAGE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/pages/detail/list_parts.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/web/detail/form.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// Where a user is signed in, and their password: each part if the session source has it.
namespace tollgate::inline v0::pages {

inline constexpr std::string_view session_ended_done = "session";
inline constexpr std::string_view others_ended_done = "others";
inline constexpr std::string_view password_changed_done = "password";

struct security_view {
    bool lists_sessions = false;
    bool changes_password = false;
    std::string login = {};
    std::vector<listed_session> sessions = {};
};

/// `Firefox on Windows`, or `texts.unknown_browser`. A User-Agent can be anything, so this only helps to recognize a browser.
[[nodiscard]] TOLLGATE_DECL std::string browser_text(std::string_view user_agent, const security_texts& texts);

TOLLGATE_DECL void write_security(html_writer& html, const page_view& view, const security_view& shown,
                                  const web::form_faults& faults);

/// The errors that show before the current password is checked. `login` is the user's.
[[nodiscard]] TOLLGATE_DECL web::form_faults faults_of(const http::form_fields& typed, std::string_view login, const page_texts& texts);

[[nodiscard]] inline result<void> show_security(page_call& call, const web::form_faults& faults = {},
                                                http::status refused = http::status::unprocessable_content) {
    security_view shown{.lists_sessions = call.sessions().lists_sessions(),
                        .changes_password = call.sessions().changes_passwords(),
                        .login = call.session.login};
    if (call.sessions().lists_sessions()) {
        auto listed = call.sessions().sessions_of(call.request, call.session, call.now);
        if (!listed) return std::move(listed).error();
        shown.sessions = *std::move(listed);
    }
    call.page_with_status(call.texts().security.title, faults.empty() ? http::status::ok : refused,
                          [&](html_writer& html) { write_security(html, call.view(), shown, faults); });
    return {};
}

[[nodiscard]] inline result<void> end_other_sessions(page_call& call) {
    if (auto ended = call.sessions().end_other_sessions(call.request, call.session); !ended) return ended;
    call.report(activity_kind::other_sessions_ended, {});
    return call.redirect_to(others_ended_done);
}

[[nodiscard]] inline result<void> change_password(page_call& call) {
    using enum password_change_response::outcome;
    const security_texts& texts = call.texts().security;
    auto faults = faults_of(call.form, call.session.login, call.texts());
    if (!faults.empty()) return show_security(call, faults);
    const password_change change{call.form.value_of("current_password"), call.form.value_of("new_password"), call.client};
    const auto done = call.sessions().change_password(call.request, call.session, change, call.now, call.response());
    if (!done) return done.error();
    switch (done->result) {
        case changed: call.report(activity_kind::password_set, {}); break;
        case repeated: break;
        case refused: faults.add("current_password", texts.refused); return show_security(call, faults);
        case throttled:
            faults.add("current_password",
                       fill_in(texts.throttled, web::duration_text(done->retry_after, call.texts().sign_in.durations)));
            http::add_retry_after(call.response(), done->retry_after);
            return show_security(call, faults, http::status::too_many_requests);
    }
    return call.redirect_to(password_changed_done);
}

[[nodiscard]] inline result<void> post_to_security(page_call& call) {
    const auto action = call.form.value_of(action_name);
    if (call.sessions().lists_sessions()) {
        if (action == end_session_action)
            return call.finish_change(call.sessions().end_session(call.session, call.form.value_of("session")),
                                      activity_kind::session_ended, {}, session_ended_done);
        if (action == end_others_action) return end_other_sessions(call);
    }
    if (call.sessions().changes_passwords())
        if (action == change_password_action) return change_password(call);
    return not_found();
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/security_page.ipp>
#endif

#endif  // TOLLGATE_PAGES_DETAIL_SECURITY_PAGE_HPP
