#pragma once

#include "data_directory.hpp"
#include "demo.hpp"
#include "handler_settings.hpp"
#include "handlers.hpp"
#include "hook_worker.hpp"
#include "late_handler.hpp"
#include "request_log.hpp"
#include "serving.hpp"

#include <tollgate/model/service_catalog.hpp>
#include <tollgate/server/server.hpp>

#include <algorithm>
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
    print_ready(running, with, made->settings_told(), shown);
    wait_until_told(running, with, told);
    std::thread answering{[&running] { running.stop(stop_patience); }};  // beside deliveries: the patience is for both
    hooks.stop(stop_patience);
    answering.join();
}

/// The demo that an earlier start in this data directory wrote down for this store, as long as it is good for anything;
/// else a new one, of that user if they are still there.
template <class Directory, class Store, class Clock>
demo kept_demo(const kept_in<Directory, Store, Clock>& kept, const settings& with,
               const tollgate::service_catalog& services) {
    const directory_lock alone{with.data};
    auto written = read_demos(with.data);
    const auto alive = std::find_if(written.begin(), written.end(), [&](const demo& each) {
        return expect(kept.users.find_login(each.login), "cannot look for the demo user") && is_alive(each, kept.store);
    });
    if (!written.empty() && alive == written.begin()) return *alive;
    if (alive != written.end()) {
        std::rotate(written.begin(), alive, alive + 1);
    } else {
        const auto ours = std::find_if(written.begin(), written.end(),
                                       [&](const demo& each) { return is_user_of(each, kept.users); });
        std::optional<std::string> login;
        if (ours != written.end()) {
            login = ours->login;
            written.erase(ours);
        }
        written.insert(written.begin(), renew_demo(kept.users, kept.store, services, login, kept.clock.now()));
    }
    write_demos(with.data, written);
    return written.front();
}

}  // namespace reference
