#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/lookup_pool.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/webhooks/name_lookup.hpp>

#include <string>
#include <vector>

namespace tollgate::inline v0::webhooks {

using tollgate::detail::lookup_end;
using lookup_result = tollgate::detail::lookup_result<std::vector<ip_address>>;
using lookup_pool = tollgate::detail::lookup_pool<std::vector<ip_address>>;

/// The result or exception of `look_up`. Empty: `system_lookup`.
[[nodiscard]] TOLLGATE_DECL lookup_result result_of(const name_lookup& look_up, const std::string& host) noexcept;

}  // namespace tollgate::webhooks

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/name_lookup.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_HPP
