#pragma once
#ifndef TOLLGATE_API_SIGN_IN_HPP
#define TOLLGATE_API_SIGN_IN_HPP

#include <tollgate/api/account_service.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/oauth/authorization_server.hpp>
#include <tollgate/pages/account_pages.hpp>
#include <tollgate/web/page_theme.hpp>

/// OAuth and the pages of an `account_service`. A service with sessions needs this header.
namespace tollgate::inline v0::service_detail {

/// Adds OAuth and the pages to a service.
struct part_mounter {
    /// Mounts the parts that `parts` has what they need for.
    TOLLGATE_COLD static void mount(account_service& service, const session_parts& parts);
};

template <class Sessions>
struct mounting : part_mounter {};

}  // namespace tollgate::service_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/api/sign_in.ipp>
#endif

#endif  // TOLLGATE_API_SIGN_IN_HPP
