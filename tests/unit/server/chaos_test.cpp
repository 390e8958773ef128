#include <tollgate/server/asio_server.hpp>
#include <tollgate/server/tls.hpp>

#include <asio/thread_pool.hpp>
#include <catch2/catch.hpp>
#include <support/certificate.hpp>
#include <support/echo_handler.hpp>
#include <support/eventually.hpp>
#include <support/socket_client.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using tollgate_test::socket_client;
using tollgate_test::tls_client;
using tollgate::server;
using tollgate::server_settings;

namespace {

const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string post = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
const std::string chunked = "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
const std::string large = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n";

/// The echo handler on threads that may block.
struct blocking_echo : tollgate_test::echo_handler {
    static constexpr bool blocking = true;
};

/// Runs one misbehaving client after another until it is stopped or the server has stopped. Every response to a well-behaved
/// client must be correct.
class crowd {
public:
    crowd(std::uint16_t port, bool tls, unsigned seed, std::atomic<int>& right)
        : port_{port}, tls_{tls}, random_{seed}, correct_{right} {}

    void mingle(const std::atomic<bool>& ended) {
        while (!ended) {
            try {
                visit();
            } catch (const std::system_error&) {
                return;  // the server no longer accepts connections
            }
        }
    }

    int wrong = 0;

private:
    std::unique_ptr<socket_client> enter() {
        if (tls_) return std::make_unique<tls_client>(port_);
        return std::make_unique<socket_client>(port_);
    }

    unsigned random_below(unsigned count) { return std::uniform_int_distribution<unsigned>{0, count - 1}(random_); }

    void visit() {
        const auto client = enter();
        switch (random_below(8)) {
            case 0: {
                const unsigned batch = 1 + random_below(30);
                std::string all;
                const std::string requests[] = {get, post, chunked};
                const std::string bodies[] = {"GET /a ", "POST /b hello", "POST /c abc"};
                for (unsigned i = 0; i < batch; ++i) all += requests[i % 3];
                client->write(all);
                for (unsigned i = 0; i < batch; ++i) {
                    const auto response = client->read_response();
                    if (response.status == 0 || response.status == 503) break;  // the server stopped, or closed the connection as too slow
                    if (response.status == 200 && response.body == bodies[i % 3]) ++correct_;
                    else ++wrong;
                }
                break;
            }
            case 1: client->write(get.substr(0, random_below(static_cast<unsigned>(get.size())))); break;
            case 2: client->write(get + post.substr(0, post.size() - 1 - random_below(10))); break;
            case 3: client->write(get + "nonsense\r\n\r\n" + get); break;
            case 4:
                client->write(post);
                client->end_writing();
                client->read_to_end();
                break;
            case 5: client->write(large + large + large); break;
            case 6: client->write(std::string(random_below(3000), static_cast<char>(random_below(256)))); break;
            case 7:
                if (tls_) static_cast<tls_client&>(*client).close_notify();
                client->read_response();
                break;
        }
        if (random_below(2) == 0) client->reset_on_close();
    }

    const std::uint16_t port_;
    const bool tls_;
    std::mt19937 random_;
    std::atomic<int>& correct_;
};

}  // namespace

TEST_CASE("misbehaving clients do not harm a server, and it can be stopped while they are connected", "[server][chaos]") {
    static const tollgate_test::certificate own = tollgate_test::make_certificate("chaos");
    unsigned seed = 1;
    for (const bool tls : {false, true})
        for (const bool blocks : {false, true})
            for (const bool on_executor : {false, true}) {
                CAPTURE(tls, blocks, on_executor);
                server_settings settings;
                settings.port = 0;
                settings.threads = 2;
                settings.worker_threads = 3;
                settings.worker_queue_max = 64;
                settings.queue_wait_max = 1h;
                settings.header_timeout = settings.body_timeout = settings.idle_timeout = settings.write_timeout = 50ms;
                settings.linger_timeout = settings.handshake_timeout = 50ms;
                if (tls) settings.tls = tollgate::tls_from({.certificate_pem = own.certificate_pem, .key_pem = own.key_pem});
                tollgate_test::echo_handler plain_handler;
                blocking_echo blocking_handler;
                const tollgate::http::handler_ref handler = blocks ? tollgate::http::handler_ref{blocking_handler}
                                                                   : tollgate::http::handler_ref{plain_handler};
                asio::thread_pool pool{2};  // glibc before 2.41 may lose a notification when more threads wait for it (its bug 25847)
                auto running = on_executor ? std::make_unique<server>(pool.get_executor(), handler, settings)
                                     : std::make_unique<server>(handler, settings);
                REQUIRE(running->start());

                std::atomic<bool> ended = false;
                std::atomic<int> right = 0;
                std::vector<crowd> crowds;
                for (int i = 0; i < 4; ++i) crowds.emplace_back(running->port(), tls, seed++, right);
                std::vector<std::thread> threads;
                for (crowd& each : crowds) threads.emplace_back([&] { each.mingle(ended); });
                for (int i = 1; i <= 20; ++i) {
                    CHECK(tollgate_test::eventually([&] { return right >= 10 * i; }));
                    if (tls) CHECK(running->reload_certificates());
                }
                std::thread other{[&] { running->stop(100ms); }};
                running->stop(50ms);
                other.join();
                ended = true;
                for (std::thread& each : threads) each.join();
                running.reset();
                pool.join();
                for (const crowd& each : crowds) CHECK(each.wrong == 0);
            }
}
