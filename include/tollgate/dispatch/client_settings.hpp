#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/dispatch/name_lookup.hpp>
#include <tollgate/http/response_parser.hpp>

#include <cstddef>
#include <string>

namespace tollgate {

/// What the client that posts webhooks asks of its integrator. Each default stands with its reason.
struct hook_client_settings {
    std::string user_agent = "Tollgate/" TOLLGATE_VERSION;  ///< some receivers refuse requests without one

    milliseconds attempt_timeout = seconds{15};  ///< for all of an attempt: Standard Webhooks asks for 15 to 30 s
    milliseconds lookup_timeout = seconds{5};    ///< for the name: the system's resolver asks a second server after 5 s
    milliseconds connect_timeout = seconds{5};   ///< for a connection, at all of the addresses together
    milliseconds handshake_timeout = seconds{5};  ///< for TLS: two round trips

    /// For the body, once the status is known. That alone counts, so nobody's hands are held for the rest.
    milliseconds body_timeout = seconds{2};

    /// PEM of the certificate authorities that are believed; empty: the system's own.
    std::string authorities_file = {};
    name_lookup look_up = {};              ///< empty: `system_lookup`
    std::size_t lookup_threads_max = 16;   ///< names that are looked up at the same time
    std::size_t addresses_max = 8;         ///< of a host, that are tried: no endless list

    std::size_t idle_connections_max = 256;  ///< kept for the next delivery; 16 MB if all of them speak TLS
    std::size_t idle_per_host_max = 8;       ///< as many as there are attempts at the same time
    milliseconds idle_timeout = seconds{30};  ///< many receivers close after 60 s, some proxies earlier
    milliseconds connection_age_max = std::chrono::minutes{5};  ///< then the name is looked up again

    http::response_settings answer = {};  ///< the bounds of an answer; the status is what counts
};

}  // namespace tollgate
