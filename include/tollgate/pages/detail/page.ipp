#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/pages/detail/page.hpp>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL found_room find_room(std::string_view path, std::string_view root) noexcept {
    if (!path.starts_with(root)) return {};
    path.remove_prefix(root.size());
    for (const room_path& each : room_paths) {
        if (path == each.path) return {each.where, false};
        if (path == each.path.substr(0, each.path.size() - 1)) return {each.where, true};
    }
    return {};
}

TOLLGATE_DECL bool is_local_target(std::string_view text) noexcept {
    // Browsers read `//host` and `/\host` as another host, and drop what is no visible ASCII in between.
    if (text.size() > limits::target_bytes_max || !text.starts_with('/') || text.starts_with("//")) return false;
    for (char c : text)
        if (c <= ' ' || c > '~' || c == '\\') return false;
    return true;
}

}  // namespace tollgate::pages
