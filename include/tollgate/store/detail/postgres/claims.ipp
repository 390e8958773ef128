#pragma once

#include <tollgate/store/detail/postgres/backlog.hpp>
#include <tollgate/store/detail/postgres/claims.hpp>
#include <tollgate/store/detail/postgres/delivery_columns.hpp>
#include <tollgate/store/detail/postgres/removal.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace tollgate::inline v0::postgres {

struct claims::candidate {
    delivery_id id;
    std::int64_t lease_number;
    hook_id hook;
    std::int64_t event;
    std::int64_t attempts_made;
    std::size_t bytes;
    bool is_disabled;
    bool to_slow_host;
};

struct claims::host {
    std::int64_t id;
    bool is_slow;
    std::vector<candidate> due{};
};

struct claims::choice {
    std::vector<candidate> leased{};
    std::vector<delivery_id> held{};
    std::vector<std::int64_t> visited{};
};

namespace detail {

/// As many as one claim locks: more than are served in one mean a further claim at once.
inline constexpr std::size_t hosts_max = 1000;

inline constexpr sql when_next{
    "SELECT (SELECT min(ready_at) FROM tollgate_hosts WHERE NOT is_slow AND ready_at IS NOT NULL), "
    "(SELECT min(ready_at) FROM tollgate_hosts WHERE is_slow AND ready_at IS NOT NULL), "
    "EXISTS (SELECT FROM tollgate_bells), EXISTS (SELECT FROM tollgate_hooks WHERE has_backlog)"};

struct outlook {
    std::optional<instant> next_at;
    bool has_backlog = false;
};

/// By what `when_next` says.
inline result<outlook> read_outlook(rows& from, const claim_terms& terms) {
    const auto row = from.only<std::optional<instant>, std::optional<instant>, bool, bool>();
    if (!row) return row.error();
    const auto& [quick, slow, any_bell, has_backlog] = *row;
    if (any_bell || has_backlog) return outlook{terms.now, has_backlog};
    const bool takes_slow = terms.slow_deliveries_max != 0;
    if (!takes_slow || !slow) return outlook{quick};
    return outlook{quick ? (std::min)(quick, slow) : slow};
}

inline std::size_t leases_max(std::size_t given) noexcept { return (std::max)(given, std::size_t{1}); }

}  // namespace detail

TOLLGATE_DECL result<claimed_deliveries> claims::claim_due(const claim_terms& terms) {
    if (terms.deliveries_max == 0) return claimed_deliveries{};
    auto told = connections_.ask(detail::when_next);
    if (!told) return std::move(told).error();
    const auto before = detail::read_outlook(*told, terms);
    if (!before) return before.error();
    if (!before->next_at || *before->next_at > terms.now) return claimed_deliveries{{}, before->next_at};
    if (before->has_backlog)
        if (auto done = work_on_backlog(connections_, backlog_rows_max, terms.now); !done)
            return std::move(done).error();
    constexpr int tries_max = 3;
    for (int tries = 1;; ++tries) {
        bool may_be_tried_again = false;
        auto claimed = claim_once(terms, may_be_tried_again);
        if (claimed || !may_be_tried_again || tries == tries_max) return claimed;
    }
}

TOLLGATE_DECL result<claimed_deliveries> claims::claim_once(const claim_terms& terms, bool& may_be_tried_again) {
    auto talk = connections_.converse();
    if (!talk) return std::move(talk).error();
    const auto ready = lock_hosts(*talk, terms);
    may_be_tried_again = talk->may_be_tried_again();
    if (!ready) return ready.error();
    auto claimed = lease(*talk, choose(*ready, terms), terms);
    may_be_tried_again = talk->may_be_tried_again();
    return claimed;
}

TOLLGATE_DECL result<std::vector<claims::host>> claims::lock_hosts(conversation& talk, const claim_terms& terms) {
    auto asked = connections_.make_batch();
    asked.add("BEGIN");
    // A host that waits already keeps its place. A bell whose host is gone is forgotten; one whose host somebody else
    // has locked is heard next time.
    asked.add(
        "WITH rung AS (SELECT id, host_id, due_at FROM tollgate_bells ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED), "
        "open AS (SELECT id FROM tollgate_hosts WHERE id IN (SELECT host_id FROM rung) "
        "FOR NO KEY UPDATE SKIP LOCKED), "
        "heard AS (DELETE FROM tollgate_bells AS bells USING rung WHERE bells.id = rung.id "
        "AND (rung.host_id IN (SELECT id FROM open) "
        "OR NOT EXISTS (SELECT FROM tollgate_hosts WHERE id = rung.host_id))) "
        "UPDATE tollgate_hosts AS hosts SET ready_at = due_at, turn = nextval('tollgate_turns') "
        "FROM (SELECT host_id, min(due_at) AS due_at FROM rung GROUP BY host_id) AS first "
        "WHERE hosts.id = host_id AND hosts.id IN (SELECT id FROM open) AND (ready_at IS NULL OR ready_at > due_at)",
        detail::hosts_max);
    // The next statement learns from a setting of this transaction which they are. It looks at their deliveries by
    // itself, because this one may have begun before the last who had a host locked was done.
    asked.add(
        "WITH slow AS (SELECT id FROM tollgate_hosts WHERE is_slow AND ready_at <= $1 ORDER BY ready_at, turn LIMIT $2 "
        "FOR NO KEY UPDATE SKIP LOCKED), "
        "quick AS (SELECT id FROM tollgate_hosts WHERE NOT is_slow AND ready_at <= $1 ORDER BY ready_at, turn LIMIT $3 "
        "FOR NO KEY UPDATE SKIP LOCKED) "
        "SELECT set_config('tollgate.locked_hosts', coalesce(string_agg(id::text, ','), ''), true) "
        "FROM (SELECT id FROM slow UNION ALL SELECT id FROM quick) AS locked",
        terms.now, (std::min)({terms.slow_deliveries_max, terms.deliveries_max, detail::hosts_max}),
        (std::min)(terms.deliveries_max, detail::hosts_max));
    asked.add(
        "SELECT hosts.id, is_slow, due.id, lease_number, hook_id, event_id, attempts_made, bytes, is_disabled "
        "FROM tollgate_hosts AS hosts CROSS JOIN LATERAL (SELECT count(*) AS leases FROM tollgate_deliveries "
        "WHERE host_id = hosts.id AND state = 0 AND is_leased AND at > $1) AS taken "
        "LEFT JOIN LATERAL (SELECT deliveries.id, at, lease_number, hook_id, event_id, attempts_made, "
        "octet_length(data)::bigint AS bytes, disabled_at IS NOT NULL OR hooks.account_id = 0 AS is_disabled "
        "FROM tollgate_deliveries AS deliveries JOIN tollgate_events AS events ON events.id = event_id "
        "JOIN tollgate_hooks AS hooks ON hooks.id = hook_id "
        "WHERE deliveries.host_id = hosts.id AND state = 0 AND at <= $1 ORDER BY at, deliveries.id "
        "LIMIT least($2, greatest(CASE WHEN has_answered AND NOT is_slow THEN $3 ELSE $4 END - leases, 0))) AS due ON "
        "true "
        "WHERE hosts.id = ANY (string_to_array(current_setting('tollgate.locked_hosts'), ',')::bigint[]) "
        "ORDER BY is_slow DESC, ready_at, turn, hosts.id, due.at, due.id",
        terms.now, terms.deliveries_max, detail::leases_max(terms.per_host_max),
        detail::leases_max(terms.per_slow_host_max));
    auto answered = talk.run(asked);
    if (!answered) return std::move(answered).error();

    std::vector<host> ready;
    for (;;) {
        const auto row = answered->back()
                             .next<std::int64_t, bool, std::optional<delivery_id>, std::optional<std::int64_t>,
                                   std::optional<hook_id>, std::optional<std::int64_t>, std::optional<std::int64_t>,
                                   std::optional<std::int64_t>, std::optional<bool>>();
        if (!row) return row.error();
        if (!*row) return ready;
        const auto& [host_id, is_slow, id, lease_number, hook, event, attempts_made, bytes, is_disabled] = **row;
        if (ready.empty() || ready.back().id != host_id) ready.push_back({host_id, is_slow});
        if (id && lease_number && hook && event && attempts_made && bytes && is_disabled)
            ready.back().due.push_back({*id, *lease_number, *hook, *event, *attempts_made,
                                        static_cast<std::size_t>(*bytes), *is_disabled, is_slow});
    }
}

TOLLGATE_DECL claims::choice claims::choose(const std::vector<host>& ready, const claim_terms& terms) {
    choice made;
    std::size_t bytes = 0;
    const std::size_t slow_max = (std::min)(terms.slow_deliveries_max, terms.deliveries_max);
    for (const host& each : ready) {
        const std::size_t most = each.is_slow ? slow_max : terms.deliveries_max;
        if (made.leased.size() >= most) continue;  // of its line there are no more; it keeps its place
        const std::size_t before = made.leased.size();
        bool all_fits = true;
        for (const candidate& one : each.due) {
            if (one.is_disabled) {
                made.held.push_back(one.id);
                continue;
            }
            if (made.leased.size() >= most) break;
            const std::size_t left = terms.data_bytes_max - (std::min)(bytes, terms.data_bytes_max);
            all_fits = made.leased.empty() || one.bytes <= left;
            if (!all_fits) break;
            made.leased.push_back(one);
            bytes += one.bytes;
        }
        // The next claim begins here: what is large would wait for ever if whatever is small went past it.
        if (all_fits || made.leased.size() != before) made.visited.push_back(each.id);
        if (!all_fits) break;
    }
    return made;
}

TOLLGATE_DECL result<claimed_deliveries> claims::lease(conversation& talk, const choice& chosen,
                                                        const claim_terms& terms) {
    std::vector<delivery_id> ids;
    std::vector<hook_id> hooks;
    std::vector<std::int64_t> events;
    for (const candidate& each : chosen.leased) {
        ids.push_back(each.id);
        hooks.push_back(each.hook);
        events.push_back(each.event);
    }
    auto asked = connections_.make_batch();
    if (!ids.empty())
        asked.add(
            "UPDATE tollgate_deliveries SET at = $2, is_leased = true, lease_is_open = true, "
            "lease_number = lease_number + 1, resend_asked = false WHERE id = ANY ($1)",
            ids, terms.lease_until);
    if (!chosen.held.empty())
        asked.add(
            "UPDATE tollgate_deliveries SET state = 3, at = $2, is_leased = false, lease_is_open = false "
            "WHERE id = ANY ($1)",
            chosen.held, terms.now);
    // To the end of the line: when something is due and there is a lease to give, when there will be, or when something
    // will be due.
    asked.add(
        "UPDATE tollgate_hosts AS hosts SET turn = nextval('tollgate_turns'), "
        "ready_at = CASE WHEN first_at IS NULL OR first_at > $2 THEN first_at "
        "WHEN leases < CASE WHEN has_answered AND NOT is_slow THEN $3 ELSE $4 END THEN $2 ELSE first_end END "
        "FROM unnest($1) AS visited (id) "
        "CROSS JOIN LATERAL (SELECT min(at) AS first_at FROM tollgate_deliveries "
        "WHERE host_id = visited.id AND state = 0) AS waiting "
        "CROSS JOIN LATERAL (SELECT count(*) AS leases, min(at) AS first_end FROM tollgate_deliveries "
        "WHERE host_id = visited.id AND state = 0 AND is_leased AND at > $2) AS taken WHERE hosts.id = visited.id",
        chosen.visited, terms.now, detail::leases_max(terms.per_host_max), detail::leases_max(terms.per_slow_host_max));
    const std::size_t next_answer = asked.statements().size();
    asked.add(detail::when_next);
    asked.add("COMMIT");
    // What is large is read when nobody waits for the hosts any more.
    if (!ids.empty()) {
        asked.add("SELECT id, type, target_url, secret FROM tollgate_hooks WHERE id = ANY ($1)", hooks);
        asked.add(
            "SELECT hook_id, secret FROM tollgate_hook_secrets WHERE hook_id = ANY ($1) AND valid_until > $2 "
            "ORDER BY hook_id, id DESC",
            hooks, terms.now);
        asked.add(
            "SELECT id, service, account_id, name, data, happened_at, seed FROM tollgate_events WHERE id = ANY ($1)",
            events);
    }
    auto answered = talk.run(asked);
    if (!answered) return std::move(answered).error();
    talk.committed();

    const auto after = detail::read_outlook((*answered)[next_answer], terms);
    if (!after) return after.error();
    claimed_deliveries claimed{{}, after->next_at};
    if (ids.empty()) {
        // Somebody else has the hosts that are ready: no longer than a round trip or two.
        if (chosen.visited.empty() && claimed.next_at && *claimed.next_at <= terms.now)
            claimed.next_at = terms.now + milliseconds{10};
        return claimed;
    }

    struct target {
        std::string type, url, secret;
        std::vector<std::string> previous_secrets{};
    };
    std::unordered_map<hook_id, target> targets;
    for (rows& listed = (*answered)[next_answer + 2];;) {
        auto row = listed.next<hook_id, std::string, std::string, std::string>();
        if (!row) return std::move(row).error();
        if (!*row) break;
        auto& [id, type, url, secret] = **row;
        targets.emplace(id, target{std::move(type), std::move(url), std::move(secret)});
    }
    for (rows& listed = (*answered)[next_answer + 3];;) {
        auto row = listed.next<hook_id, std::string>();
        if (!row) return std::move(row).error();
        if (!*row) break;
        auto& [id, secret] = **row;
        if (const auto of = targets.find(id); of != targets.end())
            of->second.previous_secrets.push_back(std::move(secret));
    }
    struct reported {
        std::shared_ptr<const event> what;
        message_seed seed;
    };
    std::unordered_map<std::int64_t, reported> reports;
    for (rows& listed = (*answered)[next_answer + 4];;) {
        auto row =
            listed.next<std::int64_t, service_name, account_id, std::string, std::string, instant, message_seed>();
        if (!row) return std::move(row).error();
        if (!*row) break;
        auto& [id, service, account, name, data, at, seed] = **row;
        reports.emplace(
            id, reported{std::make_shared<const event>(event{{service, account}, std::move(name), std::move(data), at}),
                         seed});
    }
    claimed.deliveries.reserve(chosen.leased.size());
    for (const candidate& each : chosen.leased) {
        const auto to = targets.find(each.hook);
        const auto of = reports.find(each.event);
        if (to == targets.end() || of == reports.end()) continue;  // its hook was deleted a moment ago
        claimed.deliveries.push_back({.lease = {each.id, each.lease_number + 1},
                                      .hook = each.hook,
                                      .slow = each.to_slow_host,
                                      .what = of->second.what,
                                      .message_id = message_id_of(of->second.seed, each.hook),
                                      .type = to->second.type,
                                      .target_url = to->second.url,
                                      .secret = to->second.secret,
                                      .previous_secrets = to->second.previous_secrets,
                                      .attempts_made = static_cast<unsigned>(each.attempts_made)});
    }
    return claimed;
}

}  // namespace tollgate::postgres
