#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/hook.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// Something that happened to an account, as an integrator reports it.
struct event {
    account_ref account;
    std::string name;  ///< one of its service's events
    std::string data;  ///< one JSON value of any kind, at most limits::event_data_bytes_max
    instant at;        ///< when it happened
};

/// 16 random bytes that one event is reported with: what the `webhook-id` of each of its deliveries is made of.
using message_seed = std::array<std::byte, 16>;

/// The `webhook-id` of an event's delivery to a hook: the same for every attempt, and for no other delivery. Throws as
/// `sha256` does.
[[nodiscard]] TOLLGATE_DECL public_id message_id_of(const message_seed& seed, hook_id to);

/// What has become of one event on its way to one hook.
enum class delivery_state : std::uint8_t {
    waiting,    ///< for its next attempt, or for the end of the present one
    delivered,  ///< answered with a 2xx
    given_up,   ///< after its last attempt, or a 410
    held,       ///< its hook was disabled before it was delivered; waits for somebody to enable it
};

/// How an attempt ended.
enum class attempt_end : std::uint8_t {
    answered,         ///< with a status, whatever it says
    no_address,       ///< the host's name leads nowhere
    refused_address,  ///< it leads where hooks may not go
    no_connection,    ///< nobody listens there
    no_tls,           ///< the handshake failed: a bad certificate, mostly
    timed_out,
    broken_off,       ///< the connection ended before the answer did
    bad_answer,       ///< not HTTP, or beyond a bound
};

/// One HTTP request of a delivery, and what came of it.
struct attempt {
    instant at;  ///< when it began
    milliseconds duration{};
    attempt_end end = attempt_end::answered;
    unsigned status = 0;      ///< of the answer; 0 where there was none
    std::string answer{};     ///< the beginning of its body as it came, at most limits::attempt_answer_bytes_max

    friend bool operator==(const attempt&, const attempt&) = default;
};

/// An attempt that took as long or longer says that its host is slow: slow hosts share a part of a worker's hands, so that
/// the others need not wait for them.
inline constexpr milliseconds slow_attempt{1000};

/// A delivery as the hook's owner sees it.
struct delivery {
    delivery_id id;
    hook_id hook;
    std::string event;
    public_id message_id;
    instant created_at;  ///< when the event was reported
    delivery_state state = delivery_state::waiting;
    unsigned attempts_made = 0;           ///< since it was made, or last sent again by hand
    std::optional<instant> next_attempt_at{};  ///< while it waits; the end of its lease while it is being sent
};

/// One attempt of a hook's history.
struct recorded_attempt {
    delivery_id delivery;
    std::string event;
    public_id message_id;
    attempt made;
};

/// The right to send one delivery, for a time. Each claim of a delivery has a number of its own: whoever comes back after
/// somebody else has claimed it cannot settle it any more.
struct delivery_lease {
    delivery_id delivery;
    std::int64_t number = 0;

    friend bool operator==(const delivery_lease&, const delivery_lease&) noexcept = default;
};

/// All that sending a delivery needs.
struct due_delivery {
    delivery_lease lease;
    hook_id hook;
    bool slow = false;  ///< its host's last attempt was: it is one of `claim_terms::slow_deliveries_max`
    std::shared_ptr<const event> what;  ///< never null; deliveries of one event may share it
    public_id message_id;
    std::string type;  ///< the payload format's name
    std::string target_url;
    std::string secret;
    std::vector<std::string> previous_secrets{};  ///< whose time is not over: they sign, too; the last to be replaced first
    unsigned attempts_made = 0;  ///< before this one, since it was made or last sent again by hand
};

/// What a worker is ready to take. All workers of one outbox have the same bounds for a host: one that has as many leases
/// as somebody's terms say may not be looked at again before one of them ends.
struct claim_terms {
    instant now;
    instant lease_until;  ///< later than the attempt can possibly end; whoever has not settled by then may lose it

    std::size_t deliveries_max = 100;
    std::size_t slow_deliveries_max = 50;  ///< of these, to hosts whose last attempt was slow
    std::size_t per_host_max = 8;          ///< leased at the same time by all workers, what is claimed now included
    std::size_t per_slow_host_max = 2;     ///< the same for a host whose last attempt was slow, or that had none yet
    std::size_t data_bytes_max = 16 * 1024 * 1024;  ///< of all events together, but always at least one
};

/// What a claim leased, and when there may be more.
struct claimed_deliveries {
    std::vector<due_delivery> deliveries;
    /// When asking again on the same terms could give more, if nobody appends or settles before: at once when that is not
    /// later than `now`. None when nothing would.
    std::optional<instant> next_at;
};

/// What an attempt means for its delivery.
enum class delivery_verdict : std::uint8_t {
    delivered,
    again,     ///< at `again_at`
    given_up,
    gone,      ///< given up, and the hook is disabled
    unsent,    ///< nobody was asked anything: due at `again_at`, and nothing is counted, recorded or said of the host
};

/// What came of a lease.
struct settlement {
    delivery_lease lease;
    attempt made;
    delivery_verdict verdict = delivery_verdict::given_up;
    instant again_at{};                          ///< looked at with `again` and `unsent` alone
    /// Disables a hook that this is a failure of, and that has been failing since then or longer. One whose attempt before
    /// this one was made earlier still begins to fail anew: nobody knows how it would have fared in between.
    std::optional<instant> disable_if_failing_since{};
};

/// What became of a delivery whose attempt was recorded.
enum class settle_result : std::uint8_t {
    done,
    hook_disabled,  ///< done, and the hook gets nothing any more
    too_late,       ///< somebody else had claimed it, or it is gone: nothing changed but the history
};

inline public_id message_id_of(const message_seed& seed, hook_id to) {
    // Keyed by the seed: from one id nobody can tell those of the same event's other deliveries.
    const std::string message = "webhook-id " + std::to_string(to.value());
    const digest mixed = hmac_sha256({{reinterpret_cast<const char*>(seed.data()), seed.size()}, message});
    std::array<std::byte, 16> chosen;
    std::memcpy(chosen.data(), mixed.bytes().data(), chosen.size());
    return make_public_id(public_id_kind::message, chosen);
}

}  // namespace tollgate
