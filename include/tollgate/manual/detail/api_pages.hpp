#pragma once
#ifndef TOLLGATE_MANUAL_DETAIL_API_PAGES_HPP
#define TOLLGATE_MANUAL_DETAIL_API_PAGES_HPP

#include <tollgate/pipeline/detail/api_settings.hpp>
#include <tollgate/pipeline/detail/oauth_settings.hpp>
#include <tollgate/pipeline/route_table.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/web/detail/html_writer.hpp>

#include <array>
#include <string>
#include <string_view>

namespace tollgate::inline v0::manual {

class page_writer;

/// One page: its address, its title, and its summary on the overview.
struct page_entry {
    std::string_view slug;  ///< `{auth_url}/docs/{slug}/`; empty for the overview
    std::string_view title;
    std::string_view summary;
    void (page_writer::*write)();
};

/// Renders pages. All text from settings and route tables is escaped.
class page_writer {
public:
    page_writer(const api_settings& settings, const route_table& routes,
                const oauth_settings* oauth, std::string_view root)
        : settings_{settings}, routes_{routes}, oauth_{oauth}, root_{root} {}

    /// False for the OAuth page when the API has no authorization server.
    [[nodiscard]] bool has(const page_entry& page) const noexcept {
        return oauth_ != nullptr || page.write != &page_writer::write_oauth;
    }
    [[nodiscard]] TOLLGATE_DECL std::string write(const page_entry& page);
    [[nodiscard]] TOLLGATE_DECL std::string write_error(std::string_view title, std::string_view explanation);

    TOLLGATE_DECL void write_overview();
    TOLLGATE_DECL void write_requests();
    TOLLGATE_DECL void write_authentication();
    TOLLGATE_DECL void write_oauth();
    TOLLGATE_DECL void write_scopes();
    TOLLGATE_DECL void write_rate_limits();
    TOLLGATE_DECL void write_errors();
    TOLLGATE_DECL void write_webhooks();
    TOLLGATE_DECL void write_endpoints();

private:
    TOLLGATE_DECL void begin_page(std::string_view slug, std::string_view title);
    TOLLGATE_DECL void end_page();
    TOLLGATE_DECL void write_operation(const route& route);
    TOLLGATE_DECL void write_access(const access_rule& access);
    TOLLGATE_DECL void write_parameters(const route& route);
    TOLLGATE_DECL void write_parameters(std::string_view heading, const std::vector<route::parameter>& parameters);
    TOLLGATE_DECL void write_curl(const route& route);
    TOLLGATE_DECL void write_example(const route& route);

    /// The first row of the table for which `matches` is true; null if there is none.
    template <class Wanted>
    [[nodiscard]] const route* find_route(Wanted&& matches) const {
        for (const auto& each : routes_)
            if (matches(each)) return &each;
        return nullptr;
    }

    const api_settings& settings_;
    const route_table& routes_;
    const oauth_settings* oauth_;  // null without an authorization server
    std::string_view root_;
    std::string out_;
    html_writer html_{out_};
};

/// All pages in the order of the navigation. The slugs are those of `pipeline::topic`, `oauth`, and a few more.
inline constexpr std::array page_entries = {
    page_entry{"", "Overview", "What the API does, and a first request.", &page_writer::write_overview},
    page_entry{"requests", "Requests", "URLs, header fields, bodies and formats.", &page_writer::write_requests},
    page_entry{"authentication", "Authentication", "Personal API tokens and OAuth access tokens.", &page_writer::write_authentication},
    page_entry{"oauth", "OAuth", "How users grant an application access.", &page_writer::write_oauth},
    page_entry{"scopes", "Scopes", "What a token is allowed to do.", &page_writer::write_scopes},
    page_entry{"rate-limits", "Rate limits", "How many requests you can send, and how to track them.", &page_writer::write_rate_limits},
    page_entry{"errors", "Errors", "Status codes and how to handle them.", &page_writer::write_errors},
    page_entry{"webhooks", "Webhooks", "Creating, listing, deleting and receiving webhooks.", &page_writer::write_webhooks},
    page_entry{"endpoints", "Endpoints", "All paths with parameters and examples.", &page_writer::write_endpoints},
};

}  // namespace tollgate::manual

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/manual/detail/api_pages.ipp>
#include <tollgate/manual/detail/oauth_page.ipp>
#endif

#endif  // TOLLGATE_MANUAL_DETAIL_API_PAGES_HPP
