#pragma once
#ifndef TOLLGATE_WEBHOOKS_HOOK_DISPATCH_SETTINGS_HPP
#define TOLLGATE_WEBHOOKS_HOOK_DISPATCH_SETTINGS_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/detail/response_parser.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/webhooks/name_lookup.hpp>
#include <tollgate/webhooks/retry_schedule.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace tollgate::inline v0 {

/// Settings of the client that posts webhooks; comments give the reasons for the defaults. For their bounds, see
/// `hook_dispatch_settings`.
struct hook_client_settings {
    std::string user_agent = "Tollgate/" TOLLGATE_VERSION;  ///< the field User-Agent: some receivers refuse requests without it

    milliseconds attempt_timeout = default_attempt_timeout;  ///< bound of the whole attempt: 15 s
    /// Bound of looking up the name. The system's resolver tries a second server after 5 s.
    milliseconds lookup_timeout = seconds{5};
    milliseconds connect_timeout = seconds{5};   ///< bound of connecting, over all addresses together
    milliseconds handshake_timeout = seconds{5};  ///< bound of the TLS handshake: two round trips

    /// Bound of the body, once the status is known. Only the status counts, so the body must not occupy a connection for long.
    milliseconds body_timeout = seconds{2};

    /// PEM file of the trusted certificate authorities. Empty: the authorities of the system.
    std::string authorities_file = {};
    name_lookup look_up = {};              ///< empty: `system_lookup`
    std::size_t lookup_threads_max = 16;   ///< number of names that are resolved at once; 0 and 1 count as 2
    std::size_t addresses_max = 8;         ///< addresses of a host that are tried

    /// Idle connections kept for reuse; they take 16 MB if all of them use TLS. If this or one of the next three settings is 0, each
    /// connection is used only once.
    std::size_t idle_connections_max = 256;
    std::size_t idle_per_host_max = 8;       ///< as many as `per_host_max`
    milliseconds idle_timeout = seconds{30};  ///< many receivers close after 60 s, some proxies earlier
    milliseconds connection_age_max = std::chrono::minutes{5};  ///< maximum age of a connection: afterwards the name is resolved again

    http::response_settings response = {};  ///< bounds of a response
};

/// Settings of a dispatcher. Comments give the reasons for the defaults. Bounds are per dispatcher unless a comment says otherwise.
///
/// `hook_dispatcher::start` refuses settings outside their bounds: timeouts, intervals and the margin are 1 ms to 24 hours, other times at
/// most 36,500 days, and counts 1 to 1,000,000. A comment says what 0 means where it is allowed.
struct hook_dispatch_settings {
    retry_schedule retry = {};
    hook_client_settings client = {};
    /// Returns true if the owner of an account may get deliveries; an empty function allows all owners. Deliveries of other owners wait
    /// until the result is true; the dispatcher calls it again within a minute. It is called on the dispatcher's thread, about once a
    /// second for an account with due deliveries. After an error the deliveries wait, too.
    std::function<result<bool>(const account_ref&)> is_owner_active = {};

    /// Bound of attempts in progress. Each takes a socket and a few KB. The number is never more than half of the process's descriptors.
    std::size_t attempts_max = 2048;
    std::size_t slow_attempts_max = 1024;  ///< bound of attempts in progress to webhooks whose last attempt took a second or longer
    std::size_t per_host_max = 8;          ///< bound of attempts in progress to a host, by all dispatchers of the store
    /// Bound of attempts in progress to the slow or new webhooks of an account at a host (the last attempt took a second or longer, or
    /// there was none yet). A webhook that has no attempt in progress may have one more.
    std::size_t per_slow_host_max = 2;
    /// Attempts that a hook gets in a minute. The minute begins with the first of these attempts; further attempts wait for the next
    /// minute. 0 means no bound. It is the default, because a bound also delays receivers that keep up. `per_host_max` already limits how
    /// much a receiver gets at once, and a receiver that wants less can respond with 429 or 503 and `Retry-After`.
    std::size_t per_hook_minute_max = 0;
    /// Bound in bytes of the data of all deliveries in flight. If it is 0, or less than the largest event, one delivery is sent at a time.
    std::size_t data_bytes_max = 64 * 1024 * 1024;
    std::size_t lease_max = 256;  ///< hooks and deliveries per store call, so that the first are sent early

    /// The time for which a delivery is leased in addition to the longest attempt: a third of it for the store call and for reaching the
    /// socket, the rest to record the result. The rest is longer than `sqlite_store` waits for other writers
    /// (`sqlite_settings::busy_wait_max`). When a process dies, its leased deliveries are sent again when their lease has ended.
    milliseconds lease_margin = seconds{15};
    /// The intervals at which the dispatcher looks for events that another process has appended: `poll_interval` in a store that detects
    /// them cheaply (`shared_outbox`), and `lease_interval` in any other store. Events published through the dispatcher are sent at once.
    milliseconds poll_interval{50};
    milliseconds lease_interval = seconds{1};
    /// The time for which ended deliveries and their attempts are kept. 0: until the next sweep, which runs once a minute.
    milliseconds history = std::chrono::hours{24 * 30};
};

}  // namespace tollgate

#endif  // TOLLGATE_WEBHOOKS_HOOK_DISPATCH_SETTINGS_HPP
