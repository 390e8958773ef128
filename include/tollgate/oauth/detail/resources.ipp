#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_RESOURCES_IPP
#define TOLLGATE_OAUTH_DETAIL_RESOURCES_IPP

#include <tollgate/account/register_application.hpp>
#include <tollgate/http/url.hpp>
#include <tollgate/oauth/detail/resources.hpp>

#include <algorithm>
#include <stdexcept>

namespace tollgate::inline v0::oauth {

TOLLGATE_COLD resource_list::resource_list(const account_service_settings& settings) {
    const auto add = [this](const std::string& url) {
        const auto id = resource_id_of(tollgate::detail::normalized_url(url));
        const bool is_known = std::any_of(all_.begin(), all_.end(), [&](const auto& each) { return each.first == id; });
        if (!is_known) all_.emplace_back(id, url);
    };
    if (!settings.base_url.empty()) add(settings.base_url);
    for (const auto& each : settings.oauth.resources) {
        const auto url = http::url::parse(each);
        if (!url || url->has_fragment)
            throw std::invalid_argument{"tollgate: a resource is not an absolute URL without a fragment: " + each};
        add(each);
    }
}

TOLLGATE_DECL std::variant<resource_set, failure> resource_list::read(const parameters& sent) const {
    resource_set requested;
    if (all_.empty()) return requested;
    for (const http::form_member& each : sent.all()) {
        if (each.name != "resource" || each.value.empty()) continue;
        const auto id = resource_id_of(tollgate::detail::normalized_url(each.value));
        const auto known = std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one.first == id; });
        if (known == all_.end()) return failure{error_code::invalid_target, "resource is not one that this server issues tokens for."};
        if (!requested.add(id)) return failure{error_code::invalid_target, "resource was sent too often."};
    }
    return requested;
}

TOLLGATE_DECL std::vector<std::string_view> resource_list::urls_of(const resource_set& resources) const {
    std::vector<std::string_view> urls;
    for (const auto& [id, url] : all_)
        if (!resources.empty() && resources.is_for(id)) urls.push_back(url);
    return urls;
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_RESOURCES_IPP
