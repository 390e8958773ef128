#pragma once
#ifndef TOLLGATE_WEB_DETAIL_PAGE_PART_HPP
#define TOLLGATE_WEB_DETAIL_PAGE_PART_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/model/session.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/pipeline/detail/row.hpp>
#include <tollgate/policy/policies.hpp>
#include <tollgate/web/detail/page.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::web {

/// What a page keeps for one request.
struct kept_page : pipeline::kept_data {
    const page_language* language = nullptr;  ///< language of the response
    std::optional<session> signed_in{};       ///< of rows with `page_part::session_callers`
    http::form_fields form{{}};               ///< of rows with `page_part::form_body`
};

/// What parts with pages have in common: how sessions are found, how forms are read, how errors are written, and the files that pages load.
class page_part : public pipeline::part {
public:
    TOLLGATE_COLD void refuse(const http::refusal& refused, http::response& response) const override;

    [[nodiscard]] const account_service_settings& settings() const noexcept override { return settings_; }
    [[nodiscard]] const tollgate::policies& policies() const noexcept { return policies_; }
    [[nodiscard]] const session_source_ref& sessions() const noexcept { return sessions_; }
    [[nodiscard]] const page_renderer& renderer() const noexcept { return renderer_; }

    // What rows are made of, for requests whose `kept` is null or a `kept_page`.

    static TOLLGATE_DECL void read_session(pipeline::row_call& call);
    static TOLLGATE_DECL pipeline::progress find_session(pipeline::row_call& call);
    /// Callers are users with a session.
    static constexpr pipeline::caller_rule session_callers{
        .work = http::work_kind::sessions, .read = &read_session, .find = &find_session};

    [[nodiscard]] static TOLLGATE_DECL bool is_cross_site(const pipeline::row_call& call);
    [[nodiscard]] static TOLLGATE_DECL pipeline::progress check_form(pipeline::row_call& call);
    [[nodiscard]] static TOLLGATE_DECL pipeline::progress read_form(pipeline::row_call& call);
    /// The body is a form of this site.
    static constexpr pipeline::body_rule form_body{&is_cross_site, &check_form, &read_form};

    /// Writes the error page of a rejection.
    static TOLLGATE_DECL void reject(pipeline::row_call& call, const pipeline::rejection& reason);
    static TOLLGATE_DECL void fail(pipeline::row_call& call, const error& failure);
    static TOLLGATE_DECL void fail_with(pipeline::row_call& call, http::status status);
    static TOLLGATE_DECL void add_fields(pipeline::row_call& call);
    /// Errors are pages.
    static constexpr pipeline::response_form page_form{&reject, &fail, &add_fields};

    /// Returns what the page keeps. Precondition: `find_row` has created it.
    [[nodiscard]] static kept_page& kept(const pipeline::row_call& call) noexcept { return static_cast<kept_page&>(*call.state.kept); }
    /// Renders pages in the language of the response.
    [[nodiscard]] static TOLLGATE_DECL localized_pages pages_for(const pipeline::row_call& call);
    /// Counts the request in a window.
    static TOLLGATE_DECL void count_in(window_limiter& limiter, const limit_key& key, const quota& allowed, pipeline::row_call& call);
    /// Redirects to a URL with 303.
    [[nodiscard]] static TOLLGATE_DECL result<pipeline::progress> redirect(pipeline::row_call& call, std::string_view url);

protected:
    /// Throws std::invalid_argument for an auth_url that `http::url::root` refuses.
    TOLLGATE_COLD page_part(account_service_settings&& settings, const session_source_ref& sessions, tollgate::policies&& policies,
                            any_page_theme&& theme, page_reach reach);

    /// Finds the row of a file that pages load; false if the path is of no such file.
    [[nodiscard]] TOLLGATE_DECL bool find_asset_row(pipeline::row_call& call) const;
    /// Finds the row of a path without a page.
    TOLLGATE_DECL void find_unknown_row(pipeline::row_call& call) const;
    [[nodiscard]] const pipeline::row& without_page() const noexcept { return without_page_; }

private:
    account_service_settings settings_;
    session_source_ref sessions_;
    tollgate::policies policies_;
    page_renderer renderer_;
    std::vector<pipeline::row> asset_rows_;  // of the site's assets, in their order
    pipeline::row without_page_;  // of requests that no page responds to
};

}  // namespace tollgate::web

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/detail/page_part.ipp>
#endif

#endif  // TOLLGATE_WEB_DETAIL_PAGE_PART_HPP
