#pragma once
#ifndef TOLLGATE_BASE_DETAIL_HOST_LOOKUP_HPP
#define TOLLGATE_BASE_DETAIL_HOST_LOOKUP_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/start_thread.hpp>
#include <tollgate/base/result.hpp>

#include <netdb.h>
#include <sys/socket.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

namespace tollgate::inline v0::detail {

using host_addresses = std::shared_ptr<const addrinfo>;
using resolver = decltype(&::getaddrinfo);

/// Lookups of the same name share a thread, so that this many names may hang before further ones fail at once.
inline constexpr std::size_t host_lookups_max = 16;

/// One call of the system's resolver, which has no deadline: it runs on a thread of its own, and its callers wait as long as they can.
class host_lookup {
public:
    host_lookup(std::string host, std::string port) : host_{std::move(host)}, port_{std::move(port)} {}

    void resolve(resolver look_up, int flags) noexcept {
        addrinfo hints{};
        hints.ai_family = AF_UNSPEC;
        hints.ai_socktype = SOCK_STREAM;
        hints.ai_flags = AI_NUMERICSERV | flags;
        addrinfo* found = nullptr;
        const int failed = look_up(host_.c_str(), port_.empty() ? nullptr : port_.c_str(), &hints, &found);
        const std::lock_guard hold{mutex_};
        failed_ = failed;
        try {
            if (failed == 0) found_ = {found, &::freeaddrinfo};
        } catch (const std::bad_alloc&) {
            failed_ = EAI_MEMORY;
        }
        is_resolved_ = true;
        resolved_.notify_all();
    }

    [[nodiscard]] result<host_addresses> wait(std::chrono::milliseconds wait_max) {
        std::unique_lock lock{mutex_};
        if (!resolved_.wait_for(lock, wait_max, [this] { return is_resolved_; }))
            return unavailable("no address for the host name in time");
        if (failed_ != 0) return unavailable(std::string{"no address for the host name: "} + ::gai_strerror(failed_));
        return found_;
    }

private:
    const std::string host_, port_;
    std::mutex mutex_;
    std::condition_variable resolved_;
    bool is_resolved_ = false;
    int failed_ = 0;
    host_addresses found_;
};

/// The lookups on threads of their own.
struct running_host_lookups {
    std::mutex mutex;
    std::map<std::pair<std::string, std::string>, std::shared_ptr<host_lookup>> by_name;
};

/// The addresses of `host`, a name or an IP address, for stream sockets. `port`: a number, or empty.
///
/// Returns after `wait_max` at the latest. Error (unavailable): no address, or none in time; its cause names neither host nor port.
/// Thread-safe.
[[nodiscard]] inline result<host_addresses> look_up_host(const std::string& host, const std::string& port,
                                                         std::chrono::milliseconds wait_max, resolver look_up = &::getaddrinfo) {
    host_lookup address{host, port};
    address.resolve(look_up, AI_NUMERICHOST);  // an address needs no resolver
    if (auto found = address.wait({})) return found;

    static const auto running = std::make_shared<running_host_lookups>();  // threads may outlive it
    const std::pair name{host, port};
    std::shared_ptr<host_lookup> lookup;
    {
        const std::lock_guard hold{running->mutex};
        if (const auto same = running->by_name.find(name); same != running->by_name.end()) {
            lookup = same->second;
        } else {
            if (running->by_name.size() >= host_lookups_max) return unavailable("lookups of host names hang");
            lookup = std::make_shared<host_lookup>(host, port);
            const auto place = running->by_name.emplace(name, lookup).first;
            try {
                start_thread([look_up, lookup, place, all = running] {
                    lookup->resolve(look_up, 0);
                    const std::lock_guard done{all->mutex};
                    all->by_name.erase(place);
                }).detach();
            } catch (const std::exception&) {
                running->by_name.erase(place);
                return unavailable("no thread for the lookup of the host name");
            }
        }
    }
    return lookup->wait(wait_max);
}

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_HOST_LOOKUP_HPP
