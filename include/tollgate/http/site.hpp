#pragma once

#include <tollgate/http/handler.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace tollgate::inline v0::http {

/// A handler and the parts of a site that it answers for. The handler must outlive the site.
template <handler H>
struct mount {
    /// `/v1` means `/v1` and all below it, not `/v10`; `/v1/`, with the slash, means that one path; empty means everything.
    std::vector<std::string> prefixes;
    std::string host;  ///< whom the client names, without a port; empty means any
    H& target;
};

/// `mounted("/v1", api)`: at this path, on any host.
template <handler H>
[[nodiscard]] mount<H> mounted(std::string prefix, H& target) {
    return {{std::move(prefix)}, {}, target};
}

/// `mounted(pages)`: where the handler says that it belongs, on any host.
template <handler H>
    requires knows_its_mounts<H>
[[nodiscard]] mount<H> mounted(H& target) {
    return {target.mounts(), {}, target};
}

/// `mounted(place{.host = "api.example.com", .prefix = "/v1"}, api)`: at this path, on this host.
struct place {
    std::string host;
    std::string prefix;
};

/// A handler and the paths that it serves; the handler outlives the mount.
template <handler H>
[[nodiscard]] mount<H> mounted(place where, H& target) {
    return {{std::move(where.prefix)}, std::move(where.host), target};
}

namespace detail {

[[nodiscard]] inline bool is_below(std::string_view path, std::string_view prefix) noexcept {
    if (!path.starts_with(prefix)) return false;
    return prefix.empty() || path.size() == prefix.size() || (path[prefix.size()] == '/' && prefix.back() != '/');
}

[[nodiscard]] inline bool is_for_host(const request& asked, std::string_view host) noexcept {
    if (host.empty()) return true;
    const auto named = asked.authority();
    const auto port = named.rfind(':');
    const bool has_port = port != std::string_view::npos && named.find(']', port) == std::string_view::npos;
    return ascii_iequals(has_port ? named.substr(0, port) : named, host);
}

}  // namespace detail

/// The hosts that a server answers for, without ports; none means any. A request that names another one was not meant for
/// this server: an attacker's name may resolve to it (DNS rebinding), or a proxy is configured wrongly. Respond with 421
/// (RFC 9110 section 15.5.20).
class allowed_hosts {
public:
    allowed_hosts() = default;
    /// Host names, with a port where it is not the default one. Throws std::invalid_argument for another text.
    explicit allowed_hosts(std::vector<std::string> hosts) : hosts_{std::move(hosts)} {}

    [[nodiscard]] bool allows(const request& request) const noexcept {
        // Browsers always name a host; health checks with HTTP/1.0 may not.
        return hosts_.empty() || request.authority().empty() ||
               std::any_of(hosts_.begin(), hosts_.end(), [&](const std::string& each) {
                   return detail::is_for_host(request, each);
               });
    }

private:
    std::vector<std::string> hosts_;
};

/// Several handlers on one listener. The first mount that fits answers; the last one also answers for what none fits and
/// words what the host refuses.
///
///     http::site site{http::mounted("/v1", api), http::mounted("/docs", documentation), http::mounted(pages)};
template <handler... H>
    requires(sizeof...(H) > 0)
class site {
public:
    /// Whether a handler of the site may block.
    static constexpr bool blocking = (handler_blocks<H>() || ...);

    /// From mounts; the first one that matches serves a request.
    explicit site(mount<H>... mounts) : mounts_{std::move(mounts)...} {}

    /// Passes a request to the handler of its path.
    void handle(const request& request, response& response) noexcept {
        with_fitting(request, mounts_, [&](auto& target) { target.handle(request, response); });
    }

    /// Passes what the server refused to the last handler.
    void handle(const refusal& refused, response& response) noexcept {
        std::get<sizeof...(H) - 1>(mounts_).target.handle(refused, response);
    }

    /// Steps of the handler at the request's mount: a handler that waits for a database does not hold up one that does not.
    [[nodiscard]] handle_step advance(const request& request, response& response, handler_state& state,
                                      thread_kind thread) noexcept {
        handle_step step{};
        with_fitting(request, mounts_, [&](auto& target) { step = http::advance(target, request, response, state, thread); });
        return step;
    }

private:
    template <class Use>
    static void with_fitting(const request& asked, auto& mounts, Use use) noexcept {
        const auto try_one = [&](auto& each) {
            const bool fits = detail::is_for_host(asked, each.host) &&
                              std::any_of(each.prefixes.begin(), each.prefixes.end(), [&](const std::string& prefix) {
                                  return detail::is_below(asked.target.path, prefix);
                              });
            if (fits) use(each.target);
            return fits;
        };
        const bool found = std::apply([&](auto&... each) { return (try_one(each) || ...); }, mounts);
        if (!found) use(std::get<sizeof...(H) - 1>(mounts).target);
    }

    std::tuple<mount<H>...> mounts_;
};

}  // namespace tollgate::http
