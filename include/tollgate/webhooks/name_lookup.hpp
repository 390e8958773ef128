#pragma once
#ifndef TOLLGATE_WEBHOOKS_NAME_LOOKUP_HPP
#define TOLLGATE_WEBHOOKS_NAME_LOOKUP_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tollgate::inline v0 {

/// Resolves a host name to its addresses; none if the name does not exist. May block. Called from several threads at
/// once, possibly even after a dispatcher has stopped: it must own all that it uses.
///
/// An exception counts as no addresses, with two exceptions. A std::system_error of `timed_out` or
/// `resource_unavailable_try_again` means that no name server responded: the attempt is retried like a timeout. Any
/// other std::system_error, and std::bad_alloc, mean that this machine could not send the query: no attempt is counted.
using name_lookup = std::function<std::vector<ip_address>(const std::string& host)>;

/// The system's resolver (`getaddrinfo`), without its search list: `shop` does not resolve to `shop.our-office.example`, so leaving out
/// a domain does not reach internal hosts. Names in `/etc/hosts` are found first.
[[nodiscard]] TOLLGATE_DECL std::vector<ip_address> system_lookup(const std::string& host);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/name_lookup.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_NAME_LOOKUP_HPP
