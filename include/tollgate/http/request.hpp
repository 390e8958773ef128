#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/http/fields.hpp>
#include <tollgate/http/method.hpp>
#include <tollgate/http/target.hpp>

#include <cstdint>
#include <string_view>

namespace tollgate::http {

enum class version : std::uint8_t { http_1_0, http_1_1 };

/// What became of a request's body by the time a handler sees the request.
enum class body_state : std::uint8_t {
    complete,   ///< `body` holds all of it (it may be empty)
    too_large,  ///< over the host's bound: `body` is empty, and the host closes the connection after the response
};

/// One request, as views of its host's memory: valid during `handle`, never kept.
///
/// A host that is not Tollgate's own server fills it by hand: `method`, `target`, `fields`, `body`, `peer`, `secure`.
struct request {
    http::method method = http::method::get;
    std::string_view method_name;  ///< as sent; set for every method, needed only for `method::other`
    http::target target;
    http::version version = http::version::http_1_1;
    bool secure = false;           ///< came over TLS
    http::body_state body_state = http::body_state::complete;
    field_lines fields;
    std::string_view body;
    ip_address peer;               ///< the other end of the connection, whatever a field claims
    bool is_followed = false;      ///< the next request of this connection is there already (pipelined)

    /// Whom the client means to ask: `host` or `host:port` (RFC 9112 section 3.3). Empty if it did not say (HTTP/1.0).
    [[nodiscard]] std::string_view authority() const noexcept {
        return target.authority.empty() ? fields.find(field_id::host) : target.authority;
    }

    /// The bytes that all of it is views of have moved: what was at address `from` is at `to` now.
    void relocate(std::uintptr_t from, const char* to) noexcept {
        for (std::string_view* view : {&method_name, &target.path, &target.query, &target.authority, &body})
            *view = relocated(*view, from, to);
        fields.relocate(from, to);
    }

    /// Ready for the next request on the same memory; `peer` and `secure` belong to the connection and stay.
    void clear() noexcept {
        method = http::method::get;
        method_name = {};
        target = {};
        version = http::version::http_1_1;
        body_state = http::body_state::complete;
        fields.clear();
        body = {};
        is_followed = false;
    }
};

}  // namespace tollgate::http
