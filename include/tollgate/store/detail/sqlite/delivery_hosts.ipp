#pragma once

#include <tollgate/store/detail/sqlite/columns.hpp>
#include <tollgate/store/detail/sqlite/delivery_hosts.hpp>

#include <utility>

namespace tollgate::inline v0::sqlite {

TOLLGATE_DECL auto delivery_hosts::next_in_line(bool slow, instant now) -> result<std::optional<next_host>> {
    auto row = on_.prepare(
                      "SELECT name, answered_once FROM tollgate_delivery_hosts WHERE slow = ? AND ready_at <= ? "
                      "ORDER BY ready_at, turn LIMIT 1",
                      slow, now)
                   .next<std::string, bool>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<next_host>{};
    auto& [name, answered_once] = **row;
    return std::optional{next_host{std::move(name), answered_once}};
}

TOLLGATE_DECL result<std::optional<instant>> delivery_hosts::ready_at(bool slow) {
    auto row = on_.prepare(
                      "SELECT ready_at FROM tollgate_delivery_hosts WHERE slow = ? AND ready_at IS NOT NULL "
                      "ORDER BY ready_at LIMIT 1",
                      slow)
                   .next<instant>();
    if (!row) return std::move(row).error();
    return *row ? std::optional{std::get<0>(**row)} : std::nullopt;
}

TOLLGATE_DECL result<void> delivery_hosts::expect_delivery(const std::string& name, instant now) {
    // One that stands for a later moment although something of it is due has no lease to give until then: it would
    // only be looked at in vain.
    return on_.run(
        "INSERT INTO tollgate_delivery_hosts (name, ready_at, turn) SELECT ?1, ?2, (SELECT coalesce(max(turn), 0) + 1 "
        "FROM tollgate_delivery_hosts WHERE slow = 0 AND ready_at = ?2) WHERE true "
        "ON CONFLICT (name) DO UPDATE SET ready_at = ?2, idle_since = NULL, "
        "turn = (SELECT coalesce(max(others.turn), 0) + 1 FROM tollgate_delivery_hosts AS others "
        "WHERE others.slow = tollgate_delivery_hosts.slow AND others.ready_at = ?2) "
        "WHERE ready_at IS NULL OR (ready_at > ?2 AND NOT EXISTS "
        "(SELECT 1 FROM tollgate_deliveries WHERE host = ?1 AND due_at <= ?2))",
        name, now);
}

TOLLGATE_DECL auto delivery_hosts::earliest(const std::string& name) -> result<times> {
    auto row =
        on_.prepare(
               "SELECT (SELECT min(due_at) FROM tollgate_deliveries WHERE host = ?1 AND due_at IS NOT NULL), "
               "(SELECT min(leased_until) FROM tollgate_deliveries WHERE host = ?1 AND leased_until IS NOT NULL)",
               name)
            .next<std::optional<instant>, std::optional<instant>>();
    if (!row) return std::move(row).error();
    auto& [due_at, leased_until] = row->value();
    return times{due_at, leased_until};
}

TOLLGATE_DECL result<void> delivery_hosts::place(const std::string& name, std::optional<instant> ready_at,
                                                  instant now) {
    if (!ready_at)
        return on_.run("UPDATE tollgate_delivery_hosts SET ready_at = NULL, idle_since = ?2 WHERE name = ?1", name,
                       now);
    return on_.run(
        "UPDATE tollgate_delivery_hosts SET ready_at = ?2, idle_since = NULL, "
        "turn = (SELECT coalesce(max(others.turn), 0) + 1 FROM tollgate_delivery_hosts AS others "
        "WHERE others.slow = tollgate_delivery_hosts.slow AND others.ready_at = ?2) WHERE name = ?1",
        name, *ready_at);
}

TOLLGATE_DECL result<void> delivery_hosts::stand(const std::string& name, instant now) {
    auto first = earliest(name);
    if (!first) return std::move(first).error();
    std::optional<instant> ready_at = first->due_at;
    if (first->leased_until && (!ready_at || *first->leased_until < *ready_at)) ready_at = first->leased_until;
    if (ready_at && *ready_at <= now) {
        // Who has waited for a turn since earlier than now does not begin to wait again.
        auto waits =
            on_.prepare("SELECT count(*) FROM tollgate_delivery_hosts WHERE name = ? AND ready_at <= ?", name, now)
                .next<bool>();
        if (!waits) return std::move(waits).error();
        if (std::get<0>(waits->value())) return {};
        ready_at = now;
    }
    return place(name, ready_at, now);
}

TOLLGATE_DECL result<void> delivery_hosts::lost_deliveries(const std::string& name) {
    if (auto done =
            on_.run("DELETE FROM tollgate_delivery_hosts WHERE name = ?1 "
                    "AND NOT EXISTS (SELECT 1 FROM tollgate_deliveries WHERE host = ?1 AND due_at IS NOT NULL) "
                    "AND NOT EXISTS (SELECT 1 FROM tollgate_deliveries WHERE host = ?1 AND leased_until IS NOT NULL)",
                    name);
        !done)
        return done;
    auto first = earliest(name);
    if (!first) return std::move(first).error();
    // What waits may have waited for one of the leases that are gone. A turn that comes too early does no harm.
    if (!first->due_at) return {};
    return on_.run("UPDATE tollgate_delivery_hosts SET ready_at = ?2 WHERE name = ?1 AND ready_at > ?2", name,
                   *first->due_at);
}

TOLLGATE_DECL result<void> delivery_hosts::took_turn(const std::string& name, bool has_room, instant now) {
    auto first = earliest(name);
    if (!first) return std::move(first).error();
    const auto& [due_at, leased_until] = *first;
    if (due_at && *due_at <= now) return place(name, has_room ? now : leased_until.value_or(now), now);
    return place(name, leased_until && (!due_at || *leased_until < *due_at) ? leased_until : due_at, now);
}

TOLLGATE_DECL result<void> delivery_hosts::answered(const std::string& name, bool slowly, instant now) {
    // In another line it begins to wait anew.
    if (auto done = on_.run("UPDATE tollgate_delivery_hosts SET answered_once = 1, slow = ?2, "
                            "ready_at = CASE WHEN slow = ?2 THEN ready_at END, "
                            "idle_since = CASE WHEN slow = ?2 THEN idle_since ELSE ?3 END WHERE name = ?1",
                            name, slowly, now);
        !done)
        return done;
    return stand(name, now);
}

TOLLGATE_DECL result<void> delivery_hosts::sweep(instant idle_before, std::size_t rows_max) {
    return on_.run(
        "DELETE FROM tollgate_delivery_hosts WHERE name IN (SELECT name FROM tollgate_delivery_hosts "
        "WHERE idle_since < ? ORDER BY idle_since LIMIT ?)",
        idle_before, rows_max);
}

}  // namespace tollgate::sqlite
