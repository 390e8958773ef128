#include <tollgate/webhooks/detail/hook_client.hpp>

#include <tollgate/policy/public_targets.hpp>
#include <tollgate/server/server.hpp>
#include <tollgate/server/tls.hpp>

#include <support/certificate.hpp>
#include <support/echo_handler.hpp>
#include <support/environment_variable.hpp>
#include <support/eventually.hpp>
#include <support/gate.hpp>
#include <support/scripted_peer.hpp>
#include <support/server_socket.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

using namespace tollgate;
using namespace tollgate::webhooks;
using tollgate_test::eventually;
using tollgate_test::gate;
using tollgate_test::peer_connection;
using tollgate_test::scripted_peer;

namespace {

constexpr std::string_view fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The owner of a client; stores ended attempts.
class test_owner final : public client_owner {
public:
    std::function<bool(const ip_address&)> rule = [](const ip_address&) { return true; };

    bool allows(const ip_address& address) noexcept override { return rule(address); }
    void on_ended(ended_attempts ended) noexcept override {
        const std::lock_guard hold{mutex_};
        for (ended_attempt& each : ended) ended_.insert({each.number, std::move(each)});
        ended_changed_.notify_all();
    }
    ended_attempt wait_for(std::uint64_t number) {
        std::unique_lock hold{mutex_};
        if (!ended_changed_.wait_for(hold, std::chrono::minutes{1}, [&] { return ended_.contains(number); })) return {.number = 0};
        return ended_.at(number);
    }

private:
    std::mutex mutex_;
    std::condition_variable ended_changed_;
    std::map<std::uint64_t, ended_attempt> ended_;
};

class fixture {
public:
    explicit fixture(hook_client_settings settings = {}) {
        auto opened = hook_client::make(context_.get_executor(), std::move(settings), owner);
        REQUIRE(opened);
        client = *std::move(opened);
        thread_ = std::thread{[this] { context_.run(); }};
    }
    ~fixture() {
        client->abort();
        client.reset();
        work_guard_.reset();
        thread_.join();
    }

    std::uint64_t send(const std::string& to, std::string body = "{}") {
        std::vector<outgoing_request> one;
        one.push_back({++last_, *http::url::parse(to), "webhook-id: msg_1\r\n", std::move(body), done_by});
        client->send(std::move(one));
        return last_;
    }
    ended_attempt post(const std::string& to, std::string body = "{}") { return owner->wait_for(send(to, std::move(body))); }

    std::chrono::steady_clock::time_point done_by = (std::chrono::steady_clock::time_point::max)();
    std::shared_ptr<test_owner> owner = std::make_shared<test_owner>();
    std::shared_ptr<hook_client> client;

private:
    asio::io_context context_;
    asio::executor_work_guard<asio::io_context::executor_type> work_guard_{context_.get_executor()};
    std::thread thread_;
    std::uint64_t last_ = 0;
};

std::string at(const scripted_peer& peer, const std::string& path = "/hook?x=1") {
    return "http://127.0.0.1:" + std::to_string(peer.port()) + path;
}

/// For attempts that time out; on a busy machine, other attempts might also time out with these settings.
hook_client_settings short_timeouts() {
    hook_client_settings settings;
    settings.attempt_timeout = milliseconds{300};
    settings.connect_timeout = settings.lookup_timeout = settings.handshake_timeout = milliseconds{150};
    return settings;
}

/// A peer that sends this to each client, and then closes the connection cleanly.
auto respond_with(std::string text) {
    return [text = std::move(text)](peer_connection& client, int) {
        if (!client.read_request().empty()) client.write(text);
    };
}

}  // namespace

TEST_CASE("a request has all required fields, and the response returns with its status and body") {
    std::string request;
    scripted_peer peer{[&](peer_connection& client, int) {
        request = client.read_request();
        client.write("HTTP/1.1 202 Accepted\r\nContent-Length: 4\r\nRetry-After: 7\r\n\r\nfine");
    }};
    fixture setup;
    const auto result = setup.post(at(peer), R"({"a":1})");
    CHECK(result.end == attempt_end::answered);
    CHECK(result.status == 202);
    CHECK(result.response == "fine");
    CHECK(result.retry_after == "7");
    CHECK(result.progress == attempt_progress::made);
    CHECK(request == "POST /hook?x=1 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(peer.port()) +
                      "\r\nUser-Agent: Tollgate/" TOLLGATE_VERSION "\r\nwebhook-id: msg_1\r\nContent-Length: 7\r\n\r\n{\"a\":1}");
}

TEST_CASE("a connection is reused if host, address and state allow it") {
    scripted_peer peer{[](peer_connection& client, int) {
        while (!client.read_request().empty()) client.write(fine);
    }};
    fixture setup;
    for (int i = 0; i < 5; ++i) CHECK(setup.post(at(peer, "/" + std::to_string(i))).status == 200);
    CHECK(peer.connections() == 1);

    SECTION("not for another port, which is another host") {
        scripted_peer other{respond_with(std::string{fine})};
        CHECK(setup.post(at(other)).status == 200);
        CHECK(other.connections() == 1);
    }
    SECTION("not if the address is no longer allowed") {
        setup.owner->rule = [](const ip_address&) { return false; };
        CHECK(setup.post(at(peer)).end == attempt_end::refused_address);
    }
}

TEST_CASE("a connection is not reused after an unclean response") {
    const auto text = GENERATE(as<std::string>{},
                               "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
                               "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
                               "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n",
                               "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n");
    scripted_peer peer{[&](peer_connection& client, int) {
        while (!client.read_request().empty()) client.write(text);
    }};
    fixture setup;
    CHECK(setup.post(at(peer)).status / 100 == 2);
    CHECK(setup.post(at(peer)).status / 100 == 2);
    CHECK(peer.connections() == 2);
}

TEST_CASE("idle connections are bounded per host and in total") {
    hook_client_settings settings;
    SECTION("zero per host") { settings.idle_per_host_max = 0; }
    SECTION("zero in total") { settings.idle_connections_max = 0; }
    SECTION("zero idle time") { settings.idle_timeout = milliseconds{0}; }
    SECTION("zero age") { settings.connection_age_max = milliseconds{0}; }
    scripted_peer peer{[](peer_connection& client, int) {
        while (!client.read_request().empty()) client.write(fine);
    }};
    fixture setup{settings};
    CHECK(setup.post(at(peer)).status == 200);
    CHECK(setup.post(at(peer)).status == 200);
    CHECK(peer.connections() == 2);
}

TEST_CASE("a reused connection that ends before a response is retried once on a new connection") {
    std::mutex mutex;
    std::vector<std::string> requests;
    std::atomic<int> resets = 0;
    scripted_peer peer{[&](peer_connection& client, int connection) {
        if (connection == 0) {  // responds once, reads another request, and resets the connection
            client.read_request();
            client.write(fine);
            const std::string lost = client.read_request();
            ++resets;
            client.reset_on_close();
            return;
        }
        std::string one = client.read_request();
        const std::lock_guard hold{mutex};
        requests.push_back(std::move(one));
        client.write(fine);
    }};
    fixture setup;
    CHECK(setup.post(at(peer), "1").status == 200);
    CHECK(setup.post(at(peer), "2").status == 200);
    CHECK(resets == 1);
    const std::lock_guard hold{mutex};
    REQUIRE(requests.size() == 1);
    CHECK(requests.front().ends_with("\r\n\r\n2"));
}

TEST_CASE("a new connection that ends before a response is a failure") {
    scripted_peer peer{[](peer_connection& client, int) { client.read_request(); }};
    fixture setup;
    CHECK(setup.post(at(peer)).end == attempt_end::broken_off);
    CHECK(peer.connections() == 1);
}

TEST_CASE("a connection that ends after the first byte of a response is a failure, reused or not") {
    scripted_peer peer{[](peer_connection& client, int) {
        client.read_request();
        client.write(fine);
        client.read_request();
        client.write("HTTP/1.1 200 OK\r\nContent-Len");
        client.reset_on_close();
    }};
    fixture setup;
    CHECK(setup.post(at(peer)).status == 200);
    const auto result = setup.post(at(peer));
    CHECK(result.end == attempt_end::broken_off);
    CHECK(peer.connections() == 1);
}

TEST_CASE("a redirect is a response and is not followed") {
    scripted_peer inside{respond_with(std::string{fine})};
    const int status = GENERATE(301, 302, 303, 307, 308);
    scripted_peer peer{respond_with("HTTP/1.1 " + std::to_string(status) + " X\r\nLocation: " + at(inside) + "\r\nContent-Length: 0\r\n\r\n")};
    fixture setup;
    const auto result = setup.post(at(peer));
    CHECK(result.end == attempt_end::answered);
    CHECK(result.status == static_cast<unsigned>(status));
    CHECK(inside.connections() == 0);
}

TEST_CASE("proxy settings of the environment are ignored") {
    scripted_peer proxy{respond_with(std::string{fine})};
    scripted_peer peer{respond_with(std::string{fine})};
    std::list<tollgate_test::environment_variable> settings;
    for (const char* const name : {"http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"}) settings.emplace_back(name, at(proxy, ""));
    fixture setup;
    CHECK(setup.post(at(peer)).status == 200);
    CHECK(proxy.connections() == 0);
}

TEST_CASE("a response that is not HTTP is reported as such") {
    const auto text = GENERATE(as<std::string>{}, "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/2 200\r\n\r\n",
                               "HTTP/1.1 20 OK\nContent-Length: 0\n\n", "HTTP/1.1 101 Switching\r\n\r\n",
                               "HTTP/1.1 103 Early Hints\r\nno field\r\n\r\n");
    scripted_peer peer{respond_with(text)};
    fixture setup;
    const auto result = setup.post(at(peer));
    CHECK(result.end == attempt_end::bad_response);
    CHECK_FALSE(result.reason.empty());
}

TEST_CASE("the status counts once the head is complete, even if the body fails") {
    const auto head = GENERATE(as<std::string>{}, "HTTP/1.1 200 OK\r\n\r\nok",
                               "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
                               "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok",
                               "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok",
                               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n");
    const bool resets = GENERATE(false, true);
    scripted_peer peer{[&](peer_connection& client, int) {
        client.read_request();
        client.write(head);
        if (!resets) return client.wait_for_the_end();
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        client.reset_on_close();
    }};
    hook_client_settings settings;
    settings.attempt_timeout = std::chrono::hours{1};
    settings.body_timeout = milliseconds{100};
    fixture setup{settings};
    for (int i = 0; i < 2; ++i) {
        const auto result = setup.post(at(peer));
        CHECK(result.end == attempt_end::answered);
        CHECK(result.status == 200);
    }
    CHECK(peer.connections() == 2);
}

TEST_CASE("the status counts even if the rest of the head is malformed") {
    const auto head = GENERATE(as<std::string>{}, "HTTP/1.1 202 Accepted\nContent-Length: 0\n\n",
                               "HTTP/1.1 202 Accepted\r\nX: a\r\n folded\r\n\r\n", "HTTP/1.1 202 Accepted\r\nno field\r\n\r\n");
    scripted_peer peer{respond_with(head)};
    fixture setup;
    for (int i = 1; i <= 2; ++i) {
        const auto result = setup.post(at(peer));
        CHECK(result.end == attempt_end::answered);
        CHECK(result.status == 202);
        CHECK(result.cause == attempt_cause::none);
        CHECK(peer.connections() == i);  // such a connection is not used again
    }
}

TEST_CASE("an incomplete head is not a response") {
    scripted_peer peer{[](peer_connection& client, int connection) {
        client.read_request();
        client.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n");
        if (connection == 1) client.wait_for_the_end();
    }};
    CHECK(fixture{}.post(at(peer)).end == attempt_end::broken_off);
    const auto late = fixture{short_timeouts()}.post(at(peer));
    CHECK(late.end == attempt_end::timed_out);
    CHECK(late.cause == attempt_cause::response_timeout);
}

TEST_CASE("an attempt with too little time left is not started and not counted against the receiver") {
    scripted_peer peer{respond_with(std::string{fine})};
    hook_client_settings settings;
    settings.attempt_timeout = std::chrono::minutes{10};
    fixture setup{settings};
    setup.done_by = std::chrono::steady_clock::now() - std::chrono::seconds{1};
    CHECK(setup.post(at(peer)).progress == attempt_progress::postponed);
    setup.done_by = std::chrono::steady_clock::now() + std::chrono::minutes{4};
    CHECK(setup.post(at(peer)).progress == attempt_progress::postponed);
    CHECK(peer.connections() == 0);
    setup.done_by = std::chrono::steady_clock::now() + std::chrono::minutes{6};
    CHECK(setup.post(at(peer)).status == 200);
}

TEST_CASE("an attempt ends when its sender needs the result") {
    scripted_peer peer{[](peer_connection& client, int) { client.wait_for_the_end(); }};
    hook_client_settings settings;
    settings.attempt_timeout = seconds{4};
    fixture setup{settings};
    ended_attempt result;
    CHECK(eventually([&] {  // on a busy machine too little time may be left when it starts
        setup.done_by = std::chrono::steady_clock::now() + std::chrono::milliseconds{2100};
        result = setup.post(at(peer));
        return result.progress == attempt_progress::made && result.duration < settings.attempt_timeout;
    }));
    CHECK(result.end == attempt_end::timed_out);
}

TEST_CASE("endless responses are cut off early") {
    fixture setup;
    SECTION("fields") {
        scripted_peer peer{[](peer_connection& client, int) {
            client.read_request();
            client.write("HTTP/1.1 200 OK\r\n");
            while (client.write("X-Endless: and so on and so on and so on\r\n")) {
            }
        }};
        const auto result = setup.post(at(peer));
        CHECK(result.end == attempt_end::answered);
        CHECK(result.status == 200);
    }
    SECTION("a body, whose beginning is stored") {
        const auto head = GENERATE(as<std::string>{}, "HTTP/1.1 200 OK\r\n\r\n",
                                   "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n");
        scripted_peer peer{[&](peer_connection& client, int) {
            client.read_request();
            client.write(head);
            while (client.write(std::string(1000, 'x'))) {
            }
        }};
        const auto result = setup.post(at(peer));
        CHECK(result.end == attempt_end::answered);
        CHECK(result.status == 200);
        CHECK(result.response == std::string(limits::attempt_response_bytes_max, 'x'));
    }
}

TEST_CASE("an attempt times out wherever the receiver stops") {
    fixture setup{short_timeouts()};
    SECTION("before the response") {
        scripted_peer peer{[](peer_connection& client, int) { client.wait_for_the_end(); }};
        CHECK(setup.post(at(peer)).end == attempt_end::timed_out);
    }
    SECTION("byte by byte") {
        scripted_peer peer{[](peer_connection& client, int) {
            client.read_request();
            while (client.write("H")) std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }};
        const auto result = setup.post(at(peer));
        CHECK((result.end == attempt_end::timed_out || result.end == attempt_end::bad_response));
    }
    SECTION("in the body, after a 2xx status") {
        scripted_peer peer{[](peer_connection& client, int) {
            client.read_request();
            client.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123");
            client.wait_for_the_end();
        }};
        ended_attempt result;
        CHECK(eventually([&] {  // on a busy machine the first ones may time out before the status
            result = setup.post(at(peer));
            return result.end == attempt_end::answered;
        }));
        CHECK(result.status == 200);
        CHECK(result.response == "123");
    }
    SECTION("in the TLS handshake") {
        scripted_peer peer{[](peer_connection& client, int) { client.wait_for_the_end(); }};
        auto settings = short_timeouts();
        settings.attempt_timeout = seconds{30};  // the handshake has its own time limit
        fixture long_timeout{settings};
        const auto result = long_timeout.post("https://127.0.0.1:" + std::to_string(peer.port()));
        CHECK(result.end == attempt_end::timed_out);
        CHECK(result.cause == attempt_cause::handshake_timeout);
        CHECK(result.duration < settings.attempt_timeout);
    }
    SECTION("without reading a large request") {
        gate ended;
        scripted_peer peer{[&](peer_connection&, int) { ended.wait(); }};
        CHECK(setup.post(at(peer), std::string(16 * 1024 * 1024, 'x')).end == attempt_end::timed_out);
        ended.open();
    }
}

TEST_CASE("a response sent before the request was read is received") {
    scripted_peer peer{[](peer_connection& client, int) {
        client.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
        client.wait_for_the_end();
    }};
    fixture setup;
    CHECK(setup.post(at(peer), std::string(16 * 1024 * 1024, 'x')).status == 413);
}

TEST_CASE("a port without a listener, and an unknown host") {
    const tollgate_test::reserved_port nobody_listens;
    hook_client_settings settings;
    settings.look_up = [](const std::string& host) {
        if (host == "throws.example") throw std::runtime_error{"a resolver of somebody's"};
        return std::vector<ip_address>{};
    };
    fixture setup{settings};
    const auto result = setup.post("http://127.0.0.1:" + std::to_string(nobody_listens.port()));
    CHECK(result.end == attempt_end::no_connection);
    CHECK(result.cause == attempt_cause::connection_refused);
    CHECK(result.progress == attempt_progress::made);
    CHECK(setup.post("http://nowhere.example/").end == attempt_end::no_address);
    CHECK(setup.post("http://nowhere.example/").cause == attempt_cause::name_not_found);
    CHECK(setup.post("http://throws.example/").end == attempt_end::no_address);
}

TEST_CASE("the addresses of a name are tried in turn, within the time limit") {
    scripted_peer peer{respond_with(std::string{fine})};
    std::vector<ip_address> leads_to;
    hook_client_settings settings;
    settings.look_up = [&](const std::string&) { return leads_to; };
    fixture setup{settings};
    const std::string to = "http://name.example:" + std::to_string(peer.port());
    SECTION("the first address refuses connections") { leads_to = {ip_address::v4(127, 0, 0, 77), ip_address::v4(127, 0, 0, 1)}; }
    SECTION("the mapped spelling") { leads_to = {*ip_address::parse("::ffff:127.0.0.1")}; }
    CHECK(setup.post(to).status == 200);
}

namespace {

/// A listener on another loopback address whose queue is full: connection attempts get no response.
class silent_address {
public:
    explicit silent_address(std::uint16_t port, const char* address = "127.0.0.77") {
        asio::ip::tcp::endpoint at{asio::ip::make_address(address), port};
        listener_.open(at.protocol());
        listener_.set_option(asio::socket_base::reuse_address{true});
        listener_.bind(at);
        listener_.listen(0);
        at = listener_.local_endpoint();
        for (auto& each : waiting_) {  // more than the queue takes
            each.open(at.protocol());
            each.native_non_blocking(true);
            static_cast<void>(::connect(each.native_handle(), at.data(), static_cast<socklen_t>(at.size())));
        }
    }

private:
    asio::io_context context_;
    asio::ip::tcp::acceptor listener_{context_};
    std::vector<asio::ip::tcp::socket> waiting_ = [this] {
        std::vector<asio::ip::tcp::socket> sockets;
        for (int i = 0; i < 8; ++i) sockets.emplace_back(context_);
        return sockets;
    }();
};

}  // namespace

TEST_CASE("an address that does not respond does not delay the attempt until the time limit, and is tried last the next time") {
    scripted_peer peer{respond_with(std::string{fine})};
    const silent_address dead{peer.port()};
    std::vector<ip_address> leads_to{ip_address::v4(127, 0, 0, 77), ip_address::v4(127, 0, 0, 1)};
    hook_client_settings settings;
    settings.attempt_timeout = settings.connect_timeout = std::chrono::hours{10};
    settings.idle_per_host_max = 0;
    settings.look_up = [&](const std::string&) { return leads_to; };
    fixture setup{settings};
    const std::string to = "http://name.example:" + std::to_string(peer.port());
    SECTION("one") {}
    SECTION("several") { leads_to.insert(leads_to.begin(), 3, leads_to.front()); }
    SECTION("several, and one that refuses connections") {
        leads_to = {leads_to[0], leads_to[0], ip_address::v4(127, 0, 0, 78), leads_to[1]};
    }
    for (int i = 0; i < 2; ++i) CHECK(setup.post(to).status == 200);
    // With the silent address alone, the attempt ends by its time limit.
    leads_to.resize(1);
    settings = short_timeouts();
    settings.look_up = [&](const std::string&) { return leads_to; };
    const auto late = fixture{settings}.post(to);
    CHECK(late.end == attempt_end::timed_out);
    CHECK(late.cause == attempt_cause::connect_timeout);
}

TEST_CASE("addresses that refuse connections after silent ones leave the silent ones their time") {
    scripted_peer peer{respond_with(std::string{fine})};
    const silent_address dead{peer.port()};
    hook_client_settings settings = short_timeouts();
    settings.look_up = [](const std::string&) { return std::vector{ip_address::v4(127, 0, 0, 77), ip_address::v4(127, 0, 0, 78)}; };
    const auto result = fixture{settings}.post("http://name.example:" + std::to_string(peer.port()));
    CHECK(result.end == attempt_end::timed_out);
    CHECK(result.cause == attempt_cause::connect_timeout);
}

TEST_CASE("addresses are tried in the order of their families in turn, and first the one that worked last") {
    const auto parse = [](std::initializer_list<const char*> texts) {
        std::vector<ip_address> addresses;
        for (const char* const each : texts) addresses.push_back(*ip_address::parse(each));
        return addresses;
    };
    address_order order;
    CHECK(order.in_order("a.example", {}, 8).empty());
    CHECK(order.in_order("a.example", parse({"192.0.2.1"}), 8) == parse({"192.0.2.1"}));
    const auto found = parse({"2001:db8::1", "2001:db8::2", "2001:db8::3", "192.0.2.1", "192.0.2.2"});
    CHECK(order.in_order("a.example", found, 8) == parse({"2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2", "2001:db8::3"}));
    CHECK(order.in_order("a.example", found, 2) == parse({"2001:db8::1", "192.0.2.1"}));
    CHECK(order.in_order("a.example", parse({"192.0.2.1", "2001:db8::1"}), 8) == parse({"192.0.2.1", "2001:db8::1"}));

    order.remember("a.example", *ip_address::parse("192.0.2.2"));
    CHECK(order.in_order("a.example", found, 2) == parse({"192.0.2.2", "2001:db8::1"}));
    CHECK(order.in_order("b.example", found, 1) == parse({"2001:db8::1"}));
    CHECK(order.in_order("a.example", parse({"192.0.2.7", "192.0.2.8"}), 8) == parse({"192.0.2.7", "192.0.2.8"}));  // it has moved
    order.remember("a.example", *ip_address::parse("2001:db8::3"));
    CHECK(order.in_order("a.example", found, 1) == parse({"2001:db8::3"}));
    // What is remembered is bounded.
    for (std::size_t i = 0; i < 2 * address_order::hosts_max; ++i) order.remember(std::to_string(i) + ".example", found.back());
    CHECK(order.hosts() == address_order::hosts_max);
}

TEST_CASE("a name that resolves to a private address is refused when connecting") {
    scripted_peer peer{respond_with(std::string{fine})};
    const public_targets rule;
    std::vector<ip_address> leads_to;
    hook_client_settings settings;
    settings.look_up = [&](const std::string&) { return leads_to; };
    fixture setup{settings};
    setup.owner->rule = [&](const ip_address& address) { return rule.allows(address); };
    const std::string to = "http://rebound.example:" + std::to_string(peer.port());

    const char* const inside = GENERATE("127.0.0.1", "127.255.0.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1",
                                        "169.254.169.254", "100.64.0.1", "100.100.100.200", "224.0.0.1", "255.255.255.255",
                                        "::1", "::", "::ffff:127.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "64:ff9b::7f00:1",
                                        "64:ff9b::a00:1", "2002:7f00:1::", "2002:a00:1::1", "fe80::1", "fc00::1",
                                        "fd00:ec2::254", "ff02::1", "2001::1", "2001:db8::1", "fec0::1");
    leads_to = {*ip_address::parse(inside)};
    INFO(inside);
    const auto result = setup.post(to);
    CHECK(result.end == attempt_end::refused_address);
    CHECK(result.reason == leads_to.front().to_text());
    CHECK(peer.connections() == 0);
}

TEST_CASE("only addresses that the rule allows are tried") {
    scripted_peer peer{respond_with(std::string{fine})};
    hook_client_settings settings;
    settings.look_up = [](const std::string&) {
        return std::vector{ip_address::v4(127, 0, 0, 1), ip_address::v4(127, 0, 0, 2)};
    };
    fixture setup{settings};
    setup.owner->rule = [](const ip_address& address) { return address == ip_address::v4(127, 0, 0, 2); };
    CHECK(setup.post("http://two.example:" + std::to_string(peer.port())).end == attempt_end::no_connection);
    CHECK(peer.connections() == 0);
}

TEST_CASE("every spelling of an address is checked as that address") {
    const char* const spelling = GENERATE("127.1", "0x7f000001", "2130706433", "0177.0.0.1", "0x7f.1", "[::ffff:7f00:1]",
                                          "[::ffff:127.0.0.1]", "%31%32%37.1", "127.0.0.1.", "[::1]", "169.254.169.254");
    fixture setup;
    setup.owner->rule = [](const ip_address& address) { return public_targets{}.allows(address); };
    INFO(spelling);
    CHECK(setup.post(std::string{"http://"} + spelling + "/").end == attempt_end::refused_address);
}

TEST_CASE("names that are slow to resolve do not delay others") {
    scripted_peer peer{respond_with(std::string{fine})};
    hook_client_settings settings;
    settings.lookup_threads_max = 4;
    settings.lookup_timeout = milliseconds{100};
    struct shared {
        std::atomic<int> ended = 0;
        gate rest;
    };
    const auto shared_state = std::make_shared<shared>();
    settings.look_up = [shared_state](const std::string& host) {
        if (host == "quick.example") return std::vector{ip_address::v4(127, 0, 0, 1)};
        if (shared_state->ended > 0) shared_state->rest.wait();
        else std::this_thread::sleep_for(std::chrono::milliseconds{1050});  // so that the domain is known to be slow
        ++shared_state->ended;
        return std::vector<ip_address>{};
    };
    fixture setup{settings};
    const auto first = setup.post("http://first.slow.example/");
    CHECK(first.end == attempt_end::timed_out);
    CHECK(first.cause == attempt_cause::no_name_server);
    CHECK(eventually([&] { return shared_state->ended == 1; }));
    std::vector<std::uint64_t> slow;
    for (const char* const each : {"http://next.slow.example/1", "http://next.slow.example/2"}) slow.push_back(setup.send(each));
    // On a busy machine even a quick lookup may time out.
    CHECK(eventually([&] { return setup.post("http://quick.example:" + std::to_string(peer.port())).status == 200; }));
    for (const auto each : slow) CHECK(setup.owner->wait_for(each).end == attempt_end::timed_out);
    CHECK(shared_state->ended == 1);
    shared_state->rest.open();
}

TEST_CASE("a name that was not looked up counts as no attempt, and one whose name server does not respond counts as one") {
    hook_client_settings settings;
    settings.lookup_threads_max = 2;
    const auto lookups = std::make_shared<gate>();
    settings.look_up = [lookups](const std::string& host) -> std::vector<ip_address> {
        if (host == "silent.example") throw std::system_error{std::make_error_code(std::errc::timed_out)};
        if (host == "short.example") throw std::system_error{std::make_error_code(std::errc::too_many_files_open)};
        if (host == "memory.example") throw std::bad_alloc{};
        lookups->wait();
        return {};
    };
    {
        fixture setup{settings};
        CHECK(setup.post("http://silent.example/").end == attempt_end::timed_out);
        for (const char* const each : {"http://short.example/", "http://memory.example/"}) {
            const auto result = setup.post(each);
            CHECK(result.progress == attempt_progress::shortage);
        }
    }
    settings.lookup_timeout = milliseconds{150};
    fixture setup{settings};
    CHECK(eventually([&] { return setup.post("http://hangs.example/").progress == attempt_progress::made; }));  // as soon as its lookup has started
    const auto second = setup.post("http://waits.example/");
    CHECK(second.progress == attempt_progress::postponed);
    lookups->open();
}

TEST_CASE("TLS: the certificate must be trusted and match the host") {
    const tollgate_test::temporary_directory directory;
    const auto one = tollgate_test::make_certificate("ours", "DNS:ours.example,IP:127.0.0.1");
    const std::string file = directory.file("authority.pem");
    std::ofstream{file} << one.certificate_pem;
    tollgate_test::echo_handler handler;
    server receiver{handler, {.address = "0.0.0.0", .port = 0,
                              .tls = tollgate::tls_from({.certificate_pem = one.certificate_pem, .key_pem = one.key_pem})}};
    REQUIRE(receiver.start());
    hook_client_settings settings;
    settings.look_up = [](const std::string&) { return std::vector{ip_address::v4(127, 0, 0, 1)}; };
    const auto at = [&](const std::string& host) { return "https://" + host + ":" + std::to_string(receiver.port()) + "/"; };

    SECTION("by name and by address") {
        settings.authorities_file = file;
        fixture setup{settings};
        CHECK(setup.post(at("ours.example")).status == 200);
        CHECK(setup.post(at("OURS.example")).status == 200);
        CHECK(setup.post(at("127.0.0.1")).status == 200);
        CHECK(setup.post(at("ours.example")).status == 200);
    }
    SECTION("another name") {
        settings.authorities_file = file;
        fixture setup{settings};
        const auto result = setup.post(at("other.example"));
        CHECK(result.end == attempt_end::no_tls);
        CHECK(result.cause == attempt_cause::certificate_for_other_host);
        CHECK(result.reason.find("ostname") != std::string::npos);
        CHECK(setup.post(at("127.1.1.1")).end == attempt_end::no_tls);
        CHECK(setup.post(at("127.1.1.1")).cause == attempt_cause::certificate_for_other_host);
    }
    SECTION("an unknown authority") {
        fixture setup{settings};
        const auto result = setup.post(at("ours.example"));
        CHECK(result.end == attempt_end::no_tls);
        CHECK(result.cause == attempt_cause::certificate_not_trusted);
        CHECK(result.reason.find("self-signed") != std::string::npos);
    }
    SECTION("authorities that are read again") {
        settings.authorities_file = file;
        fixture setup{settings};
        CHECK(setup.post(at("ours.example")).status == 200);
        std::ofstream{file} << "no certificate";
        const auto refused = setup.client->reload_authorities();
        REQUIRE_FALSE(refused);
        CHECK(refused.error().message.find(file) != std::string::npos);
        CHECK(setup.post(at("ours.example")).status == 200);
        std::ofstream{file} << tollgate_test::make_certificate("others", "DNS:others.example").certificate_pem;
        CHECK(setup.client->reload_authorities());
        CHECK(setup.post(at("ours.example")).cause == attempt_cause::certificate_not_trusted);  // not on the connection that was kept
        std::ofstream{file} << one.certificate_pem;
        CHECK(setup.client->reload_authorities());
        CHECK(setup.post(at("ours.example")).status == 200);
    }
    SECTION("outside its dates") {
        constexpr long hour = 60 * 60;
        for (const auto& [from, to, cause] : {std::tuple{-2 * hour, -hour, attempt_cause::certificate_expired},
                                              std::tuple{hour, 2 * hour, attempt_cause::certificate_not_yet_valid}}) {
            const auto other = tollgate_test::make_certificate("ours", "DNS:ours.example", tollgate_test::key_kind::ecdsa, from, to);
            settings.authorities_file = directory.file("other.pem");
            std::ofstream{settings.authorities_file} << other.certificate_pem;
            server late{handler, {.address = "0.0.0.0", .port = 0,
                                  .tls = tollgate::tls_from({.certificate_pem = other.certificate_pem, .key_pem = other.key_pem})}};
            REQUIRE(late.start());
            fixture setup{settings};
            const auto result = setup.post("https://ours.example:" + std::to_string(late.port()) + "/");
            CHECK(result.end == attempt_end::no_tls);
            CHECK(result.cause == cause);
        }
    }
    SECTION("no TLS") {
        scripted_peer plain{[](peer_connection& client, int) {
            client.write("HTTP/1.1 400 Bad Request\r\n\r\n");
            client.wait_for_the_end();
        }};
        fixture setup{settings};
        CHECK(setup.post("https://127.0.0.1:" + std::to_string(plain.port())).end == attempt_end::no_tls);
        CHECK(setup.post("https://127.0.0.1:" + std::to_string(plain.port())).cause == attempt_cause::none);
    }
}

TEST_CASE("unreadable authorities and an invalid user agent are reported at once") {
    asio::io_context context;
    hook_client_settings settings;
    SECTION("authorities") { settings.authorities_file = "/nowhere/at/all.pem"; }
    SECTION("agent") { settings.user_agent = "two\r\nlines"; }
    SECTION("no agent") { settings.user_agent = ""; }
    const auto client = hook_client::make(context.get_executor(), settings, std::make_shared<test_owner>());
    REQUIRE_FALSE(client);
    CHECK(client.error().kind == error_kind::invalid);
}

TEST_CASE("a cut-off attempt says so, and later ones are not attempted") {
    scripted_peer peer{[](peer_connection& client, int) { client.wait_for_the_end(); }};
    fixture setup;
    const auto first = setup.send(at(peer));
    setup.client->abort();
    const auto second = setup.send(at(peer));
    const auto result = setup.owner->wait_for(first);
    CHECK((result.progress == attempt_progress::cut_off || result.progress == attempt_progress::postponed));  // the latter if nothing was sent yet
    CHECK(setup.owner->wait_for(second).progress == attempt_progress::postponed);
}

TEST_CASE("a cut-off attempt whose request was sent says so") {
    std::atomic<bool> was_sent = false;
    scripted_peer peer{[&](peer_connection& client, int) {
        client.read_request();
        was_sent = true;
        client.wait_for_the_end();
    }};
    fixture setup;
    const auto first = setup.send(at(peer));
    CHECK(eventually([&] { return was_sent.load(); }));
    setup.client->abort();
    const auto result = setup.owner->wait_for(first);
    CHECK(result.progress == attempt_progress::cut_off);
    CHECK(result.end == attempt_end::broken_off);
}

TEST_CASE("a cut-off attempt that has a response, but has not sent all of its request, is not cut off") {
    const std::string too_much(std::size_t{1} << 24, 'x');  // for the buffers of the sockets
    std::chrono::milliseconds pause{10};
    CHECK(eventually([&] {  // on a busy machine the client reads the response later
        gate rest;
        scripted_peer peer{[&](peer_connection& client, int) {
            client.write("HTTP/1.1 410 Gone\r\n\r\n");
            rest.wait();
        }};
        fixture setup;
        const auto number = setup.send(at(peer), too_much);
        rest.wait_for_calls(1);
        std::this_thread::sleep_for(pause);
        pause *= 2;
        setup.client->abort();
        const auto result = setup.owner->wait_for(number);
        rest.open();
        return result.progress == attempt_progress::made && result.status == 410;
    }));
}

TEST_CASE("a client whose executor never runs can be destroyed") {
    asio::io_context context;
    auto client = hook_client::make(context.get_executor(), {}, std::make_shared<test_owner>());
    REQUIRE(client);
    std::vector<outgoing_request> one;
    one.push_back({1, *http::url::parse("http://127.0.0.1:1/"), {}, "{}"});
    (*client)->send(std::move(one));
    (*client)->abort();
}
