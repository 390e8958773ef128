#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tollgate_test {

/// Stands between a client and a server on a Unix socket, listens at 127.0.0.1, counts what passes, and fails on
/// demand.
///
/// A server may answer the first piece of what a client says before the client has said the second, and what is one round
/// trip to the client then counts as two. `hear_clients_out` keeps the first piece back until there is no second; that
/// takes a moment each time.
class tcp_proxy {
public:
    enum class way {
        forwards,
        hangs,        ///< takes connections and bytes, and passes nothing on
        cuts,         ///< ends every connection at once
        answers_lost  ///< passes on what clients say, and ends the connection when the server answers
    };

    explicit tcp_proxy(std::string server_path) : server_path_{std::move(server_path)} {
        listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (::bind(listening_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listening_, 64) != 0 ||
            ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
            throw std::runtime_error{"no proxy"};
        port_ = ntohs(address.sin_port);
        thread_ = std::thread{[this] { run(); }};
    }
    tcp_proxy(const tcp_proxy&) = delete;
    tcp_proxy& operator=(const tcp_proxy&) = delete;
    ~tcp_proxy() {
        stops_ = true;
        thread_.join();
        for (pair& each : pairs_) each.close();
        ::close(listening_);
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// Of the database that PGDATABASE names: `postgres_server::shared` sets it.
    [[nodiscard]] std::string connection_string(const std::string& rest = {}) const {
        return "hostaddr=127.0.0.1 port=" + std::to_string(port_) + " user=postgres " + rest;
    }

    void behave(way next) noexcept { way_ = next; }
    void hear_clients_out(bool wanted) noexcept { hears_out_ = wanted; }
    /// How often a client has said something after a server had, or for the first time: round trips.
    [[nodiscard]] std::size_t turns() const noexcept { return turns_; }
    [[nodiscard]] std::size_t accepted() const noexcept { return accepted_; }
    /// Connections that are open now.
    [[nodiscard]] std::size_t open() const noexcept { return open_; }

private:
    struct pair {
        int client = -1;
        int server = -1;
        bool server_spoke_last = true;

        void close() noexcept {
            if (client >= 0) ::close(client);
            if (server >= 0) ::close(server);
            client = server = -1;
        }
    };

    void run() {
        while (!stops_) {
            std::vector<pollfd> polled{{listening_, POLLIN, 0}};
            if (way_ == way::cuts) drop_all();
            open_ = pairs_.size();
            if (way_ != way::hangs)
                for (const pair& each : pairs_) {
                    polled.push_back({each.client, POLLIN, 0});
                    polled.push_back({each.server, POLLIN, 0});
                }
            if (::poll(polled.data(), polled.size(), 5) <= 0) continue;
            if ((polled[0].revents & POLLIN) != 0) accept();
            if (polled.size() == 1 || way_ == way::hangs) continue;  // set meanwhile
            std::size_t at = 1;
            for (pair& each : pairs_) {
                if (at >= polled.size()) break;
                const bool from_client = polled[at].revents != 0, from_server = polled[at + 1].revents != 0;
                at += 2;
                if (from_client) pass(each, true);
                if (from_server && each.client >= 0) pass(each, false);
            }
            pairs_.remove_if([](const pair& each) { return each.client < 0; });
        }
    }

    void drop_all() {
        for (pair& each : pairs_) each.close();
        pairs_.clear();
    }

    void accept() {
        pair made;
        made.client = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
        if (made.client < 0) return;
        ++accepted_;
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, server_path_.c_str(), sizeof address.sun_path - 1);
        made.server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (way_ == way::cuts ||
            ::connect(made.server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            made.close();
        else pairs_.push_back(made);
    }

    void pass(pair& of, bool from_client) {
        std::array<char, 65536> bytes;
        std::size_t count = 0;
        const int from = from_client ? of.client : of.server;
        do {
            const ssize_t some = ::recv(from, bytes.data() + count, bytes.size() - count, 0);
            if (some <= 0) return of.close();
            count += static_cast<std::size_t>(some);
        } while (from_client && hears_out_ && count < bytes.size() && goes_on(from));
        if (!from_client && way_ == way::answers_lost) return of.close();
        if (from_client && of.server_spoke_last) ++turns_;
        of.server_spoke_last = !from_client;
        for (std::size_t sent = 0; sent < count;) {
            const ssize_t some =
                ::send(from_client ? of.server : of.client, bytes.data() + sent, count - sent, MSG_NOSIGNAL);
            if (some <= 0) return of.close();
            sent += static_cast<std::size_t>(some);
        }
    }

    /// A busy machine may take a client off its core between two sends, hence the long wait.
    static bool goes_on(int client) noexcept {
        constexpr int silence_milliseconds = 100;
        pollfd polled{client, POLLIN, 0};
        return ::poll(&polled, 1, silence_milliseconds) > 0;
    }

    std::string server_path_;
    int listening_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<way> way_{way::forwards};
    std::atomic<bool> stops_{false}, hears_out_{false};
    std::atomic<std::size_t> turns_{0}, accepted_{0}, open_{0};
    std::list<pair> pairs_;
    std::thread thread_;
};

}  // namespace tollgate_test
