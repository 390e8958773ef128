#include <tollgate/server/tls.hpp>

#include <tollgate/server/server.hpp>

#include <catch2/catch.hpp>
#include <support/certificate.hpp>
#include <support/echo_handler.hpp>
#include <support/temporary_directory.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <string>

// On Windows, no pipe or device is a file, and to open a directory fails with another error.

using tollgate::server;
using tollgate::server_settings;

TEST_CASE("certificate and key may come from pipes", "[server][tls]") {
    const auto own = tollgate_test::make_certificate("ours");
    const auto pipe_with = [](const std::string& text) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        ::close(ends[1]);
        return ends[0];
    };
    const int certificate = pipe_with(own.certificate_pem);
    const int key = pipe_with(own.key_pem);
    tollgate_test::echo_handler handler;
    server_settings settings;
    settings.port = 0;
    settings.tls = {"/dev/fd/" + std::to_string(certificate), "/dev/fd/" + std::to_string(key)};
    server running{handler, settings};
    CHECK(running.start());
    ::close(certificate);
    ::close(key);
}

TEST_CASE("a file that never ends, is empty, or is a directory keeps a server from starting", "[server][tls]") {
    const auto one = tollgate_test::make_certificate("one");
    const tollgate_test::temporary_directory directory;
    const std::string fifo = directory.file("fifo");
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    struct row {
        tollgate::tls_settings tls;
        std::string expected;
    };
    for (const auto& [tls, expected] : {row{{"/dev/zero", {}, {}, one.key_pem}, "/dev/zero) cannot be used: it is too long"},
                                        row{{{}, "/dev/null", one.certificate_pem, {}}, "/dev/null) cannot be used: it is empty"},
                                        row{{{}, fifo, one.certificate_pem, {}}, "it is empty"},
                                        row{{.certificate_pem = one.certificate_pem,
                                             .key_pem = one.key_pem,
                                             .ticket_key_file = directory.path()},
                                            "Is a directory"}}) {
        CAPTURE(expected);
        tollgate_test::echo_handler handler;
        server_settings settings;
        settings.port = 0;
        settings.tls = tollgate::tls_from(tls);
        const auto started = server{handler, settings}.start();
        REQUIRE_FALSE(started);
        CHECK(started.error().message.find(expected) != std::string::npos);
    }
}
