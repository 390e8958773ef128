#pragma once
#ifndef TOLLGATE_HTTP_FUNCTION_HANDLER_HPP
#define TOLLGATE_HTTP_FUNCTION_HANDLER_HPP

#include <tollgate/http/detail/guarded_response.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/http/json_writer.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace tollgate::inline v0::http {

/// Tells if a function may wait for a disk or another machine.
enum class waits : bool { never, maybe };

/// Makes a handler of a function from request to response, such as a lambda:
///
///     http::function_handler robots{[](const http::request&, http::response& response) {
///         response.body() = "User-agent: *\nDisallow: /v1/\n";
///         response.add("Content-Type", "text/plain");
///     }, http::waits::never};
///
/// The function is called on a worker, unless the handler is constructed with `waits::never`, and from many threads at once. If the
/// function throws, the response is a 500. Requests that the server refuses get a response with the reason. Both have a JSON body with a
/// `message`, like errors of the API.
template <class Function>
    requires std::invocable<const Function&, const request&, response&>
class function_handler {
public:
    /// Constructs a handler that calls `function`, on a worker unless it never waits.
    explicit function_handler(Function function, waits for_what = waits::maybe)
        : function_{std::move(function)}, may_block_{for_what == waits::maybe} {}

    /// Returns true if the function may wait.
    [[nodiscard]] bool may_block() const noexcept { return may_block_; }

    /// Implements `http::handler`.
    void handle(const request& request, response& response) const noexcept {
        detail::respond_or_error(
            response, [&] { function_(request, response); },
            [&](const error&) {
                response.clear();
                write_message(response, status::internal_server_error, "Internal server error.");
            });
    }
    void handle(const refusal& refused, response& response) const noexcept {
        detail::write_or_status(response, refused.status, [&] { write_message(response, refused.status, refused.reason); });
    }

private:
    static void write_message(response& response, status code, std::string_view message) {
        response.set_status(code);
        add_retry_after(response, code);
        response.add_prepared_lines(detail::json_field_lines);
        json_writer body{response.body()};
        body.begin_object();
        body.member("message").string(message);
        body.end_object();
    }

    Function function_;
    bool may_block_;
};

}  // namespace tollgate::http

#endif  // TOLLGATE_HTTP_FUNCTION_HANDLER_HPP
