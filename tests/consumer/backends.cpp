#include <tollgate/limits/redis_limiter.hpp>
#include <tollgate/store/postgres_database.hpp>
#include <tollgate/store/sqlite_database.hpp>

#include <cstdio>

int main() {
    if (tollgate::postgres_database::validate("not a connection string")) return 1;
    std::puts("Tollgate " TOLLGATE_VERSION);
    return 0;
}
