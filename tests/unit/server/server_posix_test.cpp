#include <tollgate/server/server.hpp>

#include <catch2/catch.hpp>
#include <support/socket_client.hpp>

#include <pthread.h>

#include <atomic>

// Windows cancels no threads.

namespace {

/// Whether its threads may be cancelled.
struct cancel_states {
    static constexpr bool blocking = true;
    std::atomic<int> on_io{-1}, on_worker{-1};

    tollgate::http::handle_step advance(const tollgate::http::request&, tollgate::http::response&, tollgate::http::handler_state&,
                                        tollgate::http::thread_kind thread) noexcept {
        int state = 0;
        ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        const bool io = thread == tollgate::http::thread_kind::io;
        (io ? on_io : on_worker) = state;
        return io ? tollgate::http::handle_step::needs_worker : tollgate::http::handle_step::done;
    }
    void handle(const tollgate::http::request&, tollgate::http::response&) noexcept {}
    void handle(const tollgate::http::refusal&, tollgate::http::response&) noexcept {}
};

}  // namespace

TEST_CASE("neither an I/O thread nor a worker can be cancelled", "[server]") {
    cancel_states handler;
    tollgate::server running{handler, {.port = 0, .threads = 1, .stop_grace = tollgate::milliseconds{0}}};
    REQUIRE(running.start());
    tollgate_test::socket_client client{running.port()};
    client.write("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(client.read_response().status == 200);
    CHECK(handler.on_io == PTHREAD_CANCEL_DISABLE);
    CHECK(handler.on_worker == PTHREAD_CANCEL_DISABLE);
}
