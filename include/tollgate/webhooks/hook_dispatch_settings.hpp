#pragma once
#ifndef TOLLGATE_WEBHOOKS_HOOK_DISPATCH_SETTINGS_HPP
#define TOLLGATE_WEBHOOKS_HOOK_DISPATCH_SETTINGS_HPP

#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/http/detail/response_parser.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/webhooks/detail/name_lookup.hpp>
#include <tollgate/webhooks/retry_schedule.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace tollgate::inline v0 {

/// Settings of the client that posts webhooks; comments give the reasons for the defaults. For their bounds, see
/// `hook_dispatch_settings`.
struct hook_client_settings {
    std::string user_agent = "Tollgate/" TOLLGATE_VERSION;  ///< some receivers refuse requests without one

    milliseconds attempt_timeout = default_attempt_timeout;  ///< for the whole attempt: 15 s
    /// for looking up the name; the system's resolver tries a second server after 5 s
    milliseconds lookup_timeout = seconds{5};
    milliseconds connect_timeout = seconds{5};   ///< for connecting, over all addresses together
    milliseconds handshake_timeout = seconds{5};  ///< for the TLS handshake: two round trips

    /// For the body, once the status is known. Only the status counts, so the body must not occupy a slot for long.
    milliseconds body_timeout = seconds{2};

    /// PEM of the trusted certificate authorities; empty: the system's.
    std::string authorities_file = {};
    name_lookup look_up = {};              ///< empty: `system_lookup`
    std::size_t lookup_threads_max = 16;   ///< names that are resolved at once; 0 and 1 count as 2
    std::size_t addresses_max = 8;         ///< addresses of a host that are tried

    /// Idle connections kept for reuse; 16 MB if all of them use TLS. If this or one of the next three is 0, each connection is used only
    /// once.
    std::size_t idle_connections_max = 256;
    std::size_t idle_per_host_max = 8;       ///< as many as attempts at once
    milliseconds idle_timeout = seconds{30};  ///< many receivers close after 60 s, some proxies earlier
    milliseconds connection_age_max = std::chrono::minutes{5};  ///< then the name is resolved again

    http::response_settings response = {};  ///< bounds of a response
};

/// Settings of a dispatcher; comments give the reasons for the defaults. Bounds are per dispatcher unless a comment
/// says otherwise.
///
/// `hook_dispatcher::start` refuses settings outside their bounds: timeouts, intervals and the margin are 1 ms to 24 hours, other times at
/// most 36,500 days, and counts 1 to 1,000,000. A comment says what 0 means where it is allowed.
struct hook_dispatch_settings {
    retry_schedule retry = {};
    hook_client_settings client = {};
    /// Whether the owner of an account may get deliveries; empty: all may. Those of other owners wait until this returns true, which is
    /// asked again within a minute. Called on the dispatcher's thread, about once a second for an account with due deliveries. After an
    /// error the deliveries wait, too.
    std::function<result<bool>(const account_ref&)> is_owner_active = {};

    /// Attempts at once; each takes a socket and a few KB. Never more than half of the process's descriptors.
    std::size_t attempts_max = 2048;
    std::size_t slow_attempts_max = 1024;  ///< of these, to webhooks whose last attempt took a second or longer
    std::size_t per_host_max = 8;          ///< at once to one host, by all dispatchers of the store
    /// Of these, to the slow or new webhooks of one account (last attempt took a second or longer, or no attempt yet); and one more to a
    /// webhook that has no attempt in progress.
    std::size_t per_slow_host_max = 2;
    /// Attempts that one hook gets in a minute. The minute begins with the first of these attempts; further attempts
    /// wait for the next minute. 0: no bound, the default, because a bound also delays receivers that keep up.
    /// `per_host_max` already limits how much a receiver gets at once, and a receiver that wants less can respond with
    /// 429 or 503 and `Retry-After`.
    std::size_t per_hook_minute_max = 0;
    /// Bound on the data of all deliveries in flight. If this is 0, or less than the largest event: one delivery at a
    /// time.
    std::size_t data_bytes_max = 64 * 1024 * 1024;
    std::size_t claim_max = 256;  ///< hooks and deliveries per store call, so that the first are sent early

    /// How much longer a delivery is leased than an attempt can take: a third of it for the store call and for reaching the socket, the
    /// rest to record the result. The rest is longer than `sqlite_store` waits for other writers (`sqlite_settings::busy_wait_max`). When a
    /// process dies, its leased deliveries are sent again when their lease has ended.
    milliseconds lease_margin = seconds{15};
    /// How often to check whether another process has appended events: in a store that detects it cheaply
    /// (`shared_outbox`), and in any other store. Events published through the dispatcher are sent at once.
    milliseconds poll_interval{50};
    milliseconds claim_interval = seconds{1};
    /// How long ended deliveries and their attempts are kept. 0: until the next sweep, which runs once a minute.
    milliseconds history = std::chrono::hours{24 * 30};
};

}  // namespace tollgate

#endif  // TOLLGATE_WEBHOOKS_HOOK_DISPATCH_SETTINGS_HPP
