#pragma once

#include "data_directory.hpp"
#include "demo.hpp"
#include "handler_settings.hpp"
#include "handlers.hpp"
#include "hook_worker.hpp"
#include "late_handler.hpp"
#include "request_log.hpp"
#include "serving.hpp"

#include <tollgate/domain/service_catalog.hpp>
#include <tollgate/server/server.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <thread>

namespace reference {

/// Users, what is kept of theirs, and by whose clock it is.
template <class Directory, class Store, class Clock>
struct kept_in {
    Directory& users;
    Store& store;
    Clock clock;
};
template <class Directory, class Store, class Clock>
kept_in(Directory&, Store&, Clock) -> kept_in<Directory, Store, Clock>;

/// Serves until it is told to stop, and then until what is in flight is answered.
template <class Directory, class Store, class Clock>
void serve_from(const kept_in<Directory, Store, Clock>& kept, const std::optional<demo>& shown, const settings& with,
                const tollgate::service_catalog& services, const signals& told) {
    request_log log{with.log};
    std::optional<handlers<Directory, Store, Clock>> made;
    late_handler handler;
    tollgate::server running{handler, to_server_settings(with)};

    const auto make_handlers = [&](std::uint16_t port) {
        made.emplace(with, to_api_settings(with, services, port), kept.users, kept.store, kept.clock, log);
        handler.become(*made);
    };
    const auto port = with.listen.front().port;
    if (port != 0) make_handlers(port);
    expect_started(running.start(), with);
    if (port == 0) make_handlers(running.port());
    hook_worker<Store, Clock> hooks{kept.store, with, kept.clock, log};
    hooks.start();
    print_ready(made->settings_told(), shown);
    wait_until_told(running, with, told);
    std::thread answering{[&running] { running.stop(stop_patience); }};  // beside deliveries: the patience is for both
    hooks.stop(stop_patience);
    answering.join();
}

/// Whose the demo user is that another start has left, and whose password nobody knows any more.
enum class left_demo {
    is_ours,          ///< nobody else's: the database is one with the data directory
    may_be_another_s  ///< only if this data directory says so: nodes with other ones share the database
};

/// The demo that an earlier start wrote down, as long as it is good for anything; else a new one.
template <class Directory, class Store, class Clock>
demo kept_demo(const kept_in<Directory, Store, Clock>& kept, left_demo whose, const settings& with,
               const tollgate::service_catalog& services) {
    const directory_lock alone{with.data};
    auto written = read_demo(with.data);
    const bool good = written && expect(kept.users.find_login(written->login), "cannot look for the demo user") &&
                      is_alive(*written, kept.store);
    if (good) return *std::move(written);
    std::optional<std::string> ours;
    if (whose == left_demo::is_ours) ours = demo_login;
    else if (written) ours = written->login;
    const auto fresh = renew_demo(kept.users, kept.store, services, ours, kept.clock.now());
    write_demo(with.data, fresh);
    return fresh;
}

}  // namespace reference
