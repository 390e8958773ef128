#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/http/detail/response_parser.hpp>
#include <tollgate/webhooks/detail/name_lookup.hpp>
#include <tollgate/webhooks/detail/retry_schedule.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace tollgate::inline v0 {

/// Settings of the client that posts webhooks, each default with its reason.
struct hook_client_settings {
    std::string user_agent = "Tollgate/" TOLLGATE_VERSION;  ///< some receivers refuse requests without one

    milliseconds attempt_timeout = seconds{15};  ///< for the whole attempt: Standard Webhooks asks for 15 to 30 s
    milliseconds lookup_timeout = seconds{5};    ///< for the name: the system's resolver asks a second server after 5 s
    milliseconds connect_timeout = seconds{5};   ///< for a connection, at all of the addresses together
    milliseconds handshake_timeout = seconds{5};  ///< for TLS: two round trips

    /// For the body, once the status is known. Only the status counts, so the rest does not occupy a slot for long.
    milliseconds body_timeout = seconds{2};

    /// PEM of the trusted certificate authorities; empty: the system's.
    std::string authorities_file = {};
    name_lookup look_up = {};              ///< empty: `system_lookup`
    std::size_t lookup_threads_max = 16;   ///< names that are resolved at the same time
    std::size_t addresses_max = 8;         ///< of a host, that are tried

    std::size_t idle_connections_max = 256;  ///< kept for the next delivery; 16 MB if all of them speak TLS
    std::size_t idle_per_host_max = 8;       ///< as many as there are attempts at the same time
    milliseconds idle_timeout = seconds{30};  ///< many receivers close after 60 s, some proxies earlier
    milliseconds connection_age_max = std::chrono::minutes{5};  ///< then the name is resolved again

    http::response_settings answer = {};  ///< the bounds of a response
};

/// Settings of a dispatcher, each default with its reason. Bounds are per dispatcher unless they say otherwise.
struct hook_dispatch_settings {
    retry_schedule retry = {};
    hook_client_settings client = {};

    /// At the same time; a socket and a few KB each. Never more than half of the descriptors that the process may have.
    std::size_t attempts_max = 2048;
    std::size_t slow_attempts_max = 1024;  ///< of these, to hosts whose last attempt was slow: leaves slots for others
    std::size_t per_host_max = 8;          ///< at the same time to one host, by all dispatchers of the store
    std::size_t per_slow_host_max = 2;     ///< the same for one that is slow, or not known yet
    std::size_t data_bytes_max = 64 * 1024 * 1024;  ///< of the data of all deliveries in flight
    std::size_t claim_max = 256;  ///< hooks and deliveries per call of the store, so that the first leave early

    /// How much longer than an attempt can take a delivery is leased: a third of it for the store call and the way to the
    /// socket, the rest to record the result, which is more than `sqlite_store` waits for other writers (5 s). When a
    /// process dies, what it had leased is sent again when the lease is over.
    milliseconds lease_margin = seconds{15};
    /// How often to look for what another process may have appended: in a store that can tell cheaply
    /// (`shared_outbox`), and in any other one. What this process appends through the dispatcher is sent at once.
    milliseconds look_interval{50};
    milliseconds claim_interval = seconds{1};
    /// How long deliveries that have ended, and their attempts, are kept.
    milliseconds history = std::chrono::hours{24 * 30};
};

}  // namespace tollgate
