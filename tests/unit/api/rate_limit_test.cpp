#include <tollgate/api/account_api.hpp>
#include <tollgate/limits/window_limiter.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;
using http::method;

namespace {

std::string balance_target() { return "/v1/user/balance"; }

bool has_error_object(const http::response& response) {
    return response.body().starts_with("{\"message\":\"") && response.body().find("\"documentation_url\":\"https://shop.example/docs/") != std::string::npos;
}

void check_window(const http::response& response, const char* limit, const char* remaining) {
    CHECK(response.find("X-RateLimit-Limit") == limit);
    CHECK(response.find("X-RateLimit-Remaining") == remaining);
    CHECK(response.find("X-RateLimit-Reset").empty() == (std::string_view{remaining} != "0"));
}

/// Counts locally or may block, as configured.
struct movable_limiter : unlimited {
    static constexpr bool blocking = true;
    bool is_elsewhere = false;
    [[nodiscard]] bool may_block() const noexcept { return is_elsewhere; }
};

bool needs_worker(auto& api) {
    test_request request{method::get, "/v1/testservice/get"};
    return tollgate_test::needs_worker(api, request.view());
}

/// Reports that each call may block, and counts the calls in `calls`.
struct waiting_limiter {
    static constexpr bool blocking = true;
    int* calls;
    limit_decision take(const limit_key& key, const quota& allowed, instant now) const noexcept { return peek(key, allowed, now); }
    limit_decision peek(const limit_key&, const quota& allowed, instant now) const noexcept {
        ++*calls;
        return {true, allowed.requests, 7, now};
    }
};

/// Counts against a quota of zero, but refuses nothing.
struct zero_limiter {
    limit_decision take(const limit_key&, const quota&, instant now) const noexcept { return {true, 0, 0, now}; }
    limit_decision peek(const limit_key&, const quota& allowed, instant now) const noexcept {
        return {true, allowed.requests, allowed.requests, now};
    }
};

/// Throws for every request, before it is counted.
struct throwing_scheme {
    static constexpr std::string_view scheme = "Basic";
    static constexpr std::string_view challenge = "Basic realm=\"api\"";
    result<std::optional<caller>> identify(std::string_view, const credential_source_ref&, instant) const {
        throw std::runtime_error{"out of words"};
    }
};

}  // namespace

TEST_CASE("an anonymous window has 60 requests; Retry-After is sent only when it is full", "[api][limit]") {
    auto shop = make_shop();
    shop.now += milliseconds{250};
    for (int i = 1; i <= 60; ++i) {
        const auto response = shop.handle(test_request{method::get, "/v1/testservice/get"});
        CHECK(response.status() == http::status::ok);
        check_window(response, "60", std::to_string(60 - i).c_str());
    }
    shop.now += seconds{10};
    const auto refused = shop.handle(test_request{method::get, "/v1/testservice/get"});
    CHECK(refused.status() == http::status::too_many_requests);
    CHECK(has_error_object(refused));
    CHECK(refused.body().find("API rate limit exceeded") != std::string::npos);
    check_window(refused, "60", "0");
    CHECK(refused.find("X-RateLimit-Reset") == to_iso8601(from_unix_seconds(1'700'000'000 + 3601)).view());
    CHECK(refused.find("Retry-After") == "3590");

    // A refused request is not counted: the window ends when it would have ended anyway.
    shop.now = from_unix_milliseconds(1'700'003'600'249);
    CHECK(shop.handle(test_request{method::get, "/v1/testservice/get"}).status() == http::status::too_many_requests);
    shop.now += milliseconds{1};
    check_window(shop.handle(test_request{method::get, "/v1/testservice/get"}), "60", "59");
}

TEST_CASE("a request without User-Agent is refused and counted on every path", "[api][agent]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance");
    int left = 60;
    for (const char* target : {"/v1/user/balance", "/v1/testservice/get", "/nowhere", "/", "*"}) {
        for (const char* agent : {static_cast<const char*>(nullptr), "", " "}) {
            test_request request{method::get, target};
            request.without("User-Agent").basic(token.username, token.secret);
            if (agent != nullptr) request.field("User-Agent", agent);
            const auto response = shop.handle(request);
            CHECK(response.status() == http::status::forbidden);
            CHECK(has_error_object(response));
            CHECK(response.body().find("User-Agent") != std::string::npos);
            check_window(response, "60", std::to_string(--left).c_str());
        }
    }
    while (left-- > 0) shop.handle(test_request{method::get, "/v1/testservice/get"});
    test_request request{method::get, "/v1/testservice/get"};
    CHECK(shop.handle(request.without("User-Agent")).status() == http::status::too_many_requests);
}

TEST_CASE("all tokens of a user share one window, which can be enlarged at once", "[api][limit]") {
    auto shop = make_shop();
    const auto first = shop.personal_token(ann, "user:balance");
    const auto second = shop.personal_token(ann, "user:balance");
    const auto third = shop.access_token(ann, "user:balance");
    check_window(shop.handle(test_request{method::get, balance_target()}.basic(first.username, first.secret)), "1000", "999");
    check_window(shop.handle(test_request{method::get, balance_target()}.basic(second.username, second.secret)), "1000", "998");
    check_window(shop.handle(test_request{method::get, balance_target()}.bearer(third)), "1000", "997");

    shop.users.people.at(ann).own_quota = quota{5000, std::chrono::hours{24}};
    check_window(shop.handle(test_request{method::get, balance_target()}.basic(first.username, first.secret)), "5000", "4996");

    const auto other = shop.personal_token(bob, "user:balance");
    check_window(shop.handle(test_request{method::get, balance_target()}.basic(other.username, other.secret)), "1000", "999");
}

TEST_CASE("a user has 1,000 requests a day", "[api][limit]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance");
    for (int i = 1; i < 1000; ++i) shop.handle(test_request{method::get, balance_target()}.basic(token.username, token.secret));
    const auto last = shop.handle(test_request{method::get, balance_target()}.basic(token.username, token.secret));
    CHECK(last.status() == http::status::ok);
    check_window(last, "1000", "0");
    const auto refused = shop.handle(test_request{method::get, balance_target()}.basic(token.username, token.secret));
    CHECK(refused.status() == http::status::too_many_requests);
    CHECK(refused.find("Retry-After") == "86400");
    shop.now += std::chrono::hours{24};
    check_window(shop.handle(test_request{method::get, balance_target()}.basic(token.username, token.secret)), "1000", "999");
}

TEST_CASE("a bad token counts against its address only, and a valid token works at an address without quota", "[api][limit]") {
    auto shop = make_shop();
    const auto token = shop.personal_token(ann, "user:balance");
    auto wrong = token.secret;
    wrong[10] = wrong[10] == 'a' ? 'b' : 'a';
    for (int i = 1; i <= 60; ++i) {
        const auto response = shop.handle(test_request{method::get, balance_target()}.basic(token.username, wrong));
        CHECK(response.status() == http::status::unauthorized);
        check_window(response, "60", std::to_string(60 - i).c_str());
    }
    CHECK(shop.handle(test_request{method::get, balance_target()}.basic(token.username, wrong)).status() ==
          http::status::too_many_requests);
    check_window(shop.handle(test_request{method::get, balance_target()}.basic(token.username, token.secret)), "1000", "999");
}

TEST_CASE("addresses are counted separately, IPv6 by /64, mapped ones as IPv4", "[api][limit]") {
    auto shop = make_shop();
    const auto remaining = [&](const char* address) {
        return std::string{shop.handle(test_request{method::get, "/v1/testservice/get"}.from(*ip_address::parse(address)))
                               .find("X-RateLimit-Remaining")};
    };
    CHECK(remaining("192.0.2.7") == "59");
    CHECK(remaining("::ffff:192.0.2.7") == "58");
    CHECK(remaining("192.0.2.8") == "59");
    CHECK(remaining("2001:db8:0:1::1") == "59");
    CHECK(remaining("2001:db8:0:1:ffff::2") == "58");
    CHECK(remaining("2001:db8:0:2::1") == "59");
}

TEST_CASE("a forwarded address is used only behind a trusted proxy", "[api][limit]") {
    auto settings = shop_settings();
    settings.trusted_proxies = {*ip_network::parse("10.0.0.0/8"), *ip_network::parse("fd00::/8")};
    auto shop = make_shop(std::move(settings));
    const auto remaining = [&](const char* peer, const char* forwarded_for) {
        return std::string{shop.handle(test_request{method::get, "/v1/testservice/get"}
                                           .from(*ip_address::parse(peer))
                                           .field("X-Forwarded-For", forwarded_for))
                               .find("X-RateLimit-Remaining")};
    };
    CHECK(remaining("192.0.2.9", "203.0.113.1") == "59");
    CHECK(remaining("192.0.2.9", "203.0.113.2") == "58");
    CHECK(remaining("10.1.1.1", "203.0.113.3") == "59");
    CHECK(remaining("10.1.1.2", "203.0.113.99, 203.0.113.3, 10.9.9.9") == "58");
    CHECK(remaining("fd00::1", "203.0.113.3") == "57");
}

TEST_CASE("refusals of the server have the Error object and the address's window, uncounted", "[api][refusal]") {
    auto shop = make_shop();
    shop.handle(test_request{method::get, "/v1/testservice/get"});
    for (const auto status : {http::status::bad_request, http::status::request_timeout, http::status::uri_too_long,
                              http::status::header_fields_too_large, http::status::service_unavailable}) {
        http::response response;
        shop.api.handle(http::refusal{status, "A sentence.", ip_address::v4(192, 0, 2, 1)}, response);
        CHECK(response.status() == status);
        CHECK(has_error_object(response));
        CHECK(response.body().find("A sentence.") != std::string::npos);
        check_window(response, "60", "59");
        CHECK(response.find("Retry-After").empty() == (status != http::status::service_unavailable));
    }
}

TEST_CASE("pages of allowed origins can read a refusal of a request whose head has arrived", "[api][refusal]") {
    struct row {
        std::vector<std::string> cors_origins;
        bool has_head;
        const char *allowed, *vary;
    };
    for (const auto& [cors_origins, has_head, allowed, vary] :
         {row{{"*"}, true, "*", ""}, row{{"https://a.example"}, true, "https://a.example", "Origin"},
          row{{"https://b.example"}, true, "", "Origin"}, row{{}, true, "", ""}, row{{"*"}, false, "", ""}}) {
        auto settings = shop_settings();
        settings.cors_origins = cors_origins;
        auto shop = make_shop(settings);
        test_request sent{method::get, balance_target()};
        sent.field("Origin", "https://a.example");
        const auto& request = sent.view();
        http::response response;
        shop.api.handle(http::refusal{http::status::service_unavailable, "A sentence.", request.peer, true, has_head ? &request : nullptr},
                        response);
        CHECK(response.find("Access-Control-Allow-Origin") == allowed);
        CHECK(response.find("Access-Control-Expose-Headers").empty() == (*allowed == '\0'));
        CHECK(response.find("Vary") == vary);
    }
}

TEST_CASE("pages of other origins can read a refusal of an incomplete head whose path is known", "[api][refusal]") {
    struct row {
        std::vector<std::string> cors_origins;
        const char *path, *origin, *allowed, *vary;
    };
    for (const auto& [cors_origins, path, origin, allowed, vary] :
         {row{{"*"}, "/v1/user/balance", "https://a.example", "*", ""}, row{{"*"}, "/v1/user/balance", "", "*", ""},
          row{{"*"}, "", "", "", ""}, row{{"https://a.example"}, "/v1/user/balance", "https://a.example", "https://a.example", "Origin"},
          row{{"https://a.example"}, "/v1/user/balance", "https://b.example", "", "Origin"},
          row{{"https://a.example"}, "/v1/user/balance", "", "", ""}, row{{}, "/v1/user/balance", "https://a.example", "", ""}}) {
        auto settings = shop_settings();
        settings.cors_origins = cors_origins;
        auto shop = make_shop(settings);
        http::request read;
        read.target = http::target::from_path(path);
        if (*origin != '\0') read.fields.add("Origin", origin);
        http::response response;
        shop.api.handle(http::refusal{.status = http::status::uri_too_long, .reason = "A sentence.", .peer = {}, .partial = &read}, response);
        CHECK(response.find("Access-Control-Allow-Origin") == allowed);
        CHECK(response.find("Access-Control-Expose-Headers").empty() == (*allowed == '\0'));
        CHECK(response.find("Vary") == vary);
        check_window(response, "60", "60");
    }
}

TEST_CASE("refusals and exceptions never wait for a limiter", "[api][limit][refusal]") {
    int calls = 0;
    basic_shop shop{[&](auto all) {
        return std::move(all).with_limiter(waiting_limiter{&calls}).with_authenticators(throwing_scheme{});
    }};
    http::response refused;
    shop.api.handle(http::refusal{http::status::bad_request, "A sentence.", ip_address::v4(192, 0, 2, 1)}, refused);
    CHECK(has_error_object(refused));
    check_window(refused, "60", "60");
    const auto thrown = shop.handle(test_request{method::get, balance_target()}.basic("a", "b"));
    CHECK(thrown.status() == http::status::internal_server_error);
    check_window(thrown, "60", "60");
    CHECK(calls == 0);
    // A request that is counted calls the limiter where it may block.
    CHECK(shop.handle(test_request{method::get, "/v1/testservice/get"}).find("X-RateLimit-Remaining") == "7");
    CHECK(calls == 1);
}

TEST_CASE("the response to an exception has the window that the request counts against", "[api][limit]") {
    SECTION("if it was not counted: its client's, behind a trusted proxy, too") {
        auto settings = shop_settings();
        settings.trusted_proxies = {*ip_network::parse("10.0.0.0/8")};
        basic_shop shop{[](auto all) { return std::move(all).with_authenticators(throwing_scheme{}); }, std::move(settings)};
        test_request request{method::get, "/v1/testservice/get"};
        request.from(*ip_address::parse("10.1.1.1")).field("X-Forwarded-For", "203.0.113.1");
        check_window(shop.handle(request), "60", "59");
        const auto thrown = shop.handle(request.basic("a", "b"));
        CHECK(thrown.status() == http::status::internal_server_error);
        check_window(thrown, "60", "59");
    }
    SECTION("if it was counted: that one, whatever its quota") {
        basic_shop shop{[](auto all) { return std::move(all).with_limiter(zero_limiter{}); }};
        const auto token = shop.personal_token(ann, "user:balance");
        shop.users.throws = true;
        const auto thrown = shop.handle(test_request{method::get, balance_target()}.basic(token.username, token.secret));
        CHECK(thrown.status() == http::status::internal_server_error);
        check_window(thrown, "0", "0");
    }
}

TEST_CASE("without other blocking parts, requests block if the limiter may", "[api][limit]") {
    for (const bool is_elsewhere : {false, true}) {
        basic_shop shop{[=](auto all) {
            movable_limiter limiter;
            limiter.is_elsewhere = is_elsewhere;
            return std::move(all).with_limiter(limiter);
        }};
        CHECK(shop.api.may_block() == is_elsewhere);
        CHECK(needs_worker(shop.api) == is_elsewhere);
    }
    auto non_blocking = make_shop();
    CHECK_FALSE(needs_worker(non_blocking.api));
}

namespace {

/// Bounds exports to two a minute per user besides the window of all requests, the demonstration not at all, and anonymous clients by
/// route. Records the requests it gets.
struct route_limiter {
    static constexpr bool blocking = false;

    window_limiter counted{{64, 64}};
    struct seen_request {
        std::string route;
        http::method method{};
        std::optional<user_id> user;
        ip_address client;
    };
    mutable std::vector<seen_request> requests;

    limit_decision take(const limit_key& key, quota allowed, instant now) noexcept { return counted.take(key, allowed, now); }
    limit_decision peek(const limit_key& key, quota allowed, instant now) noexcept { return counted.peek(key, allowed, now); }
    limit_windows windows_of(const limited_request& request) const noexcept {
        requests.push_back({std::string{request.route}, request.method,
                            request.caller ? std::optional{request.caller->user} : std::nullopt, request.client});
        if (request.route == "/testservice/get") return {};
        if (request.route == "/user/balance") return {{request.key, request.allowed}, {request.key.in("balances"), {2, seconds{60}}}};
        return {{request.key, request.allowed}};
    }
};
static_assert(request_limiter<route_limiter>);
static_assert(!request_limiter<window_limiter>);

}  // namespace

TEST_CASE("a request without a User-Agent gets a 403 that names no scope, also if its route was looked up early", "[api][limit]") {
    basic_shop early{[](auto all) { return std::move(all).with_limiter(route_limiter{}); }};
    auto late = make_shop();
    const auto check = [](auto& shop) {
        for (const char* target : {"/v1/nope/accounts", "/v1/user/balance", "/v1/testservice/get", "/v1/sitesmaker/accounts", "/v1/nowhere"}) {
            CAPTURE(target);
            const auto response = shop.handle(test_request{method::get, target}.without("User-Agent"));
            CHECK(response.status() == http::status::forbidden);
            CHECK(response.body().find("User-Agent") != std::string::npos);
            CHECK(response.find("WWW-Authenticate").empty());
        }
    };
    check(early);
    check(late);
}

TEST_CASE("a limiter names windows by route and caller, and its refusal has the fields of the right one", "[api][rate_limit]") {
    route_limiter limiter;
    basic_shop shop{[&](auto all) { return std::move(all).with_limiter(std::ref(limiter)); }};
    const auto token = shop.personal_token(ann, "user:balance");
    const auto get = [&](std::string target, bool with_token = true) {
        test_request request{method::get, std::move(target)};
        if (with_token) request.basic(token.username, token.secret);
        return shop.api.handle(request.view());
    };

    check_window(get(balance_target()), "2", "1");
    check_window(get("/v1/testservice/auth"), "1000", "998");
    check_window(get(balance_target()), "2", "0");
    const auto refused = get(balance_target());
    CHECK(refused.status() == http::status::too_many_requests);
    check_window(refused, "2", "0");
    CHECK(refused.find("Retry-After") == "60");
    CHECK(refused.find("X-RateLimit-Reset") == "2023-11-14T22:14:20Z");
    CHECK(has_error_object(refused));
    CHECK(refused.body().find("/docs/rate-limits/") != std::string::npos);
    check_window(get("/v1/testservice/auth"), "1000", "996");  // the refused request counted nowhere
    shop.now += seconds{60};
    check_window(get(balance_target()), "2", "1");

    check_window(get("/v1/testservice/get", false), "60", "60");  // no window
    check_window(get("/v1/testservice/get", false), "60", "60");
    check_window(get("/v1/nowhere", false), "60", "59");
    CHECK(get("/v1/nowhere", false).status() == http::status::not_found);
    test_request wrong_method{method::delete_, balance_target()};
    CHECK(shop.api.handle(wrong_method.view()).status() == http::status::method_not_allowed);

    const auto& saw = limiter.requests;
    REQUIRE(saw.size() == 11);
    CHECK(saw[0].route == "/user/balance");
    CHECK(saw[0].method == method::get);
    CHECK(saw[0].user == ann);
    CHECK(saw[0].client == ip_address::v4(192, 0, 2, 1));
    CHECK(saw[6].route == "/testservice/get");
    CHECK_FALSE(saw[6].user);
    CHECK(saw[8].route.empty());
    CHECK(saw[10].route == "/user/balance");
}

TEST_CASE("if one of several windows is used up, none is counted", "[api][rate_limit]") {
    route_limiter limiter;
    auto settings = shop_settings();
    settings.user_quota = {1, std::chrono::hours{1}};
    basic_shop shop{[&](auto all) { return std::move(all).with_limiter(std::ref(limiter)); }, settings};
    const auto token = shop.personal_token(ann, "user:balance");
    const auto get = [&](std::string target) {
        test_request request{method::get, std::move(target)};
        request.basic(token.username, token.secret);
        return shop.api.handle(request.view());
    };
    check_window(get("/v1/testservice/auth"), "1", "0");
    const auto refused = get(balance_target());
    CHECK(refused.status() == http::status::too_many_requests);
    check_window(refused, "1", "0");
    CHECK(refused.find("Retry-After") == "3600");
    shop.now += std::chrono::hours{1};
    check_window(get(balance_target()), "1", "0");  // in "balances" one is left, but in the window of all requests none
}

TEST_CASE("an endpoint can refuse with 429", "[api][rate_limit]") {
    instant now = from_unix_seconds(1'700'000'000);
    shop_directory users;
    memory_store store;
    const auto busy = [](api_call& call) -> result<void> { return too_many_requests(call.now() + milliseconds{29'001}); };
    const auto worded = [](api_call& call) -> result<void> { return too_many_requests(call.now() - seconds{5}, "One export at a time."); };
    account_api api{shop_settings(), users, store, default_policies().with_clock(fake_clock{&now}),
                    route_table{on_get<"/busy">(open_to_all, busy), on_get<"/worded">(open_to_all, worded)}};
    test_request first{method::get, "/v1/busy"};
    const auto refused = api.handle(first.view());
    CHECK(refused.status() == http::status::too_many_requests);
    CHECK(refused.find("Retry-After") == "30");
    check_window(refused, "60", "59");
    CHECK(has_error_object(refused));
    CHECK(refused.body().find("/docs/rate-limits/") != std::string::npos);
    test_request second{method::get, "/v1/worded"};
    CHECK(api.handle(second.view()).find("Retry-After") == "1");
    CHECK(api.handle(second.view()).body().find("One export at a time.") != std::string::npos);
}

TEST_CASE("a route bounds its bodies, before they arrive", "[api][routing]") {
    instant now = from_unix_seconds(1'700'000'000);
    shop_directory users;
    memory_store store;
    int calls = 0;
    const auto receive = [&calls](api_call&) -> result<void> { return ++calls, result<void>{}; };
    account_api api{shop_settings(), users, store, default_policies().with_clock(fake_clock{&now}),
                    route_table{on_post<"/small">(open_to_all, receive, {.request_body = {R"({"type":"object"})"}, .request_body_bytes_max = 4}),
                                on_post<"/usual">(open_to_all, receive)} +
                        openapi_routes()};
    const auto advance = [&](test_request& request, http::handler_state& state) {
        http::response response;
        const auto step = api.advance(request.view(), response, state, http::thread_kind::io);
        return step == http::handle_step::needs_body ? http::status{} : response.status();
    };
    struct {
        const char* target;
        std::size_t declared;
        http::status expected;  // none: the body is awaited
        std::size_t bound;
    } const rows[] = {
        {"/v1/small", 4, {}, 4},
        {"/v1/small", 5, http::status::content_too_large, no_body_bound},
        {"/v1/usual", 5, {}, no_body_bound},
    };
    for (const auto& row : rows) {
        CAPTURE(row.target, row.declared);
        test_request request{method::post, row.target};
        request.field("Content-Type", "application/json").pending(row.declared);
        http::handler_state state;
        CHECK(advance(request, state) == row.expected);
        CHECK(state.body_bytes_max() == row.bound);
    }
    CHECK(calls == 0);
    test_request whole{method::post, "/v1/small"};
    CHECK(api.handle(whole.body("{}  ").view()).status() == http::status::ok);
    test_request larger{method::post, "/v1/small"};
    CHECK(api.handle(larger.body("{}   ").view()).status() == http::status::content_too_large);
    CHECK(calls == 1);
    CHECK(api.openapi().find("At most 4 bytes.") != std::string::npos);
}

TEST_CASE("the API takes its time from the server's pass", "[api][limits]") {
    instant now = from_unix_seconds(1'700'000'000);
    shop_directory users;
    memory_store store;
    auto settings = shop_settings();
    settings.anonymous_quota = {1, std::chrono::seconds{60}};
    account_api api{settings, users, store, default_policies().with_clock(fake_clock{&now}), account_routes()};
    http::handler_state state;
    const auto status = [&] {
        test_request request{method::get, "/v1/testservice/get"};
        http::response response;
        CHECK(api.advance(request.view(), response, state, http::thread_kind::io) == http::handle_step::done);
        state.clear();
        return response.status();
    };
    CHECK(status() == http::status::ok);
    now += std::chrono::minutes{2};
    CHECK(status() == http::status::too_many_requests);  // the same pass, and so the same window
    state.forget_time();
    CHECK(status() == http::status::ok);
}
