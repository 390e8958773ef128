// expect: tollgate: TLS needs tollgate/server/tls.hpp
#include <tollgate/server/server_settings.hpp>

using namespace tollgate;

int main() {
    server_settings settings;
    settings.port = 8443;
#if defined(TOLLGATE_MISFIT)
    settings.tls = {"cert.pem", "key.pem"};
#endif
}
