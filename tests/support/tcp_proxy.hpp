#pragma once

#include <support/server_socket.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tollgate_test {

/// Forwards between a client and a server on a Unix socket, listens at 127.0.0.1, counts round trips, and fails on
/// demand.
///
/// A server may respond to the first write of a client before the second one, and what is one round trip for the client
/// then counts as two. `merge_client_writes` holds the first write back until no more follow, which takes a moment each
/// time.
class tcp_proxy {
public:
    enum class mode {
        forward,
        hang,           ///< accepts connections and bytes, and forwards nothing
        disconnect,     ///< closes every connection at once
        drop_responses  ///< forwards what clients send, and closes the connection when the server responds
    };

    explicit tcp_proxy(std::string server_path) : server_path_{std::move(server_path)}, thread_{[this] { run(); }} {}
    tcp_proxy(const tcp_proxy&) = delete;
    tcp_proxy& operator=(const tcp_proxy&) = delete;
    ~tcp_proxy() {
        stopping_ = true;
        thread_.join();
        for (pair& each : pairs_) each.close();
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return listening_.port(); }
    /// For the database that PGDATABASE names: `postgres_server::shared` sets it.
    [[nodiscard]] std::string connection_string(const std::string& rest = {}) const {
        return "hostaddr=127.0.0.1 port=" + std::to_string(port()) + " user=postgres " + rest;
    }

    void set_mode(mode next) noexcept { mode_ = next; }
    void merge_client_writes(bool enabled) noexcept { merges_client_writes_ = enabled; }
    /// How often a client has sent data after the server did, or for the first time: round trips.
    [[nodiscard]] std::size_t round_trips() const noexcept { return round_trips_; }
    [[nodiscard]] std::size_t accepted() const noexcept { return accepted_; }
    /// The number of open connections.
    [[nodiscard]] std::size_t open() const noexcept { return open_; }

private:
    struct pair {
        int client = -1;
        int server = -1;
        bool server_sent_last = true;

        void close() noexcept {
            if (client >= 0) ::close(client);
            if (server >= 0) ::close(server);
            client = server = -1;
        }
    };

    void run() {
        while (!stopping_) {
            std::vector<pollfd> polled{{listening_.native(), POLLIN, 0}};
            if (mode_ == mode::disconnect) drop_all();
            open_ = pairs_.size();
            if (mode_ != mode::hang)
                for (const pair& each : pairs_) {
                    polled.push_back({each.client, POLLIN, 0});
                    polled.push_back({each.server, POLLIN, 0});
                }
            if (::poll(polled.data(), polled.size(), 5) <= 0) continue;
            if ((polled[0].revents & POLLIN) != 0) accept();
            if (polled.size() == 1 || mode_ == mode::hang) continue;  // set meanwhile
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
        pair connection;
        connection.client = ::accept4(listening_.native(), nullptr, nullptr, SOCK_CLOEXEC);
        if (connection.client < 0) return;
        ++accepted_;
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, server_path_.c_str(), sizeof address.sun_path - 1);
        connection.server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (mode_ == mode::disconnect ||
            ::connect(connection.server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            connection.close();
        else pairs_.push_back(connection);
    }

    void pass(pair& connection, bool from_client) {
        std::array<char, 65536> bytes;
        std::size_t count = 0;
        const int from = from_client ? connection.client : connection.server;
        do {
            const ssize_t received = ::recv(from, bytes.data() + count, bytes.size() - count, 0);
            if (received <= 0) return connection.close();
            count += static_cast<std::size_t>(received);
        } while (from_client && merges_client_writes_ && count < bytes.size() && sends_more(from));
        if (!from_client && mode_ == mode::drop_responses) return connection.close();
        if (from_client && connection.server_sent_last) ++round_trips_;
        connection.server_sent_last = !from_client;
        for (std::size_t sent = 0; sent < count;) {
            const ssize_t written =
                ::send(from_client ? connection.server : connection.client, bytes.data() + sent, count - sent, MSG_NOSIGNAL);
            if (written <= 0) return connection.close();
            sent += static_cast<std::size_t>(written);
        }
    }

    /// A busy machine may delay a client between two writes, hence the long wait.
    static bool sends_more(int client) noexcept {
        constexpr int silence_milliseconds = 100;
        pollfd polled{client, POLLIN, 0};
        return ::poll(&polled, 1, silence_milliseconds) > 0;
    }

    std::string server_path_;
    const server_socket listening_;
    std::atomic<mode> mode_{mode::forward};
    std::atomic<bool> stopping_{false}, merges_client_writes_{false};
    std::atomic<std::size_t> round_trips_{0}, accepted_{0}, open_{0};
    std::list<pair> pairs_;
    std::thread thread_;
};

}  // namespace tollgate_test
