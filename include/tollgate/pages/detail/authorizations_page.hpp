#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_AUTHORIZATIONS_PAGE_HPP
#define TOLLGATE_PAGES_DETAIL_AUTHORIZATIONS_PAGE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/web/detail/form.hpp>

#include <algorithm>
#include <span>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL void write_authorizations(html_writer& html, const page_view& view, std::span<const grant> grants);

/// The list of authorized applications.
[[nodiscard]] inline result<void> show_authorizations(page_call& call) {
    const auto grants = call.store().grants_of(call.session.user);
    if (!grants) return grants.error();
    call.page(call.texts().authorizations.title, {},
              [&](html_writer& html) { write_authorizations(html, call.view(), *grants); });
    return {};
}

/// Revokes an application's access to the user's account only.
[[nodiscard]] inline result<void> post_to_authorizations(page_call& call) {
    const auto action = call.form.value_of(action_name);
    const auto which = application_id::parse(call.form.value_of("application"));
    if ((!action.empty() && action != revoke_action) || !which) return not_found();
    const auto grants = call.store().grants_of(call.session.user);
    if (!grants) return grants.error();
    const auto found =
        std::find_if(grants->begin(), grants->end(), [&](const grant& each) { return each.application == *which; });
    if (found == grants->end()) return not_found();
    return call.finish_change(call.store().revoke(grant_revocation{call.session.user, *which}), activity_kind::access_revoked,
                              found->application_name, removal_done);
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/authorizations_page.ipp>
#endif

#endif  // TOLLGATE_PAGES_DETAIL_AUTHORIZATIONS_PAGE_HPP
