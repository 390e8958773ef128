// The whole API as one of several nodes serves it, with the users, store and windows that the arguments name.
//
//     tollgate_node PORT STORE REMEMBERED WINDOWS [DIGESTS]
//
// STORE is `memory:`, `sqlite:FILE` or a connection string of PostgreSQL. The databases also contain the users, as in the
// reference server. DIGESTS is a file for `memory:`: each line has the username and the digest of the token of one user.
// REMEMBERED is the number of cached credentials, 0 for none. WINDOWS is `memory:` or a URL of Redis.

#include "../common/account_service.hpp"
#include "../common/serve.hpp"

#include <postgres_directory.hpp>
#include <sqlite_directory.hpp>

#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/limits/redis_limiter.hpp>
#include <tollgate/store/memory.hpp>
#include <tollgate/store/postgres.hpp>
#include <tollgate/store/sqlite.hpp>

#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace {

/// The value; an error ends the process.
template <class T>
T expect(tollgate::result<T> result) {
    if (result) return *std::move(result);
    std::fprintf(stderr, "%s %s\n", result.error().message.c_str(), result.error().cause.c_str());
    std::exit(1);
}

/// With windows in this process, or in Redis.
tollgate::policies policies_with_windows(std::string_view location) {
    auto policies = tollgate::default_policies();
    if (location == "memory:") return policies;
    tollgate::redis_limiter_settings settings;
    settings.when_down = tollgate::without_redis::refuse;  // without Redis the measurement fails
    return std::move(policies).with_limiter(expect(tollgate::redis_limiter::open(location, settings)));
}

void announce(const std::string& authorization) {
    std::puts(authorization.c_str());
    std::fflush(stdout);
}

/// The tokens of many users, as `common/population.py` wrote them.
void add_tokens(tollgate::memory_store& store, const char* file) {
    std::ifstream lines{file};
    std::string username, digits;
    for (std::int64_t user = 1; lines >> username >> digits; ++user) {
        std::array<std::uint8_t, tollgate::digest::size_bytes> digest{};
        for (std::size_t i = 0; i < digest.size(); ++i)
            digest[i] = static_cast<std::uint8_t>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
        (void)expect(store.create_personal_token({.user = tollgate::user_id{user},
                                                  .username = *tollgate::token_username::from(username),
                                                  .secret_digest = tollgate::digest::from_bytes(digest),
                                                  .description = "benchmark",
                                                  .scopes = *tollgate::scope_set::parse("user:balance"),
                                                  .created_at = tollgate::system_clock{}.now()},
                                                 1));
    }
}

int serve_from_sqlite(const std::string& file, std::size_t remembered, tollgate::policies policies, int argc, char** argv) {
    ::sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);  // as the reference server
    auto users = expect(reference::sqlite_directory::open(file));
    tollgate::sqlite_store store{file, {.cached_credentials_max = remembered, .owner_query = reference::sqlite_directory::owner_query}};
    announce("none");
    tollgate::account_api api{benchmark::settings(), users, store, std::move(policies), tollgate::account_routes()};
    return benchmark::serve(api, argc, argv);
}

int serve_from_memory(tollgate::policies policies, const char* digests, int argc, char** argv) {
    benchmark::one_user users;
    tollgate::memory_store store{{.personal_tokens_max = 2'000'000}};
    if (digests != nullptr) add_tokens(store, digests);
    announce(benchmark::add_token(store));
    tollgate::account_api api{benchmark::settings(), users, store, std::move(policies), tollgate::account_routes()};
    return benchmark::serve(api, argc, argv);
}

int serve_from_postgres(const std::string& to, std::size_t remembered, tollgate::policies policies, int argc, char** argv) {
    auto users = expect(reference::postgres_directory::open(to, 8));
    tollgate::postgres_settings store_settings;
    store_settings.callers_clock = nullptr;
    store_settings.cached_credentials_max = remembered;
    store_settings.owner_query = reference::postgres_directory::owner_query;
    tollgate::postgres_store store{to, store_settings};

    const auto user = expect(users.add_user({.login = "node" + std::to_string(::getpid()),
                                             .password_hash = "none",
                                             .currency = "EUR",
                                             .balance = *tollgate::decimal::parse("1234.56")}));
    if (!users.set_requests_per_day(user, 1'000'000'000)) return 1;
    announce(benchmark::add_token(store, user));
    tollgate::account_api api{benchmark::settings(), users, store, std::move(policies).with_clock(store.clock()),
                              tollgate::account_routes()};
    return benchmark::serve(api, argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5 && argc != 6) {
        std::fputs("usage: tollgate_node PORT STORE REMEMBERED WINDOWS [DIGESTS]\n", stderr);
        return 2;
    }
    const std::string_view store = argv[2];
    const auto remembered = static_cast<std::size_t>(std::atoll(argv[3]));
    auto policies = policies_with_windows(argv[4]);
    char* served[] = {argv[0], argv[1], nullptr};
    if (store == "memory:") return serve_from_memory(std::move(policies), argc > 5 ? argv[5] : nullptr, 2, served);
    if (store.starts_with("sqlite:")) return serve_from_sqlite(std::string{store.substr(7)}, remembered, std::move(policies), 2, served);
    return serve_from_postgres(argv[2], remembered, std::move(policies), 2, served);
}
