// The loads that wrk does not support: a fixed number of requests, many idle connections, many TLS handshakes.
//
//     load_client PLAIN_OR_TLS PORT AUTHORIZATION rounds CONNECTIONS ROUNDS
//     load_client PLAIN_OR_TLS PORT AUTHORIZATION idle CONNECTIONS
//     load_client PLAIN_OR_TLS PORT AUTHORIZATION handshakes MILLISECONDS
//     load_client PLAIN_OR_TLS PORT AUTHORIZATION latency REQUESTS
//
// Prints the number of requests that got a response. `idle` then holds its connections until its input ends. `latency` sends
// one request after the other on one connection, and prints the median and the 99th percentile in microseconds instead.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

[[noreturn]] void fail(const char* message) {
    std::perror(message);
    std::exit(1);
}

unsigned to_number(std::string_view text) {
    unsigned number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

SSL_CTX* client_context() {
    // The certificate is self-signed, and not verified: that does not change the work of the server.
    static SSL_CTX* const shared = [] {
        SSL_CTX* context = SSL_CTX_new(TLS_client_method());
        SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
        return context;
    }();
    return shared;
}

/// A blocking connection. Every wait is bounded, and a failure ends the program: a lost request would falsify counts.
class connection {
public:
    connection(std::uint16_t port, bool secure) : socket_{::socket(AF_INET, SOCK_STREAM, 0)} {
        const timeval patience{30, 0};  // generous: the server may run under valgrind
        const int on = 1;
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (socket_ < 0 || connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) fail("connect");
        if (!secure) return;
        tls_ = SSL_new(client_context());
        SSL_set_fd(tls_, socket_);
        if (SSL_connect(tls_) != 1) fail("TLS handshake");
    }
    connection(connection&& from) noexcept
        : socket_{std::exchange(from.socket_, -1)}, tls_{std::exchange(from.tls_, nullptr)} {}
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    connection& operator=(connection&&) = delete;
    ~connection() {
        if (tls_ != nullptr) SSL_shutdown(tls_);
        SSL_free(tls_);
        if (socket_ >= 0) close(socket_);
    }

    void send(std::string_view bytes) {
        const auto size = static_cast<int>(bytes.size());
        const auto sent = tls_ != nullptr ? SSL_write(tls_, bytes.data(), size)
                                          : static_cast<int>(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
        if (sent != size) fail("send");
    }

    /// Reads one response with a Content-Length. No bytes follow it, because there is one request in flight.
    void receive() {
        std::string received;
        std::size_t expected_bytes = std::string::npos;
        while (received.size() < expected_bytes) {
            char bytes[4096];
            const auto count = tls_ != nullptr ? SSL_read(tls_, bytes, sizeof bytes)
                                               : static_cast<int>(recv(socket_, bytes, sizeof bytes, 0));
            if (count <= 0) fail("receive");
            received.append(bytes, static_cast<std::size_t>(count));
            const auto end = received.find("\r\n\r\n");
            if (expected_bytes == std::string::npos && end != std::string::npos)
                expected_bytes = end + 4 + body_bytes(received.substr(0, end));
        }
        if (!received.starts_with("HTTP/1.1 200 ")) {
            std::fprintf(stderr, "not answered with 200: %s\n", received.c_str());
            std::exit(1);
        }
    }

private:
    static std::size_t body_bytes(const std::string& head) {
        const char* const found = strcasestr(head.c_str(), "\r\nContent-Length:");
        return found == nullptr ? 0 : static_cast<std::size_t>(std::atol(found + std::strlen("\r\nContent-Length:")));
    }

    int socket_;
    SSL* tls_ = nullptr;
};

struct target {
    bool secure;
    std::uint16_t port;
    std::string request;

    [[nodiscard]] connection open() const { return {port, secure}; }
    [[nodiscard]] std::vector<connection> open(unsigned count) const {
        std::vector<connection> opened;
        for (unsigned i = 0; i < count; ++i) opened.push_back(open());
        return opened;
    }
};

unsigned ask_in_rounds(const target& at, unsigned connections, unsigned rounds) {
    auto all = at.open(connections);
    for (unsigned round = 0; round < rounds; ++round) {
        for (auto& c : all) c.send(at.request);
        for (auto& c : all) c.receive();
    }
    return connections * rounds;
}

unsigned hold_idle(const target& at, unsigned connections) {
    std::vector<connection> all;
    for (unsigned i = 0; i < connections; ++i) {
        all.push_back(at.open());
        all.back().send(at.request);
        all.back().receive();
    }
    std::printf("%u\n", connections);
    std::fflush(stdout);
    while (std::getchar() != EOF) {}
    std::exit(0);  // the kernel closes them at once; closing thousands of connections properly would only take time
}

unsigned shake_hands(const target& at, std::chrono::milliseconds for_time) {
    const auto end = std::chrono::steady_clock::now() + for_time;
    unsigned done = 0;
    for (; std::chrono::steady_clock::now() < end; ++done) {
        auto c = at.open();
        c.send(at.request);
        c.receive();
    }
    return done;
}

/// With a pause after each request, in which the server becomes idle, as at a low load.
int tell_latency(const target& at, unsigned requests) {
    std::vector<double> durations(requests);
    auto c = at.open();
    for (double& each : durations) {
        const auto start = std::chrono::steady_clock::now();
        c.send(at.request);
        c.receive();
        each = std::chrono::duration<double, std::micro>{std::chrono::steady_clock::now() - start}.count();
        usleep(200);
    }
    std::sort(durations.begin(), durations.end());
    std::printf("%.1f %.1f\n", durations[durations.size() / 2], durations[durations.size() * 99 / 100]);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string_view> texts{argv + 1, argv + argc};
    if (texts.size() < 5) {
        std::fputs("usage: load_client plain|tls PORT AUTHORIZATION rounds|idle|handshakes|latency NUMBER [NUMBER]\n", stderr);
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);
    const target at{texts[0] == "tls", static_cast<std::uint16_t>(to_number(texts[1])),
                    "GET /v1/user/balance HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: benchmark\r\nAuthorization: " +
                        std::string{texts[2]} + "\r\n\r\n"};
    if (texts[3] == "latency") return tell_latency(at, to_number(texts[4]));
    unsigned answered = 0;
    if (texts[3] == "rounds" && texts.size() > 5)
        answered = ask_in_rounds(at, to_number(texts[4]), to_number(texts[5]));
    if (texts[3] == "idle") answered = hold_idle(at, to_number(texts[4]));
    if (texts[3] == "handshakes") answered = shake_hands(at, std::chrono::milliseconds{to_number(texts[4])});
    std::printf("%u\n", answered);
}
