#pragma once

#include <tollgate/pages/detail/list_parts.hpp>
#include <tollgate/pages/detail/webhooks_page.hpp>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL const account_hooks* hook_list::find(const account_ref& of) const noexcept {
    for (const account_hooks& each : accounts)
        if (each.of == of) return &each;
    return nullptr;
}

TOLLGATE_DECL std::optional<account_ref> hook_list::named(std::string_view text) const {
    if (const auto whole = parse_account(text)) return find(*whole) != nullptr ? whole : std::nullopt;
    const auto id = account_id::parse(text);
    const auto has_id = [&](const account_hooks& each) { return id && each.of.account == *id; };
    if (std::count_if(accounts.begin(), accounts.end(), has_id) != 1) return std::nullopt;
    return std::find_if(accounts.begin(), accounts.end(), has_id)->of;
}

TOLLGATE_DECL hook_form hook_form::read(const http::form_fields& fields) {
    return {std::string{fields.value_of("account")}, std::string{fields.value_of("event")},
            std::string{fields.value_of("target_url")}};
}

TOLLGATE_DECL web::form_faults hook_form::faults(const hook_list& list, const service_catalog& services,
                                                 const page_texts& texts) const {
    web::form_faults found;
    const auto of = parse_account(account);
    const service* at = of && list.find(*of) != nullptr ? services.find(of->service) : nullptr;
    if (at == nullptr) found.add("account", texts.forms.unknown_choice, texts.webhooks.account);
    if (at == nullptr ? event.empty() : !check_hook_event(*at, event)) {
        const bool elsewhere = std::any_of(services.services().begin(), services.services().end(),
                                           [&](const service& each) { return each.has_event(event); });
        if (at != nullptr && elsewhere) found.add("event", fill_in(texts.webhooks.event_of_other_service, at->name));
        else found.add("event", texts.forms.unknown_choice, texts.webhooks.event);
    }
    const typed_line target{"target_url", texts.webhooks.target_url, target_url, limits::target_url_bytes_max,
                            texts.webhooks.target_url_missing};
    if (target_url.empty() || target_url.size() > target.bytes_max) check_line(found, target, texts.forms);
    else if (!http::url::parse(target_url)) found.add("target_url", texts.forms.no_url, texts.webhooks.target_url);
    return found;
}

TOLLGATE_DECL std::string target_fault(std::string_view message, const webhook_texts& texts) {
    constexpr std::string_view member = "target_url";
    std::string text{message};
    if (text.starts_with(member)) text.replace(0, member.size(), texts.target_url);
    return text;
}

namespace detail {

/// The state, if the store is an outbox.
inline void write_state_cell(html_writer& html, const page_view& view, const hook& of) {
    const delivery_texts& texts = view.texts.deliveries;
    next_cell(html, texts.state);
    html.add("<div class=\"standing\">");
    write_hook_state(html, of, texts);
    html.add(" <a href=\"{}?{}\">{}<span class=\"unseen\"> {} {}</span></a>", view.url, query_of({of.account, of.id}),
             texts.link, of.event, of.target_url);
    write_enable(html, view, of);
    html.add("</div>");
}

inline void write_hook_row(html_writer& html, const page_view& view, const hook& of, bool has_deliveries) {
    const webhook_texts& texts = view.texts.webhooks;
    const auto account = account_text(of.account);
    const auto number = std::to_string(of.id.value());
    const auto about = of.event + " " + of.target_url;
    begin_row(html, texts.event, of.event);
    begin_cell(html, texts.target_url);
    html.add("<code>{}</code>", of.target_url);
    if (has_deliveries) write_state_cell(html, view, of);
    next_cell(html, texts.source);
    html.add("{}", of.source == hook_source::api ? texts.by_api : texts.by_hand);
    next_cell(html, view.texts.forms.created);
    web::write_day(html, of.created_at);
    next_cell(html, {});
    web::write_confirmation(html,
                            {.label = texts.renew,
                             .about = about,
                             .warning = fill_in(texts.renew_warning, of.event),
                             .button = texts.renew_button},
                            {.url = view.url,
                             .form_token = view.form_token,
                             .hidden = {{action_name, "new_secret"}, {"account", account}, {"hook", number}}});
    web::write_confirmation(html,
                            {.label = texts.remove,
                             .about = about,
                             .warning = fill_in(texts.remove_warning, of.target_url),
                             .button = texts.remove_button},
                            {.url = view.url,
                             .form_token = view.form_token,
                             .hidden = {{action_name, "delete"}, {"account", account}, {"hook", number}}});
    end_row(html);
}

inline void write_hook_table(html_writer& html, const page_view& view, const account_hooks& of, bool has_deliveries) {
    const webhook_texts& texts = view.texts.webhooks;
    html.add("<h2 class=\"account\">{} <span class=\"quiet\">{}</span></h2>\n", of.name, of.of.service.view());
    if (of.hooks.empty()) return write_empty_list(html, texts.none_here);
    std::vector<std::string_view> columns{texts.event, texts.target_url};
    if (has_deliveries) columns.push_back(view.texts.deliveries.state);
    columns.insert(columns.end(), {texts.source, view.texts.forms.created});
    begin_table(html, of.name, columns, view.texts.forms.actions);
    for (const hook& each : of.hooks) write_hook_row(html, view, each, has_deliveries);
    end_table(html);
}

/// The user's accounts, grouped by service. Views of `list` and `values`.
[[nodiscard]] inline std::vector<web::choice_group> account_choices(const hook_list& list,
                                                                    std::span<const std::string> values,
                                                                    std::string_view chosen) {
    std::vector<web::choice_group> groups;
    for (std::size_t i = 0; i < list.accounts.size(); ++i) {
        const auto service = list.accounts[i].of.service.view();
        if (groups.empty() || groups.back().heading != service) groups.push_back({service, {}});
        groups.back().choices.push_back({values[i], list.accounts[i].name, values[i] == chosen});
    }
    return groups;
}

/// The events of the services that the user has accounts at.
[[nodiscard]] inline std::vector<web::choice_group> event_choices(const hook_list& list,
                                                                  const service_catalog& services,
                                                                  const hook_form& typed) {
    std::vector<web::choice_group> groups;
    const auto account = parse_account(typed.account);
    const service* own = account ? services.find(account->service) : nullptr;
    // Services may share event names; a submitted event stays selected even if it belongs to another service.
    const bool fits = own != nullptr && own->has_event(typed.event);
    for (const service& at : services.services()) {
        if (std::none_of(list.accounts.begin(), list.accounts.end(),
                         [&](const account_hooks& each) { return each.of.service == at.name; }))
            continue;
        groups.push_back({at.name, {}});
        for (const std::string& each : at.events)
            groups.back().choices.push_back({each, each, each == typed.event && (!fits || own == &at)});
    }
    return groups;
}

inline void write_hook_form(html_writer& html, const page_view& view, const hook_list& list,
                            const service_catalog& services, const hook_form& typed, const web::form_faults& faults) {
    const webhook_texts& texts = view.texts.webhooks;
    const form_texts& forms = view.texts.forms;
    std::vector<std::string> values;
    for (const account_hooks& each : list.accounts) values.push_back(account_text(each.of));
    const auto chosen = typed.account.empty() && list.chosen ? account_text(*list.chosen) : typed.account;

    begin_form_section(html, texts.add);
    web::begin_form(html, {.url = view.url, .form_token = view.form_token, .hidden = {}});
    web::write_select(html, {.name = "account", .label = texts.account}, account_choices(list, values, chosen), faults,
                      forms);
    const auto events = event_choices(list, services, typed);
    web::write_select(
        html,
        {.name = "event", .label = texts.event, .hint = events.size() > 1 ? texts.event_hint : std::string_view{}},
        events, faults, forms);
    web::write_text_field(html,
                          {.name = "target_url",
                           .label = texts.target_url,
                           .hint = texts.target_url_hint,
                           .value = typed.target_url,
                           .type = "url",
                           .bytes_max = limits::target_url_bytes_max},
                          faults, forms);
    html.add("<button>{}</button>\n</form>\n", texts.button);
    end_form_section(html);
}

/// For users whose accounts do not fit on one page.
inline void write_account_chooser(html_writer& html, const page_view& view, const hook_list& list) {
    const webhook_texts& texts = view.texts.webhooks;
    html.add(
        "<form class=\"chooser\" action=\"{}\">\n<p>{}</p>\n<label for=\"shown\">{}</label>\n<select id=\"shown\" "
        "name=\"account\">\n",
        view.url, texts.choose_about, texts.choose);
    for (const account_hooks& each : list.accounts) {
        html.add("<option value=\"{}\"", account_text(each.of));
        if (list.chosen == each.of) html.add(" selected");
        html.add(">{} ({})</option>\n", each.name, each.of.service.view());
    }
    html.add("</select>\n<button class=\"quiet\">{}</button>\n</form>\n", texts.choose_button);
}

}  // namespace detail

TOLLGATE_DECL void write_hooks(html_writer& html, const page_view& view, const hook_list& list,
                               const service_catalog& services, const hook_form& typed,
                               const web::form_faults& faults) {
    const webhook_texts& texts = view.texts.webhooks;
    const bool any = std::any_of(list.accounts.begin(), list.accounts.end(),
                                 [](const account_hooks& each) { return !each.hooks.empty(); });
    begin_list_page(html, {.title = texts.title, .about = texts.about, .add = any ? texts.add : std::string_view{}});
    if (view.done == removal_done) write_notice(html, texts.removed);
    web::write_faults(html, faults, view.texts.forms);
    if (list.accounts.empty()) return write_empty_list(html, texts.no_accounts);

    if (list.accounts.size() > accounts_shown_max) detail::write_account_chooser(html, view, list);
    if (!any && !list.chosen) write_empty_list(html, texts.none);
    for (const account_hooks& each : list.accounts)
        if (!each.hooks.empty() || each.of == list.chosen)
            detail::write_hook_table(html, view, each, list.has_deliveries);
    detail::write_hook_form(html, view, list, services, typed, faults);
}

}  // namespace tollgate::pages
