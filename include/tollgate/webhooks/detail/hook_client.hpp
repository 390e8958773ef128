#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_HOOK_CLIENT_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_HOOK_CLIENT_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/webhooks/detail/address_order.hpp>
#include <tollgate/webhooks/detail/asio.hpp>
#include <tollgate/webhooks/detail/connection.hpp>
#include <tollgate/webhooks/detail/connection_pool.hpp>
#include <tollgate/webhooks/detail/name_lookup.hpp>
#include <tollgate/webhooks/hook_dispatch_settings.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tollgate::inline v0::webhooks {

class attempt_run;

/// Posts webhooks over HTTP/1.1, with or without TLS: many at once, each with its own timeout and independent of the
/// others. Connections are reused. Redirects are treated as final responses, and proxies from the environment are
/// ignored: both could lead requests into private networks.
///
/// All state belongs to a strand of the executor, so any number of threads may run it. `send`, `reload_authorities` and `abort` may be
/// called from any thread.
class hook_client : public std::enable_shared_from_this<hook_client> {
public:
    /// Error if the certificate authorities or the user agent are invalid.
    [[nodiscard]] static TOLLGATE_DECL result<std::shared_ptr<hook_client>> make(const asio::any_io_executor& executor,
                                                                                 hook_client_settings settings,
                                                                                  std::shared_ptr<client_owner> owner);

    TOLLGATE_DECL hook_client(const asio::any_io_executor& executor, hook_client_settings settings,
                              std::shared_ptr<client_owner> owner, std::shared_ptr<asio::ssl::context> tls);
    TOLLGATE_DECL ~hook_client();

    /// Starts one attempt per request; `client_owner::on_ended` receives the results. The caller bounds how many run at
    /// once.
    TOLLGATE_DECL void send(std::vector<outgoing_request> requests);

    /// Reads the certificate authorities again, for connections that are made from now on, and closes idle connections. Error, and nothing
    /// changes: they cannot be used.
    [[nodiscard]] TOLLGATE_DECL result<void> reload_authorities() noexcept;

    /// Cuts off attempts in progress (not attempted if their request has not been sent) and closes all connections.
    TOLLGATE_DECL void abort();

private:
    friend attempt_run;

    TOLLGATE_DECL void begin(outgoing_request request, ended_attempts blank) noexcept;
    TOLLGATE_DECL void end(ended_attempts ended) noexcept;
    TOLLGATE_DECL void report_ended() noexcept;
    /// Keeps a connection for the next request to its host.
    TOLLGATE_DECL void keep(const std::string& origin, std::shared_ptr<hook_connection> one);
    TOLLGATE_DECL void sweep();

    /// Beside the first connection that each attempt makes, this many may be made at once: sockets are scarce.
    static constexpr std::size_t extra_connections_max = 128;
    [[nodiscard]] bool take_extra_connection() noexcept {
        if (extra_connections_ >= extra_connections_max) return false;
        ++extra_connections_;
        return true;
    }
    void return_extra_connections(std::size_t count) noexcept { extra_connections_ -= count; }

    const client_executor strand_;
    const hook_client_settings settings_;
    const std::shared_ptr<client_owner> owner_;
    std::shared_ptr<asio::ssl::context> tls_;
    lookup_pool names_;
    connection_pool idle_;
    address_order addresses_;
    std::size_t extra_connections_ = 0;
    asio::basic_waitable_timer<connection_pool::clock, asio::wait_traits<connection_pool::clock>, client_executor>
        sweep_timer_;
    bool sweeping_ = false;
    // Weak: pending operations own the run, so that destroying the executor destroys it.
    std::unordered_map<std::uint64_t, std::weak_ptr<attempt_run>> under_way_;
    ended_attempts ended_;  // to be reported to the owner in batches
    bool reporting_ = false;
    bool aborted_ = false;
};

}  // namespace tollgate::webhooks

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/hook_client.ipp>
#endif

#endif  // TOLLGATE_WEBHOOKS_DETAIL_HOOK_CLIENT_HPP
