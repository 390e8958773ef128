#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tollgate {

/// Says at which addresses a host is; none when its name leads nowhere. May block, and is called from several threads
/// at once, perhaps even after a dispatcher has stopped: it owns all that it needs. May throw, which is as if it gave
/// none.
using name_lookup = std::function<std::vector<ip_address>(const std::string& host)>;

/// The system's own resolver (`getaddrinfo`).
[[nodiscard]] TOLLGATE_DECL std::vector<ip_address> system_lookup(const std::string& host);

namespace dispatching {

/// Looks names up on threads of its own, since the system's resolver blocks. Threads come with the need for them, up to
/// a bound, and go when the pool does: whoever waits for a server of names cannot be interrupted, so they are not
/// waited for. A name that took long may have half of the threads together with all others like it: dead domains keep
/// nobody from looking up live ones.
class lookup_pool {
public:
    using on_answer = std::function<void(const std::vector<ip_address>&)>;

    TOLLGATE_DECL lookup_pool(name_lookup look_up, std::size_t threads_max);
    lookup_pool(const lookup_pool&) = delete;
    lookup_pool& operator=(const lookup_pool&) = delete;
    TOLLGATE_DECL ~lookup_pool();

    /// Calls `tell` once on one of the threads, unless the pool stops before. Several who ask for one name at the same
    /// time get one answer. It is called under a lock of the pool's: it does next to nothing, and asks nothing of the
    /// pool.
    TOLLGATE_DECL void ask(const std::string& host, on_answer tell);

    /// When it has returned, nobody is told anything any more.
    TOLLGATE_DECL void stop() noexcept;

private:
    class state;
    const std::shared_ptr<state> state_;
};

}  // namespace dispatching
}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/dispatch/name_lookup.ipp>
#endif
