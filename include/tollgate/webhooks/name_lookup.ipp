#pragma once
#ifndef TOLLGATE_WEBHOOKS_NAME_LOOKUP_IPP
#define TOLLGATE_WEBHOOKS_NAME_LOOKUP_IPP

#include <tollgate/base/detail/system/files.hpp>
#include <tollgate/webhooks/detail/absolute_lookup.hpp>
#include <tollgate/webhooks/name_lookup.hpp>

#include <string>
#include <vector>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::vector<ip_address> system_lookup(const std::string& host) {
    return webhooks::detail::look_up_absolute(host, tollgate::detail::hosts_file().c_str(), &::getaddrinfo);
}

}  // namespace tollgate

#endif  // TOLLGATE_WEBHOOKS_NAME_LOOKUP_IPP
