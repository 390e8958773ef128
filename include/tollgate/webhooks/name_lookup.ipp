#pragma once
#ifndef TOLLGATE_WEBHOOKS_NAME_LOOKUP_IPP
#define TOLLGATE_WEBHOOKS_NAME_LOOKUP_IPP

#include <tollgate/webhooks/detail/absolute_lookup.hpp>
#include <tollgate/webhooks/name_lookup.hpp>

#include <netdb.h>
#include <string>
#include <vector>

namespace tollgate::inline v0 {

TOLLGATE_DECL std::vector<ip_address> system_lookup(const std::string& host) {
    return webhooks::detail::look_up_absolute(host, "/etc/hosts", &::getaddrinfo);
}

}  // namespace tollgate

#endif  // TOLLGATE_WEBHOOKS_NAME_LOOKUP_IPP
