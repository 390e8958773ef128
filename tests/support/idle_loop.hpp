#pragma once

#include <tollgate/server/detail/connection.hpp>
#include <tollgate/server/detail/event_loop.hpp>

#include <memory>

namespace tollgate_test {

/// A loop without sockets. The test handles its ticks.
class idle_loop final : public tollgate::server_detail::event_loop {
public:
    explicit idle_loop(const std::shared_ptr<tollgate::server_detail::server_context>& context,
                       const std::shared_ptr<tollgate::server_detail::drain_count>& drained =
                           std::make_shared<tollgate::server_detail::drain_count>(1))
        : event_loop{context, drained} {}

    using event_loop::collect;
    using event_loop::next_tick;
    using event_loop::tick;
    using event_loop::tick_length;

    /// Returns when the loop is late by that many ticks.
    void stand_still(int ticks) const {
        while (clock::now() < next_tick() + ticks * tick_length()) {
        }
    }

    bool is_ticking = false;
    int ignored_new_clients = 0;

private:
    bool wake() noexcept override { return true; }
    [[nodiscard]] bool start_ticking() noexcept override { return is_ticking = true; }
    void stop_ticking() noexcept override {}
    [[nodiscard]] tollgate::server_detail::connection* make_connection(tollgate::socket_handle, const tollgate::ip_address&,
                                                                       tollgate::server_detail::admission) noexcept override {
        return nullptr;
    }
    void ignore_new_clients() noexcept override { ++ignored_new_clients; }
    void close_listeners(tollgate::server_detail::last_connections) noexcept override {}
};

/// A listener on a socket of its own. The test says when a connection has arrived.
class scripted_listener final : public tollgate::server_detail::listener {
public:
    using listener::listener;
    using listener::accept_all;
    int waits = 0, pauses = 0;

private:
    [[nodiscard]] bool wait_readable() noexcept override { return ++waits != 0; }
    void pause() noexcept override { ++pauses; }
};

}  // namespace tollgate_test
