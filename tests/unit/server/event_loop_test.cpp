#include <tollgate/server/detail/event_loop.hpp>

#include <tollgate/server/detail/connection.hpp>

#include <catch2/catch.hpp>
#include <support/echo_handler.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

using namespace std::chrono_literals;
using namespace tollgate::server_detail;
using tollgate::milliseconds;
using tollgate::server_settings;

namespace {

/// A loop without sockets. The test handles its ticks.
class idle_loop final : public event_loop {
public:
    explicit idle_loop(const std::shared_ptr<server_context>& context)
        : event_loop{context, std::make_shared<drain_count>(1)} {}

    using event_loop::collect;
    using event_loop::next_tick;
    using event_loop::tick;
    using event_loop::tick_length;

    /// Returns when the loop is late by that many ticks.
    void stand_still(int ticks) const {
        while (clock::now() < next_tick() + ticks * tick_length()) {
        }
    }

private:
    bool wake() noexcept override { return true; }
    [[nodiscard]] bool start_ticking() noexcept override { return true; }
    void stop_ticking() noexcept override {}
    [[nodiscard]] connection* make_connection(socket_handle, const tollgate::ip_address&, admission) noexcept override { return nullptr; }
    void close_listeners() noexcept override {}
};

/// A connection to a client that sends nothing.
class silent_connection final : public connection {
public:
    explicit silent_connection(event_loop& loop) noexcept : connection{loop, socket_handle{}, {}, admission::accepted} {}
    int cancelled = 0;

private:
    [[nodiscard]] bool wait_readable() noexcept override { return true; }
    [[nodiscard]] bool wait_writable() noexcept override { return true; }
    void cancel() noexcept override { ++cancelled; }
};

struct counting_entry final : deadline_wheel::entry {
    int fired = 0;
    void on_deadline() noexcept override { ++fired; }
};

}  // namespace

TEST_CASE("a deadline counts from the time it is set, even if the loop handles its ticks late", "[event_loop]") {
    tollgate_test::echo_handler handler;
    server_settings settings;
    settings.idle_timeout = settings.linger_timeout = 40ms;  // the shortest ticks, 5 ms, and a deadline of nine of them
    const auto context = std::make_shared<server_context>(handler, settings);
    idle_loop loop{context};
    auto client = std::make_unique<silent_connection>(loop);
    client->begin();
    counting_entry entry;
    struct variant {
        const char* name;
        std::function<void()> set;
        std::function<bool()> has_passed;
    };
    const variant variants[] = {
        {"of a kind", [&] { loop.arm(entry, deadline::idle); }, [&] { return entry.fired == 1; }},
        {"a time", [&] { loop.arm(entry, 40ms); }, [&] { return entry.fired == 1; }},
        {"of a stop",
         [&] {
             loop.request_drain(40ms);
             loop.collect();
             client->cancelled = 0;
         },
         [&] { return client->cancelled == 1; }},
    };
    for (const variant& each : variants) {
        CAPTURE(each.name);
        entry.fired = 0;
        (void)loop.tick(event_loop::clock::now());
        loop.stand_still(20);
        const auto before = event_loop::clock::now();
        each.set();
        const auto after = event_loop::clock::now();
        (void)loop.tick(before + 40ms);
        CHECK_FALSE(each.has_passed());
        (void)loop.tick(after + 40ms + 2 * loop.tick_length());
        CHECK(each.has_passed());
    }
    client.reset();
}
