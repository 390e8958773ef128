#pragma once
#ifndef TOLLGATE_HTTP_DETAIL_GUARDED_RESPONSE_HPP
#define TOLLGATE_HTTP_DETAIL_GUARDED_RESPONSE_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/http/response.hpp>

#include <exception>
#include <string_view>

/// Functions with which all handlers catch exceptions.
namespace tollgate::inline v0::http::detail {

/// The fields of every JSON response. Account data is private to its caller, and must not be taken for another type.
inline constexpr std::string_view json_field_lines =
    "Content-Type: application/json\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";

/// Calls `write`. If it throws, which only a failed allocation does there, the response is `status` without a body.
template <class Write>
void write_or_status(http::response& response, http::status status, Write write) noexcept {
    try {
        write();
    } catch (...) {
        response.clear();
        response.set_status(status);
    }
}

/// The internal error that names the exception being handled.
[[nodiscard, gnu::noinline]] inline error handled_exception_error() noexcept {
    try {
        throw;
    } catch (const std::exception& thrown) {
        return exception_error("thrown", thrown.what());
    } catch (...) {
        return exception_error("thrown", "an exception that is not a std::exception");
    }
}

/// Calls `respond`. If it throws, calls `respond_error` with the internal error that names the exception.
template <class Respond, class RespondError>
void respond_or_error(http::response& response, Respond respond, RespondError respond_error) noexcept {
    try {
        respond();
    } catch (...) {
        write_or_status(response, status::internal_server_error, [&] { respond_error(handled_exception_error()); });
    }
}

}  // namespace tollgate::http::detail

#endif  // TOLLGATE_HTTP_DETAIL_GUARDED_RESPONSE_HPP
