#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_APPLICATIONS_PAGE_HPP
#define TOLLGATE_PAGES_DETAIL_APPLICATIONS_PAGE_HPP

#include <tollgate/account/new_secret.hpp>
#include <tollgate/account/register_application.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/pages/detail/list_parts.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/web/detail/form.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0::pages {

/// The submitted form of a new application.
struct application_form {
    std::string name = {};
    std::string website = {};
    std::string description = {};
    std::string redirect_urls = {};  ///< one a line
    std::string type = {};           ///< the name `to_text(client_type)`; empty: confidential
    bool acts_for_owner = false;
    std::optional<application_id> deleted = std::nullopt;  ///< another one, whose deletion was refused

    [[nodiscard]] static TOLLGATE_DECL application_form of(const application& stored);
    [[nodiscard]] static TOLLGATE_DECL application_form read(const http::form_fields& fields);
    [[nodiscard]] TOLLGATE_DECL application_request wanted_by(user_id owner) const;
    [[nodiscard]] TOLLGATE_DECL web::form_faults faults(const application_request& request,
                                                        const page_texts& texts) const;
};

/// The values of `done` after a registration without a secret to show, and after the removal of a secret.
inline constexpr std::string_view registration_done = "registered";
inline constexpr std::string_view secret_removal_done = "secret";

TOLLGATE_DECL void write_applications(html_writer& html, const page_view& view,
                                      std::span<const application> applications, const application_form& typed,
                                      const web::form_faults& faults);
TOLLGATE_DECL void write_application_edit(html_writer& html, const page_view& view, const application& application,
                                          const application_form& typed, const web::form_faults& faults);

/// The application of the user that a form or query names; otherwise not_found.
[[nodiscard]] inline result<application> find_own_application(page_call& call, std::string_view id) {
    const auto which = application_id::parse(id);
    if (!which) return not_found();
    auto applications = call.store().applications_of(call.session.user);
    if (!applications) return std::move(applications).error();
    for (application& each : *applications)
        if (each.id == *which) return std::move(each);
    return not_found();
}

[[nodiscard]] inline result<void> show_edit(page_call& call, const application& application, const application_form& typed,
                                     const web::form_faults& faults) {
    const auto title = fill_in(call.texts().applications.edit_title, application.name);
    call.page(title, faults, [&](html_writer& html) { write_application_edit(html, call.view(), application, typed, faults); });
    return {};
}

/// The list, and the form of a new application; or the form of one that is edited.
[[nodiscard]] inline result<void> show_applications(page_call& call, const application_form& typed = {},
                                                    const web::form_faults& faults = {}) {
    if (const auto id = call.query.value_of(edit_name); !id.empty() && faults.empty()) {
        const auto application = find_own_application(call, id);
        if (!application) return application.error();
        return show_edit(call, *application, application_form::of(*application), faults);
    }
    const auto applications = call.store().applications_of(call.session.user);
    if (!applications) return applications.error();
    call.page(call.texts().applications.title, faults,
              [&](html_writer& html) { write_applications(html, call.view(), *applications, typed, faults); });
    return {};
}

[[nodiscard]] inline result<void> redirect_to_client(page_call& call, std::string_view title, std::string_view client_id,
                                                     std::string_view client_secret) {
    const application_texts& texts = call.texts().applications;
    const secret_view shown{title, texts.made_about, texts.back,
                            {{"client-id", texts.client_id, client_id}, {"client-secret", texts.client_secret, client_secret}}};
    return call.redirect_to_secret(shown.to_text());
}

[[nodiscard]] inline result<void> create_application(page_call& call) {
    const application_texts& texts = call.texts().applications;
    const auto typed = application_form::read(call.form);
    auto request = typed.wanted_by(call.session.user);
    auto faults = typed.faults(request, call.texts());
    if (!faults.empty()) return show_applications(call, typed, faults);
    const auto submission = call.submission();
    const auto make = maker_of(secret_kind::client_secret);
    const auto client_id = submission.new_id(public_id_kind::client_id);
    const bool is_public = request.type == client_type::public_client;
    const auto redirect_to_registered = [&](const secret_text& secret) {
        if (is_public) return call.redirect_to(registration_done);
        return redirect_to_client(call, fill_in(texts.made_title, typed.name), client_id, secret);
    };
    const auto existing = call.store().find_application(client_id.view());
    if (!existing) return existing.error();
    if (*existing) {  // the form was submitted before
        const auto secret = is_public ? std::optional{secret_text{}} : submission.find_secret((*existing)->secret_digest, make);
        return secret ? redirect_to_registered(*secret) : call.refuse_repetition();
    }
    const auto registered = tollgate::detail::register_application_as(
        call.store(), std::move(request), call.now, client_id, is_public ? secret_text{} : submission.new_secret(make),
        call.settings().pages.applications_per_user_max);
    if (registered) {
        call.report(activity_kind::application_registered, typed.name);
        return redirect_to_registered(registered->client_secret);
    }
    if (registered.error().kind == error_kind::conflict) return call.refuse_repetition();
    if (registered.error().kind != error_kind::invalid) return registered.error();
    faults.add({}, texts.too_many);
    return show_applications(call, typed, faults);
}

[[nodiscard]] inline result<void> edit_application(page_call& call, const application& application) {
    auto typed = application_form::read(call.form);
    typed.type = to_text(application.type);
    auto request = typed.wanted_by(call.session.user);
    request.type = application.type;
    if (const auto faults = typed.faults(request, call.texts()); !faults.empty()) return show_edit(call, application, typed, faults);
    return call.finish_change(update_application(call.store(), application.id, std::move(request), typed.acts_for_owner),
                              activity_kind::application_changed, typed.name, edit_done);
}

/// The secret before stays valid until it is removed.
[[nodiscard]] inline result<void> renew_client_secret(page_call& call, const application& application) {
    if (application.type == client_type::public_client) return not_found();
    const auto add = [&](const tollgate::application& found, const secret_text& secret) {
        auto done = call.store().change_application(call.session.user, found.id,
                                                    client_secret_addition{digest_of(secret), found.secret_digest});
        if (done && *done) call.report(activity_kind::client_secret_replaced, found.name);
        return done;
    };
    const auto renewed = replace_secret(call.submission(), call.form.value_of(version_name),
                                        [&] { return find_own_application(call, call.form.value_of("application")); }, add,
                                        maker_of(secret_kind::client_secret));
    if (!renewed) return renewed.error();
    if (!*renewed) return call.refuse_repetition();
    return redirect_to_client(call, fill_in(call.texts().applications.renewed_title, application.name), application.client_id,
                              (*renewed)->second);
}

/// If the application has users, its owner must type its name to delete it.
[[nodiscard]] inline result<void> delete_application(page_call& call, const application& application) {
    if (application.users > 0 && call.form.value_of("confirm_name") != application.name) {
        web::form_faults faults;
        faults.add("confirm_name", fill_in(call.texts().applications.wrong_name, application.name));
        return show_applications(call, {.deleted = application.id}, faults);
    }
    return call.finish_change(call.store().delete_application(call.session.user, application.id),
                              activity_kind::application_deleted, application.name, removal_done);
}

/// A form that came with the token of another session is displayed again.
[[nodiscard]] inline result<void> show_stale_applications(page_call& call) {
    const auto action = call.form.value_of(action_name);
    if (action.empty()) return show_applications(call, application_form::read(call.form));
    if (action != edit_action) return show_applications(call);
    const auto application = find_own_application(call, call.form.value_of("application"));
    if (!application) return application.error();
    auto typed = application_form::read(call.form);
    typed.type = to_text(application->type);
    return show_edit(call, *application, typed, {});
}

[[nodiscard]] inline result<void> post_to_applications(page_call& call) {
    const auto action = call.form.value_of(action_name);
    if (action.empty()) return create_application(call);
    const auto application = find_own_application(call, call.form.value_of("application"));
    if (!application) return application.error();
    if (action == edit_action) return edit_application(call, *application);
    if (action == new_secret_action) return renew_client_secret(call, *application);
    if (action == remove_secret_action)
        return call.finish_change(call.store().change_application(call.session.user, application->id, older_secret_removal{}),
                                  activity_kind::client_secret_removed, application->name, secret_removal_done);
    if (action == delete_action) return delete_application(call, *application);
    return not_found();
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/applications_page.ipp>
#endif

#endif  // TOLLGATE_PAGES_DETAIL_APPLICATIONS_PAGE_HPP
