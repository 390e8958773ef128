#pragma once

#include <tollgate/base/result.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/model/hook.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace own_store {

using namespace tollgate;

struct hook_row {
    struct old_secret {
        std::string text;
        instant valid_until;
    };
    new_hook hook;
    std::vector<old_secret> old_secrets{};  // most recently replaced first
    hook_status status{};
    instant queued_at{};  // not due before this time: other hooks come first, or its host is full
};

/// The tables of an outbox, and its verbs without transactions. In SQL, `deliveries` has an index on (hook, at) of the
/// waiting rows, and one on (host, at) of the leased ones.
class delivery_tables {
public:
    explicit delivery_tables(std::map<hook_id, hook_row>& hooks) : hooks_{hooks} {}

    std::size_t append_event(const event& reported, const message_seed& seed, instant now) {
        const auto stored = std::make_shared<const event>(reported);
        std::size_t count = 0;
        for (const auto& [id, to] : hooks_) {
            if (to.hook.account != reported.account || to.hook.event != reported.name || to.status.disabled) continue;
            deliveries_.emplace(++last_delivery_, delivery_row{id, stored, message_id_of(seed, id), now, now});
            ++count;
        }
        return count;
    }

    void append_event_to(hook_id to, const event& reported, const message_seed& seed, instant now) {
        const auto stored = std::make_shared<const event>(reported);
        deliveries_.emplace(++last_delivery_, delivery_row{to, stored, message_id_of(seed, to), now, now});
    }

    // [due]
    due_hook_page due_hooks(instant now, std::size_t rows_max) const {
        std::multimap<instant, due_hook> waiting;
        for (const auto& [id, to] : hooks_)
            if (const auto first = first_time_of(id)) {
                const instant at = std::max(*first, to.queued_at);
                waiting.emplace(is_due(at, now) ? std::min(at, now) : at, due_hook{id, to.hook.account, to.hook.target_url});
            }
        due_hook_page page;
        for (const auto& [at, each] : waiting) {
            if (at > now || page.hooks.size() == rows_max) {
                page.next_at = at;
                break;
            }
            page.hooks.push_back(each);
        }
        return page;
    }

    std::vector<due_delivery> lease(std::span<const lease_request> requests, const lease_time& time) {
        std::vector<due_delivery> leased;
        for (const lease_request& each : requests) {
            const auto to = hooks_.find(each.hook);
            if (to == hooks_.end()) continue;
            std::size_t in_force = leases_of(delivery_host(to->second.hook.target_url), time.now), leased_here = 0;
            while (const auto next = next_due(each.hook, time.now)) {
                delivery_row& row = deliveries_.at(*next);
                if (to->second.status.disabled) {
                    hold(row, time.now);
                    continue;
                }
                if (leased_here == each.deliveries_max || in_force >= each.host_leases_max) break;
                row.at = time.until;
                row.leased = row.lease_open = true;
                row.resend_requested = false;
                ++row.lease_number;
                leased.push_back(describe(*next, row, to->second, time.now));
                ++leased_here;
                ++in_force;
            }
            to->second.queued_at = in_force >= each.host_leases_max ? each.full_host_retry_at : time.now;
        }
        return leased;
    }
    // [/due]

    std::vector<completion> complete(std::span<const attempt_result> ended, instant now) {
        std::vector<completion> results;
        for (const attempt_result& each : ended) results.push_back(complete_one(each, now));
        return results;
    }

    std::vector<listed_delivery> deliveries_of(const delivery_query& query) const {
        std::vector<listed_delivery> found;
        for (auto each = deliveries_.rbegin(); each != deliveries_.rend() && found.size() < query.rows_max; ++each) {
            const auto& [id, row] = *each;
            if (row.hook != query.hook || (query.delivery && id != query.delivery->value()) ||
                (query.older_than && id >= query.older_than->value()) || (query.state && row.state != *query.state))
                continue;
            const auto next_attempt_at = row.state == delivery_state::waiting ? std::optional{row.at} : std::nullopt;
            auto& listed = found.emplace_back(delivery{delivery_id{id}, row.hook, row.event->name, row.message_id, row.created_at,
                                                       row.state, row.attempts_made, next_attempt_at});
            for (auto last = attempts_.rbegin(); last != attempts_.rend() && listed.attempts.size() < query.attempts_max; ++last)
                if (last->first.value() == id) listed.attempts.push_back(last->second);
        }
        return found;
    }

    result<std::size_t> resend(const account_ref& account, delivery_id id, instant now) {
        const auto found = deliveries_.find(id.value());
        if (found == deliveries_.end()) return std::size_t{0};
        delivery_row& row = found->second;
        const hook_row& to = hooks_.at(row.hook);
        if (to.hook.account != account) return std::size_t{0};
        if (to.status.disabled) return error{error_kind::conflict, "The webhook is disabled.", {}};
        row.attempts_made = 0;
        if (row.leased && !is_due(row.at, now)) row.resend_requested = true;  // again, when this attempt is completed
        else wait_until(row, now);
        return std::size_t{1};
    }

    std::size_t resend_given_up(const given_up_deliveries& resent, instant now) {
        std::size_t count = 0;
        for (auto& [id, row] : deliveries_) {
            if (row.hook != resent.hook || row.state != delivery_state::given_up || row.created_at < resent.since) continue;
            if (count == resent.rows_max) break;
            row.attempts_made = 0;
            wait_until(row, now);
            ++count;
        }
        return count;
    }

    void enable(hook_id id, hook_row& to, instant now) {
        const bool was_disabled = to.status.disabled.has_value();
        to.status = {};
        for (auto& [number, row] : deliveries_) {
            const bool abandoned = was_disabled && row.leased && is_due(row.at, now);
            if (row.hook != id || (row.state != delivery_state::held && !abandoned)) continue;
            row.attempts_made = 0;
            row.resend_requested = false;
            wait_until(row, now);
        }
    }

    std::size_t sweep(instant ended_before, std::size_t rows_max) {
        std::size_t swept = 0;
        for (auto each = deliveries_.begin(); each != deliveries_.end() && swept < rows_max;) {
            const auto here = each++;
            if (here->second.state == delivery_state::waiting || here->second.at >= ended_before) continue;
            remove(here);
            ++swept;
        }
        return swept;
    }

    void remove_of(hook_id deleted) {
        for (auto each = deliveries_.begin(); each != deliveries_.end();) {
            const auto here = each++;
            if (here->second.hook == deleted) remove(here);
        }
    }

private:
    struct delivery_row {
        hook_id hook;
        std::shared_ptr<const tollgate::event> event;
        public_id message_id;
        instant created_at;
        instant at;  // the time at which it is due, its lease ends, or it ended
        delivery_state state = delivery_state::waiting;
        bool leased = false;
        bool lease_open = false;  // neither completed nor leased again
        std::int64_t lease_number = 0;
        unsigned attempts_made = 0;
        bool resend_requested = false;
    };
    using rows = std::map<std::int64_t, delivery_row>;

    void remove(rows::iterator row) {
        std::erase_if(attempts_, [&](const auto& each) { return each.first.value() == row->first; });
        deliveries_.erase(row);
    }
    static void wait_until(delivery_row& row, instant at) {
        row.state = delivery_state::waiting;
        row.at = at;
        row.leased = row.lease_open = false;
    }
    static void hold(delivery_row& row, instant now) {
        wait_until(row, now);
        row.state = delivery_state::held;
    }

    /// Also a time that is too far ahead to be right: see `has_come`. Where deliveries wait, and where leases end.
    static bool is_due(instant at, instant now) { return at <= now || at > latest_due(now); }

    std::optional<instant> first_time_of(hook_id hook) const {
        std::optional<instant> first;
        for (const auto& [id, row] : deliveries_)
            if (row.hook == hook && row.state == delivery_state::waiting && (!first || row.at < *first)) first = row.at;
        return first;
    }
    /// The earliest due first, and of those the oldest. An expired lease is ignored.
    std::optional<std::int64_t> next_due(hook_id hook, instant now) const {
        std::optional<std::int64_t> next;
        for (const auto& [id, row] : deliveries_)
            if (row.hook == hook && row.state == delivery_state::waiting && is_due(row.at, now) &&
                (!next || row.at < deliveries_.at(*next).at))
                next = id;
        return next;
    }
    std::size_t leases_of(const std::string& host, instant now) const {
        std::size_t count = 0;
        for (const auto& [id, row] : deliveries_)
            if (row.state == delivery_state::waiting && row.leased && !is_due(row.at, now) &&
                delivery_host(hooks_.at(row.hook).hook.target_url) == host)
                ++count;
        return count;
    }
    static due_delivery describe(std::int64_t id, const delivery_row& row, const hook_row& to, instant now) {
        due_delivery described{.lease = {delivery_id{id}, row.lease_number}, .hook = row.hook, .event = row.event,
                               .message_id = row.message_id, .type = to.hook.type, .target_url = to.hook.target_url,
                               .secret = to.hook.secret, .attempts_made = row.attempts_made};
        for (const auto& each : to.old_secrets)
            if (now < each.valid_until) described.previous_secrets.push_back(each.text);
        return described;
    }

    // [complete]
    completion complete_one(const attempt_result& ended, instant now) {
        const auto found = deliveries_.find(ended.lease.delivery.value());
        if (found == deliveries_.end()) return completion::too_late;
        delivery_row& row = found->second;
        hook_row& to = hooks_.at(row.hook);
        if (ended.outcome != delivery_outcome::not_attempted) record(ended);
        if (!row.lease_open || row.lease_number != ended.lease.number) return completion::too_late;

        const auto after = complete_delivery({row.attempts_made, row.resend_requested, to.status, to.hook.target_url}, ended, now);
        row.state = after.state;
        row.at = after.at;
        row.attempts_made = after.attempts_made;
        row.leased = row.lease_open = row.resend_requested = false;
        to.status = after.hook;
        if (after.result == completion::hook_disabled)
            for (auto& [id, each] : deliveries_)
                if (each.hook == row.hook && each.state == delivery_state::waiting && !each.leased) hold(each, now);
        return after.result;
    }
    // [/complete]

    void record(const attempt_result& ended) {
        attempts_.emplace_back(ended.lease.delivery, ended.attempt);
        const auto is_of_it = [&](const auto& each) { return each.first == ended.lease.delivery; };
        if (std::count_if(attempts_.begin(), attempts_.end(), is_of_it) >
            static_cast<std::ptrdiff_t>(limits::attempts_per_delivery_max))
            attempts_.erase(std::find_if(attempts_.begin(), attempts_.end(), is_of_it));
    }

    std::map<hook_id, hook_row>& hooks_;
    std::int64_t last_delivery_ = 0;
    rows deliveries_;
    std::vector<std::pair<delivery_id, attempt>> attempts_;  // most recently completed last
};

}  // namespace own_store
