#pragma once

#include <tollgate/http/handler.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <utility>

namespace tollgate_test {

/// Responds with method, path and body of the request. `/large` responds with one megabyte. Keeps the target of a refused one.
struct echo_handler {
    std::atomic<int> requests = 0;
    std::atomic<int> refusals = 0;
    std::string refused;  // empty if the head did not arrive

    void handle(const tollgate::http::request& request, tollgate::http::response& response) noexcept {
        ++requests;
        response.add("Content-Type", "text/plain");
        if (request.body_state == tollgate::http::body_state::too_large) {
            response.set_status(tollgate::http::status::content_too_large);
            return;
        }
        if (request.target.path == "/large") response.body().assign(1 << 20, 'x');
        else response.body().append(request.method_name).append(" ").append(request.target.path).append(" ").append(request.body);
    }
    void handle(const tollgate::http::refusal& refusal, tollgate::http::response& response) noexcept {
        ++refusals;
        refused = refusal.request != nullptr ? refusal.request->target.path : std::string_view{};
        response.set_status(refusal.status);
        response.body() = "refused";
    }
};

/// A blocking handler that calls a function.
struct blocking_handler {
    static constexpr bool blocking = true;
    std::function<void(const tollgate::http::request&, tollgate::http::response&)> respond;

    void handle(const tollgate::http::request& request, tollgate::http::response& response) noexcept { respond(request, response); }
    void handle(const tollgate::http::refusal& refusal,
                tollgate::http::response& response) noexcept { response.set_status(refusal.status); }
};

/// The same on the I/O thread.
struct plain_handler {
    std::function<void(const tollgate::http::request&, tollgate::http::response&)> respond;

    void handle(const tollgate::http::request& request, tollgate::http::response& response) noexcept { respond(request, response); }
    void handle(const tollgate::http::refusal& refusal,
                tollgate::http::response& response) noexcept { response.set_status(refusal.status); }
};

}  // namespace tollgate_test
