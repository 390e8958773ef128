#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/service_catalog.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tollgate::inline v0 {

/// A JSON body: its JSON Schema (2020-12), and an example. Empty: no body. In the example `{event}` stands for an event of
/// the API's services.
struct json_shape {
    std::string_view schema{};
    std::string_view example{};

    /// Whether there is no body.
    [[nodiscard]] constexpr bool empty() const noexcept { return schema.empty(); }
};

/// The example with an event that a client of this API can use.
[[nodiscard]] TOLLGATE_DECL std::string fill_example(const json_shape& shape, const service_catalog& services);

/// What OpenAPI and the documentation say about a route. All of it is of static storage.
struct route_notes {
    std::string_view operation{};      ///< operationId, such as `listHooks`
    std::string_view summary{};        ///< one line
    http::status success_status = http::status::ok;
    json_shape success_body{};
    std::string_view success_field{};  ///< a header field that only this response has, such as `X-Hook-Secret`
    json_shape request_body{};
    bool request_body_required = true;  ///< whether a request without a body is an error
    /// A larger body is a 413, before it is read. 0: what the server accepts (`server_settings::body_bytes_max`), which is
    /// the bound of a larger number, too.
    std::size_t request_body_bytes_max = 0;
};

}  // namespace tollgate
