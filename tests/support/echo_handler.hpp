#pragma once

#include <tollgate/http/handler.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <utility>

namespace tollgate_test {

/// Responds with method, path and body of the request. `/large` responds with one megabyte. Keeps the path of a refused one, and what it
/// knows of one whose head did not arrive.
struct echo_handler {
    static constexpr bool blocking = false;

    std::atomic<int> requests = 0;
    std::atomic<int> refusals = 0;
    std::string refused;  // empty if the head did not arrive
    std::string refused_part;
    std::string refused_origin;

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
        refused_part = refusal.partial != nullptr ? refusal.partial->target.path : std::string_view{};
        refused_origin = refusal.partial != nullptr ? refusal.partial->fields.find("Origin") : std::string_view{};
        response.set_status(refusal.status);
        response.body() = "refused";
    }
};

/// A handler that calls a function, on a worker if it is blocking.
template <bool Blocking>
struct calling_handler {
    static constexpr bool blocking = Blocking;
    std::function<void(const tollgate::http::request&, tollgate::http::response&)> respond;

    void handle(const tollgate::http::request& request, tollgate::http::response& response) noexcept { respond(request, response); }
    void handle(const tollgate::http::refusal& refusal,
                tollgate::http::response& response) noexcept { response.set_status(refusal.status); }
};
using blocking_handler = calling_handler<true>;
using plain_handler = calling_handler<false>;

/// What a handler needs beside its `advance`.
struct advancing_handler {
    void handle(const tollgate::http::request&, tollgate::http::response&) noexcept {}  // not called
    void handle(const tollgate::http::refusal& refusal,
                tollgate::http::response& response) noexcept { response.set_status(refusal.status); }
};

}  // namespace tollgate_test
