#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/pipeline/detail/api_settings.hpp>
#include <tollgate/pipeline/detail/oauth_settings.hpp>
#include <tollgate/web/detail/html_writer.hpp>

namespace tollgate::inline v0 {

namespace manual {

/// The page to which every error of the authorization server leads: what an application does from its registration on.
TOLLGATE_DECL void write_oauth_page(html_writer& html, const api_settings& settings, const oauth_settings& oauth);

}  // namespace manual

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/manual/detail/oauth_pages.ipp>
#endif
