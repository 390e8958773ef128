#include <tollgate/server/asio_server.hpp>

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
#include <stdexcept>
#include <string>
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

/// The echo handler on threads that may wait.
struct blocking_echo : tollgate_test::echo_handler {
    static constexpr bool blocking = true;
};

/// One client after another, each rude in its own way, until it is told to end or the server is gone. Every answer that
/// a polite one gets has to be right.
class crowd {
public:
    crowd(std::uint16_t port, bool tls, unsigned seed, std::atomic<int>& right)
        : port_{port}, tls_{tls}, random_{seed}, right_{right} {}

    void mingle(const std::atomic<bool>& ended) {
        while (!ended) {
            try {
                visit();
            } catch (const std::runtime_error&) {
                return;  // nobody accepts any more
            }
        }
    }

    int wrong = 0;

private:
    std::unique_ptr<socket_client> enter() {
        if (tls_) return std::make_unique<tls_client>(port_);
        return std::make_unique<socket_client>(port_);
    }

    unsigned one_of(unsigned count) { return std::uniform_int_distribution<unsigned>{0, count - 1}(random_); }

    void visit() {
        const auto client = enter();
        switch (one_of(8)) {
            case 0: {
                const unsigned batch = 1 + one_of(30);
                std::string all;
                const std::string requests[] = {get, post, chunked};
                const std::string bodies[] = {"GET /a ", "POST /b hello", "POST /c abc"};
                for (unsigned i = 0; i < batch; ++i) all += requests[i % 3];
                client->write(all);
                for (unsigned i = 0; i < batch; ++i) {
                    const auto answer = client->read_response();
                    if (answer.status == 0 || answer.status == 503) break;  // the server stopped, or took the client for a slow one
                    if (answer.status == 200 && answer.body == bodies[i % 3]) ++right_;
                    else ++wrong;
                }
                break;
            }
            case 1: client->write(get.substr(0, one_of(static_cast<unsigned>(get.size())))); break;
            case 2: client->write(get + post.substr(0, post.size() - 1 - one_of(10))); break;
            case 3: client->write(get + "nonsense\r\n\r\n" + get); break;
            case 4:
                client->write(post);
                client->end_writing();
                client->read_to_end();
                break;
            case 5: client->write(large + large + large); break;
            case 6: client->write(std::string(one_of(3000), static_cast<char>(one_of(256)))); break;
            case 7:
                if (tls_) static_cast<tls_client&>(*client).close_notify();
                client->read_response();
                break;
        }
        if (one_of(2) == 0) client->reset_on_close();
    }

    const std::uint16_t port_;
    const bool tls_;
    std::mt19937 random_;
    std::atomic<int>& right_;
};

}  // namespace

TEST_CASE("misbehaving clients of all kinds do not harm a server, and it can be stopped meanwhile", "[server][chaos]") {
    static const tollgate_test::certificate ours = tollgate_test::make_certificate("chaos");
    unsigned seed = 1;
    for (const bool tls : {false, true})
        for (const bool blocks : {false, true})
            for (const bool on_executor : {false, true}) {
                CAPTURE(tls, blocks, on_executor);
                server_settings how;
                how.port = 0;
                how.threads = 2;
                how.worker_threads = 3;
                how.worker_queue_max = 64;
                how.queue_wait_max = 1h;
                how.header_timeout = how.body_timeout = how.idle_timeout = how.write_timeout = 50ms;
                how.linger_timeout = how.handshake_timeout = 50ms;
                if (tls) {
                    how.tls.certificate_pem = ours.certificate_pem;
                    how.tls.key_pem = ours.key_pem;
                }
                tollgate_test::echo_handler plain_handler;
                blocking_echo blocking_handler;
                const tollgate::http::handler_ref handler = blocks ? tollgate::http::handler_ref{blocking_handler}
                                                                   : tollgate::http::handler_ref{plain_handler};
                asio::thread_pool pool{3};
                auto running = on_executor ? std::make_unique<server>(pool.get_executor(), handler, how)
                                     : std::make_unique<server>(handler, how);
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
