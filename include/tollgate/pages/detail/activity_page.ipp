#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_ACTIVITY_PAGE_IPP
#define TOLLGATE_PAGES_DETAIL_ACTIVITY_PAGE_IPP

#include <tollgate/pages/detail/activity_page.hpp>
#include <tollgate/pages/detail/list_parts.hpp>

#include <string_view>

namespace tollgate::inline v0::pages {

namespace detail {

[[nodiscard]] inline std::string_view text_of(activity_kind kind, const activity_texts& texts) noexcept {
    switch (kind) {
        case activity_kind::signed_in: return texts.signed_in;
        case activity_kind::token_created: return texts.token_created;
        case activity_kind::token_renewed: return texts.token_renewed;
        case activity_kind::token_revoked: return texts.token_revoked;
        case activity_kind::application_registered: return texts.application_registered;
        case activity_kind::client_secret_replaced: return texts.client_secret_replaced;
        case activity_kind::client_secret_removed: return texts.client_secret_removed;
        case activity_kind::application_deleted: return texts.application_deleted;
        case activity_kind::access_granted: return texts.access_granted;
        case activity_kind::access_revoked: return texts.access_revoked;
        case activity_kind::hook_created: return texts.hook_created;
        case activity_kind::hook_deleted: return texts.hook_deleted;
        case activity_kind::hook_secret_replaced: return texts.hook_secret_replaced;
        case activity_kind::hook_enabled: return texts.hook_enabled;
        case activity_kind::delivery_resent: return texts.delivery_resent;
        case activity_kind::application_changed: return texts.application_changed;
        case activity_kind::hook_changed: return texts.hook_changed;
        case activity_kind::hook_tested: return texts.hook_tested;
        case activity_kind::deliveries_resent: return texts.deliveries_resent;
        case activity_kind::session_ended: return texts.session_ended;
        case activity_kind::other_sessions_ended: return texts.other_sessions_ended;
        case activity_kind::access_revoked_after_reuse: return texts.access_revoked_after_reuse;
        case activity_kind::user_added: return texts.user_added;
        case activity_kind::user_disabled: return texts.user_disabled;
        case activity_kind::user_enabled: return texts.user_enabled;
        case activity_kind::user_deleted: return texts.user_deleted;
        case activity_kind::password_set: return texts.password_set;
        case activity_kind::sessions_ended: return texts.sessions_ended;
        case activity_kind::quota_set: return texts.quota_set;
        case activity_kind::account_added: return texts.account_added;
        case activity_kind::event_reported: return texts.event_reported;
        case activity_kind::application_suspended: return texts.application_suspended;
        case activity_kind::application_resumed: return texts.application_resumed;
        case activity_kind::count_: break;
    }
    return {};
}

}  // namespace detail

TOLLGATE_DECL std::string describe(const activity& done, const activity_texts& texts) {
    if (done.kind == activity_kind::quota_set && done.subject.empty()) return std::string{texts.quota_reset};
    return fill_in(detail::text_of(done.kind, texts), done.subject);
}

TOLLGATE_DECL void write_activity_table(html_writer& html, const page_view& view, std::span<const activity> activities) {
    const activity_texts& texts = view.texts.activity;
    if (activities.empty()) return write_empty_list(html, texts.none);
    begin_table(html, texts.title, {texts.activity, texts.time, texts.from}, {});
    for (const activity& each : activities) {
        begin_row(html, texts.activity, describe(each, texts));
        write_cell(html, texts.time, [&] { web::write_moment(html, each.at, view.texts.dates); });
        write_cell(html, texts.from, [&] {
            if (each.client) html.add("{}", each.client->to_text());
            else html.add("<span class=\"quiet\">{}</span>", texts.by_operator);
        });
        end_row(html);
    }
    end_table(html);
}

TOLLGATE_DECL void write_activities(html_writer& html, const page_view& view, std::span<const activity> activities) {
    const activity_texts& texts = view.texts.activity;
    begin_list_page(html, view, {.title = texts.title, .about = texts.about});
    const auto page = choose_page(view, activities.size());
    write_activity_table(html, view, items_of(activities, page));
    write_page_links(html, view, page);
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_ACTIVITY_PAGE_IPP
