#include <tollgate/server/asio_server.hpp>

#include <tollgate/server/detail/server_context.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <support/echo_handler.hpp>
#include <support/eventually.hpp>
#include <support/failing_new.hpp>
#include <support/gate.hpp>
#include <support/socket_client.hpp>
#include <support/temporary_directory.hpp>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// On Windows no limit on descriptors runs out; the directory of those that are open, `fork` and epoll are missing, too.

using namespace std::chrono_literals;
using namespace tollgate;
using tollgate_test::eventually;
using tollgate_test::socket_client;

namespace {

const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

server_settings one_thread() {
    server_settings settings;
    settings.port = 0;
    settings.threads = 1;
    settings.stop_grace = 0ms;
    return settings;
}

int status_of(socket_client& one) {
    one.write(get);
    return one.read_response().status;
}

/// How many sockets the epoll instances of this process watch, with all of these events and flags.
int epoll_registrations(std::uint32_t with = 0) {
    int count = 0;
    for (const auto& one : std::filesystem::directory_iterator{"/proc/self/fd"}) {
        std::error_code ignored;
        if (std::filesystem::read_symlink(one.path(), ignored) != "anon_inode:[eventpoll]") continue;
        std::ifstream info{"/proc/self/fdinfo/" + one.path().filename().string()};
        for (std::string line; std::getline(info, line);) {
            if (!line.starts_with("tfd:")) continue;
            const auto events = std::stoul(line.substr(line.find("events:") + 7), nullptr, 16);
            if ((events & with) == with) ++count;
        }
    }
    return count;
}

/// A child process that has a copy of every descriptor, until this is destroyed.
class forked_child {
public:
    forked_child() {
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        child_ = ::fork();
        if (child_ == 0) {
            char none;
            ::close(ends[1]);
            (void)!::read(ends[0], &none, 1);
            ::_exit(0);
        }
        ::close(ends[0]);
        end_ = ends[1];
    }
    forked_child(const forked_child&) = delete;
    forked_child& operator=(const forked_child&) = delete;
    ~forked_child() {
        ::close(end_);
        ::waitpid(child_, nullptr, 0);
    }

private:
    pid_t child_ = -1;
    int end_ = -1;
};

/// Keeps this process from opening more descriptors.
class no_descriptor_left {
public:
    enum class spare { usable, unusable };
    /// `unusable`: nor can a descriptor that is closed be replaced by another one.
    explicit no_descriptor_left(spare last = spare::usable) {
        REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
        for (int i = 0; i < 64; ++i) fill_.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));  // no unused descriptor is left below these
        rlimit now = before_;
        now.rlim_cur = last == spare::unusable ? 1 : static_cast<rlim_t>(*std::max_element(fill_.begin(), fill_.end())) + 1;
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &now) == 0);
    }
    no_descriptor_left(const no_descriptor_left&) = delete;
    no_descriptor_left& operator=(const no_descriptor_left&) = delete;
    ~no_descriptor_left() {
        for (const int one : fill_) ::close(one);
        ::setrlimit(RLIMIT_NOFILE, &before_);
    }

private:
    rlimit before_{};
    std::vector<int> fill_;
};

struct own_threads {
    explicit own_threads(const server_settings& settings) : running{handler, settings} {}

    tollgate_test::echo_handler handler;
    server running;
};

struct on_an_executor {
    explicit on_an_executor(const server_settings& settings) : running{context.get_executor(), handler, settings} {}

    tollgate_test::echo_handler handler;
    asio::io_context context;
    server running;
};

}  // namespace

TEST_CASE("connections end even if a child process has copies of their descriptors", "[server][fork]") {
    tollgate_test::echo_handler handler;
    server running{handler, one_thread()};
    REQUIRE(running.start());
    const auto port = running.port();
    socket_client kept_open{port};
    CHECK(status_of(kept_open) == 200);
    const int before = epoll_registrations();
    {
        std::vector<socket_client> clients;
        for (int i = 0; i < 8; ++i) {
            clients.emplace_back(port);
            CHECK(status_of(clients.back()) == 200);
        }
        CHECK(epoll_registrations() == before + 8);
        const forked_child child;
        for (const auto& one : clients) one.end_writing();  // closing them would not end them: the child has copies of them
        clients.clear();
        CHECK(eventually([&] { return epoll_registrations() == before; }));
        kept_open.write("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        CHECK(kept_open.read_response().status == 200);
        CHECK(kept_open.ends_silently());
        socket_client next{port};
        CHECK(status_of(next) == 200);
        running.stop();
        server_settings again = one_thread();
        again.port = port;
        server second{handler, again};
        CHECK(second.start().has_value());
    }
}

#if !defined(TOLLGATE_SERVER_ASIO)
TEST_CASE("epoll does not report a socket in each pass while a worker has its connection", "[server]") {
    tollgate_test::gate gate;
    tollgate_test::blocking_handler handler{[&](const http::request&, http::response&) { gate.wait(); }};
    server running{handler, one_thread()};
    REQUIRE(running.start());
    const int before = epoll_registrations();
    const int edges_before = epoll_registrations(EPOLLET);  // those of Asio
    socket_client client{running.port()};
    client.write(get);
    gate.wait_for_calls(1);
    client.write(get);
    CHECK(epoll_registrations() == before + 1);
    CHECK(epoll_registrations(EPOLLET) == edges_before + 1);  // each arrival is reported once
    gate.open();
    CHECK(client.read_response().status == 200);
    CHECK(client.read_response().status == 200);
    CHECK(epoll_registrations(EPOLLET) == edges_before + 1);
}
#endif

/// A server that counts its warnings.
struct warned_server {
    std::atomic<int> warnings = 0;
    tollgate_test::echo_handler handler{};
    server running{handler, settings()};

    server_settings settings() {
        server_settings with = one_thread();
        with.on_warning = [this](std::string_view) { ++warnings; };
        return with;
    }
};

TEST_CASE("when no descriptor is left, a client gets 503, and a warning is reported once", "[server]") {
    warned_server one;
    auto& running = one.running;
    REQUIRE(running.start());
    {
        // Sockets from before the shortage, open until its end: otherwise `accept` and a client could compete for a descriptor.
        std::array<tollgate_test::owned_socket, 3> sockets;
        std::vector<socket_client> clients;
        const no_descriptor_left limited;
        for (tollgate_test::owned_socket& each : sockets) {
            socket_client& client = clients.emplace_back(std::move(each), running.port());
            const auto refused = client.read_response();
            CHECK(refused.status == 503);
            CHECK(refused.has("Retry-After: 2"));
            CHECK(refused.has("\r\nDate: "));
            CHECK(refused.has(" GMT\r\n"));
            CHECK(client.ends_silently());
        }
        CHECK(one.warnings == 1);
        CHECK(running.statistics().connections_accepted == 3);
        CHECK(running.statistics().connections_refused == 3);
    }
    socket_client client{running.port()};
    CHECK(status_of(client) == 200);
    CHECK(one.warnings == 1);
}

TEST_CASE("a client that cannot even be refused is accepted after the shortage", "[server]") {
    warned_server one;
    auto& running = one.running;
    REQUIRE(running.start());
    tollgate_test::owned_socket socket;
    std::optional<socket_client> client;
    {
        const no_descriptor_left limited{no_descriptor_left::spare::unusable};
        client.emplace(std::move(socket), running.port());
        REQUIRE(eventually([&] { return one.warnings == 1; }));
    }
    CHECK(status_of(*client) == 200);
    CHECK(running.statistics().connections_accepted == 1);
    CHECK(running.statistics().connections_refused == 0);
}

TEST_CASE("the bounds on connections leave descriptors for other purposes and other clients", "[server]") {
    struct row {
        rlim_t files;
        std::size_t connections_max;
        std::size_t per_address_max;
        std::size_t admitted_in_all;
        std::size_t admitted_of_one;
    };
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    for (const row& one : {row{600, 10'000, 0, 300, 75}, row{1024, 10'000, 0, 688, 172}, row{1024, 200, 0, 200, 64},
                           row{1024, 600, 600, 600, 600}, row{1024, 40, 0, 40, 40}}) {
        CAPTURE(one.files, one.connections_max, one.per_address_max);
        rlimit now = before;
        now.rlim_cur = one.files;
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &now) == 0);
        server_settings settings;
        settings.connections_max = one.connections_max;
        settings.connections_per_address_max = one.per_address_max;
        tollgate_test::echo_handler handler;
        const auto admitted = [&](bool one_address) {
            server_detail::server_context context{handler, server_settings{settings}};
            std::size_t count = 0;
            const auto address = [&] { return ip_address::v4(10, 0, static_cast<std::uint8_t>(one_address ? 0 : count / 32), 1); };
            while (context.limiter.admit(address()) == server_detail::admission::accepted) ++count;
            return count;
        };
        CHECK(admitted(false) == one.admitted_in_all);
        CHECK(admitted(true) == one.admitted_of_one);
    }
    ::setrlimit(RLIMIT_NOFILE, &before);
}

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

namespace {

/// A handler that needs no memory.
struct frugal_handler {
    void handle(const http::request&, http::response& response) noexcept { response.body() = "ok"; }
    void handle(const http::refusal& refused, http::response& response) noexcept { response.set_status(refused.status); }
};

}  // namespace

TEMPLATE_TEST_CASE("a server that runs out of memory during its start is stopped, and leaves no descriptor open", "[server]",
                   own_threads, on_an_executor) {
    const auto descriptors = [] {
        const std::filesystem::directory_iterator open{"/proc/self/fd"};
        return std::distance(begin(open), end(open));
    };
    const tollgate_test::temporary_directory directory;
    const std::string path = directory.file("socket");
    server_settings settings = one_thread();
    settings.more_addresses = {{"unix:" + path}};
    const bool listens_first = GENERATE(false, true);
    CAPTURE(listens_first);
    const auto before = descriptors();
    tollgate_test::fail_each_allocation([&](auto short_of_memory) {
        bool started = false;
        {
            TestType has{settings};
            try {
                started = short_of_memory(
                    [&] { return (!listens_first || has.running.listen().has_value()) && has.running.start().has_value(); });
            } catch (const std::bad_alloc&) {  // no memory for the error
            }
            if (!started) has.running.wait();  // at once
        }
        REQUIRE(descriptors() == before);
        REQUIRE_FALSE(std::filesystem::exists(path));
        return started;
    });
}

TEST_CASE("on an executor without memory a client gets a response or a close, and the server continues afterwards", "[server][asio]") {
    frugal_handler handler;
    asio::io_context context;
    const auto work = asio::make_work_guard(context);
    server_settings settings = one_thread();
    settings.header_timeout = settings.idle_timeout = 100ms;
    server running{context.get_executor(), handler, settings};
    REQUIRE(running.start());

    constexpr long keep = -2, unlimited = -1;
    std::atomic<long> memory = keep;
    std::atomic<bool> ended = false;
    std::thread loop{[&] {
        while (!ended) {
            const long allowed = memory.exchange(keep);
            if (allowed >= 0) tollgate_test::allocations_left = allowed;
            if (allowed == unlimited) tollgate_test::allocations_left.reset();
            context.run_for(5ms);
            context.restart();
        }
    }};
    const auto set_memory = [&](long allowed) {
        memory = allowed;
        while (memory != keep) std::this_thread::yield();
    };
    for (long allowed = 0; allowed < 40; ++allowed) {
        CAPTURE(allowed);
        set_memory(allowed);
        socket_client client{running.port()};
        client.write(get + "GET / HT");
        client.read_response();  // or none
        set_memory(unlimited);
        client.read_to_end();  // its header timeout, at the latest
        CHECK(eventually([&] {  // a client that a busy machine delays beyond the header timeout gets no response
            socket_client next{running.port()};
            return status_of(next) == 200 && next.ends_silently();  // its idle timeout
        }));
    }
    ended = true;
    loop.join();
}

#endif
