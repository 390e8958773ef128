#pragma once
#ifndef TOLLGATE_WEB_DETAIL_LANGUAGE_HPP
#define TOLLGATE_WEB_DETAIL_LANGUAGE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/text.hpp>

#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

/// Finds which of the offered languages a reader prefers. Languages are BCP 47 tags, such as `de` and `pt-BR`.
namespace tollgate::inline v0::web {

/// Returns true if a text can be a language tag, and so a segment of a path: letters and digits in groups separated by hyphens.
[[nodiscard]] TOLLGATE_DECL bool is_language_tag(std::string_view text) noexcept;

/// The offered language of a range (RFC 4647 section 3.4, lookup): `de-AT` finds `de`. Its index.
[[nodiscard]] TOLLGATE_DECL std::optional<std::size_t> find_language(std::string_view range,
                                                                     std::span<const std::string_view> offered) noexcept;

/// The offered language that an `Accept-Language` field prefers (RFC 9110 section 12.5.4); the first for `*`. Empty if it
/// names none.
[[nodiscard]] TOLLGATE_DECL std::optional<std::size_t> accepted_language(std::string_view field,
                                                                         std::span<const std::string_view> offered) noexcept;

/// The offered language that `ui_locales` prefers (OpenID Connect Core 1.0 section 3.1.2.1): tags separated by spaces, the
/// best one first. Empty if it names none.
[[nodiscard]] TOLLGATE_DECL std::optional<std::size_t> ui_language(std::string_view ui_locales,
                                                                   std::span<const std::string_view> offered) noexcept;

}  // namespace tollgate::web

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/detail/language.ipp>
#endif

#endif  // TOLLGATE_WEB_DETAIL_LANGUAGE_HPP
