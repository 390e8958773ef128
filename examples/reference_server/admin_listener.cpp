#include "admin_listener.hpp"

#include "failure.hpp"
#include "handler_settings.hpp"

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
    settings.idle_timeout = seconds{120};  // longer than scrapers wait between two requests
    return settings;
}

}  // namespace

admin_listener::admin_listener(const listen_address& endpoint, metrics& counts, health& checks)
    : endpoint_{endpoint},
      site_{http::mounted("/metrics", counts), http::mounted("/healthz", checks), http::mounted("/readyz", checks),
            http::mounted("", nothing_else_)},
      server_{site_, settings_for(endpoint)} {}

void admin_listener::start() {
    if (const auto started = server_.start(); !started) throw run_error{"--admin-listen: " + started.error().message};
}

listen_address admin_listener::address() const { return {endpoint_.address, server_.port(), endpoint_.path}; }

}  // namespace reference
