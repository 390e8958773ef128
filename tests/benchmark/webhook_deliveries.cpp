// The cost of the dispatcher and the latency of webhooks: one line of JSON.
//
//     webhook_deliveries [CONNECTION_STRING]
//
// In memory and on SQLite, or on the PostgreSQL that the argument names.
//
// The receiver is another process, on other addresses of the loopback network, each of which counts as a separate host.
// It records the arrival of each webhook in memory that both processes share.

#include <tollgate/store/memory.hpp>
#include <tollgate/store/postgres.hpp>
#include <tollgate/store/sqlite.hpp>
#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using namespace tollgate;

namespace {

constexpr std::size_t arrivals_max = 1'000'000;

struct shared_notes {
    std::atomic<std::uint64_t> arrived;
    std::atomic<std::uint32_t> microseconds[arrivals_max];  // from the time in a webhook's data to its arrival
};

std::int64_t monotonic_nanoseconds() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

[[noreturn]] void fail(const char* message) {
    std::perror(message);
    std::exit(1);
}

int listen_at(std::uint16_t& port) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t bytes = sizeof address;
    if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(listener, 8192) != 0) fail("listen");
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes);
    port = ntohs(address.sin_port);
    return listener;
}

/// Answers every request with 200, on persistent connections.
[[noreturn]] void receive(int listener, shared_notes& notes) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    constexpr std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    const int epoll = ::epoll_create1(0);
    const auto watch = [epoll](int socket) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = socket;
        ::epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
    };
    watch(listener);
    std::unordered_map<int, std::string> received;
    std::vector<char> bytes(64 * 1024);
    for (;;) {
        epoll_event ready[256];
        const int count = ::epoll_wait(epoll, ready, 256, -1);
        for (int i = 0; i < count; ++i) {
            const int socket = ready[i].data.fd;
            if (socket == listener) {
                for (int one = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK); one >= 0;
                     one = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK))
                    watch(one);
                continue;
            }
            const auto bytes_read = ::recv(socket, bytes.data(), bytes.size(), 0);
            if (bytes_read <= 0) {
                ::close(socket);
                received.erase(socket);
                continue;
            }
            std::string& text = received[socket];
            text.append(bytes.data(), static_cast<std::size_t>(bytes_read));
            for (;;) {
                const auto head = text.find("\r\n\r\n");
                if (head == std::string::npos) break;
                const auto at = text.find("Content-Length: ");
                const auto all = head + 4 + static_cast<std::size_t>(std::atoll(text.c_str() + at + 16));
                if (text.size() < all) break;
                const auto sent_at = std::atoll(text.c_str() + text.find("\"data\":") + 7);
                const auto number = notes.arrived++;
                if (number < arrivals_max)
                    notes.microseconds[number] = static_cast<std::uint32_t>((monotonic_nanoseconds() - sent_at) / 1000);
                (void)!::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL);
                text.erase(0, all);
            }
        }
    }
}

double cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds_of = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

double resident_megabytes() {
    std::ifstream status{"/proc/self/statm"};
    std::size_t all = 0, resident = 0;
    status >> all >> resident;
    return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

double seconds_since(std::int64_t start) { return static_cast<double>(monotonic_nanoseconds() - start) / 1e9; }

const service_name shop = *service_name::from("sitesmaker");

class bench {
public:
    bench(shared_notes& notes, std::uint16_t port, std::uint16_t dead_port) : notes_{notes}, port_{port}, dead_port_{dead_port} {}

    template <class Store>
    void listen_to(Store& store, std::int64_t account, const std::string& host, bool dead = false) {
        const auto port = std::to_string(dead ? dead_port_ : port_);
        if (!store.create_hook({.account = {shop, account_id{account}}, .event = "site.created", .source = hook_source::api,
                                .type = "webhook", .target_url = "http://" + host + ":" + port + "/hooks/in",
                                .secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=", .created_at = now()}, 5000))
            std::abort();
    }
    void publish(auto& to, std::int64_t account) {
        message_seed seed{};
        const std::uint64_t number = ++published_;
        std::memcpy(seed.data(), &number, sizeof number);
        const auto appended = to.append_event({{shop, account_id{account}}, "site.created",
                                               std::to_string(monotonic_nanoseconds()), now()}, seed, now());
        if (!appended) {
            std::fprintf(stderr, "append: %s\n", appended.error().cause.c_str());
            std::exit(1);
        }
    }
    static instant now() { return system_clock{}.now(); }
    static auto policies() { return default_policies().with_target_rule(public_targets{.private_allowed = true}); }

    void begin_counting() { notes_.arrived = 0; }
    bool wait_for(std::uint64_t count, double patience_seconds = 120) {
        const auto start = monotonic_nanoseconds();
        while (notes_.arrived < count) {
            if (seconds_since(start) > patience_seconds) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        return true;
    }
    /// A quantile of the latencies so far, in milliseconds.
    double latency(double part) {
        std::vector<std::uint32_t> all(notes_.microseconds, notes_.microseconds + notes_.arrived);
        std::sort(all.begin(), all.end());
        return all.empty() ? 0 : all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))] / 1000.0;
    }

private:
    shared_notes& notes_;
    std::uint16_t port_, dead_port_;
    std::atomic<std::uint64_t> published_ = 0;
};

struct figure {
    const char* name;
    double value;
};

void deliveries(bench& fixture, std::vector<figure>& figures) {
    constexpr std::uint64_t count = 100'000;
    constexpr int hosts = 16;
    memory_store store;
    for (int i = 0; i < hosts; ++i) fixture.listen_to(store, i + 1, "127.0.1." + std::to_string(i + 1));
    auto start = monotonic_nanoseconds();
    for (std::uint64_t i = 0; i < count; ++i) fixture.publish(store, static_cast<std::int64_t>(i % hosts) + 1);
    figures.push_back({"memory_events_per_second", static_cast<double>(count) / seconds_since(start)});
    figures.push_back({"due_megabytes", resident_megabytes()});
    fixture.begin_counting();
    hook_dispatcher dispatcher{store, {}, bench::policies()};
    const double cpu = cpu_seconds();
    start = monotonic_nanoseconds();
    if (!dispatcher.start() || !fixture.wait_for(count)) fail("deliveries");
    figures.push_back({"deliveries_per_second", static_cast<double>(count) / seconds_since(start)});
    dispatcher.stop();
    figures.push_back({"deliveries_per_cpu_second", static_cast<double>(count) / (cpu_seconds() - cpu)});
    figures.push_back({"delivered_megabytes", resident_megabytes()});
}

/// From publishing, in the store `elsewhere` or else by the dispatcher itself, to the receiver.
template <class Store>
void arrivals(bench& fixture, Store& store, Store* elsewhere, const char* median, const char* p99,
              std::vector<figure>& figures) {
    constexpr int count = 1000;
    if (elsewhere == nullptr) fixture.listen_to(store, 1, "127.0.2.1");
    hook_dispatcher dispatcher{store, {}, bench::policies()};
    if (!dispatcher.start()) fail("start");
    if (elsewhere != nullptr) std::this_thread::sleep_for(std::chrono::milliseconds{300});  // until it listens for changes
    fixture.begin_counting();
    for (int i = 0; i < count; ++i) {
        if (elsewhere != nullptr) fixture.publish(*elsewhere, 1);
        else fixture.publish(dispatcher, 1);
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    if (!fixture.wait_for(count)) fail("arrivals");
    dispatcher.stop();
    figures.push_back({median, fixture.latency(0.5)});
    figures.push_back({p99, fixture.latency(0.99)});
}

void beside_hanging(bench& fixture, std::vector<figure>& figures) {
    constexpr int hanging = 1000, healthy = 2000;
    memory_store store;
    for (int i = 0; i < hanging; ++i)
        fixture.listen_to(store, i + 2, "127.7." + std::to_string(i / 200) + "." + std::to_string(i % 200 + 1), true);
    fixture.listen_to(store, 1, "127.0.3.1");
    hook_dispatcher dispatcher{store, {}, bench::policies()};
    if (!dispatcher.start()) fail("start");
    fixture.begin_counting();
    for (int round = 0; round < 3; ++round)  // more for each than it may have in flight
        for (int i = 0; i < hanging; ++i) fixture.publish(dispatcher, i + 2);
    for (int i = 0; i < healthy; ++i) {
        fixture.publish(dispatcher, 1);
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    if (!fixture.wait_for(healthy)) fail("beside_hanging");
    figures.push_back({"beside_1000_hanging_median_ms", fixture.latency(0.5)});
    figures.push_back({"beside_1000_hanging_p99_ms", fixture.latency(0.99)});
    figures.push_back({"beside_1000_hanging_megabytes", resident_megabytes()});
    dispatcher.stop(milliseconds{0});
}

template <class Store>
void on_disk(bench& fixture, std::vector<figure>& figures) {
    if constexpr (outbox<Store>) {
        const auto directory = std::filesystem::temp_directory_path() / ("tollgate-webhooks-" + std::to_string(::getpid()));
        std::filesystem::create_directories(directory);
        {
            auto opened = Store::open((directory / "one.db").string());
            if (!opened) fail("sqlite");
            Store& store = *opened;
            fixture.listen_to(store, 9, "127.0.4.1");
            constexpr int count = 2000;
            const auto start = monotonic_nanoseconds();
            for (int i = 0; i < count; ++i) fixture.publish(store, 9);
            figures.push_back({"sqlite_events_per_second", count / seconds_since(start)});
            fixture.begin_counting();
            hook_dispatcher dispatcher{store, {}, bench::policies()};
            const double cpu = cpu_seconds();
            const auto sending = monotonic_nanoseconds();
            if (!dispatcher.start() || !fixture.wait_for(count)) fail("deliveries from disk");
            figures.push_back({"sqlite_deliveries_per_second", count / seconds_since(sending)});
            dispatcher.stop();
            figures.push_back({"sqlite_deliveries_per_cpu_second", count / (cpu_seconds() - cpu)});
            arrivals(fixture, store, static_cast<Store*>(nullptr), "sqlite_arrival_median_ms", "sqlite_arrival_p99_ms", figures);
        }
        std::filesystem::remove_all(directory);
    }
}

void on_postgres(bench& fixture, const std::string& database, std::vector<figure>& figures) {
    postgres_store store{database};
    postgres_store another{database};  // of another node: they share only the database
    constexpr int hosts = 16, publishers = 8, count = 4000;
    for (int i = 0; i < hosts; ++i) fixture.listen_to(store, 100 + i, "127.0.5." + std::to_string(i + 1));
    auto start = monotonic_nanoseconds();
    for (int i = 0; i < count / 4; ++i) fixture.publish(store, 100 + i % hosts);
    figures.push_back({"events_per_second", count / 4 / seconds_since(start)});
    start = monotonic_nanoseconds();
    std::vector<std::thread> threads;
    for (int each = 0; each < publishers; ++each)
        threads.emplace_back([&, each] {
            for (int i = 0; i < count / publishers; ++i) fixture.publish(store, 100 + (each + i) % hosts);
        });
    for (auto& each : threads) each.join();
    figures.push_back({"parallel_events_per_second", count / seconds_since(start)});

    fixture.begin_counting();
    hook_dispatcher dispatcher{store, {}, bench::policies()};
    const double cpu = cpu_seconds();
    start = monotonic_nanoseconds();
    if (!dispatcher.start() || !fixture.wait_for(count + count / 4)) fail("deliveries on PostgreSQL");
    figures.push_back({"deliveries_per_second", (count + count / 4) / seconds_since(start)});
    dispatcher.stop();
    figures.push_back({"deliveries_per_cpu_second", (count + count / 4) / (cpu_seconds() - cpu)});

    arrivals(fixture, store, static_cast<postgres_store*>(nullptr), "arrival_median_ms", "arrival_p99_ms", figures);
    arrivals(fixture, store, &another, "node_to_node_median_ms", "node_to_node_p99_ms", figures);
}

}  // namespace

int main(int argc, char** argv) {
    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
    descriptors.rlim_cur = descriptors.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &descriptors);

    auto* const notes = static_cast<shared_notes*>(
        ::mmap(nullptr, sizeof(shared_notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    std::uint16_t port = 0, dead_port = 0;
    const int listener = listen_at(port);
    const int nobody = listen_at(dead_port);  // the kernel accepts connections, and no process reads from them
    const pid_t receiver = ::fork();
    if (receiver == 0) receive(listener, *notes);
    ::close(listener);

    bench fixture{*notes, port, dead_port};
    std::vector<figure> figures;
    if (argc > 1) {
        on_postgres(fixture, argv[1], figures);
    } else {
        deliveries(fixture, figures);
        {
            memory_store store;
            arrivals(fixture, store, static_cast<memory_store*>(nullptr), "arrival_median_ms", "arrival_p99_ms", figures);
        }
        beside_hanging(fixture, figures);
        on_disk<sqlite_store>(fixture, figures);
    }
    ::kill(receiver, SIGKILL);
    ::waitpid(receiver, nullptr, 0);
    ::close(nobody);

    std::printf("{");
    for (std::size_t i = 0; i < figures.size(); ++i) std::printf("%s\"%s\": %.3f", i == 0 ? "" : ", ", figures[i].name, figures[i].value);
    std::printf("}\n");
}
