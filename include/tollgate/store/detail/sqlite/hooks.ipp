#pragma once
#ifndef TOLLGATE_STORE_DETAIL_SQLITE_HOOKS_IPP
#define TOLLGATE_STORE_DETAIL_SQLITE_HOOKS_IPP

#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/store/detail/sql/hook_secrets.hpp>
#include <tollgate/store/detail/sqlite/delivery_columns.hpp>
#include <tollgate/store/detail/sqlite/remove_deliveries.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>

#include <variant>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<hook_id> sqlite_store::create_hook(const new_hook& hook,
                                                        std::size_t hooks_per_event_max) noexcept {
    return impl_->database.write([&](sqlite::database& on) -> result<hook_id> {
        const auto secret = impl_->keys.encrypt(hook.secret, hook_secret_context(hook.account));
        if (!secret) return secret.error();
        // One statement holds the write lock from its start, so no row can be inserted between counting and inserting.
        auto done = on.run(
            "INSERT INTO tollgate_hooks (service, account, event, source, type, target_url, secret, created_at, secret_digest, "
            "idempotency_key) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?10, ?11 WHERE ?9 > (SELECT count(*) FROM tollgate_hooks "
            "WHERE service = ?1 AND account = ?2 AND event = ?3)",
            hook.account.service, hook.account.account, hook.event, hook.source, hook.type, hook.target_url,
            *secret, hook.created_at, hooks_per_event_max, digest_of(hook.secret), hook.idempotency_key);
        if (!done) return hook_exists(std::move(done).error());
        if (on.changes() == 0) return too_many_hooks(hooks_per_event_max);
        return hook_id{on.last_insert_id()};
    });
}

TOLLGATE_DECL result<std::vector<hook>> sqlite_store::hooks_of(const account_ref& account) noexcept {
    return impl_->read_all(sql::to_hook(account),
                           "SELECT id, event, source, type, target_url, created_at, disabled_at, disable_reason, failing_since, "
                           "secret_digest FROM tollgate_hooks WHERE service = ? AND account = ? ORDER BY id",
                           account.service, account.account);
}

TOLLGATE_DECL result<std::optional<account_ref>> sqlite_store::account_of_hook(const service_name& service,
                                                                               hook_id id) noexcept {
    return impl_->read_one(sql::to_account_of(service),
                           "SELECT account FROM tollgate_hooks WHERE id = ? AND service = ?", id, service);
}

TOLLGATE_DECL result<bool> sqlite_store::impl::change_hook(const account_ref& account, hook_id id,
                                             const hook_secret_replacement& replacement) noexcept {
    return database.transact([&](sqlite::database& on) -> result<bool> {
        const digest secret_digest = digest_of(replacement.secret);
        const auto is_repeated = sql::read_value<bool>(
            on.prepare("SELECT secret_digest IS ? FROM tollgate_hooks WHERE id = ? AND service = ? AND account = ?", secret_digest, id,
                       account.service, account.account));
        if (!is_repeated) return is_repeated.error();
        if (is_repeated->value_or(false)) return true;
        const auto encrypted = keys.encrypt(replacement.secret, hook_secret_context(account));
        if (!encrypted) return encrypted.error();
        auto copied = on.run_counted(
            "INSERT INTO tollgate_hook_secrets (hook, secret, valid_until) "
            "SELECT id, secret, ?1 FROM tollgate_hooks WHERE id = ?2 AND service = ?3 AND account = ?4 "
            "AND (?5 IS NULL OR coalesce(secret_digest, zeroblob(32)) = ?5)",
            replacement.old_valid_until, id, account.service, account.account, replacement.replaced);
        if (!copied || !*copied) return copied;
        if (auto done = on.run("DELETE FROM tollgate_hook_secrets WHERE id IN (SELECT id FROM tollgate_hook_secrets "
                               "WHERE hook = ? ORDER BY id DESC LIMIT -1 OFFSET ?)",
                               id, limits::previous_secrets_max);
            !done)
            return std::move(done).error();
        return on.run("UPDATE tollgate_hooks SET secret = ?, secret_digest = ? WHERE id = ?", *encrypted, secret_digest, id)
            .transform([] { return true; });
    });
}

TOLLGATE_DECL result<bool> sqlite_store::impl::change_hook(const account_ref& account, hook_id id, const hook_fields& fields) noexcept {
    return database.transact([&](sqlite::database& on) -> result<bool> {
        auto event = sql::read_value<std::string>(
            on.prepare("SELECT event FROM tollgate_hooks WHERE id = ? AND service = ? AND account = ?", id, account.service,
                       account.account));
        if (!event) return std::move(event).error();
        if (!*event) return false;
        if (**event != fields.event) {
            auto others = sql::read_value<std::int64_t>(
                on.prepare("SELECT count(*) FROM tollgate_hooks WHERE service = ? AND account = ? AND event = ?",
                           account.service, account.account, fields.event));
            if (!others) return std::move(others).error();
            if (static_cast<std::size_t>(others->value_or(0)) >= fields.hooks_per_event_max)
                return too_many_hooks(fields.hooks_per_event_max);
        }
        // Deliveries store the host of their lease, so those that wait need no change.
        return on
            .run("UPDATE tollgate_hooks SET event = ?1, target_url = ?2, "
                 "failing_since = CASE target_url WHEN ?2 THEN failing_since END, "
                 "last_failure_at = CASE target_url WHEN ?2 THEN last_failure_at END WHERE id = ?3",
                 fields.event, fields.target_url, id)
            .transform([] { return true; });
    });
}

TOLLGATE_DECL result<bool> sqlite_store::change_hook(const account_ref& account, hook_id id, const hook_change& change) noexcept {
    return std::visit([&](const auto& each) { return impl_->change_hook(account, id, each); }, change);
}

TOLLGATE_DECL result<bool> sqlite_store::delete_hook(const account_ref& account, hook_id id) noexcept {
    return impl_->database.transact([&](sqlite::database& on) -> result<bool> {
        // Belongs to no service from now on, so that no verb finds it. Removing many deliveries takes long: sweeps
        // remove the rest.
        auto deleted = on.run_counted(
            "UPDATE tollgate_hooks SET service = '', secret = '', secret_digest = NULL, idempotency_key = NULL, ready_at = NULL "
            "WHERE id = ? AND service = ? AND account = ?",
            id, account.service, account.account);
        if (!deleted || !*deleted) return deleted;
        if (auto done = on.run("DELETE FROM tollgate_hook_secrets WHERE hook = ?", id); !done)
            return std::move(done).error();
        if (auto done = sqlite::remove_leased_deliveries(on, id); !done) return std::move(done).error();
        return sqlite::remove_deliveries_of_deleted(on, sqlite::removed_rows_max).transform([](std::size_t) { return true; });
    });
}

TOLLGATE_DECL result<void> sqlite_store::impl::encrypt_hook_secrets() {
    using sqlite::statement_text;
    bool any_changed = false;
    const auto encrypt_table = [&](statement_text select, statement_text update) {
        return sql::encrypt_all(
            keys,
            [&](std::int64_t last) {
                return read_all(sql::to_stored_secret, select, last, sql::unchanged_prefix(keys), sql::reencrypted_rows_max);
            },
            [&](const std::vector<sql::changed_secret>& changes) {
                return database.transact([&](sqlite::database& on) -> result<void> {
                    for (const sql::changed_secret& each : changes)
                        if (auto done = on.run(update, each.after, each.row, each.before); !done) return done;
                    any_changed = true;
                    return {};
                });
            });
    };
    if (auto done = encrypt_table("SELECT id, service, account, secret FROM tollgate_hooks WHERE id > ?1 AND service <> '' "
                                  "AND substr(secret, 1, length(?2)) <> ?2 ORDER BY id LIMIT ?3",
                                  "UPDATE tollgate_hooks SET secret = ? WHERE id = ? AND secret = ?");
        !done)
        return done;
    if (auto done = encrypt_table("SELECT previous.id, service, account, previous.secret FROM tollgate_hook_secrets AS previous "
                         "JOIN tollgate_hooks AS hooks ON hooks.id = previous.hook WHERE previous.id > ?1 AND service <> '' "
                         "AND substr(previous.secret, 1, length(?2)) <> ?2 ORDER BY previous.id LIMIT ?3",
                         "UPDATE tollgate_hook_secrets SET secret = ? WHERE id = ? AND secret = ?");
        !done)
        return done;
    // What was replaced leaves the log, too; while another process reads, this does nothing.
    if (any_changed)
        return database.write([](sqlite::database& on) { return on.run_script("PRAGMA wal_checkpoint(TRUNCATE)"); });
    return {};
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_SQLITE_HOOKS_IPP
