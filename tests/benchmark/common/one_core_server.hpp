#pragma once

#include "fixed_answer.hpp"

#include <tollgate/server/server.hpp>

#include <chrono>

namespace benchmark {

/// Serves a handler on one core with the arguments that every contender gets, `PORT [CERTIFICATE KEY]`. Returns only
/// when the server could not start, with the exit code for that.
inline int serve_on_one_core(tollgate::http::handler_ref handler, int argc, char** argv) {
    tollgate::server_settings settings;
    settings.port = port_argument(argc, argv);
    settings.threads = 1;
    settings.idle_timeout = std::chrono::minutes{5};  // under valgrind a round may take longer than a minute
    if (argc > 3) settings.tls = {.certificate_file = argv[2], .key_file = argv[3]};
    tollgate::server server{handler, settings};
    server.run();
    return 1;
}

}  // namespace benchmark
