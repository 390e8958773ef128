#pragma once

#include "fixed_answer.hpp"

#if defined(TOLLGATE_SERVER_ASIO)
#include <tollgate/server/asio_server.hpp>
#else
#include <tollgate/server/server.hpp>
#endif

#include <chrono>

namespace benchmark {

/// Serves a handler on one core with the arguments that every contender gets, `PORT [CERTIFICATE KEY]`. Returns only
/// when the server could not start, with the exit code for that.
inline int serve_on_one_core(tollgate::http::handler_ref handler, int argc, char** argv) {
    tollgate::server_settings settings;
    settings.port = port_argument(argc, argv);
    settings.threads = 1;
    settings.idle_timeout = std::chrono::minutes{5};  // under valgrind a round may take longer than a minute
    settings.connections_per_address_max = settings.connections_max;  // all clients have one address
    if (argc > 3) settings.tls = {.certificate_file = argv[2], .key_file = argv[3]};
    tollgate::server server{handler, settings};
    server.run();
    return 1;
}

}  // namespace benchmark
