#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_PATHS_HPP
#define TOLLGATE_OAUTH_DETAIL_PATHS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/observer.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/model/quota.hpp>
#include <tollgate/oauth/detail/failure.hpp>
#include <tollgate/pipeline/detail/observed_request.hpp>
#include <tollgate/web/detail/page.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::oauth {

inline constexpr std::string_view published_language = "/en";  ///< language of the pages in the paths below

// Below {auth_url}, as published. Each is also served without the trailing slash, and pages in every language.
inline constexpr std::string_view authorization_path = "/en/user/oauth/";
inline constexpr std::string_view token_path = "/user/oauth_token/";
inline constexpr std::string_view revocation_path = "/user/oauth_revoke/";
inline constexpr std::string_view introspection_path = "/user/oauth_introspect/";
inline constexpr std::string_view device_authorization_path = "/user/oauth_device/";
inline constexpr std::string_view device_page_path = "/en/user/device/";
inline constexpr std::string_view registration_path = "/user/oauth_register/";
inline constexpr std::string_view metadata_path = "/.well-known/oauth-authorization-server";

enum class endpoint : std::uint8_t {
    none,
    authorization,
    one_page,  ///< sign-in and consent on one page
    token,
    revocation,
    introspection,
    device_authorization,
    device_page,  ///< the page on which a user enters the code of a device
    registration,  ///< dynamic registration
    metadata,
};
inline constexpr std::size_t endpoints_count = static_cast<std::size_t>(endpoint::metadata) + 1;

/// The pattern of an endpoint's path, for logs and metrics; empty for `none`.
[[nodiscard]] constexpr std::string_view route_of(endpoint which) noexcept {
    switch (which) {
        case endpoint::authorization: return "/{language}/user/oauth/";
        case endpoint::one_page: return "/{language}/{service}/oauth/";
        case endpoint::token: return token_path;
        case endpoint::revocation: return revocation_path;
        case endpoint::introspection: return introspection_path;
        case endpoint::device_authorization: return device_authorization_path;
        case endpoint::device_page: return "/{language}/user/device/";
        case endpoint::registration: return registration_path;
        case endpoint::metadata: return metadata_path;
        case endpoint::none: break;
    }
    return {};
}

/// Returns true if the endpoint responds to people, with pages.
[[nodiscard]] constexpr bool is_page(endpoint which) noexcept {
    return which == endpoint::authorization || which == endpoint::one_page || which == endpoint::device_page;
}

/// The paths of an authorization server.
class paths {
public:
    /// `root` is the path of {auth_url}, without a trailing slash.
    TOLLGATE_DECL paths(const account_service_settings& settings, std::string_view root,
                        const std::vector<web::page_language>& languages);

    [[nodiscard]] TOLLGATE_DECL endpoint find(std::string_view path) const noexcept;

    /// Returns true if an unknown path below this is answered with a page.
    [[nodiscard]] bool is_page_path(std::string_view path) const noexcept {
        return std::any_of(pages_.begin(), pages_.end(), [&](const std::string& each) { return path.starts_with(each); });
    }

    /// Returns the paths as `http::mount` takes them.
    [[nodiscard]] TOLLGATE_DECL std::vector<std::string> mounts() const;

private:
    struct entry {
        std::string path;  ///< the path without a trailing slash
        endpoint target;
    };
    std::vector<entry> entries_;
    std::vector<std::string> pages_;
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/paths.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_PATHS_HPP
