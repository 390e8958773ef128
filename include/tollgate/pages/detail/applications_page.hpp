#pragma once

#include <tollgate/account/register_application.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/contract/oauth_store.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/pages/detail/list_parts.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/web/detail/form.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0::pages {

/// The submitted form of a new application.
struct application_form {
    std::string name = {};
    std::string website = {};
    std::string description = {};
    std::string redirect_url = {};

    [[nodiscard]] static TOLLGATE_DECL application_form read(const http::form_fields& fields);
    [[nodiscard]] TOLLGATE_DECL application_request wanted_by(user_id owner) const;
    [[nodiscard]] TOLLGATE_DECL web::form_faults faults(const application_request& wanted,
                                                        const page_texts& texts) const;
};

TOLLGATE_DECL void write_applications(html_writer& html, const page_view& view,
                                      std::span<const application> applications, const application_form& typed,
                                      const web::form_faults& faults);

/// The list, and the form of a new application.
template <class Call>
[[nodiscard]] result<void> show_applications(Call& call, const application_form& typed = {},
                                             const web::form_faults& faults = {}) {
    const auto applications = call.store().applications_of(call.who().user);
    if (!applications) return applications.error();
    call.page(call.texts().applications.title, faults,
              [&](html_writer& html) { write_applications(html, call.view(), *applications, typed, faults); });
    return {};
}

template <class Call>
[[nodiscard]] result<void> redirect_to_client(Call& call, std::string title, std::string_view client_id,
                                              std::string_view client_secret) {
    const application_texts& texts = call.texts().applications;
    const secret_view shown{std::move(title),
                            std::string{texts.made_about},
                            std::string{texts.back},
                            {{"client-id", std::string{texts.client_id}, std::string{client_id}},
                             {"client-secret", std::string{texts.client_secret}, std::string{client_secret}}}};
    return call.redirect_to_secret(shown.to_text());
}

template <class Call>
[[nodiscard]] result<void> create_application(Call& call) {
    const application_texts& texts = call.texts().applications;
    const auto typed = application_form::read(call.form());
    auto wanted = typed.wanted_by(call.who().user);
    auto faults = typed.faults(wanted, call.texts());
    if (!faults.empty()) return show_applications(call, typed, faults);
    if (!call.claim_form()) return {};
    const auto made = register_application(call.store(), std::move(wanted), call.now(), call.random(),
                                           call.settings().applications_per_user_max);
    if (!made && made.error().kind == error_kind::invalid) {
        faults.add({}, texts.too_many);
        return show_applications(call, typed, faults);
    }
    if (!made) return made.error();
    call.report(activity_kind::application_registered, typed.name);
    return redirect_to_client(call, fill_in(texts.made_title, typed.name), made->client_id, made->client_secret);
}

/// Only for an application of the user; otherwise not_found.
template <class Call>
[[nodiscard]] result<void> renew_client_secret(Call& call) {
    const auto which = application_id::parse(call.form().value_of("application"));
    if (!which) return not_found();
    const auto applications = call.store().applications_of(call.who().user);
    if (!applications) return applications.error();
    const auto found = std::find_if(applications->begin(), applications->end(),
                                    [&](const application& each) { return each.id == *which; });
    if (found == applications->end()) return not_found();
    if (!call.claim_form()) return {};
    const auto secret = new_client_secret(call.random());
    if (!secret) return internal_error("the random source failed");
    const auto replaced = call.store().replace_client_secret(call.who().user, *which, digest_of(*secret));
    if (!replaced) return replaced.error();
    if (!*replaced) return not_found();
    call.report(activity_kind::client_secret_replaced, found->name);
    return redirect_to_client(call, fill_in(call.texts().applications.renewed_title, found->name), found->client_id,
                              *secret);
}

/// Only for an application of the user; otherwise not_found.
template <class Call>
[[nodiscard]] result<void> delete_application(Call& call) {
    const auto which = application_id::parse(call.form().value_of("application"));
    if (!which) return not_found();
    const auto applications = call.store().applications_of(call.who().user);
    if (!applications) return applications.error();
    const auto found = std::find_if(applications->begin(), applications->end(),
                                    [&](const application& each) { return each.id == *which; });
    if (found == applications->end()) return not_found();
    const auto deleted = call.store().delete_application(call.who().user, *which);
    if (!deleted) return deleted.error();
    if (!*deleted) return not_found();
    call.report(activity_kind::application_deleted, found->name);
    return call.redirect_to_list();
}

template <class Call>
[[nodiscard]] result<void> post_to_applications(Call& call) {
    const auto action = call.form().value_of(action_name);
    if (action.empty()) return create_application(call);
    if (action == "new_secret") return renew_client_secret(call);
    if (action == "delete") return delete_application(call);
    return not_found();
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/applications_page.ipp>
#endif
