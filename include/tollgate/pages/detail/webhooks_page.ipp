#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_WEBHOOKS_PAGE_IPP
#define TOLLGATE_PAGES_DETAIL_WEBHOOKS_PAGE_IPP

#include <tollgate/pages/detail/list_parts.hpp>
#include <tollgate/pages/detail/webhooks_page.hpp>
#include <tollgate/policy/public_targets.hpp>

#include <array>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL const account_hooks* hook_list::find(const account_ref& account) const noexcept {
    for (const account_hooks& each : accounts)
        if (each.account == account) return &each;
    return nullptr;
}

TOLLGATE_DECL std::optional<account_ref> hook_list::named(std::string_view text) const {
    if (const auto whole = parse_account(text)) return find(*whole) != nullptr ? whole : std::nullopt;
    const auto id = account_id::parse(text);
    const auto has_id = [&](const account_hooks& each) { return id && each.account.account == *id; };
    if (std::count_if(accounts.begin(), accounts.end(), has_id) != 1) return std::nullopt;
    return std::find_if(accounts.begin(), accounts.end(), has_id)->account;
}

TOLLGATE_DECL hook_form hook_form::read(const http::form_fields& fields) {
    return {std::string{fields.value_of(account_name)}, std::string{fields.value_of("event")},
            std::string{fields.value_of("target_url")}};
}

TOLLGATE_DECL web::form_faults hook_form::faults(const hook_list& list, const service_catalog& services,
                                                 const page_texts& texts) const {
    web::form_faults found;
    const auto parsed = parse_account(account);
    const service* at = parsed && list.find(*parsed) != nullptr ? services.find(parsed->service) : nullptr;
    if (at == nullptr) found.add(account_name, texts.forms.unknown_choice, texts.webhooks.account);
    if (at == nullptr ? event.empty() : !at->has_event(event)) {
        const bool elsewhere = std::any_of(services.services().begin(), services.services().end(),
                                           [&](const service& each) { return each.has_event(event); });
        if (at != nullptr && elsewhere) found.add("event", fill_in(texts.webhooks.event_of_other_service, at->name));
        else found.add("event", texts.forms.unknown_choice, texts.webhooks.event);
    }
    const typed_line target{"target_url", texts.webhooks.target_url, target_url, limits::target_url_bytes_max,
                            texts.webhooks.target_url_missing};
    if (target_url.empty() || target_url.size() > target.bytes_max) check_line(found, target, texts.forms);
    else if (const auto fault = tollgate::detail::target_text_fault(target_url); !fault.empty())
        found.add("target_url", target_fault(fault, texts.webhooks));
    else if (!http::url::parse(target_url)) found.add("target_url", texts.forms.no_url, texts.webhooks.target_url);
    return found;
}

TOLLGATE_DECL std::string target_fault(std::string_view message, const webhook_texts& texts) {
    namespace refusals = tollgate::detail;
    if (message == refusals::target_has_user_info) return std::string{texts.target_has_user_info};
    if (message == refusals::target_has_fragment) return std::string{texts.target_has_fragment};
    if (message == refusals::target_is_private) return std::string{texts.target_is_private};
    if (message == refusals::target_host_not_ascii) return std::string{texts.target_host_not_ascii};
    if (message == refusals::target_not_printable) return std::string{texts.target_not_printable};
    if (message == refusals::target_stray_percent) return std::string{texts.target_stray_percent};
    if (message == refusals::target_unsafe_character) return std::string{texts.target_unsafe_character};
    constexpr std::string_view member = "target_url";
    std::string text{message};
    if (text.starts_with(member)) text.replace(0, member.size(), texts.target_url);
    return text;
}

namespace detail {

/// The events of one service.
inline void write_hook_fields(html_writer& html, const page_view& view, const service& at, const hook_form& typed,
                              const web::form_faults& faults) {
    const webhook_texts& texts = view.texts.webhooks;
    std::array<web::choice_group, 1> events;
    for (const std::string& each : at.events) events[0].choices.push_back({each, each, each == typed.event});
    web::write_select(html, {.name = "event", .label = texts.event}, events, faults, view.texts.forms);
    web::write_text_field(html,
                          {.name = "target_url",
                           .label = texts.target_url,
                           .hint = texts.target_url_hint,
                           .value = typed.target_url,
                           .type = "url"},
                          faults, view.texts.forms);
}

inline void write_hook(html_writer& html, const page_view& view, const hook& hook, bool has_deliveries) {
    const webhook_texts& texts = view.texts.webhooks;
    // The whole URL is in the form to edit the webhook.
    const auto url = shorten(hook.target_url);
    const auto about = hook.event + " " + url;
    const auto target = [&](std::string_view action) { return hook_action(view, action, hook); };
    const auto removal = target(delete_action);
    auto renewal = target(new_secret_action);
    const bool renewal_is_stale = view.is_stale(renewal);
    renewal.hidden.emplace_back(version_name, version_of(hook.secret_digest));
    begin_item(html, hook.event, true);
    html.add("<p><code>{}</code></p>", url);
    begin_actions(html);
    if (has_deliveries)
        html.add("<a class=\"button quiet\" href=\"{}?{}\">{}<span class=\"unseen\"> {}</span></a>\n", view.url,
                 query_of({hook.account, hook.id}), view.texts.deliveries.link, about);
    html.add("<a class=\"button quiet\" href=\"{}?{}&amp;{}=1\">{}<span class=\"unseen\"> {}</span></a>\n", view.url,
             query_of({hook.account, hook.id}), edit_name, texts.edit, about);
    web::write_confirmation(html,
                            {.label = texts.renew,
                             .about = about,
                             .warning = fill_in(texts.renew_warning, url),
                             .button = texts.renew_button,
                             .is_open = renewal_is_stale},
                            renewal, view.texts.forms);
    web::write_confirmation(html,
                            {.label = texts.remove,
                             .about = about,
                             .warning = fill_in(texts.remove_warning, url),
                             .button = texts.remove_button,
                             .is_removal = true,
                             .is_open = view.is_stale(removal)},
                            removal, view.texts.forms);
    begin_facts(html);
    if (has_deliveries)
        write_fact(html, view.texts.deliveries.state, [&] {
            write_hook_state(html, hook, view.texts.deliveries);
            write_enable(html, view, hook);
        });
    write_fact(html, texts.id, hook.id.value());  // which the activities and the API name
    write_fact(html, texts.source, hook.source == hook_source::api ? texts.by_api : texts.by_hand);
    write_fact(html, view.texts.forms.created, [&] { web::write_day(html, hook.created_at, view.texts.dates); });
    end_item(html);
}

inline void write_account_hooks(html_writer& html, const page_view& view, const account_hooks& account, bool has_deliveries) {
    html.add("<h2 class=\"account\">{} <span class=\"quiet\">{}</span></h2>\n", account.name, account.account.service.view());
    if (account.hooks.empty()) return write_empty_list(html, view.texts.webhooks.none_here);
    begin_items(html, account.name);
    for (const hook& each : account.hooks) write_hook(html, view, each, has_deliveries);
    end_items(html);
}

/// The user's accounts, grouped by service. Views of `list` and `values`.
inline constexpr std::size_t account_choices_max = 500;  // further accounts are reached by the URL of their page

[[nodiscard]] inline std::vector<web::choice_group> account_choices(const hook_list& list,
                                                                    std::span<const std::string> values,
                                                                    std::string_view chosen) {
    std::vector<web::choice_group> groups;
    for (std::size_t i = 0; i < (std::min)(list.accounts.size(), account_choices_max); ++i) {
        const auto service = list.accounts[i].account.service.view();
        if (groups.empty() || groups.back().heading != service) groups.push_back({service, {}});
        groups.back().choices.push_back({values[i], list.accounts[i].name, values[i] == chosen});
    }
    return groups;
}

/// How many accounts a selection leaves out.
inline void write_more_accounts(html_writer& html, const page_view& view, const hook_list& list) {
    if (list.accounts.size() > account_choices_max)
        html.add("<p class=\"hint\">{}</p>\n",
                 fill_in(view.texts.forms.more, std::to_string(list.accounts.size() - account_choices_max)));
}

/// Returns the account that the form of a new hook is for: the account that was entered or chosen, or the only account.
[[nodiscard]] inline const account_hooks* account_of_form(const hook_list& list, const hook_form& typed) {
    if (const auto account = list.named(typed.account)) return list.find(*account);
    if (!typed.account.empty()) return nullptr;
    if (list.chosen) return list.find(*list.chosen);
    return list.accounts.size() == 1 ? &list.accounts.front() : nullptr;
}

/// The first step, which needs no script: the account, whose service decides which events there are.
inline void write_account_step(html_writer& html, const page_view& view, const hook_list& list, const web::form_faults& faults) {
    const webhook_texts& texts = view.texts.webhooks;
    std::vector<std::string> values;
    for (const account_hooks& each : list.accounts) values.push_back(account_text(each.account));
    html.add("<form action=\"{}#new\">\n", view.url);
    web::write_select(html, {.name = account_name, .label = texts.account}, account_choices(list, values, {}), faults,
                      view.texts.forms);
    write_more_accounts(html, view, list);
    html.add("<button>{}</button>\n</form>\n", texts.next_step);
}

inline void write_event_step(html_writer& html, const page_view& view, const account_hooks& account, const service& at,
                             const hook_form& typed, const web::form_faults& faults) {
    const webhook_texts& texts = view.texts.webhooks;
    web::begin_form(html, view.form({}, {{account_name, account_text(account.account)}}));
    html.add("<p>{}: <strong>{}</strong> <span class=\"quiet\">{}</span></p>\n", texts.account, account.name,
             account.account.service.view());
    write_hook_fields(html, view, at, typed, faults);
    html.add("<button>{}</button>\n</form>\n", texts.button);
}

inline void write_hook_form(html_writer& html, const page_view& view, const hook_list& list,
                            const service_catalog& services, const hook_form& typed, const web::form_faults& faults) {
    begin_form_section(html, view, view.texts.webhooks.add, faults);
    const account_hooks* const account = account_of_form(list, typed);
    const service* const at = account == nullptr ? nullptr : services.find(account->account.service);
    if (at != nullptr) write_event_step(html, view, *account, *at, typed, faults);
    else write_account_step(html, view, list, faults);
    end_form_section(html);
}

/// Writes a form for users whose accounts do not fit on one page.
inline void write_account_chooser(html_writer& html, const page_view& view, const hook_list& list) {
    const webhook_texts& texts = view.texts.webhooks;
    html.add(
        "<form class=\"chooser\" action=\"{}\">\n<p>{}</p>\n<label for=\"shown\">{}</label>\n<select id=\"shown\" "
        "name=\"account\">\n",
        view.url, texts.choose_about, texts.choose);
    for (std::size_t i = 0; i < (std::min)(list.accounts.size(), account_choices_max); ++i) {
        const account_hooks& each = list.accounts[i];
        html.add("<option value=\"{}\"", account_text(each.account));
        if (list.chosen == each.account) html.add(" selected");
        html.add(">{} ({})</option>\n", each.name, each.account.service.view());
    }
    html.add("</select>\n<button class=\"quiet\">{}</button>\n", texts.choose_button);
    write_more_accounts(html, view, list);
    html.add("</form>\n");
}

}  // namespace detail

TOLLGATE_DECL void write_hooks(html_writer& html, const page_view& view, const hook_list& list,
                               const service_catalog& services, const hook_form& typed,
                               const web::form_faults& faults) {
    const webhook_texts& texts = view.texts.webhooks;
    const bool any = std::any_of(list.accounts.begin(), list.accounts.end(),
                                 [](const account_hooks& each) { return each.hooks_count != 0; });
    begin_list_page(html, view, {.title = texts.title, .about = texts.about, .add = any ? texts.add : std::string_view{}});
    if (view.done == removal_done) write_notice(html, texts.removed);
    if (view.done == edit_done) write_notice(html, texts.edited);
    write_list_faults(html, view, faults);
    if (list.accounts.empty()) return write_empty_list(html, texts.no_accounts);

    // The hooks of further accounts were not read.
    const bool shows_all = list.accounts.size() <= accounts_shown_max;
    if (!shows_all) detail::write_account_chooser(html, view, list);
    else if (list.chosen && list.accounts.size() > 1) html.add("<p><a href=\"{}\">{}</a></p>\n", view.url, texts.all_accounts);
    if (!any && shows_all && !list.chosen) write_empty_list(html, texts.none);
    for (const account_hooks& each : list.accounts)
        if (!each.hooks.empty() || each.account == list.chosen)
            detail::write_account_hooks(html, view, each, list.has_deliveries);
    std::string chosen;
    if (list.chosen) chosen.append(account_name).append("=").append(tollgate::detail::percent_encode(account_text(*list.chosen)));
    write_page_links(html, view, list.page, chosen);
    detail::write_hook_form(html, view, list, services, typed, faults);
}

TOLLGATE_DECL void write_hook_edit(html_writer& html, const page_view& view, const hook& hook, const service& at,
                                   const hook_form& typed, const web::form_faults& faults) {
    const webhook_texts& texts = view.texts.webhooks;
    html.add("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", texts.edit_title, texts.edit_about);
    write_stale(html, view);
    web::write_faults(html, faults, view.texts.forms);
    web::begin_form(html, hook_action(view, edit_action, hook));
    detail::write_hook_fields(html, view, at, typed, faults);
    html.add("<p class=\"buttons\"><button>{}</button> <a class=\"button quiet\" href=\"{}\">{}</a></p>\n</form>\n", texts.save,
             view.url, texts.back);
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_WEBHOOKS_PAGE_IPP
