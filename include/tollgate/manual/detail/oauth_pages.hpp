#pragma once

#include <tollgate/pipeline/detail/api_settings.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/web/detail/html_writer.hpp>

#include <string>
#include <vector>

namespace tollgate::inline v0 {

/// What the documentation says about an authorization server beside the API.
struct oauth_facts {
    seconds code_lifetime{};
    seconds access_token_lifetime{};
    seconds refresh_token_lifetime{};  ///< from its last use on
    seconds refresh_token_end{};       ///< since it was issued
    std::vector<std::string> one_page_services = {};
    seconds rotation_grace{};  ///< for which a refresh token that was replaced returns its successor again
    bool rotates_all_refresh_tokens = false;
    seconds device_code_lifetime{};
    seconds device_poll_interval{};

    /// Of an `authorization_server`'s settings.
    template <class Settings>
    [[nodiscard]] static oauth_facts of(const Settings& settings) {
        return {settings.code_lifetime, settings.access_token_lifetime, settings.refresh_token_lifetime, settings.refresh_token_end,
                settings.one_page_services, settings.rotation_grace, settings.rotates_all_refresh_tokens, settings.device_code_lifetime,
                settings.device_poll_interval};
    }
};

namespace manual {

/// The page to which every error of the authorization server leads: what an application does from its registration on.
TOLLGATE_DECL void write_oauth_page(html_writer& html, const api_settings& settings, const oauth_facts& facts);

}  // namespace manual

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/manual/detail/oauth_pages.ipp>
#endif
