#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/contract/target_rule.hpp>

namespace tollgate::inline v0 {

/// The default target rule: webhooks may go to the public internet only.
///
/// Refuses user information, fragments, names that only a local network resolves (a single label, `localhost`,
/// `.local`, `.localdomain`, `.internal`, `.home.arpa`), and every address that is not globally reachable (IANA's
/// special-purpose registries, RFC 6890), also inside IPv6, NAT64, 6to4, Teredo and ISATAP addresses. This includes the
/// metadata services of clouds: 169.254.169.254, fd00:ec2::254, 100.100.100.200, 168.63.129.16.
struct public_targets {
    /// Allows any host and address; user information and fragments are still refused. For development, and for services
    /// whose users are all on the private network.
    bool private_allowed = false;

    /// Implements `target_rule`.
    [[nodiscard]] TOLLGATE_DECL result<void> check(const http::url& target) const;
    [[nodiscard]] TOLLGATE_DECL bool allows(const ip_address& address) const noexcept;
};

static_assert(target_rule<public_targets>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/policy/public_targets.ipp>
#endif
