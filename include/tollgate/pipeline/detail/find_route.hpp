#pragma once

#include <tollgate/contract/router.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/pipeline/detail/judgement.hpp>
#include <tollgate/pipeline/detail/refused.hpp>
#include <tollgate/pipeline/route_table.hpp>

#include <optional>
#include <string_view>

namespace tollgate::inline v0::pipeline {

/// One text for what is not there and what is not the caller's.
inline constexpr refused nothing_there{http::status::not_found, "Not Found", about_errors};

/// The path below the API's root; empty when it is not below it.
[[nodiscard]] constexpr std::string_view below(std::string_view root, std::string_view path) noexcept {
    if (!path.starts_with(root)) return {};
    path.remove_prefix(root.size());
    return path.starts_with('/') ? path : std::string_view{};
}

/// Finds the route, and the service that its path names. 404 for a path that no route has, 405 for another method on one
/// that some route has. OPTIONS matches every known path: the caller answers it from `found.route.allowed`.
template <router Router>
[[nodiscard]] std::optional<refused> find_route(const Router& router, const route_table& lines,
                                                const service_catalog& services, std::string_view root,
                                                const http::request& asked, judgement& found) {
    const auto method = asked.method == http::method::head ? http::method::get : asked.method;
    if (method == http::method::options && asked.target.path == "*") {
        found.route.result = route_match::kind::other_method;
        for (const route& each : lines) found.route.allowed.add(each.method);
        return std::nullopt;
    }
    found.route = router.find(method, below(root, asked.target.path));
    if (found.route.result == route_match::kind::unknown_path) return nothing_there;
    if (const auto capture = lines[found.route.route].service_capture; capture != route::no_capture) {
        found.of_service = services.find(found.route.captures[capture]);
        if (found.of_service == nullptr) return nothing_there;
    }
    if (found.route.result == route_match::kind::found || method == http::method::options) return std::nullopt;
    return refused{http::status::method_not_allowed, "This path does not answer to this method; see the Allow header.", about_requests};
}

}  // namespace tollgate::pipeline
