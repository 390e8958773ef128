#pragma once

#include <tollgate/store/detail/sql/hook_secrets.hpp>
#include <tollgate/store/detail/sqlite/migrations.hpp>
#include <tollgate/store/detail/sqlite/schema.hpp>
#include <tollgate/store/detail/sqlite/store_impl.hpp>
#include <tollgate/store/sqlite.hpp>

#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<std::unique_ptr<sqlite_store::impl>> sqlite_store::open_impl(const std::string& path,
                                                                                   const sqlite_settings& settings) {
    auto opened = sqlite_database::open(path, {settings.readers_max, settings.busy_wait_max, settings.vfs});
    if (!opened) return std::move(opened).error();
    if (auto done = opened->migrate(sqlite::store_component, sqlite::store_steps); !done) {
        done.error().cause += ": " + path;
        return std::move(done).error();
    }
    auto made = std::make_unique<impl>(*std::move(opened), settings);
    if (settings.hook_secret_keys)
        if (auto done = made->encrypt_hook_secrets(); !done) {
            done.error().cause += ": " + path;
            return std::move(done).error();
        }
    return made;
}

TOLLGATE_DECL sqlite_store::sqlite_store(const std::string& path, const sqlite_settings& settings) {
    auto opened = open_impl(path, settings);
    if (!opened) throw store_error{opened.error().cause.empty() ? opened.error().message : opened.error().cause};
    impl_ = *std::move(opened);
}

TOLLGATE_DECL result<sqlite_store> sqlite_store::open(const std::string& path,
                                                       const sqlite_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<sqlite_store> {
        auto opened = open_impl(path, settings);
        if (!opened) return std::move(opened).error();
        return sqlite_store{*std::move(opened)};
    });
}

TOLLGATE_DECL result<schema_status> sqlite_store::check_schema(const std::string& path,
                                                               const sqlite_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<schema_status> {
        return sqlite::read_schema_status(path, {settings.busy_wait_max, true, settings.vfs}, sqlite::store_component,
                                          sqlite::store_steps);
    });
}

TOLLGATE_DECL sqlite_store::sqlite_store(std::unique_ptr<impl> opened) noexcept : impl_{std::move(opened)} {}
TOLLGATE_DECL sqlite_store::sqlite_store(sqlite_store&&) noexcept = default;
TOLLGATE_DECL sqlite_store& sqlite_store::operator=(sqlite_store&&) noexcept = default;
TOLLGATE_DECL sqlite_store::~sqlite_store() = default;

TOLLGATE_DECL result<std::size_t> sqlite_store::append_event(const event& happened, const message_seed& seed,
                                                              instant now) noexcept {
    return detail::without_exceptions([&] { return impl_->deliveries.append(happened, seed, now); });
}
TOLLGATE_DECL result<due_hook_page> sqlite_store::due_hooks(instant now, std::size_t rows_max) noexcept {
    return detail::without_exceptions([&] { return impl_->deliveries.list_due_hooks(now, rows_max); });
}
TOLLGATE_DECL result<std::vector<due_delivery>> sqlite_store::lease(std::span<const lease_request> requests,
                                                                    const lease_time& lease) noexcept {
    return detail::without_exceptions([&] {
        auto leased = impl_->deliveries.lease(requests, lease);
        if (leased) sql::decrypt_all(impl_->keys, *leased);
        return leased;
    });
}
TOLLGATE_DECL result<std::vector<completion>> sqlite_store::complete(std::span<const attempt_result> ended,
                                                                     instant now) noexcept {
    return detail::without_exceptions([&] { return impl_->deliveries.complete(ended, now); });
}
TOLLGATE_DECL result<std::vector<delivery>> sqlite_store::deliveries_of(const account_ref& account, hook_id of,
                                                                         std::size_t rows_max,
                                                                         std::optional<delivery_id> before) noexcept {
    return detail::without_exceptions([&] { return impl_->history.deliveries_of(account, of, rows_max, before); });
}
TOLLGATE_DECL result<std::vector<recorded_attempt>> sqlite_store::attempts_of(const account_ref& account, hook_id of,
                                                                               std::size_t rows_max,
                                                                               std::optional<delivery_id> made_for) noexcept {
    return detail::without_exceptions([&] { return impl_->history.attempts_of(account, of, rows_max, made_for); });
}
TOLLGATE_DECL result<bool> sqlite_store::resend(const account_ref& account, delivery_id id, instant now) noexcept {
    return detail::without_exceptions([&] { return impl_->history.resend(account, id, now); });
}
TOLLGATE_DECL result<bool> sqlite_store::enable_hook(const account_ref& account, hook_id id, instant now) noexcept {
    return detail::without_exceptions([&] { return impl_->history.enable_hook(account, id, now); });
}
TOLLGATE_DECL result<std::size_t> sqlite_store::sweep_deliveries(instant ended_before, std::size_t rows_max) noexcept {
    return detail::without_exceptions([&] { return impl_->history.sweep(ended_before, rows_max); });
}
TOLLGATE_DECL std::optional<std::uint64_t> sqlite_store::changes_seen() const noexcept {
    return impl_->deliveries.changes_seen();
}

}  // namespace tollgate
