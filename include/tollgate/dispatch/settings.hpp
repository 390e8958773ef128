#pragma once

#include <tollgate/base/time.hpp>
#include <tollgate/dispatch/client_settings.hpp>
#include <tollgate/webhooks/retry_schedule.hpp>

#include <chrono>
#include <cstddef>

namespace tollgate {

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
