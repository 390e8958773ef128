#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_LEASES_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_LEASES_IPP

#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/store/store_error.hpp>
#include <tollgate/store/detail/sql/hook_secrets.hpp>
#include <tollgate/store/detail/sql/delivery_columns.hpp>
#include <tollgate/store/detail/sqlite/remove_deliveries.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tollgate::inline v0::sqlite::detail {

/// A `lease` call, within its transaction.
class leasing {
public:
    leasing(database& on, const lease_time& time) : on_{on}, time_{time} {}

    result<void> serve(const lease_request& request) {
        auto hook = read_hook(request.hook);
        if (!hook) return std::move(hook).error();
        if (!*hook) return {};
        if (auto done = correct_times(request.hook); !done) return done;
        const std::string host = delivery_host((*hook)->target_url);
        auto in_force = leases_in_force(host);
        if (!in_force) return std::move(in_force).error();
        const std::size_t free = request.host_leases_max - (std::min)(**in_force, request.host_leases_max);
        std::size_t granted = 0;
        if ((*hook)->is_disabled) {
            if (auto done = hold_due(request.hook); !done) return done;
        } else {
            auto leased = lease_due(**hook, request.hook, host, (std::min)(free, request.deliveries_max));
            if (!leased) return std::move(leased).error();
            granted = *leased;
            **in_force += granted;
        }
        return queue(request.hook, granted == free ? (std::max)(request.full_host_retry_at, time_.now) : time_.now);
    }

    [[nodiscard]] std::vector<due_delivery> leased() && noexcept { return std::move(leased_); }

private:
    struct hook_row {
        std::string type, target_url, secret;
        bool is_disabled;
        bool has_previous_secrets;
    };

    result<std::optional<hook_row>> read_hook(hook_id id) {
        return sql::read_one(
            on_.prepare("SELECT type, target_url, secret, disabled_at IS NOT NULL, EXISTS (SELECT 1 FROM "
                        "tollgate_hook_secrets AS previous WHERE previous.hook_id = tollgate_hooks.id AND valid_until > ?2) "
                        "FROM tollgate_hooks WHERE id = ?1 AND account_id <> 0",
                        id, time_.now),
            [](std::string& type, std::string& target_url, std::string& secret, bool is_disabled, bool has_previous) {
                return hook_row{std::move(type), std::move(target_url), std::move(secret), is_disabled, has_previous};
            });
    }

    /// Makes deliveries due whose time was set by a wrong clock (`latest_due`). At most `changed_rows_max`: the hook stays due.
    result<void> correct_times(hook_id hook) {
        return on_.run(
            "UPDATE tollgate_deliveries SET at = ?2, is_leased = false WHERE id IN "
            "(SELECT id FROM tollgate_deliveries INDEXED BY tollgate_deliveries_of_hook_pending WHERE hook_id = ?1 "
            "AND state = 0 AND at > ?3 LIMIT ?4)",
            hook, time_.now, latest_due(time_.now), changed_rows_max);
    }

    /// The number of leases of one host that have not expired.
    result<std::size_t*> leases_in_force(const std::string& host) {
        if (const auto known = in_force_.find(host); known != in_force_.end()) return &known->second;
        auto count = sql::read_value<std::int64_t>(
            on_.prepare("SELECT count(*) FROM tollgate_deliveries WHERE host = ? AND state = 0 AND is_leased AND at > ? AND at <= ?",
                        host, time_.now, latest_due(time_.now)));
        if (!count) return std::move(count).error();
        return &in_force_.emplace(host, static_cast<std::size_t>(count->value_or(0))).first->second;
    }

    /// At most `changed_rows_max`: while there are more, the hook stays due.
    result<void> hold_due(hook_id hook) {
        return on_.run(
            "UPDATE tollgate_deliveries SET state = 3, at = ?2, is_leased = false, lease_is_open = false WHERE id IN "
            "(SELECT id FROM tollgate_deliveries INDEXED BY tollgate_deliveries_of_hook_pending WHERE hook_id = ?1 "
            "AND state = 0 AND at <= ?2 LIMIT ?3)",
            hook, time_.now, changed_rows_max);
    }

    /// Returns how many.
    result<std::size_t> lease_due(const hook_row& to, hook_id hook, const std::string& host, std::size_t rows_max) {
        if (rows_max == 0) return std::size_t{0};
        struct candidate {
            delivery_lease lease;
            std::int64_t event;
            std::int64_t attempts_made;
        };
        const auto due = sql::read_all(
            on_.prepare("SELECT id, lease_number + 1, event_id, attempts_made FROM tollgate_deliveries "
                        "INDEXED BY tollgate_deliveries_of_hook_pending WHERE hook_id = ? AND state = 0 AND at <= ? "
                        "ORDER BY at, id LIMIT ?",
                        hook, time_.now, rows_max),
            [](delivery_id id, std::int64_t number, std::int64_t event, std::int64_t attempts_made) {
                return candidate{{id, number}, event, attempts_made};
            });
        if (!due) return due.error();
        std::vector<std::string> previous_secrets;
        if (!due->empty() && to.has_previous_secrets) {
            auto read = read_previous_secrets(hook);
            if (!read) return std::move(read).error();
            previous_secrets = *std::move(read);
        }
        for (const candidate& each : *due) {
            auto event = read_event(each.event);
            if (!event) return std::move(event).error();
            // The hook's target may have changed since the delivery was created or last leased.
            if (auto done = on_.run("UPDATE tollgate_deliveries SET at = ?, is_leased = true, lease_is_open = true, "
                                    "lease_number = ?, resend_asked = false, host = ? WHERE id = ?",
                                    time_.until, each.lease.number, host, each.lease.delivery);
                !done)
                return std::move(done).error();
            leased_.push_back({.lease = each.lease,
                               .hook = hook,
                               .event = {*event, &(*event)->reported},
                               .message_id = message_id_of((*event)->seed, hook),
                               .type = to.type,
                               .target_url = to.target_url,
                               .secret = to.secret,
                               .previous_secrets = previous_secrets,
                               .attempts_made = static_cast<unsigned>(each.attempts_made)});
        }
        return due->size();
    }

    /// When the hook is due next; `if_due` if it has a due delivery now.
    result<void> queue(hook_id which, instant if_due) {
        auto ready_at = sql::read_value<instant>(
            on_.prepare("SELECT at FROM tollgate_deliveries INDEXED BY tollgate_deliveries_of_hook_pending "
                        "WHERE hook_id = ? AND state = 0 ORDER BY at LIMIT 1",
                        which));
        if (!ready_at) return std::move(ready_at).error();
        if (*ready_at && **ready_at <= time_.now) *ready_at = if_due;
        return on_.run("UPDATE tollgate_hooks SET ready_at = ? WHERE id = ?", *ready_at, which);
    }

    result<std::vector<std::string>> read_previous_secrets(hook_id hook) {
        return sql::read_all(
            on_.prepare("SELECT secret FROM tollgate_hook_secrets WHERE hook_id = ? AND valid_until > ? ORDER BY id DESC", hook,
                        time_.now),
            [](std::string& secret) { return std::move(secret); });
    }

    struct event_row {
        event reported;
        message_seed seed;
    };

    result<std::shared_ptr<const event_row>> read_event(std::int64_t id) {
        if (const auto known = events_.find(id); known != events_.end()) return known->second;
        const auto read = sql::read_one(
            on_.prepare("SELECT service, account_id, name, data, happened_at, seed FROM tollgate_events WHERE id = ?", id),
            [](const service_name& service, account_id account, std::string& name, std::string& data, instant at,
               const message_seed& seed) {
                return std::make_shared<const event_row>(event_row{{{service, account}, std::move(name), std::move(data), at}, seed});
            });
        if (!read) return read.error();
        if (!*read) return internal_error("SQLite: the event of a delivery is missing");
        return events_.emplace(id, **read).first->second;
    }

    database& on_;
    const lease_time& time_;
    std::vector<due_delivery> leased_;
    std::unordered_map<std::string, std::size_t, tollgate::detail::keyed_hash> in_force_{
        0, tollgate::detail::shared_keyed_hash()};  // keyed, because users choose the hosts
    std::unordered_map<std::int64_t, std::shared_ptr<const event_row>> events_;
};

}  // namespace tollgate::sqlite::detail

namespace tollgate::inline v0::sqlite_detail {

/// Verbs of `outbox`.
struct lease_verbs : verbs {
    using verbs::verbs;

    result<std::vector<due_delivery>> lease(std::span<const lease_request> requests, const lease_time& lease) noexcept {
        if (requests.empty()) return std::vector<due_delivery>{};
        return impl_->database.transact([&](sqlite::database& on) -> result<std::vector<due_delivery>> {
            sqlite::detail::leasing leasing{on, lease};
            for (const lease_request& each : requests)
                if (auto done = leasing.serve(each); !done) return std::move(done).error();
            auto leased = std::move(leasing).leased();
            sql::decrypt_all(impl_->keys, leased);
            return leased;
        });
    }
};

}  // namespace tollgate::sqlite_detail

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_LEASES_IPP
