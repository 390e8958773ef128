#pragma once

#include <tollgate/base/config.hpp>

#include <string_view>

namespace tollgate::http {

/// Whether `text` is `uri-host [":" port]` with a host that is not empty (RFC 9110 section 7.2, RFC 3986
/// section 3.2.2): a name, an IPv4 address, or an IPv6 address in brackets; a port of 0 to 65535, or none behind the
/// colon. No user information, path or blank; no comma either, though a name may have one: it is how two `Host` lines
/// look after a proxy has joined them.
[[nodiscard]] TOLLGATE_DECL bool is_authority(std::string_view text) noexcept;

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/authority.ipp>
#endif
