#pragma once

#include <support/server_socket.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace tollgate_test {

/// The server's side of one connection: reads whole requests and writes exactly the given bytes.
class peer_connection {
public:
    explicit peer_connection(native_socket socket) noexcept : socket_{socket} {}

    /// The next request, head and body; empty when the client has disconnected.
    std::string read_request() {
        std::size_t end;
        while ((end = received_.find("\r\n\r\n")) == std::string::npos)
            if (!read_more()) return {};
        std::size_t bytes = 0;
        if (const auto at = received_.find("Content-Length: "); at < end)
            bytes = static_cast<std::size_t>(std::atoll(received_.c_str() + at + 16));
        while (received_.size() < end + 4 + bytes)
            if (!read_more()) return {};
        std::string request = received_.substr(0, end + 4 + bytes);
        received_.erase(0, request.size());
        return request;
    }
    bool write(std::string_view bytes) const { return send_all(socket_, bytes); }
    /// Waits until the client has disconnected.
    void wait_for_the_end() {
        while (read_more()) {
        }
    }
    /// Makes closing reset the connection.
    void reset_on_close() const { tollgate_test::reset_on_close(socket_); }

private:
    bool read_more() {
        char bytes[4096];
        const auto count = tollgate::detail::receive_some(socket_, bytes, sizeof bytes);
        if (count <= 0) return false;
        received_.append(bytes, static_cast<std::size_t>(count));
        return true;
    }

    native_socket socket_;
    std::string received_;
};

/// Listens on a free port of 127.0.0.1 and runs a script for each connection, on its own thread.
class scripted_peer {
public:
    using script = std::function<void(peer_connection&, int connection)>;  // connections are counted from 0

    explicit scripted_peer(script run) : script_{std::move(run)}, accepting_{[this] { accept_all(); }} {}
    scripted_peer(const scripted_peer&) = delete;
    scripted_peer& operator=(const scripted_peer&) = delete;
    ~scripted_peer() {
        stopping_ = true;
        connect_to(wakening_.native(), port());
        accepting_.join();
        {
            const std::lock_guard hold{mutex_};
            for (const native_socket each : open_) ::shutdown(each, tollgate::detail::both_directions);
        }
        for (std::thread& each : threads_) each.join();
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return listener_.port(); }
    [[nodiscard]] int connections() const noexcept { return connections_; }

private:
    void accept_all() {
        for (;;) {
            const native_socket socket = ::accept(listener_.native(), nullptr, nullptr);
            if (socket == no_socket) return;
            if (stopping_) return tollgate::detail::close_handle(socket);
            const int number = connections_++;
            const std::lock_guard hold{mutex_};
            open_.push_back(socket);
            threads_.emplace_back([this, socket, number] {
                peer_connection connection{socket};
                script_(connection, number);
                const std::lock_guard done{mutex_};
                std::erase(open_, socket);
                tollgate::detail::close_handle(socket);
            });
        }
    }

    const script script_;
    const server_socket listener_;
    const owned_socket wakening_;
    std::atomic<bool> stopping_ = false;
    std::atomic<int> connections_ = 0;
    std::mutex mutex_;
    std::vector<native_socket> open_;
    std::vector<std::thread> threads_;
    std::thread accepting_;
};

}  // namespace tollgate_test
