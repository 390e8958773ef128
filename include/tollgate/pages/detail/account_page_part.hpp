#pragma once
#ifndef TOLLGATE_PAGES_DETAIL_ACCOUNT_PAGE_PART_HPP
#define TOLLGATE_PAGES_DETAIL_ACCOUNT_PAGE_PART_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/account_store.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/pages/detail/page.hpp>
#include <tollgate/pipeline/detail/row.hpp>
#include <tollgate/policy/policies.hpp>
#include <tollgate/web/detail/page_part.hpp>
#include <tollgate/web/page_theme.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::pages {

/// The rows of the account pages.
class account_page_part final : public web::page_part {
public:
    /// Throws std::invalid_argument, as the constructor of `account_pages` does.
    TOLLGATE_COLD account_page_part(account_service_settings&& settings, const user_directory_ref& users, const account_store_ref& store,
                                    const session_source_ref& sessions, tollgate::policies&& policies, any_page_theme&& theme);

    [[nodiscard]] TOLLGATE_DECL bool serves(const http::request& request) const noexcept override;
    TOLLGATE_DECL void find_row(pipeline::row_call& call) const override;
    [[nodiscard]] TOLLGATE_DECL bool may_block() const noexcept override;

    /// The paths for `http::site`.
    [[nodiscard]] TOLLGATE_COLD std::vector<std::string> mounts() const;
    /// What all pages of a language are below: `/en`, `/de`.
    [[nodiscard]] TOLLGATE_COLD std::vector<std::string> language_roots() const;

private:
    friend struct account_page_rules;

    /// The rows of a path. The `post` of a page that takes no forms has no steps.
    struct page_rows {
        pipeline::row get, post, redirect;
    };

    [[nodiscard]] bool is_change_password_path(std::string_view path) const noexcept;

    mutable page_environment environment_;  // its limiter counts
    std::array<page_rows, page_paths.size()> rows_;
    pipeline::row change_password_row_;
    std::vector<std::string> roots_;  // of the languages
};

}  // namespace tollgate::pages

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pages/detail/account_page_part.ipp>
#endif

#endif  // TOLLGATE_PAGES_DETAIL_ACCOUNT_PAGE_PART_HPP
