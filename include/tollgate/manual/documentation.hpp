#pragma once
#ifndef TOLLGATE_MANUAL_DOCUMENTATION_HPP
#define TOLLGATE_MANUAL_DOCUMENTATION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/http/detail/request_id.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/pipeline/route_table.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// Serves the documentation for API users, under `{auth_url}/docs/`. It is a separate handler. Each Error object links to it.
///
///     api_documentation documentation{api.settings(), api.table()};
///     http::site site{http::mounted(documentation.root(), documentation), http::mounted("", api)};
///
/// With an authorization server (`account_service_settings::has_authorization_server`), it also has a page on OAuth, to which OAuth errors
/// link.
///
/// Services, scopes, limits and routes come from the API's settings and route table. The constructor renders all pages, and nothing changes
/// afterwards, so `handle` may be called from many threads at once. No page has a script.
class api_documentation {
public:
    /// Renders all pages from the settings and the routes. Throws std::invalid_argument for an auth_url that `http::url::root` refuses.
    TOLLGATE_DECL api_documentation(const account_service_settings& settings, const route_table& routes);

    /// The pages are in memory.
    static constexpr bool blocking = false;
    /// The handler does not read bodies.
    static constexpr bool reads_body = false;

    /// Implements `http::handler`: serves a page, or responds to a request that the server refused.
    TOLLGATE_DECL void handle(const http::request& request, http::response& response) const noexcept;
    TOLLGATE_DECL void handle(const http::refusal& refused, http::response& response) const noexcept;
    /// Each responds like the function without `generated`, which is the id of a request that has no id of its own.
    TOLLGATE_DECL void handle(const http::request& request, http::response& response, const http::unique_id& generated) const noexcept;
    TOLLGATE_DECL void handle(const http::refusal& refused, http::response& response, const http::unique_id& generated) const noexcept;

    /// Returns the path where the documentation is mounted: the path of `auth_url`, and `/docs`.
    [[nodiscard]] const std::string& root() const noexcept { return root_; }

private:
    struct page {
        std::string path;
        std::string_view field_lines;
        std::string body;
    };

    TOLLGATE_DECL void respond(const http::request& request, http::response& response) const;

    std::string auth_url_;
    std::string root_;
    std::vector<page> pages_;
    std::string not_found_;
    std::string refused_before_, refused_behind_;  // the page of a refusal before and behind the reason
    std::string method_not_allowed_;
};

static_assert(http::handler<api_documentation>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/manual/documentation.ipp>
#endif

#endif  // TOLLGATE_MANUAL_DOCUMENTATION_HPP
