#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_DISPATCH_HPP
#define TOLLGATE_PAGES_DETAIL_DISPATCH_HPP

#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/pages/detail/activity_page.hpp>
#include <tollgate/pages/detail/applications_page.hpp>
#include <tollgate/pages/detail/authorizations_page.hpp>
#include <tollgate/pages/detail/list_parts.hpp>
#include <tollgate/pages/detail/overview_page.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/pages/detail/security_page.hpp>
#include <tollgate/pages/detail/sign_in_page.hpp>
#include <tollgate/pages/detail/tokens_page.hpp>
#include <tollgate/pages/detail/webhooks_page.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0::pages {

/// The value of `done` after an item was removed by this action; empty for another action.
[[nodiscard]] constexpr std::string_view done_after_removal(std::string_view action) noexcept {
    if (action == delete_action || action == revoke_action) return removal_done;
    if (action == remove_secret_action) return secret_removal_done;
    return action == end_session_action ? session_ended_done : std::string_view{};
}

/// The page's response to a form whose token was checked, or to another request.
[[nodiscard]] inline result<void> respond_call(page_environment& pages, page_call& call) {
    const bool posted = call.request.method == http::method::post;
    if (!posted && call.query.find(shown_name) != nullptr) {
        const auto text = call.open_secret();
        const auto shown = text ? secret_view::parse(*text) : std::nullopt;
        if (!shown) return call.redirect_to_page();
        call.page(shown->title, {}, [&](html_writer& html) { write_secret(html, call.view(), *shown); });
        return {};
    }
    switch (call.which) {
        case page::overview: return show_overview(call);
        case page::tokens: return posted ? post_to_tokens(call) : show_tokens(call);
        case page::applications: return posted ? post_to_applications(call) : show_applications(call);
        case page::authorizations: return posted ? post_to_authorizations(call) : show_authorizations(call);
        case page::webhooks: return posted ? post_to_hooks(call) : show_hooks(call);
        case page::activity:
            return show_activities(call);
        case page::security:
            return posted ? post_to_security(call) : show_security(call);
            break;
        case page::sign_out:
            if (pages.sessions.signs_in()) return respond_sign_out(pages, call, call.response());
            break;
        case page::sign_in:
        case page::start:
        case page::none: break;
    }
    return not_found();
}

/// Shows a form again that came with the token of another session, such as one that the user has replaced by signing in again in another
/// tab: with what was submitted, but never a password or a secret. If another user has signed in, the page of that user is shown, without
/// what was submitted. Nothing is changed.
[[nodiscard]] inline result<void> show_stale_form(page_environment& pages, page_call& call) {
    const bool is_for_other_user = web::is_for_other_user(call.session, call.form.value_of(web::form_token_name));
    call.set_stale(is_for_other_user);
    switch (call.which) {
        case page::tokens: return is_for_other_user ? show_tokens(call) : show_stale_tokens(call);
        case page::applications: return is_for_other_user ? show_applications(call) : show_stale_applications(call);
        case page::authorizations: return show_authorizations(call);
        case page::webhooks: return is_for_other_user ? show_hooks(call) : show_stale_hooks(call);
        case page::security:
            return show_security(call);
            break;
        case page::sign_out:
            if (pages.sessions.signs_in()) return show_sign_out(pages, call, call.response(), call.view().stale.reason);
            break;
        case page::activity:
        case page::overview:
        case page::sign_in:
        case page::start:
        case page::none: break;
    }
    return not_found();
}

/// Answers a request of a signed-in user.
[[nodiscard]] inline result<void> dispatch(page_environment& pages, page_context context, http::response& response) {
    const auto token = web::new_form_token(form_binding_of(context.session), pages.policies.random(), context.now);
    if (!token) return token.error();
    context.form_token = *token;
    const bool posted = context.request.method == http::method::post;
    const auto sent = context.form.value_of(web::form_token_name);
    if (posted) context.form_nonce = web::check_form_token(form_binding_of(context.session), sent);
    page_call call{pages, context, response};
    if (!posted) return respond_call(pages, call);
    // A form without any token is not from this site.
    if (sent.empty()) {
        call.message(http::status::forbidden);
        return {};
    }
    if (!context.form_nonce && call.which == page::security && pages.sessions.finds_repeated_changes()) {
        const auto repeated = pages.sessions.find_repeated_change(context.request, context.now, response);
        if (!repeated) return repeated.error();
        if (*repeated) return call.redirect_to(password_changed_done);
    }
    auto answered = context.form_nonce ? respond_call(pages, call) : show_stale_form(pages, call);
    if (!answered && answered.error().kind == error_kind::not_found) {
        // Submitted again, by a double click or a reload: what the form removes is gone.
        const auto done = context.form_nonce ? done_after_removal(call.form.value_of(action_name)) : std::string_view{};
        if (!done.empty() && call.names_listed_item()) return call.redirect_to(done);
        // The user may have deleted it in another window.
        call.message(http::status::not_found, call.texts().errors.gone);
        return {};
    }
    return answered;
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_DISPATCH_HPP
