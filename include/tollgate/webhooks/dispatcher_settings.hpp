#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/http/detail/response_parser.hpp>
#include <tollgate/webhooks/detail/name_lookup.hpp>
#include <tollgate/webhooks/detail/retry_schedule.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace tollgate::inline v0 {

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

/// What a dispatcher asks of its integrator. Each default stands with its reason; every bound is per dispatcher.
struct hook_dispatch_settings {
    retry_schedule retry = {};
    hook_client_settings client = {};

    /// At the same time; a socket and a few KB each. Never more than half of the descriptors that the process may have.
    std::size_t attempts_max = 2048;
    std::size_t slow_attempts_max =
        1024;  ///< of these, to hosts whose last attempt was slow: the others find a hand free
    std::size_t per_host_max = 8;          ///< at the same time to one host, by all dispatchers of the store
    std::size_t per_slow_host_max = 2;     ///< the same for one that is slow, or that nothing is known of yet
    std::size_t data_bytes_max = 64 * 1024 * 1024;  ///< of all bodies that are on their way
    std::size_t claim_max = 256;  ///< with one call of the store: the first of them leave before the last is claimed

    /// How much longer than an attempt can take a delivery is leased: a third of it for the claim and the way to the
    /// socket, the rest to record what came of it, which is more than `sqlite_store` waits for others (5 s). When a
    /// process dies, another one, or its successor, sends again what it had leased once this is over.
    milliseconds lease_margin = seconds{15};
    /// How often to ask for what another process may have appended: a store that can tell cheaply (`shared_outbox`),
    /// and any other one. What this process appends through the dispatcher is sent at once.
    milliseconds look_interval{50};
    milliseconds claim_interval = seconds{1};
    /// For how long deliveries that have ended, and their attempts, can be looked at.
    milliseconds history = std::chrono::hours{24 * 30};
};

}  // namespace tollgate
