#include <tollgate/server/tls.hpp>

#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/server/asio_server.hpp>

#include <catch2/catch.hpp>
#include <support/certificate.hpp>
#include <support/echo_handler.hpp>
#include <support/eventually.hpp>
#include <support/socket_client.hpp>
#include <support/temporary_directory.hpp>

#include <openssl/bio.h>
#include <openssl/crypto.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using namespace std::string_literals;
using tollgate_test::socket_client;
using tollgate_test::tls_client;
using tollgate::server;
using tollgate::server_settings;
using tollgate::tls_from;
using tollgate::tls_settings;

namespace {

const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

/// With a certificate of its own if `tls` has none.
server_settings with_tls(tls_settings tls = {}) {
    static const tollgate_test::certificate own = tollgate_test::make_certificate("first");
    if (tls.certificate_file.empty() && tls.certificate_pem.empty()) {
        tls.certificate_pem = own.certificate_pem;
        tls.key_pem = own.key_pem;
    }
    server_settings settings;
    settings.port = 0;
    settings.threads = 1;
    settings.stop_grace = 0ms;
    settings.tls = tls_from(std::move(tls));
    return settings;
}

void write_file(const std::string& path, const std::string& text) { std::ofstream{path} << text; }

/// Certificate and key in files, which a reload reads again.
struct certificate_files {
    const tollgate_test::temporary_directory directory;
    const std::string certificate = directory.file("cert.pem"), key = directory.file("key.pem");

    explicit certificate_files(const tollgate_test::certificate& first) { write(first); }
    void write(const tollgate_test::certificate& next) const {
        write_file(certificate, next.certificate_pem);
        write_file(key, next.key_pem);
    }
    [[nodiscard]] server_settings settings(const std::string& ticket_keys = {}) const {
        return with_tls({.certificate_file = certificate, .key_file = key, .ticket_key_file = ticket_keys});
    }
};

/// Counts the memory blocks of OpenSSL that may contain a record: those of all connections, of clients, too.
namespace record_buffers {

std::atomic<int> allocated = 0, in_use = 0;

/// Stands before each block.
struct alignas(std::max_align_t) block_head {
    std::size_t bytes;
};

bool is_one(std::size_t bytes) noexcept { return bytes >= 16 * 1024; }
void* resize(void* block, std::size_t bytes, const char*, int) {
    auto* head = block != nullptr ? static_cast<block_head*>(block) - 1 : nullptr;
    if (head != nullptr && is_one(head->bytes)) --in_use;
    head = static_cast<block_head*>(std::realloc(head, sizeof(block_head) + bytes));
    if (head == nullptr) return nullptr;
    head->bytes = bytes;
    if (is_one(bytes)) ++allocated, ++in_use;
    return head + 1;
}
void* allocate(std::size_t bytes, const char* file, int line) { return resize(nullptr, bytes, file, line); }
void release(void* block, const char*, int) {
    if (block == nullptr) return;
    auto* const head = static_cast<block_head*>(block) - 1;
    if (is_one(head->bytes)) --in_use;
    std::free(head);
}

const bool counted = CRYPTO_set_mem_functions(&allocate, &resize, &release) == 1;  // before OpenSSL allocates anything

}  // namespace record_buffers

}  // namespace

TEST_CASE("TLS 1.2 and 1.3 are accepted, older versions are not", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server running{handler, with_tls()};
    REQUIRE(running.start());
    for (const auto& [version, name] : {std::pair{TLS1_2_VERSION, "TLSv1.2"s}, std::pair{TLS1_3_VERSION, "TLSv1.3"s}}) {
        CAPTURE(name);
        tls_client client{running.port(), version};
        REQUIRE(client.connected());
        CHECK(client.version() == name);
        for (int i = 0; i < 20; ++i) {
            client.write(get + "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
            CHECK(client.read_response().body == "GET /a ");
            CHECK(client.read_response().body == "POST /b hello");
        }
    }
    CHECK_FALSE(tls_client{running.port(), TLS1_1_VERSION}.connected());
}

TEST_CASE("over TLS, bytes arrive one by one or in bulk and are sent in bulk", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server running{handler, with_tls()};
    REQUIRE(running.start());
    tls_client client{running.port()};
    client.write_byte_by_byte(get);
    CHECK(client.read_response().body == "GET /a ");
    const std::string body(64 * 1024, 'b');
    for (int i = 0; i < 4; ++i) client.write("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\n" + body);
    for (int i = 0; i < 4; ++i) CHECK(client.read_response().body == "POST /b " + body);
    const int before = handler.requests;
    for (int i = 0; i < 4; ++i) client.write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    REQUIRE(tollgate_test::eventually([&] { return handler.requests > before; }));
    for (int i = 0; i < 4; ++i) CHECK(client.read_response().body == std::string(1 << 20, 'x'));
    std::string many;
    for (int i = 0; i < 1500; ++i) many += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
    client.write(many);
    for (int i = 0; i < 1500; ++i) REQUIRE(client.read_response().body == "GET /" + std::to_string(i) + " ");
}

TEST_CASE("a busy connection keeps its TLS buffers, and an idle one frees them", "[server][tls]") {
    REQUIRE(record_buffers::counted);
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        CAPTURE(version);
        tollgate_test::echo_handler handler;
        server running{handler, with_tls()};
        REQUIRE(running.start());
        const int before = record_buffers::in_use;
        tls_client client{running.port(), version};
        const auto exchange = [&] {
            client.write(get);
            return client.read_response().body == "GET /a ";
        };
        REQUIRE(exchange());
        constexpr int buffers = 2;  // to read and to write
        const auto only_client_has_buffers = [&] { return record_buffers::in_use == before + buffers; };
        REQUIRE(tollgate_test::eventually(only_client_has_buffers));
        for (int round = 0; round < 2; ++round) {
            const int at_start = record_buffers::allocated;
            constexpr int exchanges = 200;
            for (int i = 0; i < exchanges; ++i) REQUIRE(exchange());
            CHECK(record_buffers::allocated < at_start + exchanges);  // once between two ticks, of which there are few
            CHECK(tollgate_test::eventually(only_client_has_buffers));
        }
    }
}

TEST_CASE("few busy connections keep their TLS buffers at a time", "[server][tls]") {
    REQUIRE(record_buffers::counted);
    tollgate_test::echo_handler handler;
    server_settings settings = with_tls();
    settings.connections_per_address_max = settings.connections_max;
    server running{handler, settings};
    REQUIRE(running.start());
    std::vector<std::unique_ptr<tls_client>> clients;
    const int before = record_buffers::in_use;
    constexpr int connections = 300, kept_max = 256, buffers = 2;
    constexpr int sending = 1;  // its buffers are freed after its response was sent, which the client may have read
    const auto exchange = [](tls_client& client) {
        client.write(get);
        return client.read_response().body == "GET /a ";
    };
    for (int i = 0; i < connections; ++i) {
        clients.push_back(std::make_unique<tls_client>(running.port()));
        REQUIRE(exchange(*clients.back()));
    }
    for (const auto& each : clients) REQUIRE(exchange(*each));
    CHECK(record_buffers::in_use <= before + buffers * (connections + kept_max + sending));
    CHECK(tollgate_test::eventually([&] { return record_buffers::in_use == before + buffers * connections; }));
}

TEST_CASE("a connection that keeps its TLS buffers may end", "[server][tls]") {
    REQUIRE(record_buffers::counted);
    tollgate_test::echo_handler handler;
    server running{handler, with_tls()};
    REQUIRE(running.start());
    const int before = record_buffers::in_use;
    for (const bool ends : {true, false}) {
        tls_client client{running.port()};
        for (int i = 0; i < 3; ++i) {
            client.write(get);
            REQUIRE(client.read_response().body == "GET /a ");
        }
        // Then comes the tick that frees the buffers of the one that is left.
        constexpr int buffers = 2;
        if (!ends) CHECK(tollgate_test::eventually([&] { return record_buffers::in_use == before + buffers; }));
    }
    CHECK(tollgate_test::eventually([&] { return record_buffers::in_use == before; }));
}

TEST_CASE("buffers that contain a part of a record are not freed", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server running{handler, with_tls()};
    REQUIRE(running.start());
    struct half_sent {
        std::unique_ptr<tls_client> client;
        std::string rest;
    };
    std::vector<half_sent> all;
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION})
        for (const std::size_t first_bytes : {1U, 4U, 5U, 6U, 30U}) {
            auto client = std::make_unique<tls_client>(running.port(), version);
            client->write(get);
            const auto records = client->records_of([&] { client->write("GET /b HTTP/1.1\r\nHost: x\r\n\r\n"); });
            REQUIRE(client->socket_client::write(records.substr(0, first_bytes)));
            REQUIRE(client->read_response().body == "GET /a ");
            all.push_back({std::move(client), records.substr(first_bytes)});
        }
    // Until the next tick at the earliest, when these connections stop keeping their buffers.
    tls_client other{running.port()};
    const auto date = [&other] {
        other.write(get);
        const auto head = other.read_response().head;
        return head.substr(head.find("\r\nDate: "), 37);
    };
    const auto first = date();
    REQUIRE(tollgate_test::eventually([&] { return date() != first; }));
    for (const auto& each : all) {
        REQUIRE(each.client->socket_client::write(each.rest));
        CHECK(each.client->read_response().body == "GET /b ");
    }
}

TEST_CASE("ALPN selects http/1.1, and a client that offers only other protocols gets an alert", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server running{handler, with_tls()};
    REQUIRE(running.start());
    struct row {
        std::string_view offered;
        const char* chosen;  // null: a fatal alert
    };
    for (const auto& [offered, chosen] : {row{"\x02h2\x08http/1.1", "http/1.1"}, {"\x08http/1.0", "http/1.0"},
                                          {"\x08http/1.0\x08http/1.1", "http/1.1"}, {"\x02h2\x08http/1.0", "http/1.0"}, {"", ""},
                                          {"\x02h2", nullptr}, {"\x08http/0.9", nullptr}, {"\x04http\x07/1.1abc", nullptr},
                                          {"\x08HTTP/1.1", nullptr}, {"\x09http/1.1x", nullptr}}) {
        CAPTURE(offered);
        const tls_client client{running.port(), 0, offered};
        CHECK(client.connected() == (chosen != nullptr));
        if (chosen != nullptr) CHECK(client.alpn() == chosen);
    }
}

TEST_CASE("TLS 1.2 agrees only on forward secrecy with authenticated encryption, with RSA and ECDSA keys", "[server][tls]") {
    using tollgate_test::key_kind;
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> all{SSL_CTX_new(TLS_client_method()), &SSL_CTX_free};
    REQUIRE(SSL_CTX_set_cipher_list(all.get(), "ALL:COMPLEMENTOFALL:@SECLEVEL=0") == 1);
    for (const auto kind : {key_kind::rsa, key_kind::ecdsa}) {
        const auto own = tollgate_test::make_certificate("suites", {}, kind);
        tollgate_test::echo_handler handler;
        server running{handler, with_tls({.certificate_pem = own.certificate_pem, .key_pem = own.key_pem})};
        REQUIRE(running.start());
        const std::string good = kind == key_kind::rsa ? "ECDHE-RSA-" : "ECDHE-ECDSA-";
        std::vector<std::string> agreed;
        STACK_OF(SSL_CIPHER)* const ciphers = SSL_CTX_get_ciphers(all.get());
        for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); ++i) {
            const std::string name = SSL_CIPHER_get_name(sk_SSL_CIPHER_value(ciphers, i));
            const tls_client client{running.port(), TLS1_2_VERSION, {}, (name + ":@SECLEVEL=0").c_str()};
            if (client.connected()) agreed.push_back(client.cipher());
        }
        CHECK_THAT(agreed, Catch::UnorderedEquals(std::vector{good + "AES256-GCM-SHA384", good + "AES128-GCM-SHA256",
                                                              good + "CHACHA20-POLY1305"}));
    }
}

TEST_CASE("the ciphers of TLS 1.2 can be set", "[server][tls]") {
    const auto own = tollgate_test::make_certificate("old clients", {}, tollgate_test::key_kind::rsa);
    tollgate_test::echo_handler handler;
    const auto with_ciphers = [&own](std::string ciphers) {
        return with_tls({.certificate_pem = own.certificate_pem, .key_pem = own.key_pem, .tls12_ciphers = std::move(ciphers)});
    };
    {
        server running{handler, with_ciphers("ECDHE+AESGCM:AES128-SHA")};
        REQUIRE(running.start());
        CHECK(tls_client{running.port(), TLS1_2_VERSION, {}, "AES128-SHA"}.cipher() == "AES128-SHA");
        CHECK_FALSE(tls_client{running.port(), TLS1_2_VERSION, {}, "AES256-SHA"}.connected());
        CHECK(tls_client{running.port(), TLS1_3_VERSION}.connected());
    }
    const auto started = server{handler, with_ciphers("none-of-these")}.start();
    REQUIRE_FALSE(started);
    CHECK(started.error().message.find("none-of-these") != std::string::npos);
}

namespace {

std::string ticket_secret(char each) { return tollgate::detail::base64_encode(std::string(32, each)) + "\n"; }

/// A session that can be resumed: its ticket arrives with the first response.
tollgate_test::tls_session session_at(const server& running, int version) {
    tls_client client{running.port(), version};
    client.write(get);
    CHECK(client.read_response().status == 200);
    client.close_notify();  // OpenSSL does not resume a session that was cut off
    return client.session();
}

bool resumes(const server& running, int version, const tollgate_test::tls_session& session) {
    tls_client client{running.port(), version, {}, nullptr, session};
    client.write(get);
    CHECK(client.read_response().status == 200);
    client.close_notify();
    return client.resumed();
}

}  // namespace

TEST_CASE("sessions are resumed by servers that have the same ticket keys", "[server][tls][tickets]") {
    const tollgate_test::temporary_directory directory;
    const std::string keys = directory.file("keys");
    write_file(keys, ticket_secret('a'));
    tollgate_test::echo_handler handler;
    server alone{handler, with_tls()};
    const server_settings shared = with_tls({.ticket_key_file = keys});
    server first{handler, shared}, second{handler, shared};
    REQUIRE(alone.start());
    REQUIRE(first.start());
    REQUIRE(second.start());
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        CAPTURE(version);
        write_file(keys, ticket_secret('a'));
        REQUIRE(first.reload_certificates());
        REQUIRE(second.reload_certificates());
        const auto session = session_at(first, version);
        CHECK(resumes(first, version, session));
        CHECK(resumes(second, version, session));
        CHECK_FALSE(resumes(alone, version, session));
        CHECK(resumes(alone, version, session_at(alone, version)));

        // A new key before the old one, and then without the old one.
        write_file(keys, ticket_secret('b') + ticket_secret('a'));
        REQUIRE(second.reload_certificates());
        CHECK(resumes(second, version, session));
        CHECK_FALSE(resumes(first, version, session_at(second, version)));
        write_file(keys, ticket_secret('b'));
        REQUIRE(second.reload_certificates());
        CHECK_FALSE(resumes(second, version, session));
    }
}

TEST_CASE("a reload of the certificate keeps a server's own ticket keys", "[server][tls][tickets]") {
    tollgate_test::echo_handler handler;
    server running{handler, with_tls()};
    REQUIRE(running.start());
    const auto session = session_at(running, TLS1_3_VERSION);
    REQUIRE(running.reload_certificates());
    CHECK(resumes(running, TLS1_3_VERSION, session));
}

TEST_CASE("an unusable file of ticket keys does not keep a new certificate from being used", "[server][tls][tickets]") {
    const certificate_files files{tollgate_test::make_certificate("first")};
    const std::string keys = files.directory.file("keys");
    tollgate_test::echo_handler handler;
    auto settings = files.settings(keys);
    std::string warning;
    settings.on_warning = [&warning](std::string_view message) { warning = message; };
    write_file(keys, "garbage");
    CHECK_FALSE(server{handler, settings}.reload_certificates());  // not started
    write_file(keys, ticket_secret('a'));
    server running{handler, settings};
    REQUIRE(running.start());
    const auto session = session_at(running, TLS1_3_VERSION);

    files.write(tollgate_test::make_certificate("second"));
    write_file(keys, "garbage");
    CHECK(running.reload_certificates());
    CHECK(warning.find(keys) != std::string::npos);
    CHECK(warning.ends_with("The former keys remain in use."));
    CHECK(tls_client{running.port()}.common_name() == "second");
    CHECK(resumes(running, TLS1_3_VERSION, session));
}

TEST_CASE("the error names an unusable file of ticket keys", "[server][tls][tickets]") {
    const tollgate_test::temporary_directory directory;
    const std::string keys = directory.file("keys");
    tollgate_test::echo_handler handler;
    const auto refuses = [&](const std::string& expected) {
        const auto started = server{handler, with_tls({.ticket_key_file = keys})}.start();
        CAPTURE(expected);
        REQUIRE_FALSE(started);
        CHECK(started.error().message.find(keys) != std::string::npos);
        CHECK(started.error().message.find(expected) != std::string::npos);
    };
    refuses("No such file or directory");
    write_file(keys, "");
    refuses("it is empty");
    write_file(keys, "\n");
    refuses("no key");
    write_file(keys, ticket_secret('a') + "garbage\n");
    refuses("line 2 is not the base64 text of 32 bytes");
    write_file(keys, std::string(5000, '\n'));
    refuses("too long");
}

TEST_CASE("both sides send close_notify", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server running{handler, with_tls()};
    REQUIRE(running.start());
    {
        tls_client client{running.port()};
        client.write("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        CHECK(client.read_response().status == 200);
        CHECK(client.ends_silently());
        CHECK(client.received_close_notify());
    }
    {
        tls_client client{running.port()};
        client.write("nonsense\r\n\r\n");
        CHECK(client.read_response().status == 400);
        CHECK(client.ends_silently());
        CHECK(client.received_close_notify());
    }
    {
        tls_client client{running.port()};
        client.write(get);
        CHECK(client.read_response().status == 200);
        client.close_notify();
        CHECK(client.ends_silently());
    }
    {
        tls_client client{running.port()};
        client.write(get);
        CHECK(client.read_response().status == 200);
        running.stop();
        CHECK(client.ends_silently());
        CHECK(client.received_close_notify());
    }
}

TEST_CASE("an idle connection ends with close_notify, when its time is over and when it is replaced", "[server][tls]") {
    tollgate_test::echo_handler handler;
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        for (const bool is_replaced : {true, false}) {
            CAPTURE(version, is_replaced);
            server_settings settings = with_tls();
            if (is_replaced) settings.connections_max = 1;
            else settings.idle_timeout = 80ms;
            server running{handler, settings};
            REQUIRE(running.start());
            tls_client client{running.port(), version};
            client.write(get);
            REQUIRE(client.read_response().status == 200);
            std::optional<tls_client> next;
            if (is_replaced) next.emplace(running.port(), version);
            CHECK(client.ends_silently());
            CHECK(client.received_close_notify());
        }
    }
}

TEST_CASE("a close_notify right after a request does not suppress the response", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server running{handler, with_tls()};
    REQUIRE(running.start());
    tls_client client{running.port()};
    REQUIRE(client.connected());
    const std::string records = client.records_of([&] {
        client.write(get + get);
        client.close_notify();
    });
    REQUIRE(client.socket_client::write(records));
    CHECK(client.read_response().body == "GET /a ");
    CHECK(client.read_response().body == "GET /a ");
    CHECK(client.ends_silently());
}

TEST_CASE("records without a request do not keep a connection open", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server_settings settings = with_tls();
    settings.idle_timeout = 80ms;
    server running{handler, settings};
    REQUIRE(running.start());
    tls_client client{running.port(), TLS1_3_VERSION};
    client.write(get);
    REQUIRE(client.read_response().status == 200);
    CHECK(tollgate_test::eventually([&] {
        const bool is_open = client.silent_for(10ms);
        if (is_open) client.update_key();
        return !is_open;
    }));
    CHECK(client.ends_silently());
}

TEST_CASE("plain HTTP on a TLS port gets a plain-text response, and other bytes end the connection", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server running{handler, with_tls()};
    REQUIRE(running.start());
    {
        socket_client client{running.port()};
        client.write(get);
        CHECK(client.read_response().status == 400);
        CHECK(client.ends_silently());
    }
    for (const std::string& garbage : {"\x00\x01\x02\x03\x04\x05\x06\x07"s, std::string(20000, '\xff'),
                                       "\x16\x03\x01\x40\x00"s + std::string(17000, 'a')}) {
        socket_client client{running.port()};
        client.write(garbage);
        client.end_writing();
        client.read_to_end();  // an alert, or nothing
    }
    CHECK(handler.requests == 0);
    CHECK(tls_client{running.port()}.connected());
}

TEST_CASE("invalid data inside a session ends it", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server running{handler, with_tls()};
    REQUIRE(running.start());
    tls_client client{running.port()};
    client.write(get);
    CHECK(client.read_response().status == 200);
    client.socket_client::write({"\x17\x03\x03\x00\x20garbagegarbagegarbagegarbage1234", 37});
    client.write(get);
    CHECK(client.ends_silently());
    CHECK(handler.requests == 1);
}

namespace {

/// A server of one connection, which has begun its second request and so is not idle.
struct full_server {
    tollgate_test::echo_handler handler;
    server running;
    std::optional<tls_client> first;

    full_server() : running{handler, settings()} {
        REQUIRE(running.start());
        first.emplace(running.port());
        first->write(get + get.substr(0, 8));
        CHECK(first->read_response().status == 200);
    }
    static server_settings settings() {
        auto chosen = with_tls();
        chosen.connections_max = 1;
        return chosen;
    }
};

}  // namespace

TEST_CASE_METHOD(full_server, "over TLS, connections over a bound get 503", "[server][tls]") {
    tls_client second{running.port()};
    REQUIRE(second.connected());
    second.write(get);
    const auto response = second.read_response();
    CHECK(response.status == 503);
    CHECK(response.has("Retry-After: "));
    CHECK(second.ends_silently());
    first->write(get.substr(8));
    CHECK(first->read_response().status == 200);
    CHECK(handler.requests == 2);
}

TEST_CASE_METHOD(full_server, "a connection that is to be refused makes no room for another one", "[server][tls]") {
    const tollgate_test::socket_client begins_no_handshake{running.port()};
    tls_client third{running.port()};
    REQUIRE(third.connected());
    third.write(get);
    CHECK(third.read_response().status == 503);
}

TEST_CASE("a TLS handshake has a deadline", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server_settings settings = with_tls();
    SECTION("its own setting applies") {
        settings.handshake_timeout = 80ms;
        server running{handler, settings};
        REQUIRE(running.start());
        for (const std::string& prefix : {""s, "\x16\x03\x01\x01\x00\x01\x00"s}) {
            socket_client client{running.port()};
            client.write(prefix);
            CHECK(client.ends_silently());
        }
    }
    SECTION("the head of the first request has a deadline") {
        settings.header_timeout = 80ms;
        server running{handler, settings};
        REQUIRE(running.start());
        CHECK(tollgate_test::eventually([&] {  // a client that a busy machine delays before it sends anything gets no response
            tls_client client{running.port()};
            REQUIRE(client.connected());
            client.write("GET / HT");
            return client.read_response().status == 408 && client.ends_silently();
        }));
    }
}

TEST_CASE("a client may disconnect during the handshake", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server running{handler, with_tls()};
    REQUIRE(running.start());
    for (int i = 0; i < 20; ++i) {
        socket_client client{running.port()};
        client.write(std::string_view{"\x16\x03\x01\x01\x00\x01\x00\x00\xfc\x03\x03", 11}.substr(0, static_cast<std::size_t>(i % 12)));
        if (i % 2 == 0) client.reset_on_close();
    }
    CHECK(tls_client{running.port()}.connected());
}

TEST_CASE("a blocking handler responds over TLS", "[server][tls]") {
    tollgate_test::blocking_handler handler;
    handler.respond = [](const tollgate::http::request& request, tollgate::http::response& response) {
        response.body() = request.secure ? "secure" : "plain";
    };
    server running{handler, with_tls()};
    REQUIRE(running.start());
    tls_client client{running.port()};
    for (int i = 0; i < 50; ++i) {
        client.write(get + get);
        CHECK(client.read_response().body == "secure");
        CHECK(client.read_response().body == "secure");
    }
}

TEST_CASE("new connections use reloaded certificates", "[server][tls]") {
    const certificate_files files{tollgate_test::make_certificate("first")};
    const auto second = tollgate_test::make_certificate("second");
    tollgate_test::echo_handler handler;
    server running{handler, files.settings()};
    REQUIRE(running.start());
    tls_client old{running.port()};
    CHECK(old.common_name() == "first");

    write_file(files.certificate, second.certificate_pem);
    const auto mixed = running.reload_certificates();
    REQUIRE_FALSE(mixed);
    CHECK(mixed.error().message.find(files.key) != std::string::npos);
    CHECK(tls_client{running.port()}.common_name() == "first");

    write_file(files.key, second.key_pem);
    REQUIRE(running.reload_certificates());
    CHECK(tls_client{running.port()}.common_name() == "second");
    old.write(get);
    CHECK(old.read_response().status == 200);

    write_file(files.certificate, "garbage");
    CHECK_FALSE(running.reload_certificates());
    CHECK(tls_client{running.port()}.common_name() == "second");
}

TEST_CASE("reloading certificates uses up nothing of OpenSSL's, and needs TLS", "[server][tls]") {
    const auto own = tollgate_test::make_certificate("ours");
    server_settings settings;
    tollgate_test::echo_handler handler;
    CHECK(server{handler, settings}.reload_certificates().error().kind == tollgate::error_kind::invalid);
    const tls_settings tls{.certificate_pem = own.certificate_pem, .key_pem = own.key_pem};
    settings.tls = tls_from(tls);
    server running{handler, settings};
    const auto use_one = [&] {
        REQUIRE(running.reload_certificates());
        REQUIRE(check_tls(tls));
    };
    use_one();
    const int before = BIO_get_new_index();
    for (int i = 0; i < 3; ++i) use_one();
    CHECK(BIO_get_new_index() == before + 1);  // of 127 in a process
}

TEST_CASE("a TLS source that returns nothing keeps a server from starting", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server_settings settings;
    settings.port = 0;
    settings.tls = [] { return tollgate::result<std::shared_ptr<const tollgate::server_detail::tls_context>>{nullptr}; };
    server running{handler, settings};
    const auto started = running.start();
    REQUIRE_FALSE(started);
    CHECK(started.error().message == "The TLS source has returned nothing.");
}

TEST_CASE("a TLS source that throws makes its start fail, and a stop returns", "[server][tls]") {
    tollgate_test::echo_handler handler;
    server_settings settings;
    settings.port = 0;
    using made = tollgate::result<std::shared_ptr<const tollgate::server_detail::tls_context>>;
    const tollgate::tls_source sources[] = {tollgate::tls_source{[]() -> made { throw std::runtime_error{"no key"}; }},
                                            tollgate::tls_source{[]() -> made { throw 1; }}};
    for (const auto& each : sources) {
        settings.tls = each;
        server running{handler, settings};
        const auto reloaded = running.reload_certificates();
        REQUIRE_FALSE(reloaded);
        const auto started = running.start();
        REQUIRE_FALSE(started);
        CHECK(started.error().cause == reloaded.error().cause);
        CHECK(started.error().cause.starts_with("the TLS source: "));
        running.stop();
        running.wait();
    }
}

TEST_CASE("an invalid certificate keeps a server from starting", "[server][tls]") {
    tollgate_test::echo_handler handler;
    const auto refuses = [&](tls_settings tls, const std::string& expected) {
        server_settings settings;
        settings.port = 0;
        settings.tls = tls_from(std::move(tls));
        server instance{handler, settings};
        const auto started = instance.start();
        CAPTURE(expected);
        REQUIRE_FALSE(started);
        CHECK(started.error().message.find(expected) != std::string::npos);
    };
    const auto one = tollgate_test::make_certificate("one");
    const auto other = tollgate_test::make_certificate("other");
    refuses({"/nowhere/cert.pem", "/nowhere/key.pem"}, "/nowhere/cert.pem");
    refuses({"/nowhere/cert.pem", "/nowhere/key.pem"}, "No such file or directory");
    refuses({{}, {}, one.certificate_pem, {}}, "The TLS settings have no key.");
    refuses({{}, {}, {}, one.key_pem}, "The TLS settings have no certificate.");
    refuses({{}, {}, one.certificate_pem, other.key_pem}, "it is not the key of the certificate");
    // Without asking for a pass phrase.
    refuses({{}, {}, one.certificate_pem, one.locked_key_pem}, "it is not a PEM private key without a pass phrase");
    refuses({{}, {}, one.certificate_pem, one.certificate_pem}, "it is not a PEM private key without a pass phrase");
    refuses({{}, {}, "garbage", one.key_pem}, "it is not a PEM certificate");
    const tollgate_test::temporary_directory directory;
    const std::string certificate_file = directory.file("certificate.pem"), key_file = directory.file("key.pem");
    write_file(certificate_file, one.certificate_pem);
    write_file(key_file, one.key_pem);
    refuses({certificate_file, {}, one.certificate_pem, one.key_pem}, certificate_file + ") cannot be used: it is given as text, too");
    refuses({{}, key_file, one.certificate_pem, one.key_pem}, key_file + ") cannot be used: it is given as text, too");
    refuses({{},
             {},
             one.certificate_pem + "-----BEGIN CERTIFICATE-----\ngarbage\n-----END CERTIFICATE-----\n",
             one.key_pem},
            "certificate");
}
