#pragma once
#ifndef TOLLGATE_LIMITS_DETAIL_REDIS_CLIENT_HPP
#define TOLLGATE_LIMITS_DETAIL_REDIS_CLIENT_HPP

#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/limits/detail/redis/connection.hpp>
#include <tollgate/limits/detail/redis/server_address.hpp>
#include <tollgate/limits/detail/redis/window_script.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tollgate::inline v0::redis {

namespace detail {

/// A plain explanation of an error of the server's state, which may pass; empty for other errors.
[[nodiscard]] TOLLGATE_DECL std::optional<std::string_view> find_known_error(std::string_view error) noexcept;

}  // namespace detail

struct client_settings {
    /// Time limit for connecting, including TLS and AUTH.
    milliseconds connect_wait_max{200};
    /// Time limit for the reply.
    milliseconds response_wait_max{100};
    /// Called once when the server becomes unavailable and once when it is available again. Must return quickly and
    /// must not call the limiter.
    std::function<void(bool up, std::string_view reason)> on_state{};
};

/// The connection of one process to a server, opened on demand, and whether the server is available. One is enough: calls that
/// arrive while a round trip is under way share the next one.
///
/// After a failed connection, a timeout or an error such as READONLY, LOADING, OOM or NOAUTH, calls fail at once
/// without a lock or a wait. One call at a time is let through as a probe: after 100 ms at first, at most every 2 s
/// later.
///
/// Thread rule: any thread. Blocking. Never throws.
class client {
public:
    TOLLGATE_DECL client(server_address server, std::shared_ptr<const tls_authorities> authorities, window_script script,
                         const client_settings& settings);
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    TOLLGATE_DECL ~client();

    /// Whether connections use TLS.
    [[nodiscard]] TOLLGATE_DECL bool has_authorities() const noexcept;
    /// For the connections that are made from now on. Precondition: connections use TLS.
    TOLLGATE_DECL void set_authorities(std::shared_ptr<const tls_authorities> authorities) noexcept;

    /// One round trip, shared by the calls that arrive during another one.
    [[nodiscard]] TOLLGATE_DECL window_result send(const window_request& request) noexcept;

    /// Returns true if the last contact with the server succeeded, and before the first contact.
    [[nodiscard]] TOLLGATE_DECL bool is_up() const noexcept;
    [[nodiscard]] TOLLGATE_DECL backend_statistics statistics() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace tollgate::redis

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/limits/detail/redis/client.ipp>
#endif

#endif  // TOLLGATE_LIMITS_DETAIL_REDIS_CLIENT_HPP
