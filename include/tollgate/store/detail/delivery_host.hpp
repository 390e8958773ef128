#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/http/url.hpp>

#include <string>

namespace tollgate::inline v0 {

/// The host that a delivery counts for: scheme, host and port of its hook's target, in one spelling; the text itself when it
/// is no URL that anything could be sent to.
[[nodiscard]] TOLLGATE_DECL std::string delivery_host(const std::string& target_url);

inline std::string delivery_host(const std::string& target_url) {
    const auto url = http::url::parse(target_url);
    return url ? url->origin() : target_url;
}

}  // namespace tollgate
