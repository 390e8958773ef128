#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_PATHS_IPP
#define TOLLGATE_OAUTH_DETAIL_PATHS_IPP

#include <tollgate/oauth/detail/paths.hpp>

namespace tollgate::inline v0::oauth {

TOLLGATE_DECL paths::paths(const account_service_settings& settings, std::string_view root,
                           const std::vector<web::page_language>& languages) {
    const auto add = [&](std::string path, endpoint target) {
        if (path.ends_with('/')) path.pop_back();
        entries_.push_back({std::move(path), target});
    };
    const auto below = [root](std::string_view path) { return std::string{root}.append(path); };
    add(below(token_path), endpoint::token);
    add(below(revocation_path), endpoint::revocation);
    add(below(introspection_path), endpoint::introspection);
    add(below(device_authorization_path), endpoint::device_authorization);
    if (settings.oauth.registration != dynamic_registration::off) add(below(registration_path), endpoint::registration);
    const auto add_pages = [&](const std::string& language_root) {
        add(language_root + "/user/oauth", endpoint::authorization);
        add(language_root + "/user/device", endpoint::device_page);
        for (const auto& service : settings.oauth.one_page_services)
            add(std::string{language_root}.append("/").append(service).append("/oauth"), endpoint::one_page);
    };
    bool has_published = false;
    for (const auto& language : languages) {
        add_pages(language.root);
        pages_.push_back(language.root + "/");
        has_published = has_published || language.root == below(published_language);
    }
    // The published paths without texts in their language, and paths without a language: redirected to the reader's.
    if (!has_published) add_pages(below(published_language));
    add(below("/user/oauth"), endpoint::authorization);
    add(below("/user/device"), endpoint::device_page);
    add(below(metadata_path), endpoint::metadata);
    // Serves clients that append the path to an issuer with a final slash.
    add(below("/" + std::string{metadata_path}), endpoint::metadata);
    // RFC 8414 section 3.1 appends the path of the issuer to the well-known one.
    if (!root.empty()) add(std::string{metadata_path}.append(root), endpoint::metadata);
}

TOLLGATE_DECL endpoint paths::find(std::string_view path) const noexcept {
    if (path.ends_with('/')) path.remove_suffix(1);
    for (const entry& each : entries_)
        if (each.path == path) return each.target;
    return endpoint::none;
}

TOLLGATE_DECL std::vector<std::string> paths::mounts() const {
    std::vector<std::string> prefixes;
    for (const entry& each : entries_) prefixes.push_back(each.path);
    return prefixes;
}

}  // namespace tollgate::oauth

#endif  // TOLLGATE_OAUTH_DETAIL_PATHS_IPP
