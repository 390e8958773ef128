#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_TOKENS_PAGE_IPP
#define TOLLGATE_PAGES_DETAIL_TOKENS_PAGE_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/pages/detail/list_parts.hpp>
#include <tollgate/pages/detail/tokens_page.hpp>

#include <algorithm>
#include <chrono>
#include <span>
#include <string>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL token_form token_form::read(const http::form_fields& fields) {
    token_form form;
    form.description = fields.value_of("description");
    for (const http::form_member& each : fields)
        if (each.name == "scopes") form.scopes.push_back(each.value);
    form.days = fields.value_of("days");
    return form;
}

TOLLGATE_DECL std::optional<instant> token_form::expires_at(instant now) const {
    if (days.empty()) return std::nullopt;
    return now + std::chrono::days{std::stoi(days)};
}

TOLLGATE_DECL web::form_faults token_form::faults(const service_catalog& services, const page_texts& texts) const {
    web::form_faults found;
    check_line(found,
               {.name = "description",
                .label = texts.tokens.description,
                .text = description,
                .bytes_max = limits::token_description_bytes_max,
                .missing = texts.tokens.description_missing},
               texts.forms);
    scope_set fitting;
    const bool known = std::all_of(scopes.begin(), scopes.end(), [&](const std::string& each) {
        return services.has_scope(each) && fitting.add(each);
    });
    if (!days.empty() && std::find(token_days.begin(), token_days.end(), days) == token_days.end())
        found.add("days", texts.forms.unknown_choice, texts.tokens.expires);
    if (!known) found.add("scopes", texts.forms.unknown_choice, texts.tokens.scopes);
    else if (scopes.empty()) found.add("scopes", texts.tokens.scopes_missing);
    return found;
}

TOLLGATE_DECL scope_set token_form::chosen() const {
    scope_set selected;
    for (const std::string& each : scopes) static_cast<void>(selected.add(each));
    return selected;
}

namespace detail {

/// A token that expires within a week can still get a new secret before programs fail.
inline void write_expiry(html_writer& html, const page_view& view, const personal_token& token) {
    const token_texts& texts = view.texts.tokens;
    if (!token.expires_at) {
        html.add("<span class=\"state care\">{}</span>", texts.never_expires);
        return;
    }
    if (*token.expires_at <= view.now) html.add("<span class=\"state bad\">{}</span> ", texts.expired);
    else if (*token.expires_at <= view.now + std::chrono::days{7})
        html.add("<span class=\"state care\">{}</span> ", texts.expires_soon);
    web::write_day(html, *token.expires_at, view.texts.dates);
}

inline void write_token(html_writer& html, const page_view& view, const personal_token& token) {
    const token_texts& texts = view.texts.tokens;
    const auto target = [&](std::string_view action) { return view.form(action, {{"token", std::to_string(token.id.value())}}); };
    const auto revocation = target(revoke_action);
    auto renewal = target(renew_action);
    const bool renewal_is_stale = view.is_stale(renewal);
    renewal.hidden.emplace_back(version_name, version_of(token.secret_digest));
    begin_item(html, token.description);
    begin_actions(html);
    web::write_confirmation(html,
                            {.label = texts.renew,
                             .about = token.description,
                             .warning = fill_in(texts.renew_warning, token.description),
                             .button = texts.renew_button,
                             .is_open = renewal_is_stale},
                            renewal, view.texts.forms);
    web::write_confirmation(html,
                            {.label = texts.revoke,
                             .about = token.description,
                             .warning = fill_in(texts.revoke_warning, token.description),
                             .button = texts.revoke_button,
                             .is_removal = true,
                             .is_open = view.is_stale(revocation)},
                            revocation, view.texts.forms);
    begin_facts(html);
    write_fact(html, texts.username, [&] { html.add("<code>{}</code>", token.username.view()); });
    write_fact(html, view.texts.forms.created, [&] { web::write_day(html, token.created_at, view.texts.dates); });
    write_fact(html, view.texts.forms.last_used, [&] {
        write_last_use(html, view, token.last_used_at);
        if (!token.last_used_from.empty())
            html.add(" <span class=\"quiet\">{}</span>", fill_in(texts.used_from, token.last_used_from));
    });
    if (view.counts != nullptr)
        write_fact(html, view.texts.forms.requests_today, [&] { write_usage(html, view, view.counts->of(token.id, view.now)); });
    write_fact(html, texts.expires, [&] { write_expiry(html, view, token); });
    write_long_fact(html, texts.scopes, [&] { web::write_scopes(html, token.scopes, view.scopes); });
    end_item(html);
}

inline void write_token_form(html_writer& html, const page_view& view, const token_form& typed,
                             const web::form_faults& faults) {
    const token_texts& texts = view.texts.tokens;
    begin_form_section(html, view, texts.add, faults);
    web::begin_form(html, view.form());
    web::write_text_field(html,
                          {.name = "description",
                           .label = texts.description,
                           .hint = texts.description_hint,
                           .value = typed.description},
                          faults, view.texts.forms);
    std::vector<web::choice> choices;
    for (const auto& each : view.scopes.entries())
        choices.push_back(
            {each.scope, each.text, std::count(typed.scopes.begin(), typed.scopes.end(), each.scope) != 0});
    web::write_checkboxes(html, {.name = "scopes", .label = texts.scopes}, choices, faults, view.texts.forms);
    web::choice_group ends{{}, {}};
    for (std::size_t i = 0; i < token_days.size(); ++i)
        ends.choices.push_back({token_days[i], texts.days[i], typed.days == token_days[i]});
    ends.choices.push_back({{}, texts.never_expires, typed.days.empty() && !typed.description.empty()});
    web::write_select(html, {.name = "days", .label = texts.expires, .hint = texts.expires_hint}, std::span{&ends, 1}, faults,
                      view.texts.forms);
    html.add("<button>{}</button>\n</form>\n", texts.button);
    end_form_section(html);
}

}  // namespace detail

TOLLGATE_DECL void write_tokens(html_writer& html, const page_view& view, std::span<const personal_token> tokens,
                                const token_form& typed, const web::form_faults& faults) {
    const token_texts& texts = view.texts.tokens;
    begin_list_page(
        html, view, {.title = texts.title, .about = texts.about, .add = tokens.empty() ? std::string_view{} : texts.add});
    if (view.done == removal_done) write_notice(html, texts.revoked);
    write_list_faults(html, view, faults);
    if (tokens.empty()) {
        write_empty_list(html, texts.none);
    } else {
        const auto page = choose_page(view, tokens.size());
        begin_items(html, texts.title);
        for (const personal_token& each : items_of(tokens, page)) detail::write_token(html, view, each);
        end_items(html);
        write_page_links(html, view, page);
    }
    detail::write_token_form(html, view, typed, faults);
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_TOKENS_PAGE_IPP
