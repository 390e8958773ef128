#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/delivery_host.hpp>
#include <tollgate/store/detail/memory/outbox.hpp>
#include <tollgate/store/detail/memory/undo.hpp>

#include <algorithm>
#include <utility>

namespace tollgate::inline v0::memory {

namespace detail {

// What a row takes beside its text, measured on x86-64 and rounded up.
inline constexpr std::size_t event_bytes = 256;
inline constexpr std::size_t delivery_bytes = 512;
inline constexpr std::size_t attempt_bytes = 192;

// Of what may be kept to be sent, this part may be one account's, and one host's: a target that is dead, or somebody who
// reports without end, leaves room for all others.
inline constexpr std::size_t shares = 4;

// Of a deleted hook's deliveries, in one step: a millisecond at the most, in which everybody waits.
inline constexpr std::size_t removed_at_once_max = 1000;

}  // namespace detail

TOLLGATE_DECL result<std::size_t> outbox::append(const event& happened, const message_seed& seed, instant now) {
    const auto listening = hooks_.listening_to(happened.account, happened.name);
    if (listening.empty()) return std::size_t{0};
    if (auto fits = expect_share(happened, listening); !fits) return std::move(fits).error();
    const std::size_t event_bytes = detail::event_bytes + happened.data.size();
    if (!make_room(event_bytes + listening.size() * detail::delivery_bytes))
        return unavailable("The memory store's outbox holds " + std::to_string(bytes_max_) +
                           " bytes, as many as it may (memory_settings::outbox_bytes_max).");

    const auto stored = std::make_shared<stored_event>(stored_event{happened, seed});
    const std::int64_t before = last_id_;
    undo_unless_kept added{[&]() noexcept {
        for (std::int64_t id = before + 1; id <= last_id_; ++id)
            if (rows_.contains(id)) remove(id);
    }};
    bytes_ += event_bytes;
    undo_unless_kept counted{[&]() noexcept {
        if (stored->deliveries == 0) bytes_ -= event_bytes;
    }};
    for (const hook_id each : listening) add(++last_id_, each, stored, now);
    counted.keep();
    added.keep();
    return listening.size();
}

TOLLGATE_DECL result<void> outbox::expect_share(const event& happened, const std::vector<hook_id>& listening) {
    const std::size_t share = bytes_max_ / detail::shares;
    const std::size_t bytes =
        listening.size() * (detail::delivery_bytes + detail::event_bytes + happened.data.size());
    const auto is_full = [&](const std::string& whose) {
        return unavailable("The memory store's outbox holds " + std::to_string(share) +
                           " bytes that are still to be sent " + whose +
                           ", as many as it may (a quarter of memory_settings::outbox_bytes_max).");
    };
    if (hooks_.unsent_bytes_of(happened.account) + bytes > share) return is_full("to webhooks of one account");
    for (const hook_id each : listening) {
        const auto known = hosts_.find(delivery_host(hooks_.find(each)->made.target_url));
        if (known != hosts_.end() && known->second->unsent_bytes + bytes > share)
            return is_full("to " + known->second->name);
    }
    return {};
}

/// Once for each delivery, though several may share an event: of these any may be the last that is left.
TOLLGATE_DECL void outbox::charge(const row& which, bool more) noexcept {
    const std::size_t bytes = detail::delivery_bytes + detail::event_bytes + which.of->what.data.size();
    kept_hook* const to = hooks_.find(which.hook);
    which.to->unsent_bytes += more ? bytes : 0 - bytes;
    if (to != nullptr) to->unsent_bytes += more ? bytes : 0 - bytes;
}

TOLLGATE_DECL auto outbox::find(delivery_id id) noexcept -> row* {
    const auto found = rows_.find(id.value());
    return found == rows_.end() || hooks_.find(found->second.hook) == nullptr ? nullptr : &found->second;
}

TOLLGATE_DECL void outbox::add(std::int64_t id, hook_id to, const std::shared_ptr<stored_event>& of, instant now) {
    host& where = host_of(hooks_.find(to)->made.target_url);
    undo_unless_kept met{[&]() noexcept { forget_unless_used(where); }};
    hook_history& history = histories_[to];
    undo_unless_kept begun{[&]() noexcept {
        if (history.deliveries.empty()) histories_.erase(to);
    }};
    const auto kept = rows_.emplace(id, row{.hook = to, .to = &where, .of = of, .message_id = message_id_of(of->seed, to),
                          .created_at = now, .kept_in = &where.waiting, .at = now}).first;
    undo_unless_kept there{[&]() noexcept { rows_.erase(id); }};
    history.deliveries.insert(id);
    undo_unless_kept listed{[&]() noexcept { history.deliveries.erase(id); }};
    where.waiting.insert({now, id});
    there.keep();
    listed.keep();
    begun.keep();
    met.keep();
    ++where.deliveries;
    ++of->deliveries;
    bytes_ += detail::delivery_bytes;
    charge(kept->second, true);
    stand_by_deliveries(where, now);
}

TOLLGATE_DECL auto outbox::host_of(const std::string& target_url) -> host& {
    const std::string name = delivery_host(target_url);
    if (const auto found = hosts_.find(name); found != hosts_.end()) return *found->second;
    host& made = *hosts_.emplace(name, std::make_unique<host>(host{.name = name, .waiting = {}, .leased = {}})).first->second;
    undo_unless_kept known{[&]() noexcept { hosts_.erase(name); }};
    made.place.of = &made;
    made.place.turn = ++last_turn_;
    idle_.insert(made.place);
    made.stands_in = &idle_;
    known.keep();
    return made;
}

TOLLGATE_DECL void outbox::remove(std::int64_t id) noexcept {
    const auto found = rows_.find(id);
    row& gone = found->second;
    if (gone.kept_in != &ended_) charge(gone, false);
    gone.kept_in->erase({gone.at, id});
    forget_attempts_beyond(gone, 0);
    const auto history = histories_.find(gone.hook);
    history->second.deliveries.erase(id);
    if (history->second.deliveries.empty() && !history->second.deleted) histories_.erase(history);
    bytes_ -= detail::delivery_bytes;
    if (--gone.of->deliveries == 0) bytes_ -= detail::event_bytes + gone.of->what.data.size();
    --gone.to->deliveries;
    forget_unless_used(*gone.to);
    rows_.erase(found);
}

TOLLGATE_DECL void outbox::forget_unless_used(host& which) noexcept {
    if (which.deliveries != 0) return;
    which.stands_in->erase(which.place);
    const auto named = hosts_.find(which.name);  // not by name: it dies with the host
    hosts_.erase(named);
}

TOLLGATE_DECL void outbox::forget(hook_id deleted) noexcept {
    const auto found = histories_.find(deleted);
    if (found == histories_.end()) return;
    hook_history& history = found->second;
    history.deleted = true;
    history.of = deleted;
    history.next_deleted = std::exchange(deleted_, &history);
    host& where = *rows_.find(*history.deliveries.begin())->second.to;
    const bool has_others = where.deliveries > history.deliveries.size();
    // The leases first, which nobody else could have.
    for (auto each = where.leased.begin(); each != where.leased.end() && where.deliveries > 1;) {
        const std::int64_t id = (each++)->id;
        if (rows_.find(id)->second.hook == deleted) remove(id);
    }
    forget_deleted(detail::removed_at_once_max);
    // Others of the host may have waited for one of its leases.
    if (has_others && !where.waiting.empty() && where.waiting.begin()->at < where.place.ready_at)
        stand(where, where.waiting.begin()->at);
}

/// How many; the hook that was deleted last comes first.
TOLLGATE_DECL std::size_t outbox::forget_deleted(std::size_t rows_max) noexcept {
    std::size_t forgotten = 0;
    while (deleted_ != nullptr) {
        hook_history& last = *deleted_;
        for (; !last.deliveries.empty() && forgotten < rows_max; ++forgotten) remove(*last.deliveries.begin());
        if (!last.deliveries.empty()) break;
        deleted_ = last.next_deleted;
        const auto named = histories_.find(*last.of);  // not by its own name: it dies with the history
        histories_.erase(named);
    }
    return forgotten;
}

TOLLGATE_DECL void outbox::move(std::int64_t id, row& which, timed_deliveries& into, instant at) noexcept {
    if ((which.kept_in == &ended_) != (&into == &ended_)) charge(which, &into != &ended_);
    auto node = which.kept_in->extract({which.at, id});
    node.value().at = at;
    into.insert(std::move(node));
    which.kept_in = &into;
    which.at = at;
}

TOLLGATE_DECL void outbox::hold(std::int64_t id, row& which, instant now) noexcept {
    which.state = delivery_state::held;
    which.lease_open = false;
    move(id, which, held_, now);
}

TOLLGATE_DECL void outbox::make_due(std::int64_t id, row& which, instant now) noexcept {
    which.state = delivery_state::waiting;
    which.lease_open = false;
    which.resend_asked = false;
    which.attempts_made = 0;
    move(id, which, which.to->waiting, now);
    stand_by_deliveries(*which.to, now);
}

/// `which` goes to the end of the line that is right for it; where nothing changes, it keeps its place.
TOLLGATE_DECL void outbox::stand(host& which, std::optional<instant> ready_at) noexcept {
    auto node = which.stands_in->extract(which.place);
    which.stands_in = !ready_at ? &idle_ : which.slow ? &slow_line_ : &quick_line_;
    which.place.ready_at = ready_at.value_or(instant{});
    which.place.turn = ++last_turn_;
    node.value() = which.place;
    which.stands_in->insert(std::move(node));
}

/// After a delivery of the host came, or a lease of it ended.
TOLLGATE_DECL void outbox::stand_by_deliveries(host& which, instant now) noexcept {
    std::optional<instant> ready_at;
    for (const timed_deliveries* each : {&which.waiting, &which.leased})
        if (!each->empty() && (!ready_at || each->begin()->at < *ready_at)) ready_at = each->begin()->at;
    const line* const right = !ready_at ? &idle_ : which.slow ? &slow_line_ : &quick_line_;
    // Who has waited for a turn since earlier than now does not begin to wait again.
    if (ready_at && *ready_at <= now) {
        if (which.stands_in == right && which.place.ready_at <= now) return;
        ready_at = now;
    }
    stand(which, ready_at);
}

TOLLGATE_DECL claimed_deliveries outbox::claim(const claim_terms& terms) {
    claimed_deliveries claimed;
    std::size_t data_bytes = 0;
    ++last_claim_;
    removed_in_claim_ = 0;
    undo_unless_kept leased{[&]() noexcept {
        for (const due_delivery& each : claimed.deliveries) {
            const std::int64_t id = each.lease.delivery.value();
            row& which = rows_.find(id)->second;
            which.lease_open = false;
            move(id, which, which.to->waiting, terms.now);
            stand_by_deliveries(*which.to, terms.now);
        }
    }};
    const std::size_t slow_max = (std::min)(terms.slow_deliveries_max, terms.deliveries_max);
    if (claim_in(slow_line_, terms, slow_max, claimed.deliveries, data_bytes))
        claim_in(quick_line_, terms, terms.deliveries_max, claimed.deliveries, data_bytes);
    leased.keep();

    if (!quick_line_.empty()) claimed.next_at = quick_line_.begin()->ready_at;
    if (slow_max != 0 && !slow_line_.empty() && (!claimed.next_at || slow_line_.begin()->ready_at < *claimed.next_at))
        claimed.next_at = slow_line_.begin()->ready_at;
    return claimed;
}

TOLLGATE_DECL bool outbox::claim_in(line& from, const claim_terms& terms, std::size_t deliveries_max,
                                    std::vector<due_delivery>& into, std::size_t& data_bytes) {
    while (into.size() < deliveries_max && !from.empty() && from.begin()->ready_at <= terms.now) {
        host& next = *from.begin()->of;
        if (next.served_in_claim == last_claim_) return true;  // behind it there are none but those that were served
        next.served_in_claim = last_claim_;
        if (!claim_of(next, terms, deliveries_max, into, data_bytes)) return false;
    }
    return true;
}

TOLLGATE_DECL bool outbox::claim_of(host& which, const claim_terms& terms, std::size_t deliveries_max,
                                    std::vector<due_delivery>& into, std::size_t& data_bytes) {
    const auto is_due = [&terms](const timed_deliveries& of) { return !of.empty() && of.begin()->at <= terms.now; };
    while (is_due(which.leased)) {
        const timed_delivery over = *which.leased.begin();
        move(over.id, rows_.find(over.id)->second, which.waiting, over.at);
    }

    const bool quick = which.answered_once && !which.slow;
    const std::size_t leases_max = (std::max)(quick ? terms.per_host_max : terms.per_slow_host_max, std::size_t{1});
    const std::size_t claimed_before = into.size();
    bool all_fits = true;
    while (is_due(which.waiting) && into.size() < deliveries_max && which.leased.size() < leases_max) {
        const std::int64_t id = which.waiting.begin()->id;
        row& next = rows_.find(id)->second;
        const kept_hook* const listens = hooks_.find(next.hook);
        if (listens == nullptr) {
            if (removed_in_claim_ == detail::removed_at_once_max) break;
            ++removed_in_claim_;
            const bool was_last = which.deliveries == 1;
            remove(id);
            if (was_last) return true;  // and its host is gone, too
            continue;
        }
        const kept_hook& to = *listens;
        if (to.disabled) {
            hold(id, next, terms.now);
            continue;
        }
        const std::size_t bytes = next.of->what.data.size();
        all_fits = into.empty() || bytes <= terms.data_bytes_max - (std::min)(data_bytes, terms.data_bytes_max);
        if (!all_fits) break;
        into.push_back(describe(id, next, to, terms.now));
        data_bytes += bytes;
        next.lease_open = true;
        next.resend_asked = false;
        ++next.lease_number;
        move(id, next, which.leased, terms.lease_until);
    }

    if (!all_fits && into.size() == claimed_before) return false;  // it keeps its place
    if (is_due(which.waiting)) {
        stand(which, which.leased.size() < leases_max ? terms.now : which.leased.begin()->at);
    } else {
        std::optional<instant> ready_at;
        for (const timed_deliveries* each : {&which.waiting, &which.leased})
            if (!each->empty() && (!ready_at || each->begin()->at < *ready_at)) ready_at = each->begin()->at;
        stand(which, ready_at);
    }
    return all_fits;
}

TOLLGATE_DECL due_delivery outbox::describe(std::int64_t id, const row& which, const kept_hook& to, instant now) const {
    std::vector<std::string> previous_secrets;
    for (const auto& each : to.previous_secrets)
        if (now < each.valid_until) previous_secrets.push_back(each.secret);
    return {.lease = {delivery_id{id}, which.lease_number + 1},
            .hook = which.hook,
            .slow = which.to->slow,
            .what = std::shared_ptr<const event>{which.of, &which.of->what},
            .message_id = which.message_id,
            .type = to.made.type,
            .target_url = to.made.target_url,
            .secret = to.made.secret,
            .previous_secrets = std::move(previous_secrets),
            .attempts_made = which.attempts_made};
}

/// First all that may run out of memory, then all that may not.
TOLLGATE_DECL std::vector<settle_result> outbox::settle(std::span<const settlement> ended, instant now) {
    std::vector<settle_result> results;
    results.reserve(ended.size());
    std::size_t recorded = 0;
    undo_unless_kept on_record{[&]() noexcept {
        for (const settlement& each : ended.first(recorded))
            if (row* const which = find(each.lease.delivery);
                which != nullptr && each.verdict != delivery_verdict::unsent)
                forget_attempt(*which, which->attempts.size() - 1);
    }};
    for (const settlement& each : ended) {
        record(each);
        ++recorded;
    }
    on_record.keep();
    for (const settlement& each : ended) results.push_back(settle_one(each, now));
    return results;
}

TOLLGATE_DECL void outbox::record(const settlement& ended) {
    if (ended.verdict == delivery_verdict::unsent) return;
    const std::size_t bytes = detail::attempt_bytes + ended.made.answer.size();
    const bool fits = make_room(bytes);  // before the row is looked for, which may go now
    const std::int64_t id = ended.lease.delivery.value();
    row* const found = find(ended.lease.delivery);
    if (found == nullptr) return;
    row& which = *found;
    auto& attempts = histories_.find(which.hook)->second.attempts;
    attempt kept = ended.made;
    if (!fits) kept.answer.clear();  // that there was an attempt matters more than what was said
    which.attempts.reserve(which.attempts.size() + 1);
    attempts.emplace(++last_attempt_, attempt_row{id, std::move(kept)});
    which.attempts.push_back(last_attempt_);
    bytes_ += detail::attempt_bytes + (fits ? ended.made.answer.size() : 0);
}

TOLLGATE_DECL settle_result outbox::settle_one(const settlement& ended, instant now) noexcept {
    const std::int64_t id = ended.lease.delivery.value();
    row* const found = find(ended.lease.delivery);
    if (found == nullptr) return settle_result::too_late;
    row& which = *found;
    forget_attempts_beyond(which, limits::attempts_per_delivery_max);
    if (!which.lease_open || which.lease_number != ended.lease.number) return settle_result::too_late;

    kept_hook& to = *hooks_.find(which.hook);
    const bool was_disabled = to.disabled.has_value();
    which.lease_open = false;
    if (ended.verdict == delivery_verdict::unsent) {
        if (was_disabled) hold(id, which, now);
        else move(id, which, which.to->waiting, ended.again_at);
        stand_by_deliveries(*which.to, now);
        return settle_result::done;
    }
    ++which.attempts_made;
    which.to->answered_once = true;
    which.to->slow = ended.made.duration >= slow_attempt;
    if (ended.verdict == delivery_verdict::delivered) to.failing_since.reset();
    else fail(to, ended);

    const bool resent = std::exchange(which.resend_asked, false);
    if (resent) which.attempts_made = 0;
    if ((resent || ended.verdict == delivery_verdict::again) && !was_disabled) {
        move(id, which, which.to->waiting, resent ? now : ended.again_at);
    } else if (resent || ended.verdict == delivery_verdict::again) {
        hold(id, which, now);
    } else {
        which.state = ended.verdict == delivery_verdict::delivered ? delivery_state::delivered : delivery_state::given_up;
        move(id, which, ended_, now);
    }

    if (!was_disabled && ended.verdict == delivery_verdict::gone) disable(which.hook, to, disable_reason::gone, now);
    if (!to.disabled && to.failing_since && ended.disable_if_failing_since &&
        *to.failing_since <= *ended.disable_if_failing_since)
        disable(which.hook, to, disable_reason::failing, now);
    stand_by_deliveries(*which.to, now);
    return to.disabled && !was_disabled ? settle_result::hook_disabled : settle_result::done;
}

TOLLGATE_DECL void outbox::fail(kept_hook& which, const settlement& by) noexcept {
    const auto& bound = by.disable_if_failing_since;
    if (!which.failing_since || (bound && which.last_failure_at < *bound)) {
        which.failing_since = which.last_failure_at = by.made.at;
    } else {
        which.last_failure_at = (std::max)(which.last_failure_at, by.made.at);
    }
}

TOLLGATE_DECL void outbox::disable(hook_id id, kept_hook& which, disable_reason why, instant now) noexcept {
    which.disabled = hook_disablement{now, why};
    for (const std::int64_t each : histories_.find(id)->second.deliveries)
        if (row& one = rows_.find(each)->second; one.kept_in == &one.to->waiting) hold(each, one, now);
}

/// The oldest go.
TOLLGATE_DECL void outbox::forget_attempts_beyond(row& which, std::size_t attempts_max) noexcept {
    while (which.attempts.size() > attempts_max) forget_attempt(which, 0);
}

TOLLGATE_DECL void outbox::forget_attempt(row& which, std::size_t index) noexcept {
    auto& attempts = histories_.find(which.hook)->second.attempts;
    const auto place = which.attempts.begin() + static_cast<std::ptrdiff_t>(index);
    const auto found = attempts.find(*place);
    bytes_ -= detail::attempt_bytes + found->second.made.answer.size();
    attempts.erase(found);
    which.attempts.erase(place);
}

/// Whether there is room for so much, once of the deliveries that ended the oldest are forgotten. Those that are held are
/// still to be sent.
TOLLGATE_DECL bool outbox::make_room(std::size_t bytes) noexcept {
    while (bytes_ + bytes > bytes_max_ && deleted_ != nullptr) forget_deleted(1);
    while (bytes_ + bytes > bytes_max_ && !ended_.empty()) remove(ended_.begin()->id);
    return bytes_ + bytes <= bytes_max_;
}

}  // namespace tollgate::memory
