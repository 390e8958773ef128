#pragma once

#include "fixed_answer.hpp"

#if defined(TOLLGATE_SERVER_ASIO)
#include <tollgate/server/asio_server.hpp>
#else
#include <tollgate/server/server.hpp>
#endif
#include <tollgate/server/tls.hpp>

#include <chrono>
#include <cstdlib>

namespace benchmark {

/// Serves a handler with the arguments that every contender gets, `PORT [CERTIFICATE KEY]`, on one thread or as many as
/// BENCHMARK_THREADS says. Returns only when the server could not start, with the exit code for that.
inline int serve(tollgate::http::handler_ref handler, int argc, char** argv) {
    tollgate::server_settings settings;
    settings.port = port_argument(argc, argv);
    const char* const threads = std::getenv("BENCHMARK_THREADS");
    settings.threads = threads == nullptr ? 1 : static_cast<unsigned>(std::atoi(threads));
    settings.idle_timeout = std::chrono::minutes{5};  // under valgrind a round may take longer than a minute
    settings.connections_per_address_max = settings.connections_max;  // all clients have one address
    if (argc > 3) settings.tls = tollgate::tls_from({.certificate_file = argv[2], .key_file = argv[3]});
    tollgate::server server{handler, settings};
    server.run();
    return 1;
}

}  // namespace benchmark
