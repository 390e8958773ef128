#include <tollgate/api/account_api.hpp>
#include <tollgate/limits/window_limiter.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

using namespace tollgate;
using namespace tollgate::test;
using http::method;

namespace {

std::string balance_target() { return "/v1/user/balance"; }

bool has_error_object(const http::response& answer) {
    return answer.body().starts_with("{\"message\":\"") && answer.body().find("\"documentation_url\":\"https://shop.example/docs/") != std::string::npos;
}

void check_window(const http::response& answer, const char* limit, const char* remaining) {
    CHECK(answer.find("X-RateLimit-Limit") == limit);
    CHECK(answer.find("X-RateLimit-Remaining") == remaining);
    CHECK(answer.find("X-RateLimit-Reset").empty() == (std::string_view{remaining} != "0"));
}

/// Counts here or elsewhere, as it is told.
struct movable_limiter : unlimited {
    static constexpr bool blocking = true;
    bool is_elsewhere = false;
    [[nodiscard]] bool may_block() const noexcept { return is_elsewhere; }
};

bool needs_worker(auto& api) {
    sent request{method::get, "/v1/testservice/get"};
    http::response response;
    http::handler_state state;
    return api.advance(request.asked(), response, state, http::thread_kind::io) == http::handle_step::needs_worker;
}

/// Waits, as it says, whenever it is asked; how often that was, somebody else counts.
struct waiting_limiter {
    static constexpr bool blocking = true;
    int* asked;
    verdict take(const limit_key& key, const quota& allowed, instant now) const noexcept { return peek(key, allowed, now); }
    verdict peek(const limit_key&, const quota& allowed, instant now) const noexcept {
        ++*asked;
        return {true, allowed.requests, 7, now};
    }
};

/// Trips over every request, before it is counted.
struct throwing_scheme {
    static constexpr std::string_view scheme = "Basic";
    static constexpr std::string_view challenge = "Basic realm=\"api\"";
    result<std::optional<caller>> identify(std::string_view, memory_store&, instant) const {
        throw std::runtime_error{"out of words"};
    }
};

}  // namespace

TEST_CASE("an anonymous window has 60 requests; Retry-After is sent only when it is full", "[api][limit]") {
    auto shop = make_shop();
    shop.now += milliseconds{250};
    for (int i = 1; i <= 60; ++i) {
        const auto answer = shop.answer(sent{method::get, "/v1/testservice/get"});
        CHECK(answer.status() == http::status::ok);
        check_window(answer, "60", std::to_string(60 - i).c_str());
    }
    shop.now += seconds{10};
    const auto refused = shop.answer(sent{method::get, "/v1/testservice/get"});
    CHECK(refused.status() == http::status::too_many_requests);
    CHECK(has_error_object(refused));
    CHECK(refused.body().find("API rate limit exceeded") != std::string::npos);
    check_window(refused, "60", "0");
    CHECK(refused.find("X-RateLimit-Reset") == to_iso8601(from_unix_seconds(1'700'000'000 + 3601)).view());
    CHECK(refused.find("Retry-After") == "3590");

    // A refused request is not counted: the window ends when it would have ended anyway.
    shop.now = from_unix_milliseconds(1'700'003'600'249);
    CHECK(shop.answer(sent{method::get, "/v1/testservice/get"}).status() == http::status::too_many_requests);
    shop.now += milliseconds{1};
    check_window(shop.answer(sent{method::get, "/v1/testservice/get"}), "60", "59");
}

TEST_CASE("a request without User-Agent is refused and counted on every path", "[api][agent]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance");
    int left = 60;
    for (const char* target : {"/v1/user/balance", "/v1/testservice/get", "/nowhere", "/", "*"}) {
        for (const char* agent : {static_cast<const char*>(nullptr), "", " "}) {
            sent request{method::get, target};
            request.without("User-Agent").basic(token.username, token.secret);
            if (agent != nullptr) request.field("User-Agent", agent);
            const auto answer = shop.answer(request);
            CHECK(answer.status() == http::status::forbidden);
            CHECK(has_error_object(answer));
            CHECK(answer.body().find("User-Agent") != std::string::npos);
            check_window(answer, "60", std::to_string(--left).c_str());
        }
    }
    while (left-- > 0) shop.answer(sent{method::get, "/v1/testservice/get"});
    sent request{method::get, "/v1/testservice/get"};
    CHECK(shop.answer(request.without("User-Agent")).status() == http::status::too_many_requests);
}

TEST_CASE("all tokens of a user share one window, which can be enlarged at once", "[api][limit]") {
    auto shop = make_shop();
    const auto first = shop.personal_token(ann, "user:balance");
    const auto second = shop.personal_token(ann, "user:balance");
    const auto third = shop.access_token(ann, "user:balance");
    check_window(shop.answer(sent{method::get, balance_target()}.basic(first.username, first.secret)), "1000", "999");
    check_window(shop.answer(sent{method::get, balance_target()}.basic(second.username, second.secret)), "1000", "998");
    check_window(shop.answer(sent{method::get, balance_target()}.bearer(third)), "1000", "997");

    shop.users.people.at(ann).own_quota = quota{5000, std::chrono::hours{24}};
    check_window(shop.answer(sent{method::get, balance_target()}.basic(first.username, first.secret)), "5000", "4996");

    const auto other = shop.personal_token(bob, "user:balance");
    check_window(shop.answer(sent{method::get, balance_target()}.basic(other.username, other.secret)), "1000", "999");
}

TEST_CASE("the thousandth request of a day is the last", "[api][limit]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance");
    for (int i = 1; i < 1000; ++i) shop.answer(sent{method::get, balance_target()}.basic(token.username, token.secret));
    const auto last = shop.answer(sent{method::get, balance_target()}.basic(token.username, token.secret));
    CHECK(last.status() == http::status::ok);
    check_window(last, "1000", "0");
    const auto refused = shop.answer(sent{method::get, balance_target()}.basic(token.username, token.secret));
    CHECK(refused.status() == http::status::too_many_requests);
    CHECK(refused.find("Retry-After") == "86400");
    shop.now += std::chrono::hours{24};
    check_window(shop.answer(sent{method::get, balance_target()}.basic(token.username, token.secret)), "1000", "999");
}

TEST_CASE("a bad token counts against its address, not its owner, and a full address refuses no valid token", "[api][limit]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance");
    auto wrong = token.secret;
    wrong[10] = wrong[10] == 'a' ? 'b' : 'a';
    for (int i = 1; i <= 60; ++i) {
        const auto answer = shop.answer(sent{method::get, balance_target()}.basic(token.username, wrong));
        CHECK(answer.status() == http::status::unauthorized);
        check_window(answer, "60", std::to_string(60 - i).c_str());
    }
    CHECK(shop.answer(sent{method::get, balance_target()}.basic(token.username, wrong)).status() == http::status::too_many_requests);
    check_window(shop.answer(sent{method::get, balance_target()}.basic(token.username, token.secret)), "1000", "999");
}

TEST_CASE("addresses are counted separately, IPv6 by /64, mapped ones as IPv4", "[api][limit]") {
    auto shop = make_shop();
    const auto ask = [&](const char* address) {
        return std::string{shop.answer(sent{method::get, "/v1/testservice/get"}.from(*ip_address::parse(address)))
                               .find("X-RateLimit-Remaining")};
    };
    CHECK(ask("192.0.2.7") == "59");
    CHECK(ask("::ffff:192.0.2.7") == "58");
    CHECK(ask("192.0.2.8") == "59");
    CHECK(ask("2001:db8:0:1::1") == "59");
    CHECK(ask("2001:db8:0:1:ffff::2") == "58");
    CHECK(ask("2001:db8:0:2::1") == "59");
}

TEST_CASE("a forwarded address is used only behind a trusted proxy", "[api][limit]") {
    auto settings = shop_settings();
    settings.trusted_proxies = {*ip_network::parse("10.0.0.0/8"), *ip_network::parse("fd00::/8")};
    auto shop = make_shop(std::move(settings));
    const auto ask = [&](const char* peer, const char* forwarded_for) {
        return std::string{shop.answer(sent{method::get, "/v1/testservice/get"}
                                           .from(*ip_address::parse(peer))
                                           .field("X-Forwarded-For", forwarded_for))
                               .find("X-RateLimit-Remaining")};
    };
    CHECK(ask("192.0.2.9", "203.0.113.1") == "59");
    CHECK(ask("192.0.2.9", "203.0.113.2") == "58");
    CHECK(ask("10.1.1.1", "203.0.113.3") == "59");
    CHECK(ask("10.1.1.2", "203.0.113.99, 203.0.113.3, 10.9.9.9") == "58");
    CHECK(ask("fd00::1", "203.0.113.3") == "57");
}

TEST_CASE("refusals of the server have the Error object and the address's window, uncounted", "[api][refusal]") {
    auto shop = make_shop();
    shop.answer(sent{method::get, "/v1/testservice/get"});
    for (const auto status : {http::status::bad_request, http::status::request_timeout, http::status::uri_too_long,
                              http::status::header_fields_too_large, http::status::service_unavailable}) {
        http::response answer;
        shop.api.handle(http::refusal{status, "A sentence.", ip_address::v4(192, 0, 2, 1)}, answer);
        CHECK(answer.status() == status);
        CHECK(has_error_object(answer));
        CHECK(answer.body().find("A sentence.") != std::string::npos);
        check_window(answer, "60", "59");
        CHECK(answer.find("Retry-After").empty() == (status != http::status::service_unavailable));
    }
}

TEST_CASE("refusals and exceptions never wait for a limiter", "[api][limit][refusal]") {
    int asked = 0;
    basic_shop shop{[&](auto all) {
        return std::move(all).with_limiter(waiting_limiter{&asked}).with_authenticators(throwing_scheme{});
    }};
    http::response refused;
    shop.api.handle(http::refusal{http::status::bad_request, "A sentence.", ip_address::v4(192, 0, 2, 1)}, refused);
    CHECK(has_error_object(refused));
    check_window(refused, "60", "60");
    const auto thrown = shop.answer(sent{method::get, balance_target()}.basic("a", "b"));
    CHECK(thrown.status() == http::status::internal_server_error);
    check_window(thrown, "60", "60");
    CHECK(asked == 0);
    // One that is counted is, as it is called where it may wait.
    CHECK(shop.answer(sent{method::get, "/v1/testservice/get"}).find("X-RateLimit-Remaining") == "7");
    CHECK(asked == 1);
}

TEST_CASE("without other blocking parts, requests block if the limiter may", "[api][limit]") {
    for (const bool is_elsewhere : {false, true}) {
        basic_shop shop{[=](auto all) {
            movable_limiter limiter;
            limiter.is_elsewhere = is_elsewhere;
            return std::move(all).with_limiter(limiter);
        }};
        STATIC_REQUIRE(decltype(shop.api)::blocking);
        CHECK(needs_worker(shop.api) == is_elsewhere);
    }
    auto here = make_shop();
    CHECK_FALSE(needs_worker(here.api));
}
