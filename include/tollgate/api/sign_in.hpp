#pragma once
#ifndef TOLLGATE_API_SIGN_IN_HPP
#define TOLLGATE_API_SIGN_IN_HPP

#include <tollgate/api/account_service.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/oauth/authorization_server.hpp>
#include <tollgate/pages/account_pages.hpp>
#include <tollgate/web/page_theme.hpp>

/// OAuth and the pages of an `account_service`: a service with sessions needs this header.
namespace tollgate::inline v0::service_detail {

/// The settings of a part, with what all parts have in common.
[[nodiscard]] TOLLGATE_COLD oauth_settings to_oauth_settings(oauth_settings settings, const api_settings& api);
[[nodiscard]] TOLLGATE_COLD page_settings to_page_settings(page_settings settings, const api_settings& api);

struct part_mounter {
    TOLLGATE_COLD static void mount(account_service& service, const account_service_settings& settings, const session_parts& parts);
};

template <class Sessions>
struct mounting : part_mounter {};

}  // namespace tollgate::service_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/api/sign_in.ipp>
#endif

#endif  // TOLLGATE_API_SIGN_IN_HPP
