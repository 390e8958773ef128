#pragma once
#ifndef TOLLGATE_OAUTH_DETAIL_METADATA_HPP
#define TOLLGATE_OAUTH_DETAIL_METADATA_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/model/settings.hpp>

#include <span>
#include <string>
#include <string_view>

namespace tollgate::inline v0::oauth {

/// Authorization server metadata (RFC 8414): a JSON object. `languages` are those of the pages.
[[nodiscard]] TOLLGATE_DECL std::string make_metadata(const account_service_settings& settings,
                                                      std::span<const std::string_view> languages);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/metadata.ipp>
#endif

#endif  // TOLLGATE_OAUTH_DETAIL_METADATA_HPP
