#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/backend_statistics.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/limits/detail/redis/connection.hpp>
#include <tollgate/limits/detail/redis/server_address.hpp>
#include <tollgate/limits/detail/redis/window_script.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tollgate::inline v0::redis {

struct pool_settings {
    /// Connections per process. One carries about ten thousand requests a second.
    std::size_t connections_max = 8;
    /// Time limit for connecting, including TLS and AUTH.
    milliseconds connect_wait_max{200};
    /// Time limit for waiting for a connection, and again for the reply.
    milliseconds response_wait_max{100};
    /// Called once when the server becomes unavailable and once when it is available again. Must return quickly and
    /// must not call the limiter.
    std::function<void(bool up, std::string_view reason)> on_state{};
};

/// The connections of one process to a server, opened on demand, and whether the server is available.
///
/// After a failed connection, a timeout or an error such as READONLY, LOADING, OOM or NOAUTH, calls fail at once
/// without a lock or a wait. One call at a time is let through as a probe: after 100 ms at first, at most every 2 s
/// later.
///
/// Thread rule: any thread. Blocking. Never throws.
class pool {
public:
    TOLLGATE_DECL pool(server_address server, std::unique_ptr<tls_authorities> authorities, window_script script,
                       const pool_settings& settings);
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;
    TOLLGATE_DECL ~pool();

    /// One round trip, shared by the calls that arrive during another one. `before` is sent along unless null; its reply is
    /// discarded.
    [[nodiscard]] TOLLGATE_DECL window_result send(const window_request* before, const window_request& request) noexcept;

    /// Whether the last contact with the server succeeded. True at the start.
    [[nodiscard]] TOLLGATE_DECL bool is_up() const noexcept;
    [[nodiscard]] TOLLGATE_DECL backend_statistics statistics() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace tollgate::redis

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/detail/redis/pool.ipp>
#endif
