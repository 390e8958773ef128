// The whole API on the memory store; with a certificate and a key, over TLS.

#include "../common/account_service.hpp"
#include "../common/serve.hpp"

#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/store/memory.hpp>

#include <cstdio>

int main(int argc, char** argv) {
    benchmark::one_user users;
    tollgate::memory_store store;
    std::puts(benchmark::add_token(store).c_str());
    std::fflush(stdout);
    tollgate::account_api api{benchmark::settings(), users, store, tollgate::account_routes()};
    return benchmark::serve(api, argc, argv);
}
