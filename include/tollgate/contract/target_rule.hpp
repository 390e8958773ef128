#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/http/url.hpp>

#include <concepts>

namespace tollgate::inline v0 {

/// Says where webhooks may go: an API that posts to any URL is a way into the network it stands in.
///
/// Thread rule: both functions may be called from many threads at once. Neither blocks: names are not looked up here.
///
/// Exemplar:
///
///     struct partners_only {
///         result<void> check(const http::url& target) const {
///             if (target.host == "hooks.partner.example") return {};
///             return invalid("target_url must be at hooks.partner.example.");
///         }
///         bool allows(const ip_address&) const noexcept { return true; }
///     };
template <class R>
concept target_rule = requires(const R& r, const http::url& target, const ip_address& address) {
    // Judges a URL when a hook is made, by its text alone. A refusal is error_kind::invalid, and its message names
    // `target_url`.
    { r.check(target) } -> std::same_as<result<void>>;
    // Judges an address before each connection to it, after the name was looked up: a name that was harmless when the
    // hook was made may point inside now.
    { r.allows(address) } noexcept -> std::same_as<bool>;
};

}  // namespace tollgate
