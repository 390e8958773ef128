#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/pages/detail/page.hpp>

namespace tollgate::inline v0::pages {

TOLLGATE_DECL page_match find_page(std::string_view path, std::string_view root) noexcept {
    if (!path.starts_with(root)) return {};
    path.remove_prefix(root.size());
    for (const page_path& each : page_paths) {
        if (path == each.path) return {each.which, false};
        if (path == each.path.substr(0, each.path.size() - 1)) return {each.which, true};
    }
    return {};
}

TOLLGATE_DECL bool is_local_target(std::string_view text) noexcept {
    // Browsers read `//host` and `/\host` as another host, and drop some characters that are not visible ASCII.
    if (text.size() > limits::target_bytes_max || !text.starts_with('/') || text.starts_with("//")) return false;
    for (char c : text)
        if (c <= ' ' || c > '~' || c == '\\') return false;
    return true;
}

}  // namespace tollgate::pages
