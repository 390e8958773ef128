#pragma once
#ifndef TOLLGATE_API_SIGN_IN_IPP
#define TOLLGATE_API_SIGN_IN_IPP

#include <tollgate/api/sign_in.hpp>

#include <memory>
#include <utility>

namespace tollgate::inline v0::service_detail {

TOLLGATE_COLD void part_mounter::mount(account_service& service, const session_parts& parts) {
    const account_api& api = service.api_;
    const any_page_theme theme = parts.theme != nullptr ? *parts.theme : any_page_theme{};
    const auto mount = [&](auto handler) {
        service.judged_.push_back(&handler->part());
        for (auto& each : handler->mounts()) service.paths_.push_back(std::move(each));
        service.handlers_.push_back(std::move(handler));
    };
    service.add_documentation();
    if (parts.applications) {
        auto settings = api.settings();
        for (auto& each : api.resource_urls()) settings.oauth.resources.push_back(std::move(each));
        mount(std::make_shared<authorization_server>(std::move(settings), parts.applications, parts.sessions, api.policies(), theme));
        service.parts_.push_back({"OAuth", true});
    } else {
        service.parts_.push_back({"OAuth", false, "the store is no oauth_store"});
    }
    if (parts.store) {
        const auto pages = std::make_shared<account_pages>(api.settings(), parts.users, parts.store, parts.sessions, api.policies(), theme);
        mount(pages);
        // The pages answer for all paths below a language, even those that do not exist.
        for (auto& each : pages->language_roots()) service.paths_.push_back(std::move(each));
        service.parts_.push_back({"pages", true});
    } else {
        service.parts_.push_back({"pages", false, "the store is not a token_store, an oauth_store and a hook_store"});
    }
}

}  // namespace tollgate::service_detail

#endif  // TOLLGATE_API_SIGN_IN_IPP
