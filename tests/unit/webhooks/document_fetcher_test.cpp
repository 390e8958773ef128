#include <tollgate/webhooks/document_fetcher.hpp>

#include <tollgate/policy/public_targets.hpp>
#include <tollgate/server/server.hpp>
#include <tollgate/server/tls.hpp>

#include <support/certificate.hpp>
#include <support/echo_handler.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace tollgate;

namespace {

/// A host with a certificate that the fetcher trusts.
struct document_host {
    tollgate_test::temporary_directory directory;
    tollgate_test::plain_handler handler;
    std::string authorities = directory.file("ca.pem");
    tollgate_test::certificate certificate = tollgate_test::make_certificate("host", "DNS:host.example,IP:127.0.0.1");
    server serving{handler, {.port = 0, .tls = tls_from({.certificate_pem = certificate.certificate_pem, .key_pem = certificate.key_pem})}};

    document_host() {
        std::ofstream{authorities} << certificate.certificate_pem;
        REQUIRE(serving.start());
    }
    std::string url(const std::string& path = "/client.json") {
        return "https://host.example:" + std::to_string(serving.port()) + path;
    }
    document_fetcher_settings settings() {
        return {.authorities_file = authorities,
                .look_up = [](const std::string&) { return std::vector{ip_address::v4(127, 0, 0, 1)}; }};
    }
};

policies private_targets() { return default_policies().with_target_rule(public_targets{.private_allowed = true}); }

}  // namespace

TEST_CASE("a document is fetched with its type and freshness") {
    document_host host;
    std::vector<std::string> seen;
    host.handler.respond = [&](const http::request& request, http::response& response) {
        seen.push_back(std::string{request.method_name}.append(" ").append(request.target.path).append(" ").append(
            request.fields.find("Accept")));
        CHECK(request.fields.count(http::field_id::content_length) == 0);
        CHECK_FALSE(request.fields.find("User-Agent").empty());
        response.add("Content-Type", "application/json");
        response.add("Cache-Control", *http::field_value::from(request.target.query));
        response.body() = "{}";
    };
    const document_fetcher fetch{private_targets(), host.settings()};
    struct row {
        const char* cache_control;
        std::optional<seconds> fresh_for;
    };
    for (const auto& [cache_control, fresh_for] :
         {row{"public", std::nullopt}, row{"max-age=120", seconds{120}}, row{"public,Max-Age=7", seconds{7}}, row{"max-age=0", seconds{0}},
          row{"max-age=99999999999999999999", seconds{0}}, row{"max-age=9999999", std::chrono::hours{24}}, row{"max-age", std::nullopt},
          row{"max-age=60,no-store", seconds{0}}, row{"no-cache,max-age=60", seconds{0}}, row{"s-maxage=60", std::nullopt}}) {
        CAPTURE(cache_control);
        const auto got = fetch(host.url("/client.json?") + cache_control);
        REQUIRE(got);
        CHECK(got->status == 200);
        CHECK(got->content_type == "application/json");
        CHECK(got->body == "{}");
        CHECK(got->fresh_for == fresh_for);
    }
    CHECK(seen.front() == "GET /client.json application/json");
}

TEST_CASE("a redirect is a response like any other") {
    document_host host;
    host.handler.respond = [&](const http::request&, http::response& response) {
        response.set_status(http::status::found);
        response.add("Location", "https://other.example/");
    };
    const auto got = document_fetcher{private_targets(), host.settings()}(host.url());
    REQUIRE(got);
    CHECK(got->status == 302);
}

TEST_CASE("a document is at most as long as the settings allow") {
    document_host host;
    std::size_t size = 0;
    host.handler.respond = [&](const http::request&, http::response& response) { response.body().assign(size, 'x'); };
    auto settings = host.settings();
    settings.body_bytes_max = 1000;
    const document_fetcher fetch{private_targets(), settings};
    for (const auto& [bytes, is_accepted] : {std::pair<std::size_t, bool>{1000, true}, {1001, false}, {10'000'000, false}}) {
        CAPTURE(bytes);
        size = bytes;
        const auto got = fetch(host.url());
        CHECK(got.has_value() == is_accepted);
        if (!got) CHECK(got.error().kind == error_kind::invalid);
    }
}

TEST_CASE("what is not public is refused, and the host is not asked") {
    document_host host;
    int requests = 0;
    host.handler.respond = [&](const http::request&, http::response&) { ++requests; };
    const document_fetcher fetch{default_policies(), host.settings()};
    const auto port = std::to_string(host.serving.port());
    for (const std::string& url : std::vector<std::string>{host.url(), "https://127.0.0.1:" + port + "/c", "https://localhost:" + port + "/c",
                                   "https://[::1]:" + port + "/c", "https://169.254.169.254/c", "http://host.example/c",
                                   "https://u:p@host.example/c", "https://host.example/c#f",
                                                            "file:///etc/passwd", ""}) {
        CAPTURE(url);
        const auto got = fetch(url);
        REQUIRE_FALSE(got);
        CHECK(got.error().kind == error_kind::invalid);
        CHECK_FALSE(got.error().message.empty());
    }
    CHECK(requests == 0);
}

TEST_CASE("a host that cannot be reached or trusted is unavailable") {
    document_host host;
    host.handler.respond = [](const http::request&, http::response& response) { response.body() = "{}"; };
    auto settings = host.settings();
    CHECK(document_fetcher{private_targets(), settings}(host.url()));
    settings.authorities_file = {};  // the system's do not know the certificate
    for (const auto& found : {std::vector<ip_address>{}, std::vector{ip_address::v4(127, 0, 0, 1)}}) {
        settings.look_up = [&](const std::string&) { return found; };
        const auto got = document_fetcher{private_targets(), settings}(host.url());
        REQUIRE_FALSE(got);
        CHECK(got.error().kind == error_kind::unavailable);
    }
}

TEST_CASE("many threads may fetch with copies of one fetcher") {
    document_host host;
    host.handler.respond = [](const http::request& request, http::response& response) { response.body() = request.target.path; };
    const document_fetcher fetch{private_targets(), host.settings()};
    std::vector<std::thread> threads;
    std::vector<std::string> bodies(8);
    for (std::size_t i = 0; i < bodies.size(); ++i)
        threads.emplace_back([&host, copy = fetch, &body = bodies[i], i] {
            if (const auto got = copy(host.url("/" + std::to_string(i)))) body = got->body;
        });
    for (auto& each : threads) each.join();
    for (std::size_t i = 0; i < bodies.size(); ++i) CHECK(bodies[i] == "/" + std::to_string(i));
}
