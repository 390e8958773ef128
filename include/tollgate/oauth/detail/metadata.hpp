#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/oauth/detail/settings.hpp>

#include <string>
#include <string_view>

namespace tollgate::inline v0::oauth {

/// What an OAuth library reads instead of being configured by hand (RFC 8414): a JSON object.
[[nodiscard]] TOLLGATE_DECL std::string make_metadata(const oauth_settings& settings);

/// GET and HEAD with that, OPTIONS with 204, all else with 405.
TOLLGATE_DECL void answer_metadata(const http::request& asked, std::string_view metadata, std::string_view docs_url,
                                   http::response& out);

}  // namespace tollgate::oauth

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/oauth/detail/metadata.ipp>
#endif
