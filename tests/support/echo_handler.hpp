#pragma once

#include <tollgate/http/handler.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <utility>

namespace tollgate_test {

/// Responds with method, path and body of the request. `/large` responds with one megabyte.
struct echo_handler {
    std::atomic<int> requests = 0;
    std::atomic<int> refusals = 0;

    void handle(const tollgate::http::request& asked, tollgate::http::response& out) noexcept {
        ++requests;
        out.add("Content-Type", "text/plain");
        if (asked.body_state == tollgate::http::body_state::too_large) {
            out.set_status(tollgate::http::status::content_too_large);
            return;
        }
        if (asked.target.path == "/large") out.body().assign(1 << 20, 'x');
        else out.body().append(asked.method_name).append(" ").append(asked.target.path).append(" ").append(asked.body);
    }
    void handle(const tollgate::http::refusal& why, tollgate::http::response& out) noexcept {
        ++refusals;
        out.set_status(why.status);
        out.body() = "refused";
    }
};

/// A blocking handler that calls a function.
struct blocking_handler {
    static constexpr bool blocking = true;
    std::function<void(const tollgate::http::request&, tollgate::http::response&)> answer;

    void handle(const tollgate::http::request& asked, tollgate::http::response& out) noexcept { answer(asked, out); }
    void handle(const tollgate::http::refusal& why, tollgate::http::response& out) noexcept { out.set_status(why.status); }
};

/// The same on the I/O thread.
struct plain_handler {
    std::function<void(const tollgate::http::request&, tollgate::http::response&)> answer;

    void handle(const tollgate::http::request& asked, tollgate::http::response& out) noexcept { answer(asked, out); }
    void handle(const tollgate::http::refusal& why, tollgate::http::response& out) noexcept { out.set_status(why.status); }
};

}  // namespace tollgate_test
