#pragma once

#include "assembly.hpp"
#include "data_directory.hpp"
#include "demo.hpp"
#include "late_handler.hpp"
#include "request_log.hpp"
#include "serve.hpp"

#include <tollgate/model/service_catalog.hpp>
#include <tollgate/server/server.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace reference {

/// Serves until it is told to stop, and then until what is in flight is answered.
template <class Directory, class Store, class Clock>
void serve_from(const stored_data<Directory, Store, Clock>& data, const std::optional<demo>& shown, const settings& with,
                const tollgate::service_catalog& services, const signals& told) {
    const service_manager manager;  // before threads, which read the environment
    request_log log{with.log};
    std::optional<assembly<Directory, Store, Clock>> made;
    late_handler handler;
    auto how = to_server_settings(with);
    how.listening_sockets = manager.sockets();
    tollgate::server running{handler, std::move(how)};

    const auto assemble = [&](std::uint16_t port) {
        const auto urls = to_public_urls(with, port);
        made.emplace(with, urls, services, data, log);
        handler.become(made->service());
        return urls;
    };
    // With port 0 the URLs are known when the server listens.
    const auto port = with.listen.front().port;
    public_urls urls;
    if (port != 0) urls = assemble(port);
    expect_started(running.start(), with);
    if (port == 0) urls = assemble(running.port());
    expect(made->dispatcher().start(), "cannot deliver webhooks");
    print_ready(running, with, urls, shown);
    manager.notify("READY=1");
    wait_until_told(running, with, told, manager);
    std::thread answering{[&running] { running.stop(stop_patience); }};  // beside deliveries: the patience is for both
    made->dispatcher().stop(stop_patience);
    answering.join();
}

/// The demo that an earlier start in this data directory wrote down for this store, as long as it is good for anything;
/// else a new one, of that user if they are still there.
template <class Directory, class Store, class Clock>
demo kept_demo(const stored_data<Directory, Store, Clock>& data, const settings& with,
               const tollgate::service_catalog& services) {
    const directory_lock alone{with.data};
    auto written = read_demos(with.data);
    const auto alive = std::find_if(written.begin(), written.end(), [&](const demo& each) {
        return expect(data.users.find_login(each.login), "cannot look for the demo user") && is_alive(each, data.store);
    });
    if (!written.empty() && alive == written.begin()) return *alive;
    if (alive != written.end()) {
        std::rotate(written.begin(), alive, alive + 1);
    } else {
        const auto ours = std::find_if(written.begin(), written.end(),
                                       [&](const demo& each) { return is_user_of(each, data.users); });
        std::optional<std::string> login;
        if (ours != written.end()) {
            login = ours->login;
            written.erase(ours);
        }
        written.insert(written.begin(), renew_demo(data.users, data.store, services, login, data.clock.now()));
    }
    write_demos(with.data, written);
    return written.front();
}

}  // namespace reference
