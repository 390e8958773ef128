#pragma once

#include <tollgate/base/config.hpp>

#include <string>

namespace tollgate {

/// The host that a delivery counts for: scheme, host and port of its hook's target, in one spelling; the text itself when it
/// is no URL that anything could be sent to.
[[nodiscard]] TOLLGATE_DECL std::string delivery_host(const std::string& target_url);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/delivery_host.ipp>
#endif
