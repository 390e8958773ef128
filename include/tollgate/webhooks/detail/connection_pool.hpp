#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_CONNECTION_POOL_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_CONNECTION_POOL_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/keyed_hash.hpp>
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

/// A bounded number of idle connections, to be reused for the same host. Belongs to the client's strand.
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

    /// The most recently used connection to this origin (`http::url::origin`) that is still usable; null if there is
    /// none.
    [[nodiscard]] TOLLGATE_DECL std::shared_ptr<hook_connection> take(const std::string& origin);
    /// Keeps the connection, or closes it if its origin has enough. When the pool is full, the least recently used one
    /// is closed. When memory runs out, the pool is unchanged.
    TOLLGATE_DECL void put(const std::string& origin, std::shared_ptr<hook_connection> one);
    TOLLGATE_DECL void close();

    using clock = std::chrono::steady_clock;
    /// Closes connections that have been idle for too long; returns when to call it again, if any are left.
    TOLLGATE_DECL std::optional<clock::time_point> sweep();

private:
    struct entry {
        std::string origin;
        std::shared_ptr<hook_connection> connection;
    };
    using entries = std::list<entry>;  // most recently used first

    TOLLGATE_DECL void drop(entries::iterator which);

    const bounds within_;
    entries all_;
    // Most recently used first; keyed, because users choose the origins.
    std::unordered_map<std::string, std::list<entries::iterator>, tollgate::detail::keyed_hash> by_origin_;
};

}  // namespace tollgate::webhooks

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/connection_pool.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_DETAIL_CONNECTION_POOL_HPP
