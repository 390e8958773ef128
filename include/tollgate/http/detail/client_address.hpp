#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_CLIENT_ADDRESS_HPP
#define TOLLGATE_HTTP_DETAIL_CLIENT_ADDRESS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/http/request.hpp>

#include <span>

namespace tollgate::inline v0::http {

namespace detail {
[[nodiscard]] TOLLGATE_DECL ip_address forwarded_address(const request& request, std::span<const ip_network> trusted,
                                                         forwarding_field named_by) noexcept;
}  // namespace detail

/// The address of the client: the peer's, unless the peer is a trusted proxy, which names its client in the field
/// `named_by`. The field is read from the right, because every proxy appends its peer: the first address that is not a
/// trusted proxy is the client's. Anything left of it, the other field, and both fields from an untrusted peer could be
/// forged.
///
/// If an entry is unreadable (`unknown`, an obfuscated name, garbage), the last trusted hop is returned.
[[nodiscard]] inline ip_address client_address(const request& request, std::span<const ip_network> trusted,
                                               forwarding_field named_by = forwarding_field::x_forwarded_for) noexcept {
    return trusted.empty() ? request.peer : detail::forwarded_address(request, trusted, named_by);
}

}  // namespace tollgate::http

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/http/detail/client_address.ipp>
#endif

#endif  // TOLLGATE_HTTP_DETAIL_CLIENT_ADDRESS_HPP
