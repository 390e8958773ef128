#pragma once
#ifndef TOLLGATE_MANUAL_DETAIL_PAGES_HPP
#define TOLLGATE_MANUAL_DETAIL_PAGES_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/manual/detail/template.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/pipeline/route_table.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::manual {

/// Fills the templates of the documentation.
class page_writer {
public:
    struct page {
        std::string_view path;  ///< below `{auth_url}/docs/`; empty for the overview
        std::string html;
    };

    /// Reads all arguments and keeps none. `root` is the path of the documentation.
    TOLLGATE_COLD page_writer(const account_service_settings& settings, const route_table& routes, std::string_view root);

    /// Returns all pages, in the order of the navigation.
    [[nodiscard]] TOLLGATE_COLD std::vector<page> write_all() const;
    [[nodiscard]] TOLLGATE_COLD std::string write_error(std::string_view title, std::string_view explanation) const;

private:
    [[nodiscard]] TOLLGATE_COLD std::string write(page_template content, std::string_view path, template_values values) const;

    template_values site_;  // values that all pages can name
    bool has_oauth_;
};

}  // namespace tollgate::manual

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/manual/detail/pages.ipp>
#endif

#endif  // TOLLGATE_MANUAL_DETAIL_PAGES_HPP
