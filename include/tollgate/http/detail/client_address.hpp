#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/http/request.hpp>

#include <span>

namespace tollgate::inline v0::http {

namespace detail {
[[nodiscard]] TOLLGATE_DECL ip_address forwarded_address(const request& asked, std::span<const ip_network> trusted) noexcept;
}  // namespace detail

/// Whose request this is: the peer's, unless the peer is a trusted proxy, which says for whom it asks in X-Forwarded-For or
/// Forwarded (RFC 7239). Read from the right, for every proxy appends what it saw itself: the first address that is no
/// trusted proxy's counts. What stands left of it is anybody's claim, and so is either field from any other peer.
///
/// Where an entry cannot be read (`unknown`, a hidden name, garbage), it is the trusted hop behind it. Where both fields are
/// sent and disagree it is the peer: which one the proxy wrote, and which one it passed on, is not known.
[[nodiscard]] inline ip_address client_address(const request& asked, std::span<const ip_network> trusted) noexcept {
    return trusted.empty() ? asked.peer : detail::forwarded_address(asked, trusted);
}

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/client_address.ipp>
#endif
