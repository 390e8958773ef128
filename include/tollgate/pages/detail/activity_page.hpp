#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_ACTIVITY_PAGE_HPP
#define TOLLGATE_PAGES_DETAIL_ACTIVITY_PAGE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/model/activity.hpp>
#include <tollgate/pages/detail/page.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0::pages {

inline constexpr std::size_t activities_shown_max = 100;  // a page that a person still reads

/// `Created the token backup script`
[[nodiscard]] TOLLGATE_DECL std::string describe(const activity& done, const activity_texts& texts);

/// The table alone, or, without activities, a sentence.
TOLLGATE_DECL void write_activity_table(html_writer& html, const page_view& view, std::span<const activity> activities);
TOLLGATE_DECL void write_activities(html_writer& html, const page_view& view, std::span<const activity> activities);

/// What was done to the user's account. Precondition: the activities were read.
[[nodiscard]] inline result<void> show_activities(page_call& call) {
    call.page(call.texts().activity.title, {},
              [&](html_writer& html) { write_activities(html, call.view(), *call.user.activities); });
    return {};
}

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/activity_page.ipp>
#endif

#endif  // TOLLGATE_PAGES_DETAIL_ACTIVITY_PAGE_HPP
