#pragma once

#include "request_log.hpp"
#include "settings.hpp"

#include <tollgate/http/site.hpp>
#include <tollgate/pipeline/health.hpp>
#include <tollgate/pipeline/metrics.hpp>
#include <tollgate/server/server.hpp>

#include <optional>

namespace reference {

/// The plain listener for operators: `/healthz`, `/readyz` and `/metrics`, on a thread that serves nothing else.
class admin_listener {
public:
    /// Responds with 404 to every other path.
    struct nothing_else {
        void handle(const tollgate::http::request&, tollgate::http::response& response) const noexcept {
            response.set_status(tollgate::http::status::not_found);
        }
        void handle(const tollgate::http::refusal& refused, tollgate::http::response& response) const noexcept {
            response.set_status(refused.status);
        }
    };

    /// Both outlive it. Nothing is opened before `start`.
    admin_listener(const listen_address& endpoint, tollgate::metrics& counts, tollgate::health& checks);

    /// Throws `run_error`.
    void start();
    /// The address that it listens on, with the real port.
    [[nodiscard]] listen_address address() const;

private:
    listen_address endpoint_;
    nothing_else nothing_else_;
    tollgate::http::site<tollgate::metrics, tollgate::health, tollgate::health, nothing_else> site_;
    tollgate::server server_;
};

}  // namespace reference
