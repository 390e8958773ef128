#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>

#include <netdb.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// Resolves a host name to its addresses; none if the name does not exist. May block. Called from several threads at
/// once, possibly even after a dispatcher has stopped: it must own all that it uses.
///
/// An exception counts as no addresses, with two exceptions. A std::system_error of `timed_out` or
/// `resource_unavailable_try_again` means that no name server responded: the attempt is retried like a timeout. Any
/// other std::system_error, and std::bad_alloc, mean that this machine could not send the query: no attempt is counted.
using name_lookup = std::function<std::vector<ip_address>(const std::string& host)>;

/// The system's resolver (`getaddrinfo`), without its search list: `shop` does not resolve to `shop.our-office.example`, so leaving out
/// a domain does not reach internal hosts. Names in `/etc/hosts` are found first.
[[nodiscard]] TOLLGATE_DECL std::vector<ip_address> system_lookup(const std::string& host);

namespace webhooks {

namespace detail {

/// The addresses of `host` in text that is written as `/etc/hosts` (hosts(5)); none if it is not there.
[[nodiscard]] TOLLGATE_DECL std::vector<ip_address> find_host(std::istream& hosts_file, std::string_view host);

/// `system_lookup` with this `getaddrinfo` and this file in place of `/etc/hosts`.
[[nodiscard]] TOLLGATE_DECL std::vector<ip_address> look_up_absolute(const std::string& host, const char* hosts_file,
                                                                     decltype(&::getaddrinfo) look_up);

/// The registrable domain, approximately: `b.example` of `a.b.example`, `b.co.uk` of `a.b.co.uk`.
[[nodiscard]] TOLLGATE_DECL std::string domain_of(std::string_view host);

}  // namespace detail

enum class lookup_end : std::uint8_t { resolved, no_response, local_failure };

struct lookup_result {
    lookup_end end = lookup_end::resolved;
    std::vector<ip_address> addresses{};
    std::string reason{};
};

/// Looks names up on its own threads, because the system's resolver blocks. Threads are started on demand, up to a
/// bound, and not joined at the end: a thread that waits for a name server cannot be interrupted.
///
/// The owner of a domain controls how long its lookup takes. So that names known to be quick always find a thread, all others together
/// use at most half of the threads, slow domains a quarter, and one domain an eighth (a quarter if the name is quick).
class lookup_pool {
public:
    using on_result = std::function<void(const lookup_result&)>;

    TOLLGATE_DECL lookup_pool(name_lookup look_up, std::size_t threads_max);
    lookup_pool(const lookup_pool&) = delete;
    lookup_pool& operator=(const lookup_pool&) = delete;
    TOLLGATE_DECL ~lookup_pool();

    /// Calls `done` once on one of the threads, unless the pool stops before or memory runs out. Concurrent lookups of
    /// one name share one query. `done` is called with the pool's lock held: it must return quickly and not use the
    /// pool. May throw std::bad_alloc; then `done` is not called. Returns a number for `withdraw`.
    TOLLGATE_DECL std::uint64_t resolve(const std::string& host, on_result done);

    /// For a caller that has timed out. If the name still waits for a thread, this lookup is removed, and the name with
    /// its last lookup. False if a thread is resolving the name now.
    [[nodiscard]] TOLLGATE_DECL bool withdraw(const std::string& host, std::uint64_t number);

    /// After this has returned, no callback is called.
    TOLLGATE_DECL void stop() noexcept;

private:
    class state;
    const std::shared_ptr<state> state_;
};

}  // namespace webhooks
}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/name_lookup.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_DETAIL_NAME_LOOKUP_HPP
