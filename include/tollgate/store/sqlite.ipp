#pragma once
#ifndef TOLLGATE_STORE_SQLITE_IPP
#define TOLLGATE_STORE_SQLITE_IPP

#include <tollgate/store/detail/sqlite/schema.hpp>
#include <tollgate/store/detail/sqlite/store_impl.ipp>
#include <tollgate/store/detail/sweep_kinds.hpp>
#include <tollgate/store/any_store.hpp>
#include <tollgate/store/sqlite.hpp>

#include <string>
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
    auto created = std::make_unique<impl>(*std::move(opened), settings);
    // An invalid query is reported now, not by the first request. What it returns of a user matters to that user's requests only.
    if (!created->owner_query.empty()) {
        const auto query = sql::statement_text::composed(created->owner_query);
        if (auto tried = created->database.read([&](sqlite::database& on) { return on.run(query, user_id{1}); }); !tried)
            return std::move(tried).error();
    }
    if (settings.hook_secret_keys)
        if (auto done = created->encrypt_hook_secrets(); !done) {
            done.error().cause += ": " + path;
            return std::move(done).error();
        }
    return created;
}

TOLLGATE_DECL sqlite_store::sqlite_store(const std::string& path, const sqlite_settings& settings) {
    auto opened = open_impl(path, settings);
    if (!opened) throw store_error{opened.error().log_text()};
    impl_ = *std::move(opened);
}

TOLLGATE_DECL result<sqlite_store> sqlite_store::open(const std::string& path, const sqlite_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<sqlite_store> {
        auto opened = open_impl(path, settings);
        if (!opened) return std::move(opened).error();
        return sqlite_store{*std::move(opened)};
    });
}

TOLLGATE_DECL result<any_store> sqlite_store::open_any(const std::string& path, const sqlite_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<any_store> {
        auto opened = open_impl(path, settings);
        if (!opened) return std::move(opened).error();
        return any_store{std::make_shared<sqlite_store>(sqlite_store{*std::move(opened)})};
    });
}

TOLLGATE_DECL result<schema_status> sqlite_store::check_schema(const std::string& path,
                                                               const sqlite_settings& settings) noexcept {
    return detail::without_exceptions([&]() -> result<schema_status> {
        return sqlite_database::check_schema(path, sqlite::store_component, sqlite::store_steps,
                                             {.busy_wait_max = settings.busy_wait_max, .vfs = settings.vfs}, sqlite::store_objects);
    });
}

TOLLGATE_DECL sqlite_store::sqlite_store(std::unique_ptr<impl> opened) noexcept : impl_{std::move(opened)} {}
TOLLGATE_DECL sqlite_store::sqlite_store(sqlite_store&&) noexcept = default;
TOLLGATE_DECL sqlite_store& sqlite_store::operator=(sqlite_store&&) noexcept = default;
TOLLGATE_DECL sqlite_store::~sqlite_store() = default;

TOLLGATE_DECL result<std::size_t> sqlite_store::sweep(const sweep_request& request) noexcept {
    return detail::sweep_kinds(
        request, [&](instant now, std::size_t rows_max) { return impl_->sweep_expired(now, rows_max); },
        [&](instant ended_before, std::size_t rows_max) { return impl_->sweep_deliveries(ended_before, rows_max); },
        [&](const session_ends& ends, std::size_t rows_max) { return impl_->sweep_sessions(ends, rows_max); });
}

TOLLGATE_DECL backend_statistics sqlite_store::statistics() const noexcept {
    auto statistics = impl_->database.statistics();
    statistics.cache_hits = impl_->personal_tokens.hits() + impl_->access_tokens.hits();
    statistics.cache_misses = impl_->personal_tokens.misses() + impl_->access_tokens.misses();
    return statistics;
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_SQLITE_IPP
