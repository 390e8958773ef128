#include "admin_listener.hpp"

#include "failure.hpp"
#include "handler_settings.hpp"

#include <tollgate/base/ip_address.hpp>

#include <unistd.h>

#include <string_view>
#include <utility>

namespace reference {

using namespace tollgate;

namespace {

server_settings settings_for(const listen_address& endpoint) {
    server_settings settings;
    const auto address = to_server_address(endpoint);
    settings.address = address.address;
    settings.port = address.port;
    settings.threads = 1;
    settings.connections_max = 64;  // a few scrapers and balancers
    settings.replace_unfinished = true;  // so that clients that send no complete request cannot keep a health check out
    settings.header_timeout = seconds{2};
    settings.idle_timeout = seconds{120};  // longer than scrapers wait between two requests
    return settings;
}

/// With the name of this machine, by which other machines of its network may reach it.
http::allowed_hosts known_hosts(std::vector<std::string> hosts) {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0') hosts.emplace_back(name);
    hosts.emplace_back("localhost");
    return http::allowed_hosts{std::move(hosts)};
}

}  // namespace

bool admin_listener::host_check::knows_host_of(const http::request& request) const noexcept {
    if (known.allows(request)) return true;
    auto host = request.authority();
    if (host.starts_with('[')) return true;  // an IPv6 address: the parser has checked it
    host = host.substr(0, host.find(':'));
    return host.find('.') == std::string_view::npos || ip_address::parse(host);
}

admin_listener::admin_listener(const listen_address& endpoint, const std::vector<std::string>& hosts, metrics& counts, health& checks)
    : endpoint_{endpoint},
      checked_{http::site{http::mounted("/metrics", counts), http::mounted("/healthz", checks),
                                     http::mounted("/readyz", checks), http::mounted("", nothing_else_)},
               known_hosts(hosts)},
      server_{checked_, settings_for(endpoint)} {}

void admin_listener::start() {
    if (const auto started = server_.start(); !started) throw run_error{"--admin-listen: " + started.error().log_text()};
}

listen_address admin_listener::address() const { return {endpoint_.address, server_.port(), endpoint_.path}; }

}  // namespace reference
