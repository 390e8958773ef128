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
#include <variant>
#include <vector>

namespace tollgate::inline v0 {

// Defaults of a dispatcher that the documentation tells receivers.
inline constexpr milliseconds default_attempt_timeout = seconds{15};  ///< Standard Webhooks recommends 15 to 30 s
inline constexpr milliseconds default_disable_after = std::chrono::hours{120};

/// Something that happened to an account, as an integrator reports it.
struct event {
    account_ref account;
    std::string name;  ///< the name of an event of the account's service
    std::string data;  ///< a JSON value of any kind, at most limits::event_data_bytes_max
    instant at;        ///< when it happened
};

/// 16 random bytes per reported event. The `webhook-id` of each of its deliveries is derived from them.
using message_seed = std::array<std::byte, 16>;

/// Returns the `webhook-id` of an event's delivery to a hook. It is the same for every attempt, and different for every other delivery.
/// Throws as `sha256` does.
[[nodiscard]] TOLLGATE_DECL public_id message_id_of(const message_seed& seed, hook_id to);

/// The state of a delivery.
enum class delivery_state : std::uint8_t {
    waiting,    ///< waits for its next attempt, or for the end of the current attempt
    delivered,  ///< got a response with a 2xx status
    given_up,   ///< failed at its last attempt, or got a 410
    held,       ///< its hook was disabled before it was delivered; waits until the hook is enabled
};

/// The end of an attempt.
enum class attempt_end : std::uint8_t {
    answered,         ///< a response with any status
    no_address,       ///< the host name does not resolve
    refused_address,  ///< the host resolves to an address that the target rule refuses
    no_connection,    ///< the connection was refused, or there is no route to the address
    no_tls,           ///< the TLS handshake failed, usually because of a bad certificate
    timed_out,
    broken_off,       ///< the connection ended before the response was complete
    bad_response,     ///< the response is not HTTP, or exceeds a bound
};

/// Returns the name of the result in exports.
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

/// The cause of a failed attempt, in more detail than `attempt_end`.
enum class attempt_cause : std::uint8_t {
    none,                       ///< `attempt_end` and the status say everything, or the attempt is older than 0.2.0
    name_not_found,             ///< `no_address`: the name does not exist, or has no address
    no_name_server,             ///< `timed_out`: no name server responded in its time, or in the time for looking up the name
    connection_refused,         ///< `no_connection`: nothing listens on the port, or a firewall refused the connection
    unreachable,                ///< `no_connection`: no route to the address
    connect_timeout,            ///< `timed_out`: no response to the connection attempt
    handshake_timeout,          ///< `timed_out`: no response to the TLS handshake
    response_timeout,           ///< `timed_out`: no status in time, although the request was sent
    certificate_expired,        ///< `no_tls`, like the causes below
    certificate_not_yet_valid,
    certificate_for_other_host,
    certificate_not_trusted,    ///< self-signed, of an unknown authority, or sent without an intermediate certificate
    certificate_invalid,        ///< any other fault of the certificate
};

/// Returns the name of the cause in stores and exports.
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
    unsigned status = 0;   ///< the status of the response; 0 without a response
    std::string response{};  ///< the beginning of the response body, unchanged, at most limits::attempt_response_bytes_max
    /// The beginning of the request that was sent, head and body, at most limits::attempt_request_bytes_max. Empty if nothing was sent, or
    /// if the attempt is older than 0.2.0.
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
    unsigned attempts_made = 0;                ///< attempts since the delivery was created or last resent
    std::optional<instant> next_attempt_at{};  ///< set while the delivery waits; during an attempt, the end of its lease
};

/// A selection of a hook's deliveries, of which a store lists the newest.
struct delivery_query {
    hook_id hook;
    std::size_t rows_max = 0;                    ///< the number of deliveries
    std::optional<delivery_id> delivery{};       ///< only this delivery
    std::optional<delivery_id> older_than{};     ///< only older deliveries than this delivery, which need not exist any more
    std::optional<delivery_state> state{};       ///< only deliveries in this state
    std::size_t attempts_max = 0;                ///< the number of attempts that are listed of each delivery
};

/// A delivery with its last attempts, the most recently completed first. At least the last `limits::attempts_per_delivery_max` attempts of
/// a delivery are kept.
struct listed_delivery {
    tollgate::delivery delivery;
    std::vector<attempt> attempts{};
};

/// Given up deliveries of a hook: the oldest first, at most `rows_max`.
struct given_up_deliveries {
    hook_id hook;
    instant since;  ///< only deliveries that were created at this time or later
    std::size_t rows_max = 0;
};

/// The deliveries that a store's `resend` makes due: one in any state, or given up deliveries.
using resend_request = std::variant<delivery_id, given_up_deliveries>;

/// A hook that may have a delivery to send.
struct due_hook {
    hook_id hook;
    account_ref account;
    std::string target_url;
};

/// Returns the latest time at which a delivery that waits at `now` can be due, or at which its lease can end. A later time was set by a
/// wrong clock: the delivery is due now, and its lease has ended (`has_come`).
[[nodiscard]] constexpr instant latest_due(instant now) noexcept { return now + std::chrono::days{limits::delivery_wait_days_max}; }

/// A page of due hooks.
struct due_hook_page {
    std::vector<due_hook> hooks{};
    /// The time at which `due_hooks` may list a hook that is not in this page, if nothing is written before. It is not later than `now` if
    /// more hooks are due now, and empty if nothing waits.
    std::optional<instant> next_at{};
    /// A failure of housekeeping during the listing; the listing itself succeeded. The dispatcher reports it to the observer.
    std::optional<error> problem{};
};

/// The deliveries that are due to be sent.
struct delivery_backlog {
    std::size_t due = 0;  ///< deliveries whose time has come, or whose lease has ended; counted up to a bound
    std::optional<instant> due_since{};  ///< when the delivery that has been due for longest became due
};

/// A request to lease the next deliveries of one hook.
struct lease_request {
    hook_id hook;
    std::size_t deliveries_max = 0;
    /// The bound of leases in force for the hook's host. It counts the leases of all workers, including those of this request.
    std::size_t host_leases_max = 0;
    /// The time before which the hook is not listed again if this bound delays a due delivery. It is at most
    /// `limits::full_host_retry_seconds_max` from now.
    instant full_host_retry_at;
};

/// The time at which a lease begins, and the time at which it ends.
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

/// The data that a worker needs to send a delivery.
struct due_delivery {
    delivery_lease lease;
    hook_id hook;
    std::shared_ptr<const tollgate::event> event;  ///< never null; deliveries of one event may share it
    public_id message_id;
    std::string type;  ///< the payload format's name
    std::string target_url;
    std::string secret;
    std::vector<std::string> previous_secrets{};  ///< valid secrets that also sign, the most recently replaced first
    unsigned attempts_made = 0;  ///< attempts before this lease, since the delivery was created or last resent
    /// The reason, for the operator, why the secret cannot be read, such as a missing key. Empty if it can. The delivery is not sent until
    /// the secret can be read.
    std::string unreadable_secret{};
    bool owner_is_active = true;  ///< set by the dispatcher, not by stores; if false, the delivery is not sent
};

/// The effect of an attempt on its delivery.
enum class delivery_outcome : std::uint8_t {
    delivered,
    retry,          ///< due at `retry_at`
    given_up,
    gone,           ///< given up, and the hook is disabled
    not_attempted,  ///< no request was sent: the delivery is due at `retry_at`, and nothing is counted or recorded
};

/// The result of one leased delivery.
struct attempt_result {
    delivery_lease lease;
    std::string target_url{};  ///< the URL of the request; if empty, the store does not compare it with the hook's target
    tollgate::attempt attempt;
    delivery_outcome outcome = delivery_outcome::given_up;
    instant retry_at{};  ///< only for `retry` and `not_attempted`
    /// If this attempt failed and the hook has been failing since this time or longer, the hook is disabled. A failure whose predecessor is
    /// earlier than this time starts a new series: the pause in between does not mean that the hook was failing.
    std::optional<instant> disable_if_failing_since{};
    bool counts_for_hook = true;  ///< false if the receiver did not cause the failure, so that the hook's status does not change
};

/// The effect of `complete` on one result.
enum class completion : std::uint8_t {
    done,
    hook_disabled,  ///< done, and the hook is now disabled
    too_late,       ///< another worker has leased the delivery, or it does not exist any more: only the history changed
};

/// The state of a delivery and of its hook in the store when an attempt is completed.
struct leased_delivery {
    unsigned attempts_made = 0;     ///< attempts before the one that is completed
    bool resend_requested = false;  ///< true if `resend` was called since the delivery was leased
    hook_status hook{};
    std::string_view target_url{};  ///< the hook's present target; if empty, the targets are not compared
};

/// The state that the store writes when an attempt is completed. The lease has ended, and no resend is pending any more.
struct completed_delivery {
    delivery_state state = delivery_state::waiting;
    instant at;  ///< when the delivery is due, if it waits; otherwise, since when it is in this state
    unsigned attempts_made = 0;
    hook_status hook{};
    /// The result of `complete`. After `hook_disabled`, the store also holds the hook's other deliveries that wait and are not leased.
    completion result = completion::done;
};

/// Decides the state of a delivery and its hook after an attempt that is completed in time, for the verb `complete` of an outbox. The store
/// itself records the attempt, and decides whether the lease is still open.
///
/// A success ends a hook's `failing_since`. The first failure afterwards begins it, at the attempt's time, and so does a failure whose
/// predecessor is earlier than `disable_if_failing_since`. If the time of a stored failure is later than `now`, the clock that set it was
/// ahead, and the attempt's time replaces it. A failure that does not count for the hook changes neither time, nor does an attempt to
/// another target than the hook's present target; a delivery that was `gone` at that target is due at once. `not_attempted` only ends the
/// lease. A delivery that is to be sent again, because of `retry`, `not_attempted` or a resend, is held if its hook is disabled. Thread
/// rule: any thread.
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
    // Keyed by the seed, so that an id reveals nothing about the ids of the event's other deliveries.
    const std::string message = "webhook-id " + std::to_string(to.value());
    const digest mixed = hmac_sha256({{reinterpret_cast<const char*>(seed.data()), seed.size()}, message});
    std::array<std::byte, 16> chosen;
    std::memcpy(chosen.data(), mixed.bytes().data(), chosen.size());
    return make_public_id(public_id_kind::message, chosen);
}

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_DELIVERY_HPP
