#pragma once
#ifndef TOLLGATE_BASE_DETAIL_HOST_LOOKUP_HPP
#define TOLLGATE_BASE_DETAIL_HOST_LOOKUP_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/lookup_pool.hpp>
#include <tollgate/base/detail/system/sockets.hpp>
#include <tollgate/base/result.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace tollgate::inline v0::detail {

/// What the system's resolver found: for stream sockets at port 0, with the zones of link-local IPv6 addresses.
using host_addresses = std::shared_ptr<const addrinfo>;
using system_resolver = decltype(&::getaddrinfo);

/// The number of host names that are looked up at once; further names wait.
inline constexpr std::size_t host_lookups_max = 16;

/// Addresses of hosts that the operator has named, of which a caller waits for one. Thread-safe.
class host_lookups {
public:
    explicit host_lookups(system_resolver resolver = &::getaddrinfo)
        : resolver_{resolver},
          pool_{[resolver](const std::string& host) { return call(resolver, host, 0); }, host_lookups_max, lookup_names::configured} {}

    /// The addresses of `host`, a name or an IP address.
    ///
    /// Returns after `wait_max` at the latest. Error (unavailable): no address, or none in time; its cause does not name the host.
    [[nodiscard]] result<host_addresses> look_up(const std::string& host, std::chrono::milliseconds wait_max) {
        if (auto found = call(resolver_, host, AI_NUMERICHOST); found.end == lookup_end::resolved)  // an address needs no resolver
            return std::move(found.addresses);
        try {
            const auto answer = std::make_shared<one_answer>();
            const auto number = pool_.resolve(host, [answer](const answer_type& given) { answer->give(given); });
            const auto given = answer->wait(wait_max);
            if (!given) {
                (void)pool_.withdraw(host, number);
                return unavailable("no address for the host name in time");
            }
            if (given->end == lookup_end::resolved) return given->addresses;
            return unavailable("no address for the host name: " + given->reason);
        } catch (const std::exception& failed) {
            return unavailable(std::string{"no address for the host name: "} + failed.what());
        }
    }

private:
    using answer_type = lookup_result<host_addresses>;

    class one_answer {
    public:
        void give(const answer_type& given) {
            const std::lock_guard hold{mutex_};
            given_ = given;
            is_given_.notify_all();
        }
        [[nodiscard]] std::optional<answer_type> wait(std::chrono::milliseconds wait_max) {
            std::unique_lock hold{mutex_};
            is_given_.wait_for(hold, wait_max, [this] { return given_.has_value(); });
            return given_;
        }

    private:
        std::mutex mutex_;
        std::condition_variable is_given_;
        std::optional<answer_type> given_;
    };

    [[nodiscard]] static answer_type call(system_resolver resolver, const std::string& host, int flags) noexcept {
        addrinfo hints{};
        hints.ai_family = AF_UNSPEC;
        hints.ai_socktype = SOCK_STREAM;
        hints.ai_flags = flags;
        addrinfo* found = nullptr;
        use_sockets();
        int failed = resolver(host.c_str(), nullptr, &hints, &found);
        try {
            if (failed == 0) return {.addresses = {found, &::freeaddrinfo}};
        } catch (const std::exception&) {
            failed = EAI_MEMORY;
        }
        try {
            return {.end = lookup_end::no_response, .reason = ::gai_strerror(failed)};
        } catch (const std::exception&) {
            return {.end = lookup_end::no_response};
        }
    }

    const system_resolver resolver_;
    lookup_pool<host_addresses> pool_;
};

/// `host_lookups::look_up`, with threads that the whole process shares.
[[nodiscard]] inline result<host_addresses> look_up_host(const std::string& host, std::chrono::milliseconds wait_max) {
    static const auto all = std::make_shared<host_lookups>();
    return all->look_up(host, wait_max);
}

/// Returns an address that was found, with this port.
struct host_address {
    sockaddr_storage name{};
    socklen_t bytes = 0;

    host_address(const addrinfo& found, std::uint16_t port) noexcept
        : bytes{static_cast<socklen_t>((std::min)(std::size_t{found.ai_addrlen}, sizeof name))} {
        std::memcpy(&name, found.ai_addr, bytes);
        // Both kinds of addresses have it at the same place.
        static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
        const std::uint16_t in_order = htons(port);
        std::memcpy(reinterpret_cast<char*>(&name) + offsetof(sockaddr_in, sin_port), &in_order, sizeof in_order);
    }
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_HOST_LOOKUP_HPP
