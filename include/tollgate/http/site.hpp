#pragma once
#ifndef TOLLGATE_HTTP_SITE_HPP
#define TOLLGATE_HTTP_SITE_HPP

#include <tollgate/http/handler.hpp>

#include <algorithm>
#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::http {

/// A handler and the part of a site that it serves. The handler must outlive the site.
struct mount {
    /// The paths: `/v1` matches `/v1` and everything below it, not `/v10`; `/v1/` matches only that path; an empty prefix matches
    /// everything.
    std::vector<std::string> prefixes;
    std::string host;  ///< the host that the client names, without a port; empty matches any host
    handler_ref target;
};

/// Mounts a handler at this path, on any host: `mounted("/v1", api)`.
[[nodiscard]] inline mount mounted(std::string prefix, handler_ref target) { return {{std::move(prefix)}, {}, target}; }

/// Mounts a handler at its own paths, on any host: `mounted(pages)`.
template <handler H>
    requires knows_its_mounts<H>
[[nodiscard]] mount mounted(H& target) {
    return {target.mounts(), {}, target};
}

/// A path on a host.
struct mount_point {
    std::string host;    ///< the host without a port; empty: any host
    std::string prefix;  ///< a prefix as in `mount`
};

/// Mounts a handler at this path, on this host: `mounted(mount_point{.host = "api.example.com", .prefix = "/v1"}, api)`.
[[nodiscard]] inline mount mounted(mount_point point, handler_ref target) {
    return {{std::move(point.prefix)}, std::move(point.host), target};
}

namespace detail {

[[nodiscard]] inline bool is_below(std::string_view path, std::string_view prefix) noexcept {
    if (!path.starts_with(prefix)) return false;
    return prefix.empty() || path.size() == prefix.size() || (path[prefix.size()] == '/' && prefix.back() != '/');
}

/// Returns the host that the client names, without the port.
[[nodiscard]] inline std::string_view named_host(const request& request) noexcept {
    const auto named = request.authority();
    const auto port = named.rfind(':');
    const bool has_port = port != std::string_view::npos && named.find(']', port) == std::string_view::npos;
    return has_port ? named.substr(0, port) : named;
}

[[nodiscard]] inline bool is_for_host(const request& request, std::string_view host) noexcept {
    return host.empty() || tollgate::detail::ascii_iequals(named_host(request), host);
}

/// Returns true if the client names the address to which it has connected. No name resolves to that text, so no other site is meant.
[[nodiscard]] inline bool is_for_own_address(const request& request) noexcept {
    auto named = named_host(request);
    if (named.starts_with('[') && named.ends_with(']')) named = named.substr(1, named.size() - 2);
    return request.local != ip_address{} && ip_address::parse(named) == request.local;
}

}  // namespace detail

/// The hosts that a server serves. A request for another host was not meant for this server: either an attacker's name resolves to it (DNS
/// rebinding), or a proxy is misconfigured. Respond to it with 421 (RFC 9110 section 15.5.20). A GET or HEAD may also name the address at
/// which the connection was accepted, as the health checks of load balancers do.
class allowed_hosts {
public:
    allowed_hosts() = default;
    /// Constructs the list from host names and IP addresses (IPv6 in brackets), without ports. An empty list allows any host.
    explicit allowed_hosts(std::vector<std::string> hosts) : hosts_{std::move(hosts)} {}

    /// Returns true if the server serves the host of the request.
    [[nodiscard]] bool allows(const request& request) const noexcept {
        // Browsers always name a host; health checks over HTTP/1.0 may not.
        return hosts_.empty() || request.authority().empty() || (is_read(request.method) && detail::is_for_own_address(request)) ||
               std::any_of(hosts_.begin(), hosts_.end(), [&](const std::string& each) {
                   return detail::is_for_host(request, each);
               });
    }

private:
    std::vector<std::string> hosts_;
};

/// Serves several handlers on one listener. The first matching mount serves a request, and writes the response to a refusal whose path is
/// known. The last mount also serves requests that match no mount, and all other refusals, so mount the handler that responds with 404 to
/// unknown paths last.
///
///     http::site site{http::mounted("/v1", api), http::mounted("/docs", documentation), http::mounted(pages)};
class site {
public:
    /// Constructs a site. The first matching mount serves a request. Throws std::invalid_argument if there is no mount.
    explicit site(std::vector<mount> mounts) : mounts_{std::move(mounts)} {
        if (mounts_.empty()) throw std::invalid_argument{"tollgate: a site has at least one mount"};
    }
    template <std::same_as<mount>... More>
    explicit site(mount first, More... more) : site{std::vector<mount>{std::move(first), std::move(more)...}} {}

    /// Returns true if a handler of the site may block.
    [[nodiscard]] bool may_block() const noexcept {
        return std::any_of(mounts_.begin(), mounts_.end(), [](const mount& each) { return each.target.may_block(); });
    }

    /// Passes a request to the handler of its mount.
    void handle(const request& request, response& response) const noexcept { find(request).handle(request, response); }

    /// Passes a refusal to the handler of its mount.
    void handle(const refusal& refused, response& response) const noexcept {
        const request unknown;
        const request& known = refused.request != nullptr ? *refused.request : refused.partial != nullptr ? *refused.partial : unknown;
        find(known).handle(refused, response);
    }

    /// Advances the handler at the request's mount, so that a handler that waits for a database does not delay a handler that does not.
    [[nodiscard]] handle_step advance(const request& request, response& response, handler_state& state, thread_kind thread) const noexcept {
        return find(request).advance(request, response, state, thread);
    }

private:
    [[nodiscard]] const handler_ref& find(const request& request) const noexcept {
        for (const mount& each : mounts_) {
            const bool fits = detail::is_for_host(request, each.host) &&
                              std::any_of(each.prefixes.begin(), each.prefixes.end(), [&](const std::string& prefix) {
                                  return detail::is_below(request.target.path, prefix);
                              });
            if (fits) return each.target;
        }
        return mounts_.back().target;
    }

    std::vector<mount> mounts_;
};

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_SITE_HPP
