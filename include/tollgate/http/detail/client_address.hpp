#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/http/request.hpp>

#include <span>

namespace tollgate::inline v0::http {

namespace detail {
[[nodiscard]] TOLLGATE_DECL ip_address forwarded_address(const request& request, std::span<const ip_network> trusted,
                                                         forwarding_field named_by) noexcept;
}  // namespace detail

/// The address of the client: the peer's, unless the peer is a trusted proxy, which names its client in `named_by`. Read from
/// the right, because every proxy appends what it saw: the first address that does not belong to a trusted proxy counts. The
/// client could have sent what is left of it, the other field, and either field over an untrusted peer.
///
/// If an entry cannot be read (`unknown`, an obfuscated name, garbage), the last trusted hop counts.
[[nodiscard]] inline ip_address client_address(const request& request, std::span<const ip_network> trusted,
                                               forwarding_field named_by = forwarding_field::x_forwarded_for) noexcept {
    return trusted.empty() ? request.peer : detail::forwarded_address(request, trusted, named_by);
}

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/client_address.ipp>
#endif
