#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/contract/target_rule.hpp>

namespace tollgate::inline v0 {

/// The default target rule: webhooks go to the public internet and nowhere else.
///
/// Refuses user information, fragments, names that only a local network knows (a single label, `localhost`, `.local`,
/// `.localdomain`, `.internal`, `.home.arpa`), and every address that is not globally reachable (IANA's special-purpose
/// registries, RFC 6890), in whatever wrapping: IPv4 inside IPv6, NAT64, 6to4, Teredo and ISATAP. What clouds answer at
/// with credentials is among them: 169.254.169.254, fd00:ec2::254, 100.100.100.200, 168.63.129.16.
struct public_targets {
    /// Lets webhooks go to any host and address; user information and fragments are refused all the same. For
    /// development, and for a service whose users are all inside.
    bool private_allowed = false;

    /// The contract `target_rule`.
    [[nodiscard]] TOLLGATE_DECL result<void> check(const http::url& target) const;
    [[nodiscard]] TOLLGATE_DECL bool allows(const ip_address& address) const noexcept;
};

static_assert(target_rule<public_targets>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/policy/public_targets.ipp>
#endif
