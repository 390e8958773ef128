#pragma once
#ifndef TOLLGATE_WEB_GERMAN_HPP
#define TOLLGATE_WEB_GERMAN_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/web/texts.hpp>

namespace tollgate::inline v0 {

/// The texts of the pages in German, for the languages of a theme:
///
///     plain_theme theme;
///     theme.languages = {page_texts{}, german_texts()};
///     account_service service{settings, users, store, sessions, default_policies(), account_routes(), theme};
[[nodiscard]] TOLLGATE_DECL page_texts german_texts();

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/german.ipp>
#endif

#endif  // TOLLGATE_WEB_GERMAN_HPP
