#pragma once

#include "passwords.hpp"
#include "request_log.hpp"
#include "settings.hpp"
#include "storage.hpp"

#include <tollgate/api/account_service.hpp>
#include <tollgate/api/sign_in.hpp>
#include <tollgate/base/backend_statistics.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/rate_limiter.hpp>
#include <tollgate/model/service_catalog.hpp>
#include <tollgate/server/server_settings.hpp>
#include <tollgate/store/any_store.hpp>
#include <tollgate/web/cookie_sessions.hpp>
#include <tollgate/webhooks/hook_dispatcher.hpp>

#include <cstdint>
#include <memory>
#include <string>

/// The library's parts, made from the flags.
namespace reference {

/// Converts to the library's type.
[[nodiscard]] tollgate::listen_address to_server_address(const listen_address& endpoint);

/// Creates a self-signed certificate if none is given. Throws `run_error`.
[[nodiscard]] tollgate::server_settings to_server_settings(const settings& settings);

/// The addresses that clients use, without a slash at the end.
struct public_urls {
    std::string base_url;
    std::string auth_url;
};
/// If not given, they are made from the first listener's address and `port`.
[[nodiscard]] public_urls to_public_urls(const settings& settings, std::uint16_t port);

/// Rate-limit windows in Redis, shared with other nodes.
class shared_limits {
public:
    /// Connects at once, so that the log says whether Redis is reachable; the server starts in either case. The log must outlive it. Throws
    /// `usage_error` if the authorities cannot be read.
    shared_limits(const settings& settings, const request_log& log);
    shared_limits(const shared_limits&) = delete;
    shared_limits& operator=(const shared_limits&) = delete;
    ~shared_limits();

    [[nodiscard]] tollgate::rate_limiter_ref limiter() noexcept;
    /// Tests Redis with one count. Error: unavailable if it does not respond, or cannot count.
    [[nodiscard]] tollgate::result<void> check();
    /// Reads the certificate authorities of Redis again. Error: they cannot be used; the former ones remain.
    [[nodiscard]] tollgate::result<void> reload_authorities() noexcept;
    /// Statistics of the calls to Redis.
    [[nodiscard]] tollgate::backend_statistics statistics() const noexcept;

private:
    struct windows;
    std::unique_ptr<windows> windows_;
};

/// The library's `account_service` with sign-in by password, and the dispatcher of its webhooks.
class assembly {
public:
    /// `urls` are those that clients use. The data and the observers must outlive it. Throws `usage_error` or `run_error`.
    assembly(const settings& settings, const public_urls& urls, const tollgate::service_catalog& services, const storage& data,
             observers& observer);

    [[nodiscard]] tollgate::account_service& service() noexcept { return service_; }
    [[nodiscard]] tollgate::hook_dispatcher& dispatcher() noexcept { return dispatcher_; }
    /// Null if the windows are in this process.
    [[nodiscard]] shared_limits* limits() noexcept { return limits_.get(); }

private:
    std::unique_ptr<shared_limits> limits_;
    tollgate::any_store store_;
    user_passwords passwords_;
    tollgate::cookie_sessions<tollgate::any_store, user_passwords> sessions_;
    tollgate::account_service service_;
    tollgate::hook_dispatcher dispatcher_;
};

}  // namespace reference
