#pragma once

#include "request_log.hpp"
#include "settings.hpp"

#include <tollgate/http/site.hpp>
#include <tollgate/monitoring/health.hpp>
#include <tollgate/monitoring/metrics.hpp>
#include <tollgate/server/server.hpp>

#include <optional>
#include <string>
#include <vector>

namespace reference {

/// The plain listener for operators: `/healthz`, `/readyz` and `/metrics`, on a thread that serves nothing else.
class admin_listener {
public:
    /// Responds with 404 to every other path.
    struct nothing_else {
        static constexpr bool blocking = false;

        void handle(const tollgate::http::request&, tollgate::http::response& response) const noexcept {
            response.set_status(tollgate::http::status::not_found);
        }
        void handle(const tollgate::http::refusal& refused, tollgate::http::response& response) const noexcept {
            response.set_status(refused.status);
        }
    };

    /// Responds with 421 to requests for hosts that are neither IP addresses, nor names without a dot, nor known: a web page must not read
    /// the metrics through a name of its own that resolves to this address (DNS rebinding).
    struct host_check {
        static constexpr bool blocking = false;
        static constexpr bool reads_body = false;

        void handle(const tollgate::http::request& request, tollgate::http::response& response) noexcept {
            if (knows_host_of(request)) site.handle(request, response);
            else response.set_status(tollgate::http::status::misdirected_request);
        }
        void handle(const tollgate::http::refusal& refused, tollgate::http::response& response) noexcept { site.handle(refused, response); }
        [[nodiscard]] bool knows_host_of(const tollgate::http::request& request) const noexcept;

        tollgate::http::site site;
        tollgate::http::allowed_hosts known;
    };

    /// `hosts`: names with dots by which it is reached, besides that of this machine. The others outlive it. Nothing is opened before
    /// `start`.
    admin_listener(const listen_address& endpoint, const std::vector<std::string>& hosts, tollgate::metrics& counts,
                   tollgate::health& checks);

    /// Throws `run_error`.
    void start();
    /// The address that it listens on, with the real port.
    [[nodiscard]] listen_address address() const;

private:
    listen_address endpoint_;
    nothing_else nothing_else_;
    host_check checked_;
    tollgate::server server_;
};

}  // namespace reference
