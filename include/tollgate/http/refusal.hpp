#pragma once

#include <tollgate/base/ip_address.hpp>
#include <tollgate/http/status.hpp>

#include <string_view>

namespace tollgate::http {

/// What a host refused before there was a request to handle: malformed bytes (400), too slow (408), too long (414), too
/// many fields (431), overload (503). A handler only words the answer; the host closes the connection after it.
struct refusal {
    http::status status = http::status::bad_request;
    std::string_view reason;  ///< one sentence for the client, of static storage; says which rule was broken
    ip_address peer;
    bool secure = false;
};

}  // namespace tollgate::http
