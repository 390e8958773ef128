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

/// Posts webhooks over HTTP/1.1, with or without TLS; many at the same time, each within its own time, none waiting for
/// another. Connections are used again. Redirects are answers like any other, and no proxy is asked for: whoever could
/// name one could lead requests inside.
///
/// All state belongs to a strand of the executor, so it does not matter how many threads run that. `send` and `abort`
/// may be called from any thread.
class hook_client : public std::enable_shared_from_this<hook_client> {
public:
    /// A problem when the certificate authorities or the user agent will not do.
    [[nodiscard]] static TOLLGATE_DECL result<std::shared_ptr<hook_client>> make(const asio::any_io_executor& executor,
                                                                                  hook_client_settings settings,
                                                                                  std::shared_ptr<client_owner> owner);

    TOLLGATE_DECL hook_client(const asio::any_io_executor& executor, hook_client_settings settings,
                              std::shared_ptr<client_owner> owner, std::shared_ptr<asio::ssl::context> tls);
    TOLLGATE_DECL ~hook_client();

    /// Begins an attempt for each; `client_owner::on_ended` says what came of it. How many there are at the same time
    /// is its caller's concern.
    TOLLGATE_DECL void send(std::vector<outgoing> requests);

    /// Cuts off what is under way, which ends as not tried if its request has not left, and closes all connections.
    TOLLGATE_DECL void abort();

private:
    friend attempt_run;

    TOLLGATE_DECL void begin(outgoing request, incoming_list blank) noexcept;
    TOLLGATE_DECL void end(incoming_list what) noexcept;
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
    // Weak: what is pending holds a run, so that an executor that is destroyed takes it along.
    std::unordered_map<std::uint64_t, std::weak_ptr<attempt_run>> under_way_;
    incoming_list ended_;  // that the owner will be told of, as many at once as came together
    bool telling_ = false;
    bool aborted_ = false;
};

}  // namespace tollgate::webhooks

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/webhooks/detail/hook_client.ipp>
#endif
