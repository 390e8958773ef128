#pragma once

#include <tollgate/base/config.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tollgate::pages {

/// Where a person can be.
enum class room : std::uint8_t {
    sign_in,
    sign_out,
    tokens,
    applications,
    authorizations,
    webhooks,
    start,  ///< leads to the settings
    none,
};

/// A path below a site's root, and what is there. All end in a slash.
struct room_path {
    std::string_view path;
    room where;
};

inline constexpr std::array room_paths = {
    room_path{"/", room::start},
    room_path{"/en/", room::start},
    room_path{"/en/user/", room::start},
    room_path{"/en/user/settings/", room::start},
    room_path{"/en/user/sign_in/", room::sign_in},
    room_path{"/en/user/sign_out/", room::sign_out},
    room_path{"/en/user/settings/tokens/", room::tokens},
    room_path{"/en/user/settings/applications/", room::applications},
    room_path{"/en/user/settings/authorizations/", room::authorizations},
    room_path{"/en/user/settings/webhooks/", room::webhooks},
};

/// The path of a room below its root.
[[nodiscard]] constexpr std::string_view path_of(room where) noexcept {
    std::string_view found = room_paths[0].path;
    for (const room_path& each : room_paths)
        if (each.where == where) found = each.path;
    return found;
}

struct found_room {
    room where = room::none;
    bool slash_missing = false;
};

/// What a path leads to. Compared byte by byte, but for the slash at its end.
[[nodiscard]] TOLLGATE_DECL found_room find_room(std::string_view path, std::string_view root) noexcept;

/// Whether a text is a path (and query) of the site itself that a browser may be sent to: nothing that it could read as
/// another host. Visible ASCII alone.
[[nodiscard]] TOLLGATE_DECL bool is_local_target(std::string_view text) noexcept;

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/room.ipp>
#endif
