#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>

#include <netdb.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace tollgate::inline v0::detail {

using host_addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;
using resolver = decltype(&::getaddrinfo);

/// Lookups that hang occupy at most this number of threads, together; further ones fail at once.
inline constexpr int host_lookup_threads_max = 4;

/// The addresses of `host`, a name or an IP address, for stream sockets. `port`: a number, or empty.
///
/// Returns after `wait_max` at the latest. The system's resolver has no deadline, so it looks names up on a thread of its own, which may
/// go on after that. Error (unavailable): no address, or none in time; its cause names neither host nor port. Thread-safe.
[[nodiscard]] inline result<host_addresses> look_up_host(const std::string& host, const std::string& port,
                                                         std::chrono::milliseconds wait_max, resolver look_up = &::getaddrinfo) {
    struct lookup_state {
        std::string host, port;
        std::mutex mutex;
        std::condition_variable resolved;
        bool is_resolved = false;
        int failed = 0;
        host_addresses found{nullptr, &::freeaddrinfo};
    };
    const auto state = std::make_shared<lookup_state>();
    state->host = host;
    state->port = port;
    const auto resolve = [look_up](lookup_state& each, int flags) {
        addrinfo hints{};
        hints.ai_family = AF_UNSPEC;
        hints.ai_socktype = SOCK_STREAM;
        hints.ai_flags = AI_NUMERICSERV | flags;
        addrinfo* found = nullptr;
        const int failed = look_up(each.host.c_str(), each.port.empty() ? nullptr : each.port.c_str(), &hints, &found);
        const std::lock_guard hold{each.mutex};
        each.failed = failed;
        if (failed == 0) each.found.reset(found);
        each.is_resolved = true;
        each.resolved.notify_all();
    };
    resolve(*state, AI_NUMERICHOST);  // an address needs no resolver
    if (state->failed != 0) {
        static std::atomic<int> threads = 0;
        if (threads.fetch_add(1) >= host_lookup_threads_max) {
            --threads;
            return unavailable("lookups of host names hang");
        }
        state->is_resolved = false;
        try {
            std::thread{[state, resolve] {
                resolve(*state, 0);
                --threads;
            }}.detach();
        } catch (const std::exception&) {
            --threads;
            return unavailable("no thread for the lookup of the host name");
        }
        std::unique_lock lock{state->mutex};
        if (!state->resolved.wait_for(lock, wait_max, [&] { return state->is_resolved; }))
            return unavailable("no address for the host name in time");
    }
    if (state->failed != 0) return unavailable(std::string{"no address for the host name: "} + ::gai_strerror(state->failed));
    return std::move(state->found);
}

}  // namespace tollgate::detail
