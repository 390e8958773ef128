#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_OUTBOX_HPP
#define TOLLGATE_STORE_DETAIL_MEMORY_OUTBOX_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/store/detail/memory/hooks.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tollgate::inline v0::memory {

/// The verbs of `outbox`, in memory. The store locks it together with the hooks.
///
/// Each delivery and each hook owns one set node, created with it, which moves from set to set. Later changes therefore
/// need no memory, and no verb is left half done.
class outbox {
public:
    outbox(std::size_t bytes_max, hooks& listening) : bytes_max_{bytes_max}, hooks_{listening} {}

    TOLLGATE_DECL result<std::size_t> append(const event& reported, const message_seed& seed, instant now,
                                             std::optional<hook_id> only_to);
    [[nodiscard]] TOLLGATE_DECL due_hook_page list_due_hooks(instant now, std::size_t rows_max) const;
    [[nodiscard]] TOLLGATE_DECL delivery_backlog backlog(instant now, std::size_t rows_max) const;
    TOLLGATE_DECL std::vector<due_delivery> lease(std::span<const lease_request> requests, const lease_time& time);
    TOLLGATE_DECL std::vector<completion> complete(std::span<const attempt_result> ended, instant now);
    [[nodiscard]] TOLLGATE_DECL std::vector<listed_delivery> deliveries_of(const account_ref& account, const delivery_query& query) const;
    TOLLGATE_DECL result<std::size_t> resend(const account_ref& account, const resend_request& resent, instant now);
    TOLLGATE_DECL bool enable_hook(const account_ref& account, hook_id id, instant now) noexcept;
    TOLLGATE_DECL std::size_t sweep(instant ended_before, std::size_t rows_max) noexcept;

    /// The memory that `retarget` needs; may throw.
    TOLLGATE_DECL void prepare_target(const std::string& target_url) { host_of(target_url); }
    /// Moves the deliveries of the hook, if any, to this host. Precondition: `prepare_target` was called for it.
    TOLLGATE_DECL void retarget(const std::string& to, std::optional<hook_id> changed) noexcept;
    /// Stops deliveries to a deleted hook. If it has many, some are removed now and the rest in sweeps.
    TOLLGATE_DECL void forget(hook_id deleted) noexcept;

private:
    struct timed_delivery {
        instant at;
        delivery_id id;
        // Not `<=>`, which time points do not have in libc++ 16.
        friend bool operator<(const timed_delivery& a, const timed_delivery& b) noexcept {
            return a.at != b.at ? a.at < b.at : a.id < b.id;
        }
    };
    using timed_deliveries = std::set<timed_delivery>;

    struct host {
        std::string name;
        timed_deliveries leased;  // ordered by the end of their lease
        std::size_t deliveries = 0;
        std::size_t unsent_bytes = 0;  // bytes of deliveries that have not ended
    };

    /// Hooks by when they may have a due delivery; hooks with the same time in the order in which they were queued.
    struct place_in_queue {
        instant ready_at;
        std::uint64_t number;
        hook_id hook;
        friend bool operator<(const place_in_queue& a, const place_in_queue& b) noexcept {
            return a.ready_at != b.ready_at ? a.ready_at < b.ready_at : a.number < b.number;
        }
        friend bool operator==(const place_in_queue&, const place_in_queue&) noexcept = default;
    };
    using hook_queue = std::set<place_in_queue>;

    struct stored_event {
        event reported;
        message_seed seed;
        std::size_t deliveries = 0;
    };

    struct row {
        delivery_id id;
        hook_id hook;
        host* to;
        std::shared_ptr<stored_event> event;
        public_id message_id;
        instant created_at;
        timed_deliveries* kept_in;  // the list of the delivery: its hook's waiting, its host's leased, ended_ or held_
        instant at;                 // the key in that set
        delivery_state state = delivery_state::waiting;
        bool lease_open = false;    // leased and not completed, resent or leased again since
        std::int64_t lease_number = 0;
        unsigned attempts_made = 0;
        bool resend_requested = false;  // while it was being sent
        std::vector<std::int64_t> attempts{};  // on record, oldest first
    };
    using rows = std::unordered_map<delivery_id, row>;

    struct attempt_row {
        delivery_id delivery;
        tollgate::attempt attempt;
    };
    struct hook_rows {
        std::set<delivery_id> deliveries{};
        std::map<std::int64_t, attempt_row> attempts{};
        timed_deliveries waiting{};  // ordered by the time at which they are due
        host* to = nullptr;
        hook_queue* queue = nullptr;  // ready_ or idle_
        place_in_queue place;
        bool deleted = false;  // in the list of deleted hooks until its last delivery is removed
        hook_rows* next_deleted = nullptr;
    };

    TOLLGATE_DECL result<std::size_t> append_to(const std::vector<hook_id>& listening, const event& reported,
                                                const message_seed& seed, instant now);
    TOLLGATE_DECL host& host_of(const std::string& target_url);
    TOLLGATE_DECL hook_rows& rows_of(hook_id id);
    TOLLGATE_DECL void forget_unless_used(hook_id id) noexcept;
    /// Returns true if the delivery is due. It is given up at once if its host has used its share.
    TOLLGATE_DECL bool add(delivery_id id, hook_id to, const std::shared_ptr<stored_event>& event, instant now);
    TOLLGATE_DECL void remove(delivery_id id) noexcept;
    TOLLGATE_DECL std::size_t forget_deleted(std::size_t rows_max) noexcept;
    TOLLGATE_DECL void charge(const row& which, bool more) noexcept;
    [[nodiscard]] TOLLGATE_DECL result<void> expect_share(const event& reported, const std::vector<hook_id>& listening);
    [[nodiscard]] TOLLGATE_DECL bool has_share(const host& which, const event& event) const noexcept;
    /// Null also if its hook was deleted.
    [[nodiscard]] TOLLGATE_DECL row* find(delivery_id id) noexcept;
    TOLLGATE_DECL void forget_unless_used(host& which) noexcept;
    TOLLGATE_DECL void move(row& which, timed_deliveries& into, instant at) noexcept;
    TOLLGATE_DECL void hold(row& which, instant now) noexcept;
    TOLLGATE_DECL void wait_until(row& which, instant at) noexcept;
    TOLLGATE_DECL void make_due(row& which, instant now) noexcept;

    TOLLGATE_DECL void queue(hook_rows& hook_entry, std::optional<instant> ready_at) noexcept;
    TOLLGATE_DECL void queue_no_later_than(hook_rows& hook_entry, instant ready_at) noexcept;
    TOLLGATE_DECL void end_leases(host& which, instant now) noexcept;
    TOLLGATE_DECL void lease_for(const lease_request& request, const lease_time& time, std::vector<due_delivery>& into);
    TOLLGATE_DECL result<std::size_t> resend(const account_ref& account, delivery_id id, instant now);
    TOLLGATE_DECL result<std::size_t> resend(const account_ref& account, const given_up_deliveries& resent, instant now);
    [[nodiscard]] TOLLGATE_DECL due_delivery describe(const row& which, const stored_hook& to, instant now) const;

    TOLLGATE_DECL void record(const attempt_result& ended);
    TOLLGATE_DECL completion complete_one(const attempt_result& ended, instant now) noexcept;
    TOLLGATE_DECL void forget_attempts_beyond(row& which, std::size_t attempts_max) noexcept;
    TOLLGATE_DECL void forget_attempt(row& which, std::size_t index) noexcept;
    TOLLGATE_DECL bool make_space(std::size_t bytes) noexcept;

    const std::size_t bytes_max_;
    hooks& hooks_;

    std::size_t bytes_ = 0;  // approximate
    std::int64_t last_id_ = 0, last_attempt_ = 0;
    std::uint64_t last_place_ = 0;
    rows rows_;
    std::unordered_map<hook_id, hook_rows> hook_rows_;
    hook_rows* deleted_ = nullptr;
    std::unordered_map<std::string, std::unique_ptr<host>, tollgate::detail::keyed_hash> hosts_;  // keyed, because users choose the names
    hook_queue ready_, idle_;
    timed_deliveries ended_;  // delivered and given up, by time
    timed_deliveries held_;   // ordered by the time since when they are held
};

}  // namespace tollgate::memory

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/memory/completions.ipp>
#include <tollgate/store/detail/memory/delivery_history.ipp>
#include <tollgate/store/detail/memory/leases.ipp>
#include <tollgate/store/detail/memory/outbox.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_OUTBOX_HPP
