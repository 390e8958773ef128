#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/ip_address.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// Says at which addresses a host is; none when its name leads nowhere. May block, and is called from several threads
/// at once, perhaps even after a dispatcher has stopped: it owns all that it needs.
///
/// What it throws is as if it gave none, with two exceptions. A std::system_error of `timed_out` or
/// `resource_unavailable_try_again` says that no server of names answered: that is tried again like a time-out. Any
/// other one, and std::bad_alloc, say that this machine could not even ask: that is no attempt.
using name_lookup = std::function<std::vector<ip_address>(const std::string& host)>;

/// The system's own resolver (`getaddrinfo`), without its search list: a name is the whole name.
[[nodiscard]] TOLLGATE_DECL std::vector<ip_address> system_lookup(const std::string& host);

namespace webhooks {

namespace detail {

/// What one can buy, more or less: `b.example` of `a.b.example`, `b.co.uk` of `a.b.co.uk`.
[[nodiscard]] TOLLGATE_DECL std::string domain_of(std::string_view host);

}  // namespace detail

enum class lookup_end : std::uint8_t { answered, no_answer, short_of_something };

struct lookup_answer {
    lookup_end end = lookup_end::answered;
    std::vector<ip_address> addresses{};
    std::string why{};
};

/// Looks names up on threads of its own, since the system's resolver blocks. Threads come with the need for them, up to
/// a bound, and go when the pool does: whoever waits for a server of names cannot be interrupted, so they are not
/// waited for.
///
/// Whoever has a domain decides how long it takes to look it up. So names that answered quickly before find a thread,
/// whatever others do: all other names together have half of the threads, those of domains that were slow a quarter,
/// and one domain an eighth, or a quarter while it is known to be quick.
class lookup_pool {
public:
    using on_answer = std::function<void(const lookup_answer&)>;

    TOLLGATE_DECL lookup_pool(name_lookup look_up, std::size_t threads_max);
    lookup_pool(const lookup_pool&) = delete;
    lookup_pool& operator=(const lookup_pool&) = delete;
    TOLLGATE_DECL ~lookup_pool();

    /// Calls `tell` once on one of the threads, unless the pool stops before, or memory is short. Several who ask for
    /// one name at the same time get one answer. It is called under a lock of the pool's: it does next to nothing, and
    /// asks nothing of the pool. May throw std::bad_alloc: then nobody is told.
    TOLLGATE_DECL void ask(const std::string& host, on_answer tell);

    /// Whether a thread is at it now. A name that still waits for one is forgotten: who asks this has no time left.
    [[nodiscard]] TOLLGATE_DECL bool is_asking_for(const std::string& host);

    /// When it has returned, nobody is told anything any more.
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
