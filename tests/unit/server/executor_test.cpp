#include <tollgate/server/asio_server.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/system_executor.hpp>
#include <asio/thread_pool.hpp>
#include <catch2/catch.hpp>
#include <support/echo_handler.hpp>
#include <support/eventually.hpp>
#include <support/server_socket.hpp>
#include <support/socket_client.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using tollgate::server;
using tollgate::server_settings;
using tollgate_test::eventually;
using tollgate_test::port_is_free;
using tollgate_test::socket_client;

namespace {

const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string half_post = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe";

server_settings two_loops() {
    server_settings settings;
    settings.port = 0;
    settings.threads = 2;
    settings.stop_grace = 0ms;
    settings.linger_timeout = 50ms;  // the clients send nothing after their last request
    settings.queue_wait_max = 1h;  // a busy machine may delay a worker
    return settings;
}

/// Whether the calling thread runs a function that an `own_executor` was given.
bool& is_inside_own_executor() {
    static thread_local bool inside = false;
    return inside;
}

/// An executor of a program's own: Asio and the library do not know its type. Its context runs the functions.
class own_executor {
public:
    explicit own_executor(asio::io_context& context) noexcept : context_{&context} {}

    [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
    static constexpr asio::execution::blocking_t::never_t query(asio::execution::blocking_t) noexcept { return {}; }

    template <class Function>
    void execute(Function function) const {
        asio::post(*context_, [function = std::move(function)]() mutable {
            const bool before = std::exchange(is_inside_own_executor(), true);
            std::move(function)();
            is_inside_own_executor() = before;
        });
    }

    bool operator==(const own_executor& other) const noexcept { return context_ == other.context_; }
    bool operator!=(const own_executor& other) const noexcept { return !(*this == other); }

private:
    asio::io_context* context_;
};

/// A program that runs an executor.
class host {
public:
    host() = default;
    host(const host&) = delete;
    host& operator=(const host&) = delete;
    virtual ~host() = default;

    [[nodiscard]] virtual asio::any_io_executor executor() = 0;
    /// Whether the calling thread may call what the executor was given.
    [[nodiscard]] virtual bool runs_here() { return true; }
    /// Calls `function` on a thread that runs the executor.
    virtual void call(std::function<void()> function) { asio::post(executor(), std::move(function)); }
};

class context_host : public host {
public:
    enum class kind { plain, in_strand, own };

    context_host(kind which, int threads) : kind_{which} {
        for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { context_.run(); });
    }
    ~context_host() override {
        work_.reset();
        for (std::thread& each : threads_) each.join();
    }

    asio::any_io_executor executor() override {
        if (kind_ == kind::in_strand) return strand_;
        if (kind_ == kind::own) return own_executor{context_};
        return context_.get_executor();
    }
    bool runs_here() override {
        if (kind_ == kind::in_strand) return strand_.running_in_this_thread();
        if (kind_ == kind::own) return is_inside_own_executor();
        return context_.get_executor().running_in_this_thread();
    }

private:
    const kind kind_;
    asio::io_context context_;
    asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
    asio::strand<asio::io_context::executor_type> strand_{context_.get_executor()};
    std::vector<std::thread> threads_;
};

class pool_host : public host {
public:
    explicit pool_host(bool in_strand) : in_strand_{in_strand} {}
    ~pool_host() override { pool_.join(); }

    asio::any_io_executor executor() override {
        if (in_strand_) return strand_;
        return pool_.get_executor();
    }
    bool runs_here() override { return in_strand_ ? strand_.running_in_this_thread() : pool_.get_executor().running_in_this_thread(); }

private:
    const bool in_strand_;
    asio::thread_pool pool_{2};
    asio::strand<asio::thread_pool::executor_type> strand_{pool_.get_executor()};
};

class system_host : public host {
public:
    asio::any_io_executor executor() override { return asio::system_executor{}; }
};

/// Has a main loop, which polls a context among other work.
class polling_host : public host {
public:
    polling_host() : loop_{[this] { run(); }} {}
    ~polling_host() override {
        ends_ = true;
        loop_.join();
    }

    asio::any_io_executor executor() override { return context_.get_executor(); }
    bool runs_here() override { return context_.get_executor().running_in_this_thread(); }
    void call(std::function<void()> function) override {
        const std::lock_guard hold{mutex_};
        calls_.push_back(std::move(function));
    }

private:
    void run() {
        while (!ends_) {
            context_.restart();
            context_.poll();
            std::vector<std::function<void()>> calls;
            {
                const std::lock_guard hold{mutex_};
                calls.swap(calls_);
            }
            for (const auto& each : calls) each();
            std::this_thread::sleep_for(1ms);
        }
    }

    asio::io_context context_;
    std::atomic<bool> ends_ = false;
    std::mutex mutex_;
    std::vector<std::function<void()>> calls_;
    std::thread loop_;
};

struct host_row {
    const char* name;
    std::unique_ptr<host> (*make)();
};

template <context_host::kind Kind, int Threads>
std::unique_ptr<host> on_context() {
    return std::make_unique<context_host>(Kind, Threads);
}

using enum context_host::kind;
const host_row hosts[] = {
    {"an io_context, 1 thread", on_context<plain, 1>},
    {"an io_context, 4 threads", on_context<plain, 4>},
    {"a strand, 1 thread", on_context<in_strand, 1>},
    {"a strand, 4 threads", on_context<in_strand, 4>},
    {"an executor type of its own, 1 thread", on_context<own, 1>},
    {"an executor type of its own, 4 threads", on_context<own, 4>},
    {"a thread pool", []() -> std::unique_ptr<host> { return std::make_unique<pool_host>(false); }},
    {"a strand of a thread pool", []() -> std::unique_ptr<host> { return std::make_unique<pool_host>(true); }},
    {"the system's executor", []() -> std::unique_ptr<host> { return std::make_unique<system_host>(); }},
    {"an io_context that is polled", []() -> std::unique_ptr<host> { return std::make_unique<polling_host>(); }},
};

/// Responds with the method, path and body, and checks where it is called. `/stop` stops the server.
template <bool Blocking>
struct host_handler {
    static constexpr bool blocking = Blocking;
    host& running_on;
    server* stopped = nullptr;
    std::atomic<int> calls = 0, calls_elsewhere = 0;

    void handle(const tollgate::http::request& request, tollgate::http::response& response) noexcept {
        ++calls;
        if (!Blocking && !running_on.runs_here()) ++calls_elsewhere;
        if (request.target.path == "/stop") stopped->stop();
        response.body().append(request.method_name).append(" ").append(request.target.path).append(" ").append(request.body);
    }
    void handle(const tollgate::http::refusal& refused, tollgate::http::response& response) noexcept {
        response.set_status(refused.status);
    }
};

void serve_some(server& running) {
    std::vector<socket_client> clients;
    for (int i = 0; i < 4; ++i) clients.emplace_back(running.port());
    for (int round = 0; round < 10; ++round) {
        for (auto& each : clients) each.write(get);
        for (auto& each : clients) CHECK(each.read_response().body == "GET /a ");
    }
}

template <bool Blocking>
void test_life_on(host& running_on) {
    SECTION("stopped by another thread") {
        host_handler<Blocking> handler{running_on};
        server running{running_on.executor(), handler, two_loops()};
        REQUIRE(running.start());
        serve_some(running);
        socket_client idle{running.port()};
        running.stop();
        CHECK(idle.ends_silently());
        CHECK(port_is_free(running.port()));
        CHECK(handler.calls == 40);
        CHECK(handler.calls_elsewhere == 0);
    }
    SECTION("stopped by its handler") {
        host_handler<Blocking> handler{running_on};
        server running{running_on.executor(), handler, two_loops()};
        handler.stopped = &running;
        REQUIRE(running.start());
        socket_client idle{running.port()}, client{running.port()};
        client.write("GET /stop HTTP/1.1\r\nHost: x\r\n\r\n");
        const auto last = client.read_response();
        CHECK(last.body == "GET /stop ");
        CHECK(last.has("Connection: close"));
        CHECK(client.ends_silently());
        CHECK(idle.ends_silently());
        running.wait();
        CHECK(port_is_free(running.port()));
    }
    SECTION("stopped by a thread that runs the executor, while a request arrives") {
        host_handler<Blocking> handler{running_on};
        server running{running_on.executor(), handler, two_loops()};
        REQUIRE(running.start());
        socket_client client{running.port()};
        client.write(get + half_post);
        CHECK(client.read_response().body == "GET /a ");
        std::promise<void> stopped;
        running_on.call([&] {
            running.stop(30s);
            stopped.set_value();
        });
        REQUIRE(eventually([&] { return port_is_free(running.port()); }));
        client.write("llo");
        CHECK(client.read_response().body == "POST /b hello");  // so the executor's thread did not wait for itself
        CHECK(client.ends_silently());
        stopped.get_future().wait();
        running.wait();
    }
    SECTION("stopped by a thread that runs the executor, without a request") {
        host_handler<Blocking> handler{running_on};
        server running{running_on.executor(), handler, two_loops()};
        REQUIRE(running.start());
        const auto port = running.port();
        std::promise<void> stopped;
        running_on.call([&] {
            running.stop(30s);
            stopped.set_value();
        });
        stopped.get_future().wait();
        running.wait();
        CHECK(port_is_free(port));
    }
    SECTION("destroyed while it serves") {
        host_handler<Blocking> handler{running_on};
        std::optional<socket_client> client;
        {
            server running{running_on.executor(), handler, two_loops()};
            REQUIRE(running.start());
            serve_some(running);
            client.emplace(running.port());
            client->write(get + half_post);
            CHECK(client->read_response().status == 200);
        }
        CHECK(client->ends_silently());
    }
    SECTION("destroyed by a thread that runs the executor") {
        host_handler<Blocking> handler{running_on};
        auto running = std::make_unique<server>(running_on.executor(), handler, two_loops());
        REQUIRE(running->start());
        serve_some(*running);
        socket_client idle{running->port()};
        std::promise<void> destroyed;
        running_on.call([&] {
            running.reset();
            destroyed.set_value();
        });
        destroyed.get_future().wait();
        CHECK(idle.ends_silently());
    }
}

}  // namespace

TEST_CASE("a server runs on each kind of executor, on its threads only", "[server][executor]") {
    for (const host_row& row : hosts) DYNAMIC_SECTION(row.name) {
        const auto running_on = row.make();
        test_life_on<false>(*running_on);
    }
}

TEST_CASE("a server with a blocking handler runs on each kind of executor", "[server][executor]") {
    for (const host_row& row : hosts) DYNAMIC_SECTION(row.name) {
        const auto running_on = row.make();
        test_life_on<true>(*running_on);
    }
}

TEST_CASE("a program that polls stops a server between two polls", "[server][executor]") {
    tollgate_test::echo_handler handler;
    asio::io_context context;
    server running{context.get_executor(), handler, two_loops()};
    REQUIRE(running.start());
    socket_client client{running.port()};
    client.write(get + half_post);
    while (handler.requests == 0) context.poll();
    CHECK(client.read_response().body == "GET /a ");

    running.stop(1h);  // returns although only this thread could finish the request
    CHECK(port_is_free(running.port()));
    CHECK(running.statistics().connections == 1);
    client.write("llo");
    while (running.statistics().connections != 0) context.poll();
    CHECK(client.read_response().body == "POST /b hello");
    CHECK(client.ends_silently());
    running.stop();
    running.wait();
}

TEST_CASE("a server without an executor does not start", "[server][executor]") {
    tollgate_test::echo_handler handler;
    server running{asio::any_io_executor{}, handler, two_loops()};
    CHECK_FALSE(running.start());
    running.stop();
}
