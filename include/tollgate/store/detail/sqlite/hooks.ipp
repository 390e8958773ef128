#pragma once

#include <tollgate/base/limits.hpp>
#include <tollgate/store/detail/refusals.hpp>
#include <tollgate/store/detail/sqlite/delivery_columns.hpp>
#include <tollgate/store/detail/sqlite/hooks.hpp>
#include <tollgate/store/detail/sqlite/remove_deliveries.hpp>

namespace tollgate::inline v0::sqlite {

template <>
struct column<hook_source> {
    static std::optional<hook_source> read(const cell& from) noexcept {
        const auto text = from.text();
        for (const hook_source each : {hook_source::api, hook_source::manual})
            if (text == to_text(each)) return each;
        return std::nullopt;
    }
    static void write(parameter to, hook_source value) noexcept { to.text(to_text(value)); }
};

TOLLGATE_DECL result<hook_id> hooks::create(const new_hook& made, std::size_t hooks_per_event_max) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    // One statement is one transaction, and it holds the write lock from its start: nobody else can count in between.
    auto done =
        (*connection)
            ->run(
                "INSERT INTO tollgate_hooks (service, account, event, source, type, target_url, secret, created_at) "
                "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE ?9 > (SELECT count(*) FROM tollgate_hooks "
                "WHERE service = ?1 AND account = ?2 AND event = ?3)",
                made.account.service, made.account.account, made.event, made.source, made.type, made.target_url,
                made.secret, made.created_at, hooks_per_event_max);
    if (!done) return std::move(done).error();
    if ((*connection)->changes() == 0) return too_many_hooks(hooks_per_event_max);
    return hook_id{(*connection)->last_insert_id()};
}

TOLLGATE_DECL result<std::vector<hook>> hooks::of(const account_ref& account) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto rows = (*connection)
                    ->prepare(
                        "SELECT id, event, source, type, target_url, created_at, disabled_at, disable_reason, "
                        "failing_since FROM tollgate_hooks WHERE service = ? AND account = ? ORDER BY id",
                        account.service, account.account);
    std::vector<hook> found;
    for (;;) {
        auto row = rows.next<hook_id, std::string, hook_source, std::string, std::string, instant,
                             std::optional<instant>, std::optional<disable_reason>, std::optional<instant>>();
        if (!row) return std::move(row).error();
        if (!*row) return found;
        auto& [id, event, source, type, target_url, created_at, disabled_at, why, failing_since] = **row;
        hook& listed = found.emplace_back(
            hook{id, account, std::move(event), source, std::move(type), std::move(target_url), created_at});
        if (disabled_at) listed.disabled = hook_disablement{*disabled_at, why.value_or(disable_reason::failing)};
        listed.failing_since = failing_since;
    }
}

TOLLGATE_DECL result<std::optional<account_ref>> hooks::account_of(const service_name& service, hook_id id) {
    auto connection = connections_.reader();
    if (!connection) return std::move(connection).error();
    auto row = (*connection)
                   ->prepare("SELECT account FROM tollgate_hooks WHERE id = ? AND service = ?", id, service)
                   .next<account_id>();
    if (!row) return std::move(row).error();
    if (!*row) return std::optional<account_ref>{};
    return std::optional{account_ref{service, std::get<0>(**row)}};
}

TOLLGATE_DECL result<bool> hooks::replace_secret(const account_ref& account, hook_id id, const std::string& secret,
                                                  instant old_valid_until) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    database& on = **connection;
    auto change = transaction::begin(on);
    if (!change) return std::move(change).error();
    if (auto done = on.run("INSERT INTO tollgate_hook_secrets (hook, secret, valid_until) "
                           "SELECT id, secret, ? FROM tollgate_hooks WHERE id = ? AND service = ? AND account = ?",
                           old_valid_until, id, account.service, account.account);
        !done)
        return std::move(done).error();
    if (on.changes() == 0) return false;
    if (auto done = on.run("DELETE FROM tollgate_hook_secrets WHERE id IN (SELECT id FROM tollgate_hook_secrets "
                           "WHERE hook = ? ORDER BY id DESC LIMIT -1 OFFSET ?)",
                           id, limits::previous_secrets_max);
        !done)
        return std::move(done).error();
    if (auto done = on.run("UPDATE tollgate_hooks SET secret = ? WHERE id = ?", secret, id); !done)
        return std::move(done).error();
    if (auto done = change->commit(); !done) return std::move(done).error();
    return true;
}

TOLLGATE_DECL result<bool> hooks::remove(const account_ref& account, hook_id id) {
    auto connection = connections_.writer();
    if (!connection) return std::move(connection).error();
    database& on = **connection;
    auto change = transaction::begin(on);
    if (!change) return std::move(change).error();
    auto target = on.prepare("SELECT target_url FROM tollgate_hooks WHERE id = ? AND service = ? AND account = ?", id,
                             account.service, account.account)
                      .next<std::string>();
    if (!target) return std::move(target).error();
    if (!*target) return false;
    // From now on it belongs to no account. Many deliveries would take long to remove: sweeps remove the rest.
    if (auto done = on.run("UPDATE tollgate_hooks SET service = '', secret = '', ready_at = NULL WHERE id = ?", id); !done)
        return std::move(done).error();
    if (auto done = on.run("DELETE FROM tollgate_hook_secrets WHERE hook = ?", id); !done)
        return std::move(done).error();
    const std::string host = delivery_host(std::get<0>(**target));
    if (auto done = remove_leased_deliveries(on, id, host); !done) return std::move(done).error();
    if (auto done = remove_deliveries_of_deleted(on, removed_at_once_max); !done) return std::move(done).error();
    if (auto done = change->commit(); !done) return std::move(done).error();
    return true;
}

}  // namespace tollgate::sqlite
