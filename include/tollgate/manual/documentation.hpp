#pragma once
#ifndef TOLLGATE_MANUAL_DOCUMENTATION_HPP
#define TOLLGATE_MANUAL_DOCUMENTATION_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/model/settings.hpp>
#include <tollgate/pipeline/route_table.hpp>
#include <tollgate/policy/default_policies.hpp>

#include <memory>
#include <string>

namespace tollgate::inline v0 {

namespace pipeline {
class judge;
class part;
}  // namespace pipeline
namespace manual {
class documentation_part;
}

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
    /// Renders all pages from the settings and the routes. The observer of the policies sees the requests. Throws std::invalid_argument for
    /// an auth_url that `http::url::root` refuses.
    TOLLGATE_COLD api_documentation(account_service_settings settings, const route_table& routes, policies policies = default_policies());
    TOLLGATE_COLD ~api_documentation();

    api_documentation(const api_documentation&) = delete;
    api_documentation& operator=(const api_documentation&) = delete;

    /// The pages are in memory.
    static constexpr bool blocking = false;
    /// The handler does not read bodies.
    static constexpr bool reads_body = false;

    /// Implements `http::handler`: serves a page, or responds to a request that the server refused.
    TOLLGATE_DECL void handle(const http::request& request, http::response& response) const noexcept;
    TOLLGATE_DECL void handle(const http::refusal& refused, http::response& response) const noexcept;
    /// Returns the path where the documentation is mounted: the path of `auth_url`, and `/docs`.
    [[nodiscard]] TOLLGATE_DECL const std::string& root() const noexcept;

private:
    friend class account_service;

    [[nodiscard]] TOLLGATE_DECL const pipeline::part& part() const noexcept;

    std::unique_ptr<const manual::documentation_part> part_;
    std::unique_ptr<const pipeline::judge> judge_;
};

static_assert(http::handler<api_documentation>);

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/manual/documentation.ipp>
#endif

#endif  // TOLLGATE_MANUAL_DOCUMENTATION_HPP
