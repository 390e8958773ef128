#pragma once
#ifndef TOLLGATE_API_SIGN_IN_IPP
#define TOLLGATE_API_SIGN_IN_IPP

#include <tollgate/api/sign_in.hpp>

#include <memory>
#include <utility>

namespace tollgate::inline v0::service_detail {

/// The fields that all parts have in common.
template <class Settings>
void copy_common_fields(const api_settings& api, Settings& settings) {
    settings.auth_url = api.auth_url;
    settings.services = api.services;
    settings.trusted_proxies = api.trusted_proxies;
    settings.client_named_by = api.client_named_by;
    settings.documentation_url = api.documentation_url;
}

TOLLGATE_COLD oauth_settings to_oauth_settings(oauth_settings settings, const api_settings& api) {
    copy_common_fields(api, settings);
    settings.anonymous_quota = api.anonymous_quota;
    settings.cors_origins = api.cors_origins;
    return settings;
}

TOLLGATE_COLD page_settings to_page_settings(page_settings settings, const api_settings& api) {
    copy_common_fields(api, settings);
    settings.hooks_per_event_max = api.hooks_per_event_max;
    return settings;
}

TOLLGATE_COLD void part_mounter::mount(account_service& service, const account_service_settings& settings, const session_parts& parts) {
    const account_api& api = service.api_;
    const any_page_theme theme = parts.theme != nullptr ? *parts.theme : any_page_theme{};
    const auto oauth = std::make_shared<authorization_server>(to_oauth_settings(settings.oauth, api.settings()), parts.store,
                                                              parts.sessions, api.policies(), theme);
    const auto pages = std::make_shared<account_pages>(to_page_settings(settings.pages, api.settings()), parts.users, parts.store,
                                                       parts.sessions, api.policies(), theme);
    service.mount_documentation(&oauth->settings());
    service.parts_.push_back(oauth);
    service.parts_.push_back(pages);
    const auto mount = [&](http::handler_ref part, std::vector<std::string> paths) {
        for (const auto& each : paths) service.paths_.push_back(each);
        service.mounts_.push_back({std::move(paths), {}, part});
    };
    mount(*oauth, oauth->mounts());
    mount(*pages, pages->mounts());
    // The pages answer for all paths below a language, even those that do not exist.
    mount(*pages, pages->language_roots());
}

}  // namespace tollgate::service_detail

#endif  // TOLLGATE_API_SIGN_IN_IPP
