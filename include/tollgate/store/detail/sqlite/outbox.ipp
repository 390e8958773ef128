#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/sqlite/append_event.hpp>
#include <tollgate/store/detail/sqlite/delivery_columns.hpp>
#include <tollgate/store/detail/sqlite/outbox.hpp>
#include <tollgate/store/detail/sqlite/remove_deliveries.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tollgate::inline v0::sqlite {

TOLLGATE_DECL result<std::size_t> outbox::append(const event& happened, const message_seed& seed, instant now) {
    {
        // Asked without the write lock first: most events have nobody who listens.
        auto connection = connections_.reader();
        if (!connection) return std::move(connection).error();
        auto any = has_listeners(**connection, happened);
        if (!any) return std::move(any).error();
        if (!*any) return std::size_t{0};
    }
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    auto change = transaction::begin(**connection);
    if (!change) return std::move(change).error();
    auto appended = append_event(**connection, happened, seed, now);
    if (!appended) return appended;
    if (auto done = change->commit(); !done) return std::move(done).error();
    return appended;
}

namespace detail {

/// One claim, within its transaction.
class claiming {
public:
    claiming(database& on, const claim_terms& terms) : on_{on}, hosts_{on}, terms_{terms} {}

    result<claimed_deliveries> run() {
        const std::size_t slow_max = (std::min)(terms_.slow_deliveries_max, terms_.deliveries_max);
        auto slow = claim_in_line(true, slow_max);
        if (!slow) return std::move(slow).error();
        for (due_delivery& each : claimed_.deliveries) each.slow = true;
        if (*slow == course::goes_on)
            if (auto quick = claim_in_line(false, terms_.deliveries_max); !quick) return std::move(quick).error();
        auto next_at = next_claim_at(hosts_, terms_);
        if (!next_at) return std::move(next_at).error();
        claimed_.next_at = *next_at;
        return std::move(claimed_);
    }

    static result<std::optional<instant>> next_claim_at(delivery_hosts& hosts, const claim_terms& terms) {
        auto quick = hosts.ready_at(false);
        if (!quick || terms.slow_deliveries_max == 0 || terms.deliveries_max == 0) return quick;
        auto slow = hosts.ready_at(true);
        if (!slow || !*quick) return slow;
        return *slow && **slow < **quick ? slow : quick;
    }

private:
    enum class course { goes_on, is_full };  // of data

    struct candidate {
        std::int64_t event;
        bool has_previous_secrets;
        bool of_deleted_hook;
        due_delivery what;
    };

    result<course> claim_in_line(bool slow, std::size_t deliveries_max) {
        while (claimed_.deliveries.size() < deliveries_max) {
            auto next = hosts_.next_in_line(slow, terms_.now);
            if (!next) return std::move(next).error();
            if (!*next) return course::goes_on;
            const auto& [name, answered_once] = **next;
            if (!served_.insert(name).second) break;  // behind it there are none but those that were served
            const std::size_t leases_max = answered_once && !slow ? terms_.per_host_max : terms_.per_slow_host_max;
            auto claimed = claim_of(name, (std::max)(leases_max, std::size_t{1}), deliveries_max);
            if (!claimed || *claimed == course::is_full) return claimed;
        }
        return course::goes_on;
    }

    result<course> claim_of(const std::string& host, std::size_t leases_max, std::size_t deliveries_max) {
        auto in_force = end_leases(host);
        if (!in_force) return std::move(in_force).error();
        std::size_t leased = *in_force;
        const std::size_t room =
            (std::min)(leases_max - (std::min)(leased, leases_max), deliveries_max - claimed_.deliveries.size());
        auto due = read_due(host, room);
        if (!due) return std::move(due).error();
        if (auto done = remove_of_deleted(host, room, *due); !done) return std::move(done).error();
        for (candidate& each : *due) {
            auto fits = has_room_for(each.event);
            if (!fits) return std::move(fits).error();
            if (!*fits) {
                // The next claim begins here: what is large would wait for ever if whatever is small went past it.
                if (leased != *in_force)
                    if (auto done = hosts_.took_turn(host, leased < leases_max, terms_.now); !done)
                        return std::move(done).error();
                return course::is_full;
            }
            auto what = read_event(each.event);
            if (!what) return std::move(what).error();
            if (each.has_previous_secrets) {
                auto secrets = read_previous_secrets(each.what.hook);
                if (!secrets) return std::move(secrets).error();
                each.what.previous_secrets = *std::move(secrets);
            }
            if (auto done = on_.run("UPDATE tollgate_deliveries SET due_at = NULL, leased_until = ?, lease_open = 1, "
                                    "lease_number = ?, resend_asked = 0 WHERE id = ?",
                                    terms_.lease_until, each.what.lease.number, each.what.lease.delivery);
                !done)
                return std::move(done).error();
            data_bytes_ += (*what)->data.size();
            ++leased;
            each.what.what = *std::move(what);
            claimed_.deliveries.push_back(std::move(each.what));
        }
        if (auto done = hosts_.took_turn(host, leased < leases_max, terms_.now); !done) return std::move(done).error();
        return course::goes_on;
    }

    /// Reads again until there are none among them, or as many were removed as one claim may remove.
    result<void> remove_of_deleted(const std::string& host, std::size_t room, std::vector<candidate>& due) {
        const auto is_deleted = [](const candidate& each) { return each.of_deleted_hook; };
        while (std::any_of(due.begin(), due.end(), is_deleted)) {
            if (removed_ >= removed_at_once_max) {
                std::erase_if(due, is_deleted);
                break;
            }
            for (const candidate& each : due) {
                if (!each.of_deleted_hook) continue;
                if (auto done = remove_delivery(on_, each.what.lease.delivery, each.event); !done) return done;
                ++removed_;
            }
            auto read = read_due(host, room);
            if (!read) return std::move(read).error();
            due = *std::move(read);
        }
        return {};
    }

    /// Without reading what has none.
    result<bool> has_room_for(std::int64_t id) {
        if (claimed_.deliveries.empty()) return true;
        const std::size_t left = terms_.data_bytes_max - (std::min)(data_bytes_, terms_.data_bytes_max);
        if (left >= limits::event_data_bytes_max) return true;
        if (const auto known = events_.find(id); known != events_.end()) return known->second->data.size() <= left;
        auto row = on_.prepare("SELECT length(CAST(data AS BLOB)) FROM tollgate_events WHERE id = ?", id)
                       .next<std::int64_t>();
        if (!row) return std::move(row).error();
        if (!*row) return internal_error("SQLite: a delivery's event is not there");
        return static_cast<std::uint64_t>(std::get<0>(**row)) <= left;
    }

    /// Those that are over, and how many are in force then.
    result<std::size_t> end_leases(const std::string& host) {
        auto counts = on_.prepare(
                             "SELECT count(*), coalesce(sum(leased_until <= ?2), 0) FROM tollgate_deliveries "
                             "WHERE host = ?1 AND leased_until IS NOT NULL",
                             host, terms_.now)
                          .next<std::int64_t, std::int64_t>();
        if (!counts) return std::move(counts).error();
        const auto [all, over] = counts->value();
        if (over != 0) {
            if (auto done =
                    on_.run("UPDATE tollgate_deliveries SET state = 'held', leased_until = NULL, ended_at = ?2, "
                            "lease_open = 0 WHERE host = ?1 AND leased_until <= ?2 AND "
                            "(SELECT disabled_at FROM tollgate_hooks WHERE id = hook) IS NOT NULL",
                            host, terms_.now);
                !done)
                return std::move(done).error();
            if (auto done = on_.run("UPDATE tollgate_deliveries SET due_at = leased_until, leased_until = NULL "
                                    "WHERE host = ? AND leased_until <= ?",
                                    host, terms_.now);
                !done)
                return std::move(done).error();
        }
        return static_cast<std::size_t>(all - over);
    }

    /// Without their events, which may be large.
    result<std::vector<candidate>> read_due(const std::string& host, std::size_t rows_max) {
        std::vector<candidate> due;
        if (rows_max == 0) return due;
        auto rows = on_.prepare(
            "SELECT tollgate_deliveries.id, lease_number + 1, hook, tollgate_deliveries.event, message_id, type, "
            "target_url, secret, EXISTS (SELECT 1 FROM tollgate_hook_secrets AS previous "
            "WHERE previous.hook = tollgate_hooks.id AND valid_until > ?2), service = '', attempts_made "
            "FROM tollgate_deliveries JOIN tollgate_hooks ON tollgate_hooks.id = hook "
            "WHERE host = ?1 AND due_at <= ?2 ORDER BY due_at, tollgate_deliveries.id LIMIT ?3",
            host, terms_.now, rows_max);
        for (;;) {
            auto row = rows.next<delivery_id, std::int64_t, hook_id, std::int64_t, public_id, std::string, std::string,
                                 std::string, bool, bool, std::int64_t>();
            if (!row) return std::move(row).error();
            if (!*row) return due;
            auto& [id, number, hook, event, message_id, type, target_url, secret, has_previous, deleted, attempts] = **row;
            due.push_back({event,
                           has_previous,
                           deleted,
                           {.lease = {id, number},
                            .hook = hook,
                            .what = nullptr,
                            .message_id = message_id,
                            .type = std::move(type),
                            .target_url = std::move(target_url),
                            .secret = std::move(secret),
                            .attempts_made = static_cast<unsigned>(attempts)}});
        }
    }

    result<std::vector<std::string>> read_previous_secrets(hook_id of) {
        auto rows = on_.prepare(
            "SELECT secret FROM tollgate_hook_secrets WHERE hook = ? AND valid_until > ? ORDER BY id DESC", of,
            terms_.now);
        std::vector<std::string> secrets;
        for (;;) {
            auto row = rows.next<std::string>();
            if (!row) return std::move(row).error();
            if (!*row) return secrets;
            secrets.push_back(std::get<0>(std::move(**row)));
        }
    }

    result<std::shared_ptr<const event>> read_event(std::int64_t id) {
        if (const auto known = events_.find(id); known != events_.end()) return known->second;
        auto row = on_.prepare("SELECT service, account, name, data, happened_at FROM tollgate_events WHERE id = ?", id)
                       .next<service_name, account_id, std::string, std::string, instant>();
        if (!row) return std::move(row).error();
        if (!*row) return internal_error("SQLite: a delivery's event is not there");
        auto& [service, account, name, data, at] = **row;
        auto read = std::make_shared<const event>(event{{service, account}, std::move(name), std::move(data), at});
        events_.emplace(id, read);
        return read;
    }

    database& on_;
    delivery_hosts hosts_;
    const claim_terms& terms_;
    claimed_deliveries claimed_;
    std::size_t data_bytes_ = 0;
    std::size_t removed_ = 0;
    std::unordered_set<std::string> served_;
    std::unordered_map<std::int64_t, std::shared_ptr<const event>> events_;
};

}  // namespace detail

TOLLGATE_DECL result<claimed_deliveries> outbox::claim(const claim_terms& terms) {
    {
        // Asked without the write lock first, so that a worker may ask often.
        auto connection = connections_.reader();
        if (!connection) return std::move(connection).error();
        delivery_hosts hosts{**connection};
        auto next_at = detail::claiming::next_claim_at(hosts, terms);
        if (!next_at) return std::move(next_at).error();
        if (terms.deliveries_max == 0 || !*next_at || **next_at > terms.now) return claimed_deliveries{{}, *next_at};
    }
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    auto change = transaction::begin(**connection);
    if (!change) return std::move(change).error();
    auto claimed = detail::claiming{**connection, terms}.run();
    if (!claimed) return claimed;
    if (auto done = change->commit(); !done) return std::move(done).error();
    return claimed;
}

namespace detail {

/// One settlement after the other, within one transaction.
class settling {
public:
    settling(database& on, instant now, std::unordered_map<hook_id, unsigned>& ended) : on_{on}, now_{now}, ended_{ended} {}

    result<settle_result> settle(const settlement& ended) {
        using enum delivery_verdict;
        const delivery_id id = ended.lease.delivery;
        auto row = on_.prepare(
                          "SELECT hook, host, lease_open AND lease_number = ?2, resend_asked, disabled_at IS NOT NULL, "
                          "failing_since, last_failure_at "
                          "FROM tollgate_deliveries JOIN tollgate_hooks ON tollgate_hooks.id = hook "
                          "WHERE tollgate_deliveries.id = ?1 AND service <> ''",
                          id, ended.lease.number)
                       .next<hook_id, std::string, bool, bool, bool, std::optional<instant>, std::optional<instant>>();
        if (!row) return std::move(row).error();
        if (!*row) return settle_result::too_late;
        auto& [hook, host, in_time, resent, was_disabled, failing_since, last_failure_at] = **row;
        if (ended.verdict == unsent) {
            if (!in_time) return settle_result::too_late;
            if (auto done = give_back(id, ended.again_at, was_disabled); !done) return std::move(done).error();
            if (auto done = delivery_hosts{on_}.stand(host, now_); !done) return std::move(done).error();
            return settle_result::done;
        }
        if (auto done = record(hook, ended); !done) return std::move(done).error();
        if (!in_time) return settle_result::too_late;

        auto moved = resent                                   ? resend(id, was_disabled)
                     : ended.verdict == again && !was_disabled ? send_again(id, ended.again_at)
                                                               : end(id, ended.verdict);
        if (!moved) return std::move(moved).error();
        if (!resent && ended.verdict != again)
            if (auto done = count_ended(hook); !done) return std::move(done).error();
        hosts_[host] = ended.made.duration >= slow_attempt;

        const auto since_before = failing_since, last_before = last_failure_at;
        const auto& bound = ended.disable_if_failing_since;
        if (ended.verdict == delivered) {
            failing_since.reset();
        } else if (!failing_since || !last_failure_at || (bound && *last_failure_at < *bound)) {
            failing_since = last_failure_at = ended.made.at;
        } else {
            last_failure_at = (std::max)(*last_failure_at, ended.made.at);
        }
        std::optional<disable_reason> why;
        if (ended.verdict == gone) why = disable_reason::gone;
        else if (failing_since && bound && *failing_since <= *bound)
            why = disable_reason::failing;
        if (failing_since != since_before || last_failure_at != last_before)
            if (auto done = on_.run("UPDATE tollgate_hooks SET failing_since = ?, last_failure_at = ? WHERE id = ?",
                                    failing_since, last_failure_at, hook);
                !done)
                return std::move(done).error();
        if (was_disabled || !why) return settle_result::done;
        if (auto done = disable(hook, *why); !done) return std::move(done).error();
        return settle_result::hook_disabled;
    }

    /// After the last: each host once, by its last attempt.
    result<void> finish() {
        for (const auto& [host, slowly] : hosts_)
            if (auto done = delivery_hosts{on_}.answered(host, slowly, now_); !done) return done;
        return {};
    }

private:
    result<void> record(hook_id hook, const settlement& ended) {
        const attempt& made = ended.made;
        if (auto done =
                on_.run("INSERT INTO tollgate_attempts (delivery, hook, began_at, duration, outcome, status, answer) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?)",
                        ended.lease.delivery, hook, made.at, std::int64_t{made.duration.count()}, made.end,
                        std::int64_t{made.status}, blob_text{made.answer});
            !done)
            return done;
        return on_.run(
            "DELETE FROM tollgate_attempts WHERE id IN (SELECT id FROM tollgate_attempts WHERE delivery = ? "
            "ORDER BY id DESC LIMIT -1 OFFSET ?)",
            ended.lease.delivery, limits::attempts_per_delivery_max);
    }

    result<void> send_again(delivery_id id, instant at) {
        return on_.run(
            "UPDATE tollgate_deliveries SET attempts_made = attempts_made + 1, lease_open = 0, "
            "leased_until = NULL, due_at = ? WHERE id = ?",
            at, id);
    }

    result<void> give_back(delivery_id id, instant at, bool held) {
        if (held)
            return on_.run(
                "UPDATE tollgate_deliveries SET lease_open = 0, leased_until = NULL, due_at = NULL, ended_at = ?, "
                "state = ? WHERE id = ?",
                now_, delivery_state::held, id);
        return on_.run("UPDATE tollgate_deliveries SET lease_open = 0, leased_until = NULL, due_at = ? WHERE id = ?", at,
                       id);
    }

    /// Somebody asked for it while it was being sent.
    result<void> resend(delivery_id id, bool is_disabled) {
        if (is_disabled)
            return on_.run(
                "UPDATE tollgate_deliveries SET attempts_made = 0, resend_asked = 0, lease_open = 0, "
                "leased_until = NULL, due_at = NULL, ended_at = ?, state = 'held' WHERE id = ?",
                now_, id);
        return on_.run(
            "UPDATE tollgate_deliveries SET attempts_made = 0, resend_asked = 0, lease_open = 0, "
            "leased_until = NULL, due_at = ? WHERE id = ?",
            now_, id);
    }

    result<void> end(delivery_id id, delivery_verdict verdict) {
        using enum delivery_state;
        const delivery_state state = verdict == delivery_verdict::delivered ? delivered
                                     : verdict == delivery_verdict::again   ? held
                                                                            : given_up;
        return on_.run(
            "UPDATE tollgate_deliveries SET attempts_made = attempts_made + 1, lease_open = 0, "
            "leased_until = NULL, due_at = NULL, ended_at = ?, state = ? WHERE id = ?",
            now_, state, id);
    }

    /// Looking for what is beyond the bound goes past all that is kept, so it is done now and then; more is removed then
    /// than came since, so that what other processes did not count goes, too.
    result<void> count_ended(hook_id of) {
        constexpr unsigned interval = 100;
        constexpr std::size_t hooks_counted_max = 10'000;
        if (ended_.size() > hooks_counted_max) ended_.clear();
        if (++ended_[of] < interval) return {};
        ended_[of] = 0;
        return remove_ended_beyond(on_, of, limits::ended_deliveries_per_hook_max, std::size_t{2} * interval);
    }

    result<void> disable(hook_id hook, disable_reason why) {
        if (auto done =
                on_.run("UPDATE tollgate_hooks SET disabled_at = ?, disable_reason = ? WHERE id = ?", now_, why, hook);
            !done)
            return done;
        return on_.run(
            "UPDATE tollgate_deliveries SET state = 'held', due_at = NULL, ended_at = ? "
            "WHERE hook = ? AND due_at IS NOT NULL",
            now_, hook);
    }

    database& on_;
    const instant now_;
    std::unordered_map<hook_id, unsigned>& ended_;
    std::unordered_map<std::string, bool> hosts_;
};

}  // namespace detail

TOLLGATE_DECL result<std::vector<settle_result>> outbox::settle(std::span<const settlement> ended, instant now) {
    std::vector<settle_result> results;
    if (ended.empty()) return results;
    results.reserve(ended.size());
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    auto change = transaction::begin(**connection);
    if (!change) return std::move(change).error();
    detail::settling settling{**connection, now, ended_};
    for (const settlement& each : ended) {
        auto result = settling.settle(each);
        if (!result) return std::move(result).error();
        results.push_back(*result);
    }
    if (auto done = settling.finish(); !done) return std::move(done).error();
    if (auto done = change->commit(); !done) return std::move(done).error();
    return results;
}

TOLLGATE_DECL std::optional<std::uint64_t> outbox::changes_seen() const noexcept {
    const auto mark = connections_.changes().read();
    if (!mark) return std::nullopt;
    // Any change of any word changes the sum, whatever it is, but for one chance in 2^64: each is weighted differently.
    std::uint64_t sum = 0;
    for (const std::uint64_t each : {mark->counter, mark->log_end, mark->checksum, mark->salts})
        sum = ((sum ^ each) * 0x9e37'79b9'7f4a'7c15U) ^ (sum >> 29);
    return sum;
}

}  // namespace tollgate::sqlite
