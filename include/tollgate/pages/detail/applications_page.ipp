#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_APPLICATIONS_PAGE_IPP
#define TOLLGATE_PAGES_DETAIL_APPLICATIONS_PAGE_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/pages/detail/applications_page.hpp>
#include <tollgate/pages/detail/list_parts.hpp>

#include <array>
#include <string>
#include <string_view>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL application_form application_form::read(const http::form_fields& fields) {
    return {std::string{fields.value_of("name")}, std::string{fields.value_of("website")},
            std::string{fields.value_of("description")}, std::string{fields.value_of("redirect_url")},
            std::string{fields.value_of("type")}, !fields.value_of("acts_for_owner").empty(), {}};
}

TOLLGATE_DECL application_form application_form::of(const application& stored) {
    application_form form{stored.name, stored.website, stored.description, {}, {}, stored.acts_for_owner, {}};
    for (const std::string& each : stored.redirect_urls) form.redirect_urls.append(each).append("\n");
    form.type = to_text(stored.type);
    return form;
}

TOLLGATE_DECL application_request application_form::wanted_by(user_id owner) const {
    application_request request{.owner = owner, .name = name, .website = website, .description = description};
    for (std::string_view left = redirect_urls; !left.empty();) {
        const auto end = (std::min)(left.find('\n'), left.size());
        const auto line = tollgate::detail::trim_ows(left.substr(0, left.substr(0, end).ends_with('\r') ? end - 1 : end));
        if (!line.empty()) request.redirect_urls.emplace_back(line);
        left.remove_prefix((std::min)(end + 1, left.size()));
    }
    if (type == to_text(client_type::public_client)) request.type = client_type::public_client;
    return request;
}

TOLLGATE_DECL web::form_faults application_form::faults(const application_request& request,
                                                        const page_texts& texts) const {
    web::form_faults found;
    const application_texts& own = texts.applications;
    if (!type.empty() && type != to_text(request.type)) found.add("type", texts.forms.unknown_choice, own.type);
    const auto check_url = [&](const field_fault& fault, const typed_line& typed, std::string_view malformed) {
        if (typed.text.empty() || typed.text.size() > typed.bytes_max) return check_line(found, typed, texts.forms);
        const bool is_one_of_several = fault.field == "redirect_url" && request.redirect_urls.size() > 1;
        const auto add = [&](std::string_view message) {
            found.add(typed.name, (is_one_of_several ? std::string{typed.text} + ": " : std::string{}).append(message), typed.label);
        };
        switch (fault.kind) {
            case field_error::too_many: return found.add(typed.name, own.too_many_redirect_urls);
            case field_error::malformed: return add(malformed);
            case field_error::insecure: return add(texts.forms.insecure_url);
            case field_error::not_ascii: return add(texts.forms.url_not_ascii);
            case field_error::reserved_parameter: return add(texts.forms.reserved_parameter);
        }
    };
    // `faults_of` decides what is wrong; this maps it to the page's texts.
    for (const field_fault& each : faults_of(request)) {
        if (each.field == "name")
            check_line(found, {"name", own.name, name, limits::application_name_bytes_max, own.name_missing},
                       texts.forms);
        else if (each.field == "description")
            check_line(found, {"description", own.description, description, limits::application_description_bytes_max},
                       texts.forms);
        else if (each.field == "website")
            check_url(each, {"website", own.website, website, limits::target_url_bytes_max, own.website_missing},
                      texts.forms.no_url);
        else if (found.find("redirect_url") == nullptr)  // the first of several
            check_url(each,
                      {"redirect_url", own.redirect_url, request.redirect_urls[each.index], limits::target_url_bytes_max},
                      own.redirect_url_bad);
    }
    return found;
}

namespace detail {

inline void write_application_actions(html_writer& html, const page_view& view, const application& application,
                                      const web::form_faults* refused) {
    const application_texts& texts = view.texts.applications;
    const auto number = std::to_string(application.id.value());
    const auto target = [&](std::string_view action) { return view.form(action, {{"application", number}}); };
    const auto removal = target(delete_action), secret_removal = target(remove_secret_action);
    auto renewal = target(new_secret_action);
    const bool renewal_is_stale = view.is_stale(renewal);
    renewal.hidden.emplace_back(version_name, version_of(application.secret_digest));
    html.add("<a class=\"button quiet\" href=\"{}\">{}<span class=\"unseen\"> {}</span></a>\n",
             view.list_url(std::string{edit_name}.append("=").append(number)), texts.edit, application.name);
    if (application.older_secret_digest)
        web::write_confirmation(html,
                                {.label = texts.remove_secret,
                                 .about = application.name,
                                 .warning = fill_in(texts.remove_secret_warning, application.name),
                                 .button = texts.remove_secret_button,
                                 .is_removal = true,
                                 .is_open = view.is_stale(secret_removal)},
                                secret_removal, view.texts.forms);
    if (application.type != client_type::public_client)
        web::write_confirmation(html,
                                {.label = texts.renew,
                                 .about = application.name,
                                 .warning = fill_in(application.older_secret_digest ? texts.renew_again_warning : texts.renew_warning,
                                                    application.name),
                                 .button = texts.renew_button,
                                 .is_open = renewal_is_stale},
                                renewal, view.texts.forms);
    web::write_confirmation(html,
                            {.label = texts.remove,
                             .about = application.name,
                             .warning = fill_in(texts.remove_warning, application.name),
                             .button = texts.remove_button,
                             .is_removal = true,
                             .typed_name = application.users > 0 ? std::string_view{"confirm_name"} : std::string_view{},
                             .typed_label = fill_in(texts.type_name, application.name),
                             .faults = refused,
                             .is_open = view.is_stale(removal)},
                            removal, view.texts.forms);
}

inline void write_suspension(html_writer& html, const application& application, const application_texts& texts) {
    if (!application.suspended) return;
    html.add("<p><span class=\"state bad\">{}</span> {}</p>", texts.suspended,
             *application.suspended == suspension::by_operator ? texts.suspended_by_operator : texts.suspended_with_owner);
}

inline constexpr std::size_t listed_redirect_urls_max = 5;

/// `refused`: the faults of its deletion; null if it was not refused.
inline void write_application(html_writer& html, const page_view& view, const application& application,
                              const web::form_faults* refused) {
    const application_texts& texts = view.texts.applications;
    begin_item(html, application.name);
    html.add("<p>");
    write_web_link(html, application.website);
    html.add("</p>");
    if (!application.description.empty()) html.add("<p>{}</p>", application.description);
    write_suspension(html, application, texts);
    begin_actions(html);
    write_application_actions(html, view, application, refused);
    begin_facts(html);
    write_fact(html, texts.client_id, [&] { html.add("<code>{}</code>", application.client_id.view()); });
    if (application.type != client_type::confidential)
        write_fact(html, texts.type, application.type == client_type::public_client ? texts.public_client : texts.resource_server);
    write_fact(html, texts.users, application.users);
    if (view.counts != nullptr)
        write_fact(html, view.texts.forms.requests_today, [&] { write_usage(html, view, view.counts->of(application.id, view.now)); });
    write_fact(html, view.texts.forms.created, [&] { web::write_day(html, application.created_at, view.texts.dates); });
    write_long_fact(html, texts.redirect_url, [&] {
        if (application.redirect_urls.empty()) {
            html.add("<span class=\"quiet\">{}</span>", texts.no_redirect_url);
            return;
        }
        // The form to edit the application has all of them, whole.
        const auto count = application.redirect_urls.size();
        html.add("<ul>");
        for (std::size_t i = 0; i < (std::min)(count, listed_redirect_urls_max); ++i)
            html.add("<li><code>{}</code></li>", shorten(application.redirect_urls[i]));
        if (count > listed_redirect_urls_max)
            html.add("<li class=\"quiet\">{}</li>", fill_in(view.texts.forms.more, std::to_string(count - listed_redirect_urls_max)));
        html.add("</ul>");
    });
    end_item(html);
}

inline void write_application_fields(html_writer& html, const page_view& view, const application_form& typed,
                                     const web::form_faults& faults) {
    const application_texts& texts = view.texts.applications;
    const form_texts& forms = view.texts.forms;
    web::write_text_field(html,
                          {.name = "name",
                           .label = texts.name,
                           .hint = texts.name_hint,
                           .value = typed.name},
                          faults, forms);
    web::write_text_field(html,
                          {.name = "website",
                           .label = texts.website,
                           .hint = texts.website_hint,
                           .value = typed.website,
                           .type = "url"},
                          faults, forms);
    web::write_text_field(html,
                          {.name = "description",
                           .label = texts.description,
                           .value = typed.description,
                           .required = false},
                          faults, forms);
    web::write_text_field(html,
                          {.name = "redirect_url",
                           .label = texts.redirect_url,
                           .hint = texts.redirect_url_hint,
                           .value = typed.redirect_urls,
                           .line_count = 3,
                           .required = false},
                          faults, forms);
}

inline void write_application_form(html_writer& html, const page_view& view, const application_form& typed,
                                   const web::form_faults& faults) {
    const application_texts& texts = view.texts.applications;
    begin_form_section(html, view, texts.add, faults);
    web::begin_form(html, view.form());
    write_application_fields(html, view, typed, faults);
    const auto chosen = typed.type == to_text(client_type::public_client);
    const std::array<web::choice_group, 1> types{
        {{{},
          {{to_text(client_type::confidential), texts.confidential_type, !chosen},
           {to_text(client_type::public_client), texts.public_type, chosen}}}}};
    web::write_select(html, {.name = "type", .label = texts.type, .hint = texts.type_hint}, types, faults, view.texts.forms);
    html.add("<button>{}</button>\n</form>\n", texts.button);
    end_form_section(html);
}

}  // namespace detail

TOLLGATE_DECL void write_applications(html_writer& html, const page_view& view,
                                      std::span<const application> applications, const application_form& typed,
                                      const web::form_faults& faults) {
    const application_texts& texts = view.texts.applications;
    begin_list_page(
        html, view,
        {.title = texts.title, .about = texts.about, .add = applications.empty() ? std::string_view{} : texts.add});
    if (view.done == removal_done) write_notice(html, texts.removed);
    if (view.done == edit_done) write_notice(html, texts.edited);
    if (view.done == secret_removal_done) write_notice(html, texts.secret_removed);
    if (view.done == registration_done && !applications.empty())
        write_notice(html, fill_in(texts.registered, applications.back().name));
    write_list_faults(html, view, faults);
    if (applications.empty()) {
        write_empty_list(html, texts.none);
    } else {
        const auto page = choose_page(view, applications.size());
        begin_items(html, texts.title);
        for (const application& each : items_of(applications, page))
            detail::write_application(html, view, each, typed.deleted == each.id ? &faults : nullptr);
        end_items(html);
        write_page_links(html, view, page);
    }
    detail::write_application_form(html, view, typed, faults);
}

TOLLGATE_DECL void write_application_edit(html_writer& html, const page_view& view, const application& application,
                                          const application_form& typed, const web::form_faults& faults) {
    const application_texts& texts = view.texts.applications;
    html.add("<h1>{}</h1>\n", fill_in(texts.edit_title, application.name));
    detail::write_suspension(html, application, texts);
    write_stale(html, view);
    web::write_faults(html, faults, view.texts.forms);
    web::begin_form(html, view.form(edit_action, {{"application", std::to_string(application.id.value())}}));
    detail::write_application_fields(html, view, typed, faults);
    if (application.type == client_type::confidential) {
        const std::array<web::choice, 1> choices{
            {{texts.acts_for_owner, texts.acts_for_owner, typed.acts_for_owner}}};
        web::write_checkboxes(html, {.name = "acts_for_owner", .label = texts.own_access, .hint = texts.own_access_hint},
                              choices, faults, view.texts.forms);
    }
    html.add("<p class=\"buttons\"><button>{}</button> <a class=\"button quiet\" href=\"{}\">{}</a></p>\n</form>\n",
             texts.save, view.list_url(), texts.back);
}

}  // namespace tollgate::pages

#endif  // TOLLGATE_PAGES_DETAIL_APPLICATIONS_PAGE_IPP
