#pragma once
#ifndef TOLLGATE_MODEL_DELIVERY_HPP
#define TOLLGATE_MODEL_DELIVERY_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/hook.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

// Defaults of a dispatcher that receivers learn from the documentation.
inline constexpr milliseconds default_attempt_timeout = seconds{15};  ///< Standard Webhooks recommends 15 to 30 s
inline constexpr milliseconds default_disable_after = std::chrono::hours{120};

/// Something that happened to an account, as an integrator reports it.
struct event {
    account_ref account;
    std::string name;  ///< one of its service's events
    std::string data;  ///< one JSON value of any kind, at most limits::event_data_bytes_max
    instant at;        ///< when it happened
};

/// 16 random bytes per reported event. The `webhook-id` of each of its deliveries is derived from them.
using message_seed = std::array<std::byte, 16>;

/// The `webhook-id` of an event's delivery to a hook: the same for every attempt, different for every other delivery.
/// Throws as `sha256` does.
[[nodiscard]] TOLLGATE_DECL public_id message_id_of(const message_seed& seed, hook_id to);

/// The state of a delivery.
enum class delivery_state : std::uint8_t {
    waiting,    ///< for its next attempt, or for the end of the current one
    delivered,  ///< a response with a 2xx status
    given_up,   ///< after its last attempt, or a 410
    held,       ///< its hook was disabled before it was delivered; waits until the hook is enabled
};

/// How an attempt ended.
enum class attempt_end : std::uint8_t {
    answered,         ///< a response with any status
    no_address,       ///< the host name does not resolve
    refused_address,  ///< the host resolves to an address that the target rule refuses
    no_connection,    ///< no connection could be made: refused, or no route to the address
    no_tls,           ///< the TLS handshake failed, usually because of a bad certificate
    timed_out,
    broken_off,       ///< the connection ended before the response did
    bad_response,     ///< not HTTP, or over a bound
};

/// As exports name it.
[[nodiscard]] constexpr std::string_view to_text(attempt_end end) noexcept {
    switch (end) {
        case attempt_end::answered: return "answered";
        case attempt_end::no_address: return "no_address";
        case attempt_end::refused_address: return "refused_address";
        case attempt_end::no_connection: return "no_connection";
        case attempt_end::no_tls: return "no_tls";
        case attempt_end::timed_out: return "timed_out";
        case attempt_end::broken_off: return "broken_off";
        case attempt_end::bad_response: break;
    }
    return "bad_response";
}

/// Why an attempt failed, in more detail than `attempt_end`.
enum class attempt_cause : std::uint8_t {
    none,                       ///< `attempt_end` and the status say all, or the attempt was made before 0.2.0
    name_not_found,             ///< `no_address`: the name does not exist, or has no address
    no_name_server,             ///< `timed_out`: no name server responded, in its time or in that for looking up the name
    connection_refused,         ///< `no_connection`: nothing listens on the port, or a firewall says so
    unreachable,                ///< `no_connection`: no route to the address
    connect_timeout,            ///< `timed_out`: no response to the connection attempt
    handshake_timeout,          ///< `timed_out`: no response to the TLS handshake
    response_timeout,           ///< `timed_out`: no status in time, although the request was sent
    certificate_expired,        ///< `no_tls`, as are the following
    certificate_not_yet_valid,
    certificate_for_other_host,
    certificate_not_trusted,    ///< self-signed, of an unknown authority, or sent without an intermediate certificate
    certificate_invalid,        ///< anything else that is wrong with the certificate
};

/// As stores and exports name it.
[[nodiscard]] constexpr std::string_view to_text(attempt_cause cause) noexcept {
    switch (cause) {
        case attempt_cause::none: break;
        case attempt_cause::name_not_found: return "name_not_found";
        case attempt_cause::no_name_server: return "no_name_server";
        case attempt_cause::connection_refused: return "connection_refused";
        case attempt_cause::unreachable: return "unreachable";
        case attempt_cause::connect_timeout: return "connect_timeout";
        case attempt_cause::handshake_timeout: return "handshake_timeout";
        case attempt_cause::response_timeout: return "response_timeout";
        case attempt_cause::certificate_expired: return "certificate_expired";
        case attempt_cause::certificate_not_yet_valid: return "certificate_not_yet_valid";
        case attempt_cause::certificate_for_other_host: return "certificate_for_other_host";
        case attempt_cause::certificate_not_trusted: return "certificate_not_trusted";
        case attempt_cause::certificate_invalid: return "certificate_invalid";
    }
    return "none";
}

/// One HTTP request of a delivery and its result.
struct attempt {
    instant at;  ///< when it began
    milliseconds duration{};
    attempt_end end = attempt_end::answered;
    unsigned status = 0;   ///< of the response; 0 without one
    std::string response{};  ///< the beginning of the response body, unchanged, at most limits::attempt_response_bytes_max
    /// The beginning of the request as it was sent, head and body, at most limits::attempt_request_bytes_max; empty if nothing
    /// was sent, or if it was made before 0.2.0.
    std::string request{};
    attempt_cause cause = attempt_cause::none;

    friend bool operator==(const attempt&, const attempt&) = default;
};

/// A delivery as the hook's owner sees it.
struct delivery {
    delivery_id id;
    hook_id hook;
    std::string event;
    public_id message_id;
    instant created_at;  ///< when the event was reported
    delivery_state state = delivery_state::waiting;
    unsigned attempts_made = 0;                ///< since it was created, or last resent
    std::optional<instant> next_attempt_at{};  ///< while it waits; during an attempt, the end of its lease
};

/// One attempt of a hook's history.
struct recorded_attempt {
    delivery_id delivery;
    std::string event;
    public_id message_id;
    tollgate::attempt attempt;
};

/// A hook that may have a delivery to send.
struct due_hook {
    hook_id hook;
    account_ref account;
    std::string target_url;
};

/// The latest time at which a delivery that waits at `now` can be due, or its lease can end. One that is later was set by a clock that
/// was wrong: the delivery is due now, and its lease has ended (`has_come`).
[[nodiscard]] constexpr instant latest_due(instant now) noexcept { return now + std::chrono::days{limits::delivery_wait_days_max}; }

/// A page of due hooks.
struct due_hook_page {
    std::vector<due_hook> hooks{};
    /// When `due_hooks` may list a hook that is not in this page, if nothing is written before: not later than `now` if
    /// more hooks are due now, empty if nothing waits.
    std::optional<instant> next_at{};
    /// A failure of housekeeping during the listing; the listing itself succeeded. The dispatcher reports it to the observer.
    std::optional<error> problem{};
};

/// How much is due to be sent.
struct delivery_backlog {
    std::size_t due = 0;  ///< deliveries whose time has come, or whose lease has ended; counted up to a bound
    std::optional<instant> due_since{};  ///< the time of the one that has been due for longest
};

/// A request to lease the next deliveries of one hook.
struct lease_request {
    hook_id hook;
    std::size_t deliveries_max = 0;
    /// The bound of leases in force for the hook's host, held by any worker, including those of this request.
    std::size_t host_leases_max = 0;
    /// If this bound delays a delivery that is due, the hook is not listed again before this time: at most
    /// `limits::full_host_retry_seconds_max` from now.
    instant full_host_retry_at;
};

/// The time of a lease.
struct lease_time {
    instant now;
    instant until;  ///< later than the attempt can end; a result after this time may be too late
};

/// The right to send one delivery, for a limited time. Each lease of a delivery has its own number, so that a worker
/// cannot complete the delivery after another worker has leased it.
struct delivery_lease {
    delivery_id delivery;
    std::int64_t number = 0;

    friend bool operator==(const delivery_lease&, const delivery_lease&) noexcept = default;
};

/// Everything needed to send a delivery.
struct due_delivery {
    delivery_lease lease;
    hook_id hook;
    std::shared_ptr<const tollgate::event> event;  ///< never null; deliveries of one event may share it
    public_id message_id;
    std::string type;  ///< the payload format's name
    std::string target_url;
    std::string secret;
    std::vector<std::string> previous_secrets{};  ///< still valid, so they sign too; most recently replaced first
    unsigned attempts_made = 0;  ///< before this one, since it was created or last resent
    /// If the secret cannot be read, the reason for the operator, such as a missing key. Such a delivery is not sent
    /// until the secret can be read.
    std::string unreadable_secret{};
    bool owner_is_active = true;  ///< set by the dispatcher, not by stores; if false, it is not sent
};

/// What a delivery becomes after an attempt.
enum class delivery_outcome : std::uint8_t {
    delivered,
    retry,          ///< due at `retry_at`
    given_up,
    gone,           ///< given up, and the hook is disabled
    not_attempted,  ///< no request was sent: due at `retry_at`; nothing is counted or recorded
};

/// The result of one leased delivery.
struct attempt_result {
    delivery_lease lease;
    std::string target_url{};  ///< where it was sent. Empty: not compared with the hook's target
    tollgate::attempt attempt;
    delivery_outcome outcome = delivery_outcome::given_up;
    instant retry_at{};  ///< only for `retry` and `not_attempted`
    /// If this attempt failed and the hook has been failing since this time or longer, the hook is disabled. A failure
    /// whose predecessor was made before this time starts a new series: the pause in between does not mean that the
    /// hook was failing.
    std::optional<instant> disable_if_failing_since{};
    bool counts_for_hook = true;  ///< false: the receiver did not cause the failure, so the hook's status stays as it is
};

/// The effect of `complete` on one result.
enum class completion : std::uint8_t {
    done,
    hook_disabled,  ///< done, and the hook is now disabled
    too_late,       ///< another worker has leased it, or it does not exist any more: only the history changed
};

/// What a store has of a delivery, and of its hook, when an attempt is completed.
struct leased_delivery {
    unsigned attempts_made = 0;     ///< before this attempt
    bool resend_requested = false;  ///< `resend` was called since the delivery was leased
    hook_status hook{};
    std::string_view target_url{};  ///< the hook's target now. Empty: not compared
};

/// What it stores afterwards. The lease has ended, and no resend is pending any more.
struct completed_delivery {
    delivery_state state = delivery_state::waiting;
    instant at;  ///< when it is due, if it waits; otherwise since when it is in this state
    unsigned attempts_made = 0;
    hook_status hook{};
    /// If it is hook_disabled, the store also holds the hook's other deliveries that wait and are not leased.
    completion result = completion::done;
};

/// Decides what becomes of a delivery and its hook when an attempt is completed in time, for the verb `complete` of an
/// outbox. The store itself records the attempt, and decides whether the lease is still open.
///
/// A success ends a hook's `failing_since`, and the first failure afterwards begins it, at the attempt's time; so does a
/// failure whose predecessor is earlier than `disable_if_failing_since`. A time of a failure that is later than `now` was set by a clock
/// that was ahead; it is replaced by the attempt's time. A failure that does not count for the hook changes neither.
/// Nor does an attempt to another target than the hook has now; a delivery that was `gone` there is due at once. `not_attempted`
/// only ends the lease. A delivery that is to be sent again, because of `retry`, `not_attempted` or a resend, is held if its hook is
/// disabled. Thread rule: any thread.
[[nodiscard]] inline completed_delivery complete_delivery(const leased_delivery& before, const attempt_result& ended,
                                                          instant now) noexcept {
    using enum delivery_outcome;
    completed_delivery after{.at = now, .attempts_made = before.attempts_made, .hook = before.hook};
    const bool is_resent = before.resend_requested;
    if (ended.outcome != not_attempted) {
        after.attempts_made = is_resent ? 0 : before.attempts_made + 1;
    }
    const bool is_compared = !ended.target_url.empty() && !before.target_url.empty();
    const bool has_new_target = is_compared && ended.target_url != before.target_url;
    if (ended.outcome != not_attempted && ended.counts_for_hook && !has_new_target) {
        hook_status& hook = after.hook;
        const auto& bound = ended.disable_if_failing_since;
        for (auto* each : {&hook.failing_since, &hook.last_failure_at})
            if (*each && **each > now) *each = ended.attempt.at;
        if (ended.outcome == delivered) hook.failing_since.reset();
        else if (!hook.failing_since || !hook.last_failure_at || (bound && *hook.last_failure_at < *bound))
            hook.failing_since = hook.last_failure_at = ended.attempt.at;
        else if (*hook.last_failure_at < ended.attempt.at) hook.last_failure_at = ended.attempt.at;

        const bool is_failing = bound && hook.failing_since && *hook.failing_since <= *bound;
        if (!hook.disabled && (ended.outcome == gone || is_failing)) {
            hook.disabled = hook_disablement{now, ended.outcome == gone ? disable_reason::gone : disable_reason::failing};
            after.result = completion::hook_disabled;
        }
    }
    if (!is_resent && ended.outcome == delivered) after.state = delivery_state::delivered;
    else if (!is_resent && (ended.outcome == given_up || (ended.outcome == gone && !has_new_target)))
        after.state = delivery_state::given_up;
    else if (after.hook.disabled) after.state = delivery_state::held;
    else if (!is_resent && ended.outcome != gone) after.at = ended.retry_at;
    return after;
}

inline public_id message_id_of(const message_seed& seed, hook_id to) {
    // Keyed by the seed: one id reveals nothing about the ids of the same event's other deliveries.
    const std::string message = "webhook-id " + std::to_string(to.value());
    const digest mixed = hmac_sha256({{reinterpret_cast<const char*>(seed.data()), seed.size()}, message});
    std::array<std::byte, 16> chosen;
    std::memcpy(chosen.data(), mixed.bytes().data(), chosen.size());
    return make_public_id(public_id_kind::message, chosen);
}

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_DELIVERY_HPP
