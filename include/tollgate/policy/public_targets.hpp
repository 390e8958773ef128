#pragma once
#ifndef TOLLGATE_POLICY_PUBLIC_TARGETS_HPP
#define TOLLGATE_POLICY_PUBLIC_TARGETS_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/target_rule.hpp>

#include <string_view>

namespace tollgate::inline v0 {

namespace detail {

// The messages of refusals. Pages translate them.
inline constexpr std::string_view target_has_user_info = "target_url must not have a username or password.";
inline constexpr std::string_view target_has_fragment = "target_url must not have a fragment.";
inline constexpr std::string_view target_is_private = "target_url must point to a public address.";

}  // namespace detail

/// The default target rule: webhooks may be sent only to the public internet.
///
/// Refuses user information, fragments, names that only a local network resolves (a single label, `localhost`,
/// `.local`, `.localdomain`, `.internal`, `.home.arpa`), and every address that is not globally reachable (IANA's
/// special-purpose registries, RFC 6890), even if it is embedded in an IPv6, NAT64, 6to4, Teredo or ISATAP address.
/// This includes the metadata services of clouds: 169.254.169.254, fd00:ec2::254, 100.100.100.200, 168.63.129.16.
struct public_targets {
    /// If true, allows any host and address; user information and fragments are still refused. For development, and for services whose
    /// users are all on the same private network.
    bool private_allowed = false;

    /// Implements `target_rule`. Error (invalid) with a message that names `target_url`. Any thread may call it. It never blocks.
    [[nodiscard]] TOLLGATE_COLD result<void> check(const http::url& target) const;
    [[nodiscard]] TOLLGATE_DECL bool allows(const ip_address& address) const noexcept;
};

static_assert(target_rule<public_targets>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/policy/public_targets.ipp>
#endif

#endif  // TOLLGATE_POLICY_PUBLIC_TARGETS_HPP
