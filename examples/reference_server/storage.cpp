#include "storage.hpp"

#include "memory_directory.hpp"

#include <tollgate/store/memory.hpp>

namespace reference {

storage open_storage(const settings& settings) {
    switch (settings.store_location().kind) {
        case location::kind::sqlite: return open_sqlite_storage(settings);
#if defined(TOLLGATE_WITH_POSTGRES)
        case location::kind::postgres: return open_postgres_storage(settings);
#else
        case location::kind::postgres: break;  // no such setting is read
#endif
        case location::kind::memory: break;
    }
    return {std::make_unique<memory_directory>(), tollgate::any_store::of<tollgate::memory_store>()};
}

std::unique_ptr<database> database_of(const settings& settings, bool may_create) {
#if defined(TOLLGATE_WITH_POSTGRES)
    if (settings.store_location().kind == location::kind::postgres) return postgres_database_of(settings, may_create);
#endif
    return sqlite_database_of(settings, may_create);
}

tollgate::result<void> try_request_reads(directory& users, const tollgate::any_store& store) {
    if (auto token = store.find_credential(tollgate::personal_token_key{"usr_none"}); !token) return std::move(token).error();
    constexpr tollgate::user_id some{1};
    const auto failed = [](const auto& read) { return !read && read.error().kind != tollgate::error_kind::not_found; };
    if (auto quota = users.quota_of(some); failed(quota)) return std::move(quota).error();
    if (auto accounts = users.accounts_of(some, "none"); failed(accounts)) return std::move(accounts).error();
    return {};
}

}  // namespace reference
