#pragma once

#include <tollgate/pages/applications_page.hpp>
#include <tollgate/pages/list_parts.hpp>

namespace tollgate::pages {

TOLLGATE_DECL application_form application_form::read(const http::form_fields& fields) {
    return {std::string{fields.value_of("name")}, std::string{fields.value_of("website")},
            std::string{fields.value_of("description")}, std::string{fields.value_of("redirect_url")}};
}

TOLLGATE_DECL application_request application_form::wanted_by(user_id owner) const {
    application_request made{.owner = owner, .name = name, .website = website, .description = description};
    if (!redirect_url.empty()) made.redirect_url = redirect_url;
    return made;
}

TOLLGATE_DECL pipeline::form_faults application_form::faults(const application_request& wanted,
                                                             const page_words& words) const {
    pipeline::form_faults found;
    const application_words& said = words.applications;
    const auto judge_url = [&](const typed_line& typed, std::string_view bad) {
        if (typed.text.empty() || typed.text.size() > typed.bytes_max) judge_line(found, typed, words.forms);
        else found.add(typed.name, bad, typed.label);
    };
    // What will not do is the policy's to say; how to put it is the page's.
    for (const field_fault& each : faults_of(wanted)) {
        if (each.field == "name")
            judge_line(found, {"name", said.name, name, limits::application_name_bytes_max, said.name_missing},
                       words.forms);
        else if (each.field == "description")
            judge_line(found, {"description", said.description, description, limits::application_description_bytes_max},
                       words.forms);
        else if (each.field == "website")
            judge_url({"website", said.website, website, limits::target_url_bytes_max, said.website_missing},
                      words.forms.no_url);
        else
            judge_url({"redirect_url", said.redirect_url, redirect_url, limits::target_url_bytes_max},
                      said.redirect_url_bad);
    }
    return found;
}

namespace detail {

inline void write_application_row(http::html_writer& html, const page_view& view, const application& of) {
    const application_words& words = view.words.applications;
    const auto number = std::to_string(of.id.value());
    html.add("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\" data-label=\"{}\">{}\n<p>", words.name, of.name);
    write_web_link(html, of.website, of.website);
    html.add("</p>");
    if (!of.description.empty()) html.add("<p>{}</p>", of.description);
    html.add("</th>\n");
    begin_cell(html, words.client_id);
    html.add("<code class=\"whole\">{}</code>", of.client_id.view());
    next_cell(html, words.redirect_url);
    if (of.redirect_url) html.add("<code>{}</code>", *of.redirect_url);
    else html.add("<span class=\"quiet\">{}</span>", words.no_redirect_url);
    next_cell(html, view.words.forms.created);
    pipeline::write_day(html, of.created_at);
    next_cell(html, {});
    pipeline::write_confirmation(html,
                                 {.label = words.renew,
                                  .about = of.name,
                                  .warning = fill_in(words.renew_warning, of.name),
                                  .button = words.renew_button},
                                 {.url = view.url,
                                  .form_token = view.form_token,
                                  .hidden = {{action_name, "new_secret"}, {"application", number}}});
    pipeline::write_confirmation(
        html,
        {.label = words.remove,
         .about = of.name,
         .warning = fill_in(words.remove_warning, of.name),
         .button = words.remove_button},
        {.url = view.url, .form_token = view.form_token, .hidden = {{action_name, "delete"}, {"application", number}}});
    end_row(html);
}

inline void write_application_form(http::html_writer& html, const page_view& view, const application_form& typed,
                                   const pipeline::form_faults& faults) {
    const application_words& words = view.words.applications;
    const form_words& forms = view.words.forms;
    begin_form_section(html, words.add);
    pipeline::begin_form(html, {.url = view.url, .form_token = view.form_token, .hidden = {}});
    pipeline::write_text_field(html,
                               {.name = "name",
                                .label = words.name,
                                .hint = words.name_hint,
                                .value = typed.name,
                                .bytes_max = limits::application_name_bytes_max},
                               faults, forms);
    pipeline::write_text_field(html,
                               {.name = "website",
                                .label = words.website,
                                .hint = words.website_hint,
                                .value = typed.website,
                                .type = "url",
                                .bytes_max = limits::target_url_bytes_max},
                               faults, forms);
    pipeline::write_text_field(html,
                               {.name = "description",
                                .label = words.description,
                                .value = typed.description,
                                .bytes_max = limits::application_description_bytes_max,
                                .required = false},
                               faults, forms);
    pipeline::write_text_field(html,
                               {.name = "redirect_url",
                                .label = words.redirect_url,
                                .hint = words.redirect_url_hint,
                                .value = typed.redirect_url,
                                .type = "url",
                                .bytes_max = limits::target_url_bytes_max,
                                .required = false},
                               faults, forms);
    html.add("<button>{}</button>\n</form>\n", words.button);
    end_form_section(html);
}

}  // namespace detail

TOLLGATE_DECL void write_applications(http::html_writer& html, const page_view& view,
                                      std::span<const application> applications, const application_form& typed,
                                      const pipeline::form_faults& faults) {
    const application_words& words = view.words.applications;
    begin_list_page(
        html,
        {.title = words.title, .about = words.about, .add = applications.empty() ? std::string_view{} : words.add});
    if (view.done == removal_done) write_notice(html, words.removed);
    pipeline::write_faults(html, faults, view.words.forms);
    if (applications.empty()) {
        write_nothing_yet(html, words.none);
    } else {
        begin_table(html, words.title, {words.name, words.client_id, words.redirect_url, view.words.forms.created},
                    view.words.forms.actions);
        for (const application& each : applications) detail::write_application_row(html, view, each);
        end_table(html);
    }
    detail::write_application_form(html, view, typed, faults);
}

TOLLGATE_DECL void write_shown_client(http::html_writer& html, const page_view& view, const shown_client& shown) {
    const application_words& words = view.words.applications;
    html.add("<h1>{}</h1>\n<p>{}</p>\n", shown.title, words.made_about);
    pipeline::write_copied_text(html, {.name = "client-id", .label = words.client_id, .text = shown.client_id});
    pipeline::write_copied_text(html,
                                {.name = "client-secret", .label = words.client_secret, .text = shown.client_secret});
    write_once_only(html, view, words.back);
}

}  // namespace tollgate::pages
