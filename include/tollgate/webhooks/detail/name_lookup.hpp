#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/lookup_pool.hpp>
#include <tollgate/base/ip_address.hpp>

#include <netdb.h>

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
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

namespace webhooks {

namespace detail {

/// The addresses of `host` in text that is written as `/etc/hosts` (hosts(5)); none if it is not there.
[[nodiscard]] TOLLGATE_DECL std::vector<ip_address> find_host(std::istream& hosts_file, std::string_view host);

/// `system_lookup` with this `getaddrinfo` and this file in place of `/etc/hosts`.
[[nodiscard]] TOLLGATE_DECL std::vector<ip_address> look_up_absolute(const std::string& host, const char* hosts_file,
                                                                     decltype(&::getaddrinfo) look_up);

}  // namespace detail

using tollgate::detail::lookup_end;
using lookup_result = tollgate::detail::lookup_result<std::vector<ip_address>>;
using lookup_pool = tollgate::detail::lookup_pool<std::vector<ip_address>>;

/// The result or exception of `look_up`. Empty: `system_lookup`.
[[nodiscard]] TOLLGATE_DECL lookup_result result_of(const name_lookup& look_up, const std::string& host) noexcept;

}  // namespace webhooks
}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/name_lookup.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_HPP
