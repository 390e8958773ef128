// The whole API on SQLite, in a file in the directory that the driver created for this run.

#include "../common/account_service.hpp"
#include "../common/serve.hpp"

#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/store/sqlite.hpp>

#include <cstdio>

int main(int argc, char** argv) {
    benchmark::one_user users;
    tollgate::sqlite_store store{"tollgate.db"};
    std::puts(benchmark::add_token(store).c_str());
    std::fflush(stdout);
    tollgate::account_api api{benchmark::settings(), users, store, tollgate::account_routes()};
    return benchmark::serve(api, argc, argv);
}
