#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/webhooks/detail/connection.hpp>

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace tollgate::inline v0::webhooks {

/// Idle connections for the next request to their host, a bounded number. Belongs to the client's strand.
class connection_pool {
public:
    struct bounds {
        std::size_t connections_max = 0;
        std::size_t per_host_max = 0;
        milliseconds idle_timeout{};
        milliseconds age_max{};
    };

    explicit connection_pool(const bounds& within) : within_{within} {}
    connection_pool(const connection_pool&) = delete;
    connection_pool& operator=(const connection_pool&) = delete;

    /// The one that was used last for this origin (`http::url::origin`) and is still usable; null when there is none.
    [[nodiscard]] TOLLGATE_DECL std::shared_ptr<hook_connection> take(const std::string& origin);
    /// Keeps it, or closes it when its origin has enough. When the pool is full, the one that was idle the longest is closed.
    /// When memory runs out, the pool is as before.
    TOLLGATE_DECL void put(const std::string& origin, std::shared_ptr<hook_connection> one);
    TOLLGATE_DECL void close();

    using clock = std::chrono::steady_clock;
    /// Closes those that were idle for too long; returns when to call it again, if any are left.
    TOLLGATE_DECL std::optional<clock::time_point> sweep();

private:
    struct entry {
        std::string origin;
        std::shared_ptr<hook_connection> kept;
    };
    using entries = std::list<entry>;  // the last used first

    TOLLGATE_DECL void drop(entries::iterator which);

    const bounds within_;
    entries all_;
    std::unordered_map<std::string, std::list<entries::iterator>> by_origin_;  // the last used first
};

}  // namespace tollgate::webhooks

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/connection_pool.ipp>
#endif
