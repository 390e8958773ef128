#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/webhooks/detail/connection.hpp>
#include <tollgate/webhooks/detail/connection_pool.hpp>
#include <tollgate/webhooks/detail/name_lookup.hpp>
#include <tollgate/webhooks/dispatcher_settings.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/basic_waitable_timer.hpp>
#include <asio/ssl/context.hpp>
#include <asio/strand.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tollgate::inline v0::webhooks {

class attempt_run;

/// Posts webhooks over HTTP/1.1, with or without TLS; many at the same time, each with its own time-out, none waiting for
/// another. Connections are reused. Redirects are responses like any other, and proxies from the environment are ignored:
/// they could lead requests into private networks.
///
/// All state belongs to a strand of the executor, so it does not matter how many threads run that. `send` and `abort`
/// may be called from any thread.
class hook_client : public std::enable_shared_from_this<hook_client> {
public:
    /// An error when the certificate authorities or the user agent are not valid.
    [[nodiscard]] static TOLLGATE_DECL result<std::shared_ptr<hook_client>> make(const asio::any_io_executor& executor,
                                                                                  hook_client_settings settings,
                                                                                  std::shared_ptr<client_owner> owner);

    TOLLGATE_DECL hook_client(const asio::any_io_executor& executor, hook_client_settings settings,
                              std::shared_ptr<client_owner> owner, std::shared_ptr<asio::ssl::context> tls);
    TOLLGATE_DECL ~hook_client();

    /// Begins an attempt for each; `client_owner::on_ended` gets the results. The caller bounds how many there are at the
    /// same time.
    TOLLGATE_DECL void send(std::vector<outgoing_request> requests);

    /// Cuts off attempts in progress, which end as not tried if their request has not left, and closes all connections.
    TOLLGATE_DECL void abort();

private:
    friend attempt_run;

    TOLLGATE_DECL void begin(outgoing_request request, ended_attempts blank) noexcept;
    TOLLGATE_DECL void end(ended_attempts what) noexcept;
    TOLLGATE_DECL void tell() noexcept;
    /// Keeps a connection for the next request to its host.
    TOLLGATE_DECL void keep(const std::string& origin, std::shared_ptr<hook_connection> one);
    TOLLGATE_DECL void sweep();

    const client_executor strand_;
    const hook_client_settings settings_;
    const std::shared_ptr<client_owner> owner_;
    const std::shared_ptr<asio::ssl::context> tls_;
    lookup_pool names_;
    connection_pool idle_;
    asio::basic_waitable_timer<connection_pool::clock, asio::wait_traits<connection_pool::clock>, client_executor>
        sweep_timer_;
    bool sweeping_ = false;
    // Weak: pending operations own the run, so that an executor that is destroyed destroys it, too.
    std::unordered_map<std::uint64_t, std::weak_ptr<attempt_run>> under_way_;
    ended_attempts ended_;  // to report to the owner, as many at once as came together
    bool telling_ = false;
    bool aborted_ = false;
};

}  // namespace tollgate::webhooks

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/hook_client.ipp>
#endif
