#pragma once

#include <tollgate/store/detail/postgres/schema.hpp>
#include <tollgate/store/detail/sql/hook_secrets.hpp>
#include <tollgate/store/detail/postgres/store_impl.hpp>
#include <tollgate/store/postgres.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

TOLLGATE_DECL result<std::unique_ptr<postgres_store::impl>> postgres_store::open_impl(
    const std::string& connection_string, const postgres_settings& settings) {
    constexpr std::size_t connections_for_lookups = 2;
    const bool looks_up_apart = settings.connections_max >= 2 * connections_for_lookups;
    postgres_database_settings how{
        .connections_max = settings.connections_max - (looks_up_apart ? connections_for_lookups : 0),
        .connection_wait_max = settings.connection_wait_max,
        .each = {.connect_wait_max = settings.connect_wait_max,
                 .answer_wait_max = settings.answer_wait_max,
                 .lock_wait_max = settings.lock_wait_max,
                 .hung_connections = std::make_shared<std::atomic<unsigned>>(0)},
        .callers_clock = settings.callers_clock};
    auto opened = postgres_database::open(connection_string, how);
    if (!opened) return std::move(opened).error();
    if (auto done = opened->migrate(postgres::store_component, postgres::store_steps); !done)
        return std::move(done).error();
    std::optional<postgres_database> for_lookups;
    if (looks_up_apart) {
        how.connections_max = connections_for_lookups;
        auto also_opened = postgres_database::open(connection_string, how);
        if (!also_opened) return std::move(also_opened).error();
        for_lookups.emplace(*std::move(also_opened));
    }
    auto made = std::make_unique<impl>(*std::move(opened), std::move(for_lookups), settings);
    // An invalid query is reported now, not by the first request.
    if (!settings.owner_quota_query.empty())
        if (auto tried = made->database.ask(made->lookup.personal(), std::vector<token_username>{}); !tried)
            return std::move(tried).error();
    if (settings.hook_secret_keys)
        if (auto done = made->encrypt_hook_secrets(); !done) return std::move(done).error();
    return made;
}

TOLLGATE_DECL postgres_store::postgres_store(const std::string& connection_string, const postgres_settings& settings) {
    auto opened = open_impl(connection_string, settings);
    if (!opened) throw store_error{opened.error().cause.empty() ? opened.error().message : opened.error().cause};
    impl_ = *std::move(opened);
}

TOLLGATE_DECL result<postgres_store> postgres_store::open(const std::string& connection_string,
                                                           const postgres_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<postgres_store> {
        auto opened = open_impl(connection_string, settings);
        if (!opened) return std::move(opened).error();
        return postgres_store{*std::move(opened)};
    });
}

TOLLGATE_DECL result<schema_status> postgres_store::check_schema(const std::string& connection_string,
                                                                 const postgres_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<schema_status> {
        return postgres_database::check_schema(connection_string, postgres::store_component, postgres::store_steps,
                                               {.connections_max = 1,
                                                .connection_wait_max = settings.connection_wait_max,
                                                .each = {settings.connect_wait_max, settings.answer_wait_max}});
    });
}

TOLLGATE_DECL postgres_store::postgres_store(std::unique_ptr<impl> opened) noexcept : impl_{std::move(opened)} {}
TOLLGATE_DECL postgres_store::postgres_store(postgres_store&&) noexcept = default;
TOLLGATE_DECL postgres_store& postgres_store::operator=(postgres_store&&) noexcept = default;
TOLLGATE_DECL postgres_store::~postgres_store() = default;

TOLLGATE_DECL postgres_clock postgres_store::clock() const noexcept {
    return postgres_clock{impl_->database.clock()};
}

TOLLGATE_DECL const std::shared_ptr<cache_invalidation_feed>& postgres_store::changes() const noexcept {
    return impl_->changes;
}

TOLLGATE_DECL result<std::size_t> postgres_store::append_event(const event& happened, const message_seed& seed,
                                                                instant now) noexcept {
    return detail::without_exceptions([&] { return impl_->outbox.append(happened, seed, now); });
}
TOLLGATE_DECL result<due_hook_page> postgres_store::due_hooks(instant now, std::size_t rows_max) noexcept {
    return detail::without_exceptions([&] { return impl_->leases.list_due_hooks(now, rows_max); });
}
TOLLGATE_DECL result<std::vector<due_delivery>> postgres_store::lease(std::span<const lease_request> requests,
                                                                      const lease_time& lease) noexcept {
    return detail::without_exceptions([&] {
        auto leased = impl_->leases.lease(requests, lease);
        if (leased) sql::decrypt_all(impl_->keys, *leased);
        return leased;
    });
}
TOLLGATE_DECL result<std::vector<completion>> postgres_store::complete(std::span<const attempt_result> ended,
                                                                       instant now) noexcept {
    return detail::without_exceptions([&] { return impl_->completions.complete(ended, now); });
}
TOLLGATE_DECL result<std::vector<delivery>> postgres_store::deliveries_of(
    const account_ref& account, hook_id hook, std::size_t rows_max, std::optional<delivery_id> before) noexcept {
    return detail::without_exceptions([&] { return impl_->outbox.deliveries_of(account, hook, rows_max, before); });
}
TOLLGATE_DECL result<std::vector<recorded_attempt>> postgres_store::attempts_of(
    const account_ref& account, hook_id hook, std::size_t rows_max, std::optional<delivery_id> made_for) noexcept {
    return detail::without_exceptions([&] { return impl_->outbox.attempts_of(account, hook, rows_max, made_for); });
}
TOLLGATE_DECL result<bool> postgres_store::resend(const account_ref& account, delivery_id id, instant now) noexcept {
    return detail::without_exceptions([&] { return impl_->outbox.resend(account, id, now); });
}
TOLLGATE_DECL result<bool> postgres_store::enable_hook(const account_ref& account, hook_id hook,
                                                        instant now) noexcept {
    return detail::without_exceptions([&] { return impl_->outbox.enable_hook(account, hook, now); });
}
TOLLGATE_DECL result<std::size_t> postgres_store::sweep_deliveries(instant ended_before,
                                                                    std::size_t rows_max) noexcept {
    return detail::without_exceptions([&] { return impl_->outbox.sweep(ended_before, rows_max); });
}

TOLLGATE_DECL std::optional<std::uint64_t> postgres_store::changes_seen() const noexcept {
    return impl_->listener.changes_seen();
}

}  // namespace tollgate
