#pragma once

#include <tollgate/http/handler.hpp>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace tollgate::http {

/// A handler and the part of a site that it answers for. The handler must outlive the site.
template <handler H>
struct mount {
    std::string prefix;  ///< `/v1` means `/v1` and all below it, not `/v10`; empty means everything
    std::string host;    ///< whom the client names, without a port; empty means any
    H& target;
};

/// `mounted("/v1", api)`: at this path, on any host.
template <handler H>
[[nodiscard]] mount<H> mounted(std::string prefix, H& target) {
    return {std::move(prefix), {}, target};
}

/// `mounted(place{.host = "api.example.com", .prefix = "/v1"}, api)`: at this path, on this host.
struct place {
    std::string host;
    std::string prefix;
};
template <handler H>
[[nodiscard]] mount<H> mounted(place where, H& target) {
    return {std::move(where.prefix), std::move(where.host), target};
}

/// Several handlers on one listener. The first mount that fits answers; the last one also answers for what none fits and
/// words what the host refuses.
///
///     http::site site{http::mounted("/docs", documentation), http::mounted("", api)};
template <handler... H>
    requires(sizeof...(H) > 0)
class site {
public:
    static constexpr bool blocking = (handler_blocks<H>() || ...);

    explicit site(mount<H>... mounts) : mounts_{std::move(mounts)...} {}

    void handle(const request& asked, response& out) noexcept {
        const auto try_one = [&](auto& each) {
            if (!fits(each.prefix, each.host, asked)) return false;
            each.target.handle(asked, out);
            return true;
        };
        if (!std::apply([&](auto&... each) { return (try_one(each) || ...); }, mounts_)) last().target.handle(asked, out);
    }

    void handle(const refusal& refused, response& out) noexcept { last().target.handle(refused, out); }

private:
    auto& last() noexcept { return std::get<sizeof...(H) - 1>(mounts_); }

    static bool fits(std::string_view prefix, std::string_view host, const request& asked) noexcept {
        const auto path = asked.target.path;
        if (!path.starts_with(prefix)) return false;
        if (!prefix.empty() && path.size() > prefix.size() && path[prefix.size()] != '/') return false;
        if (host.empty()) return true;
        const auto named = asked.authority();
        const auto port = named.rfind(':');
        const bool has_port = port != std::string_view::npos && named.find(']', port) == std::string_view::npos;
        return ascii_iequals(has_port ? named.substr(0, port) : named, host);
    }

    std::tuple<mount<H>...> mounts_;
};

}  // namespace tollgate::http
