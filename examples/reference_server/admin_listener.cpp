#include "admin_listener.hpp"

#include "failure.hpp"
#include "handler_settings.hpp"

namespace reference {

using namespace tollgate;

namespace {

server_settings settings_for(const listen_address& where) {
    server_settings made;
    const auto at = to_server_address(where);
    made.address = at.address;
    made.port = at.port;
    made.threads = 1;
    made.connections_max = 64;  // a few scrapers and balancers
    made.idle_timeout = seconds{120};  // longer than scrapers wait between two requests
    return made;
}

}  // namespace

admin_listener::admin_listener(const listen_address& where, metrics& counts, health& checks)
    : where_{where},
      site_{http::mounted("/metrics", counts), http::mounted("/healthz", checks), http::mounted("/readyz", checks),
            http::mounted("", nothing_else_)},
      server_{site_, settings_for(where)} {}

void admin_listener::start() {
    if (const auto started = server_.start(); !started) throw run_error{"--admin-listen: " + started.error().message};
}

listen_address admin_listener::address() const { return {where_.address, server_.port(), where_.path}; }

}  // namespace reference
