// The limit: one thread, level-triggered epoll, one read and one write for all requests of that read.

#include "../common/fixed_batch.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <unordered_map>

namespace {

int listen_on(std::uint16_t port) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener, SOMAXCONN) != 0) {
        std::perror("listen");
        std::exit(1);
    }
    return listener;
}

struct connection {
    int socket;
    benchmark::fixed_batch batch;
};

/// False if the connection must be closed: also if the peer does not read its responses, which are not queued.
bool serve(connection& from) {
    const auto count = read(from.socket, from.batch.free_space(), from.batch.free_bytes());
    if (count <= 0) return false;
    const auto answer = from.batch.answer(static_cast<std::size_t>(count));
    if (from.batch.free_bytes() == 0) return false;
    return answer.empty() ||
           write(from.socket, answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
}

}  // namespace

int main(int argc, char** argv) {
    const int listener = listen_on(benchmark::port_argument(argc, argv));
    const int poller = epoll_create1(0);
    std::unordered_map<int, std::unique_ptr<connection>> connections;

    const auto watch = [&](int socket, void* data) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = data;
        epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event);
    };
    watch(listener, nullptr);

    std::array<epoll_event, 256> events;
    for (;;) {
        const int ready = epoll_wait(poller, events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < ready; ++i) {
            auto* const from = static_cast<connection*>(events[static_cast<std::size_t>(i)].data.ptr);
            if (from != nullptr) {
                if (serve(*from)) continue;
                const int socket = from->socket;
                connections.erase(socket);
                close(socket);
                continue;
            }
            const int accepted = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
            if (accepted < 0) continue;
            const int on = 1;
            setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            auto added = std::make_unique_for_overwrite<connection>();
            added->socket = accepted;
            watch(accepted, added.get());
            connections[accepted] = std::move(added);
        }
    }
}
