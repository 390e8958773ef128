#pragma once
#ifndef TOLLGATE_STORE_DETAIL_POSTGRES_HOOKS_IPP
#define TOLLGATE_STORE_DETAIL_POSTGRES_HOOKS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/store/detail/sql/hook_secrets.hpp>
#include <tollgate/store/detail/postgres/delivery_columns.hpp>
#include <tollgate/store/detail/postgres/remove_deliveries.hpp>
#include <tollgate/store/detail/postgres/store_impl.ipp>

#include <string>
#include <variant>

namespace tollgate::inline v0 {

namespace postgres::detail {

/// Until the end of the transaction, no other one changes how many hooks the account has for the event.
inline void lock_hooks_for_counting(batch& in, const account_ref& account, std::string_view event) {
    lock_until_commit(in, "hooks " + std::string{account.service.view()} + " " + std::to_string(account.account.value()) + " " +
                              std::string{event});
}

}  // namespace postgres::detail

TOLLGATE_DECL result<hook_id> postgres_store::create_hook(
    const new_hook& hook, std::size_t hooks_per_event_max) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<hook_id> {
        const auto secret = impl_->keys.encrypt(hook.secret, hook_secret_context(hook.account));
        if (!secret) return secret.error();
        const std::string host = delivery_host(hook.target_url);
        postgres::detail::lock_hooks_for_counting(batch, hook.account, hook.event);
        // This also locks an existing row, so that it is not deleted before the hook is inserted.
        batch.add(
            "INSERT INTO tollgate_hosts AS hosts (name) SELECT $1 WHERE $5 > (SELECT count(*) FROM tollgate_hooks "
            "WHERE service = $2 AND account_id = $3 AND event = $4) "
            "ON CONFLICT (name) DO UPDATE SET name = excluded.name",
            host, hook.account.service, hook.account.account, hook.event, hooks_per_event_max);
        batch.add(
            "INSERT INTO tollgate_hooks "
            "(service, account_id, event, source, type, target_url, host_id, secret, created_at, secret_digest, idempotency_key) "
            "SELECT $1, $2, $3, $4, $5, $6, id, $7, $8, $11, $12 FROM tollgate_hosts WHERE name = $9 AND $10 > ("
            "SELECT count(*) FROM tollgate_hooks WHERE service = $1 AND account_id = $2 AND event = $3) RETURNING id",
            hook.account.service, hook.account.account, hook.event, hook.source, hook.type, hook.target_url, *secret,
            hook.created_at, host, hooks_per_event_max, digest_of(hook.secret), hook.idempotency_key);
        auto results = impl_->database.run(batch);
        if (!results) return hook_exists(std::move(results).error());
        const auto id = sql::read_value<hook_id>(results->back());
        if (!id) return id.error();
        if (!*id) return too_many_hooks(hooks_per_event_max);
        return **id;
    });
}

TOLLGATE_DECL result<std::vector<hook>> postgres_store::hooks_of(const account_ref& account) noexcept {
    return impl_->read_all(sql::to_hook(account),
                           "SELECT id, event, source, type, target_url, created_at, disabled_at, disable_reason, failing_since, "
                           "secret_digest FROM tollgate_hooks WHERE service = $1 AND account_id = $2 ORDER BY id",
                           account.service, account.account);
}

TOLLGATE_DECL result<std::optional<account_ref>> postgres_store::account_of_hook(
    const service_name& service, hook_id id) noexcept {
    if (!postgres::is_storable(service)) return std::optional<account_ref>{};
    return impl_->read_one(sql::to_account_of(service),
                           "SELECT account_id FROM tollgate_hooks WHERE id = $1 AND service = $2 AND account_id <> 0", id, service);
}

TOLLGATE_DECL result<bool> postgres_store::impl::change_hook(const account_ref& account, hook_id id, const hook_fields& fields) noexcept {
    return with_batch([&](postgres::batch& batch) -> result<bool> {
        const std::string host = delivery_host(fields.target_url);
        postgres::detail::lock_hooks_for_counting(batch, account, fields.event);
        // Hosts are locked before hooks. The insertion also locks an existing row, so that it is not deleted before the hook
        // refers to it. Deliveries store the host of their lease, so those that wait need no change.
        batch.add(
            "SELECT id FROM tollgate_hosts WHERE name = $1 OR id = (SELECT host_id FROM tollgate_hooks "
            "WHERE id = $2 AND service = $3 AND account_id = $4) ORDER BY id FOR NO KEY UPDATE",
            host, id, account.service, account.account);
        batch.add(
            "INSERT INTO tollgate_hosts AS hosts (name) SELECT $1 WHERE EXISTS ("
            "SELECT FROM tollgate_hooks WHERE id = $2 AND service = $3 AND account_id = $4) "
            "ON CONFLICT (name) DO UPDATE SET name = excluded.name",
            host, id, account.service, account.account);
        batch.add(
            "SELECT set_config('tollgate.host_before', coalesce((SELECT host_id::text FROM tollgate_hooks "
            "WHERE id = $1 AND service = $2 AND account_id = $3), ''), true)",
            id, account.service, account.account);
        const auto changing = batch.add(
            "WITH found AS (SELECT id, event = $4 OR $7 > (SELECT count(*) FROM tollgate_hooks WHERE service = $2 "
            "AND account_id = $3 AND event = $4) AS fits FROM tollgate_hooks WHERE id = $1 AND service = $2 AND account_id = $3 "
            "FOR NO KEY UPDATE), "
            "changed AS (UPDATE tollgate_hooks AS hooks SET event = $4, target_url = $5, "
            "failing_since = CASE target_url WHEN $5 THEN failing_since END, "
            "last_failure_at = CASE target_url WHEN $5 THEN last_failure_at END, "
            "host_id = (SELECT id FROM tollgate_hosts WHERE name = $6) FROM found WHERE hooks.id = found.id AND fits) "
            "SELECT fits FROM found",
            id, account.service, account.account, fields.event, fields.target_url, host,
            fields.hooks_per_event_max);
        // The host of before, or the new one if the event does not fit.
        batch.add(
            "DELETE FROM tollgate_hosts AS hosts WHERE (name = $1 "
            "OR id = nullif(current_setting('tollgate.host_before', true), '')::bigint) "
            "AND NOT EXISTS (SELECT FROM tollgate_hooks WHERE host_id = hosts.id)",
            host);
        auto results = database.run(batch);
        if (!results) return std::move(results).error();
        const auto fits = sql::read_value<bool>((*results)[changing]);
        if (!fits) return fits.error();
        if (!*fits) return false;
        if (!**fits) return too_many_hooks(fields.hooks_per_event_max);
        return true;
    });
}

TOLLGATE_DECL result<bool> postgres_store::impl::change_hook(const account_ref& account, hook_id id,
                                               const hook_secret_replacement& replacement) noexcept {
    return with_batch([&](postgres::batch& batch) -> result<bool> {
        const auto encrypted = keys.encrypt(replacement.secret, hook_secret_context(account));
        if (!encrypted) return encrypted.error();
        batch.add("SELECT id FROM tollgate_hooks WHERE id = $1 AND service = $2 AND account_id = $3 FOR NO KEY UPDATE", id,
                  account.service, account.account);
        batch.add(
            "INSERT INTO tollgate_hook_secrets (hook_id, secret, valid_until) SELECT id, secret, $4 FROM tollgate_hooks "
            "WHERE id = $1 AND service = $2 AND account_id = $3 AND secret_digest IS DISTINCT FROM $6 "
            "AND ($5 IS NULL OR coalesce(secret_digest, decode(repeat('00', 32), 'hex')) = $5)",
            id, account.service, account.account, replacement.old_valid_until, replacement.replaced, digest_of(replacement.secret));
        batch.add(
            "DELETE FROM tollgate_hook_secrets WHERE id = ANY (ARRAY("
            "SELECT id FROM tollgate_hook_secrets WHERE hook_id = $1 ORDER BY id DESC OFFSET $2))",
            id, limits::previous_secrets_max);
        // If the call is repeated, the hook has the secret already.
        batch.add(
            "UPDATE tollgate_hooks SET secret = $4, secret_digest = $5 WHERE id = $1 AND service = $2 AND account_id = $3 "
            "AND ($6 IS NULL OR coalesce(secret_digest, decode(repeat('00', 32), 'hex')) IN ($6, $5))",
            id, account.service, account.account, *encrypted, digest_of(replacement.secret), replacement.replaced);
        auto results = database.run(batch);
        if (!results) return std::move(results).error();
        return results->back().affected() > 0;
    });
}

TOLLGATE_DECL result<bool> postgres_store::change_hook(const account_ref& account, hook_id id, const hook_change& change) noexcept {
    return std::visit([&](const auto& each) { return impl_->change_hook(account, id, each); }, change);
}

TOLLGATE_DECL result<bool> postgres_store::delete_hook(const account_ref& account, hook_id id) noexcept {
    return impl_->with_batch([&](postgres::batch& batch) -> result<bool> {
        // The host's row is the lock on its deliveries.
        batch.add(
            "SELECT hosts.id FROM tollgate_hosts AS hosts JOIN tollgate_hooks AS hooks ON hosts.id = host_id "
            "WHERE hooks.id = $1 AND service = $2 AND account_id = $3 FOR UPDATE OF hosts",
            id, account.service, account.account);
        // Belongs to no account from now on, so that no verb finds it.
        const auto deleting = batch.add(
            "UPDATE tollgate_hooks SET account_id = 0, secret = '', secret_digest = NULL, idempotency_key = NULL, has_backlog = true, "
            "ready_at = NULL "
            "WHERE id = $1 AND service = $2 AND account_id = $3",
            id, account.service, account.account);
        batch.add(
            "DELETE FROM tollgate_hook_secrets USING tollgate_hooks AS hooks "
            "WHERE hook_id = hooks.id AND hooks.id = $1 AND account_id = 0",
            id);
        // Ends the leases of its deliveries, also those at its former hosts. There are few among all leases.
        batch.add(
            "UPDATE tollgate_deliveries SET is_leased = false, lease_is_open = false WHERE state = 0 AND is_leased "
            "AND hook_id = (SELECT id FROM tollgate_hooks WHERE id = $1 AND account_id = 0)",
            id);
        batch.add(
            "DELETE FROM tollgate_due_notices WHERE id = ANY (ARRAY(SELECT notices.id FROM tollgate_due_notices AS notices "
            "JOIN tollgate_hooks AS hooks ON hooks.id = hook_id WHERE hook_id = $1 AND account_id = 0 LIMIT $2))",
            id, postgres::changed_rows_max);
        postgres::add_removal_of_deleted_hook(batch, id);
        auto results = impl_->database.run(batch);
        if (!results) return std::move(results).error();
        if ((*results)[deleting].affected() == 0) return false;
        // Its deliveries are no longer listed or leased. If this fails, or there are more of them, `due_hooks` and sweeps remove the rest.
        if (results->back().count() == 0)
            static_cast<void>(postgres::remove_deliveries_of_deleted(impl_->database, id, postgres::removed_rows_max));
        return true;
    });
}

TOLLGATE_DECL result<void> postgres_store::impl::encrypt_hook_secrets() {
    using postgres::statement_text;
    const auto encrypt_table = [this](statement_text select, statement_text update) {
        return sql::encrypt_all(
            keys,
            [&](std::int64_t last) {
                return read_all(sql::to_stored_secret, select, last, sql::unchanged_prefix(keys), sql::reencrypted_rows_max);
            },
            [&](const std::vector<sql::changed_secret>& changed) -> result<void> {
                postgres::row_arrays<std::int64_t, std::string, std::string> rows;
                for (const sql::changed_secret& each : changed) rows.add(each.row, each.before, each.after);
                return change(update, rows).transform([](bool) {});
            });
    };
    if (auto done = encrypt_table(
            "SELECT id, service, account_id, secret FROM tollgate_hooks WHERE id > $1 AND account_id <> 0 "
            "AND NOT starts_with(secret, $2) ORDER BY id LIMIT $3",
            "UPDATE tollgate_hooks AS hooks SET secret = given.after FROM unnest($1, $2, $3) AS given (id, before, after) "
            "WHERE hooks.id = given.id AND hooks.secret = given.before");
        !done)
        return done;
    return encrypt_table(
        "SELECT previous.id, service, account_id, previous.secret FROM tollgate_hook_secrets AS previous "
        "JOIN tollgate_hooks AS hooks ON hooks.id = previous.hook_id WHERE previous.id > $1 AND account_id <> 0 "
        "AND NOT starts_with(previous.secret, $2) ORDER BY previous.id LIMIT $3",
        "UPDATE tollgate_hook_secrets AS previous SET secret = given.after "
        "FROM unnest($1, $2, $3) AS given (id, before, after) "
        "WHERE previous.id = given.id AND previous.secret = given.before");
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_POSTGRES_HOOKS_IPP
