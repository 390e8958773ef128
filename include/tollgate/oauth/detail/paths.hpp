#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/oauth/detail/settings.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::oauth {

/// The locale that stands in the paths of pages; others can be added beside it.
inline constexpr std::string_view page_locale = "en";

// Below {auth_url}, as they are told to others. Each answers without the slash at its end, too.
inline constexpr std::string_view authorization_path = "/en/user/oauth/";
inline constexpr std::string_view token_path = "/user/oauth_token/";
inline constexpr std::string_view revocation_path = "/user/oauth_revoke/";
inline constexpr std::string_view metadata_path = "/.well-known/oauth-authorization-server";

enum class place : std::uint8_t {
    nowhere,
    authorization,
    one_page,  ///< authorization with the sign-in on the same page
    token,
    revocation,
    metadata,
};

/// Which paths an authorization server answers for.
class places {
public:
    /// `root` is the path of {auth_url}, without a slash at its end.
    TOLLGATE_DECL places(const oauth_settings& settings, std::string_view root);

    [[nodiscard]] TOLLGATE_DECL place find(std::string_view path) const noexcept;

    /// Whether a path is where pages are, whether there is one or not.
    [[nodiscard]] bool is_among_pages(std::string_view path) const noexcept { return path.starts_with(pages_); }

    /// As `http::mount` takes them.
    [[nodiscard]] TOLLGATE_DECL std::vector<std::string> mounts() const;

private:
    struct entry {
        std::string path;  ///< without a slash at its end
        place what;
    };
    std::vector<entry> entries_;
    std::string pages_;
};

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/paths.ipp>
#endif
