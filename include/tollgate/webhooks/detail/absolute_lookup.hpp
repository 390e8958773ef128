#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_ABSOLUTE_LOOKUP_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_ABSOLUTE_LOOKUP_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/system/sockets.hpp>
#include <tollgate/base/ip_address.hpp>

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::webhooks::detail {

/// The addresses of `host` in text that is written as `/etc/hosts` (hosts(5)); none if it is not there.
[[nodiscard]] TOLLGATE_DECL std::vector<ip_address> find_host(std::istream& hosts_file, std::string_view host);

/// `system_lookup` with this `getaddrinfo` and this file in place of `/etc/hosts`.
[[nodiscard]] TOLLGATE_DECL std::vector<ip_address> look_up_absolute(const std::string& host, const char* hosts_file,
                                                                     decltype(&::getaddrinfo) look_up);

}  // namespace tollgate::webhooks::detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/absolute_lookup.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_DETAIL_ABSOLUTE_LOOKUP_HPP
