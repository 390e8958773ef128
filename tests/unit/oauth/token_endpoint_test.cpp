#include <tollgate/oauth/detail/token_endpoint.hpp>

#include <support/oauth_shop.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;
using http::method;
using http::status;

namespace {

constexpr const char* token = "/user/oauth_token/";
constexpr const char* verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
constexpr const char* challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// The parts that every failure has.
void check_failure(const http::response& response, status expected, std::string_view error) {
    CHECK(response.status() == expected);
    CHECK(member(response, "error") == error);
    CHECK_FALSE(member(response, "error_description").empty());
    CHECK_FALSE(member(response, "message").empty());
    CHECK(member(response, "documentation_url").starts_with("https://shop.example/docs/"));
    CHECK_FALSE(has_member(response, "access_token"));
    CHECK(response.find("Content-Type") == "application/json");
    CHECK(response.find("Cache-Control") == "no-store");
    CHECK(response.find("Pragma") == "no-cache");
    CHECK_FALSE(response.find("X-RateLimit-Limit").empty());
    CHECK_FALSE(response.find("X-RateLimit-Remaining").empty());
}

}  // namespace

TEST_CASE("a code is exchanged for an access and a refresh token", "[oauth][token]") {
    oauth_shop shop;
    for (const char* path : {"/user/oauth_token/", "/user/oauth_token"}) {
        const auto response = shop.post(path, shop.exchange_of(shop.make_code()));
        CHECK(response.status() == status::ok);
        CHECK(response.find("Content-Type") == "application/json");
        CHECK(response.find("Cache-Control") == "no-store");
        CHECK(response.find("Pragma") == "no-cache");
        CHECK(response.find("X-RateLimit-Limit") == "60");
        CHECK(response.find("X-RateLimit-Remaining") == "60");
        CHECK(response.find("X-RateLimit-Reset").empty());
        CHECK(is_well_formed(secret_kind::access_token, member(response, "access_token")));
        CHECK(is_well_formed(secret_kind::refresh_token, member(response, "refresh_token")));
        CHECK(member(response, "expires_in") == "3600");
        CHECK(member(response, "token_type") == "bearer");
        CHECK(member(response, "scope") == "sitesmaker:read user:balance");
        CHECK(shop.accepts(member(response, "access_token")));
        shop.now += seconds{3600};
        CHECK_FALSE(shop.accepts(member(response, "access_token")));
    }
}

TEST_CASE("parameters are a form or JSON, credentials in the body or Basic", "[oauth][token]") {
    oauth_shop shop;
    const auto basic = [&](test_request& request, const std::string& id, const std::string& secret) -> test_request& {
        return request.field("Authorization", "bAsIc " + tollgate::detail::base64_encode(id + ":" + secret));
    };
    const auto in_json = [&](const std::string& code) {
        return R"({"client_id":")" + shop.app.client_id + R"(","client_secret":")" + shop.app.client_secret +
               R"(","grant_type":"authorization_code","code":")" + code + R"(","state":null,"other":5})";
    };
    CHECK(shop.handle(test_request{method::post, token}.body(in_json(shop.make_code()))).status() == status::ok);
    CHECK(shop.handle(test_request{method::post, token}.body(in_json(shop.make_code()), "Application/JSON; charset=utf-8")).status() ==
          status::ok);

    const auto code_body = [&] { return to_form({{"grant_type", "authorization_code"}, {"code", shop.make_code()}}); };
    constexpr const char* form_type = "application/x-www-form-urlencoded; charset=utf-8";
    test_request over_basic{method::post, token};
    CHECK(shop.handle(basic(over_basic, shop.app.client_id, shop.app.client_secret).body(code_body(), form_type)).status() == status::ok);
    // Percent-encoded before they are joined, as in RFC 6749 section 2.3.1; here every byte.
    test_request encoded{method::post, token};
    std::string all_encoded;
    for (char c : shop.app.client_secret) all_encoded.append("%").append(tollgate::detail::hex_encode({&c, 1}));
    CHECK(shop.handle(basic(encoded, shop.app.client_id, all_encoded).body(code_body(), form_type)).status() == status::ok);
    test_request both{method::post, token};
    CHECK(shop.handle(basic(both, shop.app.client_id, shop.app.client_secret).body(to_form(shop.exchange_of(shop.make_code())), form_type))
              .status() == status::ok);
    test_request id_in_both{method::post, token};
    CHECK(shop.handle(basic(id_in_both, shop.app.client_id, shop.app.client_secret)
                          .body(code_body() + "&client_id=" + shop.app.client_id, form_type))
              .status() == status::ok);

    const auto other = shop.register_client("Other", std::nullopt);
    for (const auto& [id, secret] : {std::pair{other.client_id, other.client_secret}, std::pair{shop.app.client_id, std::string{"x"}},
                                     std::pair{std::string{"x"}, shop.app.client_secret}}) {
        CAPTURE(id, secret);
        test_request differing{method::post, token};
        check_failure(shop.handle(basic(differing, id, secret).body(to_form(shop.exchange_of(shop.make_code())), form_type)),
                      status::bad_request, "invalid_request");
    }
    test_request twice{method::post, token};
    basic(twice, shop.app.client_id, shop.app.client_secret);
    check_failure(shop.handle(basic(twice, shop.app.client_id, shop.app.client_secret).body(code_body(), form_type)), status::bad_request,
                  "invalid_request");
    // None of these is a failed authentication: nothing is counted.
    CHECK(shop.post(token, {}).find("X-RateLimit-Remaining") == "60");
}

TEST_CASE("malformed requests are refused", "[oauth][token]") {
    oauth_shop shop;
    const auto form = to_form(shop.exchange_of(shop.make_code()));
    struct row {
        std::string body;
        std::string content_type;
    };
    for (const auto& [body, content_type] :
         std::vector<row>{{form, "text/plain"},
                          {form, "application/json"},
                          {form, ""},
                          {form, "multipart/form-data; boundary=x"},
                          {"{\"a\":1,\"a\":2}", "application/json"},
                          {"[]", "application/json"},
                          {"{}x", "application/json"},
                          {"", "application/json"},
                          {"{\"grant_type\":[\"authorization_code\"]}", "application/json"},
                          {"{\"grant_type\":true}", "application/json"},
                          {"{\"code\":1.5}", "application/json"},
                          {"grant_type=%", "application/x-www-form-urlencoded"},
                          {"grant_type=%ff", "application/x-www-form-urlencoded"},
                          {form + "&grant_type=authorization_code", "application/x-www-form-urlencoded"},
                          {form + "&code=", "application/x-www-form-urlencoded"},
                          {form + "&client_id=" + shop.app.client_id, "application/x-www-form-urlencoded"},
                          {form + "&a%22b=1&a%22b=2", "application/x-www-form-urlencoded"}}) {
        CAPTURE(body, content_type);
        const auto response = shop.handle(test_request{method::post, token}.body(body, content_type));
        check_failure(response, status::bad_request, "invalid_request");
        CHECK(response.find("X-RateLimit-Remaining") == "60");
        CHECK(member(response, "error_description").find_first_of("\"\\") == std::string::npos);
    }
    test_request large{method::post, token};
    check_failure(shop.handle(large.too_large().body("", "application/x-www-form-urlencoded")),
                  status::content_too_large, "invalid_request");
    // RFC 8707 allows a repeated `resource`; the query is ignored.
    CHECK(shop.handle(test_request{method::post, "/user/oauth_token/?grant_type=refresh_token"}.body(
                                         form + "&resource=a&resource=b", "application/x-www-form-urlencoded"))
              .status() == status::ok);
}

TEST_CASE("a missing or unsupported parameter has its error code", "[oauth][token]") {
    oauth_shop shop;
    const auto exchange = shop.exchange_of(shop.make_code());
    struct row {
        parameter_list changes;
        const char* error;
    };
    for (const auto& [changes, error] : std::vector<row>{
             {{{"grant_type", ""}}, "invalid_request"},
             {{{"grant_type", "password"}}, "unsupported_grant_type"},
             {{{"grant_type", "implicit"}}, "unsupported_grant_type"},
             {{{"grant_type", "Authorization_Code"}}, "unsupported_grant_type"},
             {{{"grant_type", "refresh_token"}}, "invalid_request"},
             {{{"code", ""}}, "invalid_request"},
             {{{"code", "tgc_short"}}, "invalid_grant"},
             {{{"code", shop.app.client_secret}}, "invalid_grant"},
             {{{"code", shop.make_code() + "x"}}, "invalid_grant"},
             {{{"code_verifier", "short"}}, "invalid_grant"},
             {{{"code_verifier", verifier}}, "invalid_grant"},
             {{{"redirect_uri", "https://app.example/cb/"}}, "invalid_grant"},
             {{{"redirect_uri", "https://app.example/CB"}}, "invalid_grant"},
             {{{"redirect_uri", "https://app.example/cb?"}}, "invalid_grant"},
         }) {
        CAPTURE(to_form(changes));
        check_failure(shop.post(token, with(exchange, changes)), status::bad_request, error);
    }
    // None of these used the code. `state` is ignored here.
    CHECK(shop.post(token, with(exchange, {{"redirect_uri", "https://app.example/cb"}, {"state", "anything"}})).status() == status::ok);
}

TEST_CASE("a wrong secret is a 401 and leaves the code unchanged", "[oauth][token]") {
    oauth_shop shop;
    const auto other = shop.register_client("Other", std::nullopt);
    const auto exchange = shop.exchange_of(shop.make_code());
    for (const auto& changes : std::vector<parameter_list>{{{"client_secret", other.client_secret}},
                                                           {{"client_secret", shop.app.client_secret + "0"}},
                                                           {{"client_secret", ""}},
                                                           {{"client_id", "tgi_nobody"}},
                                                           {{"client_id", std::string(100'000, 'x')}},
                                                           {{"client_id", std::string("a\0b", 3)}},
                                                           {{"client_id", other.client_id}}}) {
        CAPTURE(to_form(changes).substr(0, 100));
        const auto response = shop.post(token, with(exchange, changes));
        check_failure(response, status::unauthorized, "invalid_client");
        // Only a client that used the Authorization field gets a challenge.
        CHECK(response.find("WWW-Authenticate").empty());
    }
    for (const std::string& credentials :
         {"Basic " + tollgate::detail::base64_encode(shop.app.client_id + ":" + other.client_secret),
          "Basic " + tollgate::detail::base64_encode(shop.app.client_id), std::string{"Basic !"}, std::string{"Basic"},
          "Basic " + tollgate::detail::base64_encode(shop.app.client_id + ":%zz")}) {
        CAPTURE(credentials);
        const auto response = shop.handle(test_request{method::post, token}
                                            .field("Authorization", credentials)
                                            .body("grant_type=authorization_code", "application/x-www-form-urlencoded"));
        check_failure(response, status::unauthorized, "invalid_client");
        CHECK(response.find("WWW-Authenticate") == "Basic realm=\"oauth\"");
    }
    CHECK(shop.post(token, exchange).status() == status::ok);
}

TEST_CASE("a code works once, and reuse revokes its tokens", "[oauth][token]") {
    oauth_shop shop;
    const auto exchange = shop.exchange_of(shop.make_code());
    const auto first = shop.post(token, exchange);
    REQUIRE(first.status() == status::ok);
    const auto refreshed = shop.post(token, shop.refresh_of(member(first, "refresh_token")));
    REQUIRE(refreshed.status() == status::ok);
    const auto other = shop.post(token, shop.exchange_of(shop.make_code()));
    CHECK(shop.accepts(member(first, "access_token")));
    CHECK(shop.accepts(member(refreshed, "access_token")));

    check_failure(shop.post(token, exchange), status::bad_request, "invalid_grant");
    CHECK_FALSE(shop.accepts(member(first, "access_token")));
    CHECK_FALSE(shop.accepts(member(refreshed, "access_token")));
    check_failure(shop.post(token, shop.refresh_of(member(first, "refresh_token"))), status::bad_request, "invalid_grant");
    CHECK(shop.accepts(member(other, "access_token")));
    CHECK(shop.post(token, shop.refresh_of(member(other, "refresh_token"))).status() == status::ok);
}

TEST_CASE("a revocation after reuse is an activity of the user, once", "[oauth][token]") {
    auto settings = test_oauth_settings();
    settings.oauth.rotates_all_refresh_tokens = true;
    oauth_shop shop{settings};
    const auto revoked = [&] {
        std::vector<std::string> found;
        for (const auto& each : shop.observer.activities)
            if (each.kind == activity_kind::access_revoked_after_reuse)
                found.push_back(std::to_string(each.user.value()) + " " + each.subject + " " + each.client->to_text());
        return found;
    };
    const auto exchange = shop.exchange_of(shop.make_code());
    REQUIRE(shop.post(token, exchange).status() == status::ok);
    CHECK(revoked().empty());
    for (int again = 0; again < 2; ++again) check_failure(shop.post(token, exchange), status::bad_request, "invalid_grant");
    CHECK(revoked() == std::vector<std::string>{"1 App 192.0.2.1"});

    const auto first = member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token");
    REQUIRE(shop.post(token, shop.refresh_of(first)).status() == status::ok);
    CHECK(shop.post(token, shop.refresh_of(first)).status() == status::ok);  // during the grace period
    shop.now += seconds{3600};
    CHECK(revoked().size() == 1);
    for (int again = 0; again < 2; ++again) check_failure(shop.post(token, shop.refresh_of(first)), status::bad_request, "invalid_grant");
    CHECK(revoked().size() == 2);
}

TEST_CASE("the observer gets the client_id and the error code of each request", "[oauth]") {
    oauth_shop shop;
    const std::string id = shop.app.client_id;
    const auto outcome = [&](const http::response& response) {
        CHECK(to_number(response.status()) != 0);
        return shop.observer.outcomes.back();
    };
    const auto wrong = with(shop.exchange_of(shop.make_code()), {{"client_secret", "tgs_wrong"}});
    CHECK(outcome(shop.post(token, shop.exchange_of(shop.make_code()))) == id + " ");
    CHECK(outcome(shop.post(token, wrong)) == id + " invalid_client");
    CHECK(outcome(shop.post(token, with(wrong, {{"client_id", "nobody"}}))) == "nobody invalid_client");
    CHECK(outcome(shop.post(token, with(wrong, {{"client_id", std::string(1000, 'a')}}))) ==
          std::string(limits::client_id_bytes_max, 'a') + " invalid_client");
    CHECK(outcome(shop.post(token, shop.exchange_of("tgc_nonsense"))) == id + " invalid_grant");
    CHECK(outcome(shop.post("/user/oauth_introspect/", shop.exchange_of(""))) == id + " invalid_request");
    CHECK(outcome(shop.post("/user/oauth_revoke/", shop.exchange_of(""))) == id + " invalid_request");
    CHECK(outcome(shop.post("/user/oauth_device/", with(shop.exchange_of(""), {{"scope", "nothing"}}))) == id + " invalid_scope");
    CHECK(outcome(shop.handle(test_request{method::get, token})) == " invalid_request");
    CHECK(outcome(shop.handle(test_request{method::options, token})) == " ");
    CHECK(outcome(shop.open(shop.parameters())) == id + " ");
    CHECK(outcome(shop.open(with(shop.parameters(), {{"scope", "nothing"}}))) == id + " invalid_scope");
    CHECK(outcome(shop.open(with(shop.parameters(), {{"response_type", "token"}}))) == id + " unsupported_response_type");
    CHECK(outcome(shop.open(with(shop.parameters(), {{"client_id", "nobody"}}))) == "nobody invalid_client");
    CHECK(outcome(shop.open(with(shop.parameters(), {{"redirect_uri", "https://elsewhere.example/"}}))) == id + " invalid_request");
    auto consent = hidden_fields(shop.open(with(shop.parameters(), {{"scope", "itemplatform"}})));
    consent.emplace_back("decision", "deny");
    CHECK(outcome(shop.submit(consent)) == id + " access_denied");
    const auto exchange = shop.exchange_of(shop.make_code());
    shop.store.faults.start(1);
    CHECK(outcome(shop.post(token, exchange)) == id + " temporarily_unavailable");
}

TEST_CASE("a code is valid for its application, for one minute", "[oauth][token]") {
    oauth_shop shop;
    const auto other = shop.register_client("Other", "https://other.example/cb");
    const auto exchange = shop.exchange_of(shop.make_code());
    check_failure(shop.post(token, with(exchange, {{"client_id", other.client_id}, {"client_secret", other.client_secret}})),
                  status::bad_request, "invalid_grant");
    shop.now += seconds{60} - milliseconds{1};
    const auto still_good = shop.post(token, exchange);
    CHECK(still_good.status() == status::ok);
    // Another application's request with a redeemed code revokes nothing.
    check_failure(shop.post(token, with(exchange, {{"client_id", other.client_id}, {"client_secret", other.client_secret}})),
                  status::bad_request, "invalid_grant");
    CHECK(shop.accepts(member(still_good, "access_token")));

    const auto late = shop.exchange_of(shop.make_code());
    shop.now += seconds{60};
    check_failure(shop.post(token, late), status::bad_request, "invalid_grant");
}

TEST_CASE("the time of an exchange is that of its body's arrival", "[oauth][token]") {
    for (const auto& [wait, is_late] : {std::pair{seconds{59}, false}, std::pair{seconds{61}, true}}) {
        oauth_shop shop;
        test_request request{method::post, "/user/oauth_token/"};
        request.field("Content-Type", "application/x-www-form-urlencoded").pending();
        http::response response;
        http::handler_state state;
        const auto code = shop.make_code();
        REQUIRE(http::advance(shop.oauth, request.view(), response, state, http::thread_kind::io) == http::handle_step::needs_body);
        shop.now += wait;
        request.arrived(to_form(shop.exchange_of(code)));
        REQUIRE(http::advance(shop.oauth, request.view(), response, state, http::thread_kind::io) == http::handle_step::done);
        CHECK(response.status() == (is_late ? status::bad_request : status::ok));
    }
}

TEST_CASE("an application, a session or a user that ended before the body arrived is refused", "[oauth]") {
    const auto send_slowly = [](oauth_shop<>& shop, const char* path, const std::string& body, auto end) {
        test_request request{method::post, path};
        request.field("Content-Type", "application/x-www-form-urlencoded").field("Cookie", "site=ann").pending();
        http::response response;
        http::handler_state state;
        REQUIRE(http::advance(shop.oauth, request.view(), response, state, http::thread_kind::io) == http::handle_step::needs_body);
        end();
        shop.now += seconds{5};
        request.arrived(body);
        REQUIRE(http::advance(shop.oauth, request.view(), response, state, http::thread_kind::io) == http::handle_step::done);
        return response;
    };
    oauth_shop shop;
    const auto exchange = to_form(shop.exchange_of(shop.make_code()));
    auto consent = hidden_fields(shop.open(shop.parameters()));
    consent.emplace_back("decision", "allow");
    const auto signed_out = send_slowly(shop, oauth_shop<>::page_path, to_form(consent), [&] { shop.sessions.known.erase("site=ann"); });
    CHECK_FALSE(returned(signed_out, "code"));
    const auto removed = send_slowly(shop, "/user/oauth_token/", exchange, [&] {
        REQUIRE(shop.store.delete_application(bob, shop.app.id));
    });
    CHECK(member(removed, "error") == "invalid_client");
}

TEST_CASE("invalid_grant names the reason", "[oauth][token]") {
    oauth_shop shop;
    const auto description = [&](const parameter_list& fields) {
        const auto response = shop.post(token, fields);
        check_failure(response, status::bad_request, "invalid_grant");
        return member(response, "error_description");
    };
    const auto code = shop.make_code(challenge);
    const auto exchange = with(shop.exchange_of(code), {{"code_verifier", verifier}});
    CHECK(description(with(exchange, {{"redirect_uri", "https://app.example/else"}})) ==
          "redirect_uri differs from the one in the authorization request.");
    for (const char* wrong : {"", "eBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"})
        CHECK(description(with(exchange, {{"code_verifier", wrong}})) ==
              "code_verifier does not match the code_challenge in the authorization request.");
    CHECK(shop.post(token, exchange).status() == status::ok);
    CHECK(description(exchange) == "The code was already used. The tokens that were issued for it have been revoked.");
    CHECK(description(shop.exchange_of("tgc_nothing")) == "The code is unknown, or was issued to another application.");
    const auto late = shop.exchange_of(shop.make_code());
    shop.now += seconds{60};
    CHECK(description(late) == "The code has expired.");
}

TEST_CASE("an application without a registered redirect URL must repeat redirect_uri", "[oauth][token]") {
    oauth_shop shop;
    const auto registered = shop.app;
    CHECK(shop.post(token, shop.exchange_of(shop.make_code())).status() == status::ok);
    shop.app = shop.register_client("Bare", std::nullopt);
    const auto exchange = shop.exchange_of(shop.make_code());
    check_failure(shop.post(token, exchange), status::bad_request, "invalid_request");
    check_failure(shop.post(token, with(exchange, {{"redirect_uri", "https://app.example/else"}})), status::bad_request, "invalid_grant");
    CHECK(shop.post(token, with(exchange, {{"redirect_uri", "https://app.example/cb"}})).status() == status::ok);
}

TEST_CASE("values that no store could hold are refused without a store call", "[oauth][token]") {
    oauth_shop shop;
    const auto exchange = shop.exchange_of(shop.make_code());
    for (const std::string& odd : {std::string{"https://app.example/cb\0", 23},
                                   std::string{"https://app.example/\xc3\xbc"}, std::string{"a b"}}) {
        shop.store.faults.start(2);  // the application is looked up, the code is not
        check_failure(shop.post(token, with(exchange, {{"redirect_uri", odd}})), status::bad_request, "invalid_grant");
        CHECK(shop.store.faults.calls == 1);
        shop.store.faults.start(1);
        check_failure(shop.post(token, with(exchange, {{"client_id", odd}})), status::unauthorized, "invalid_client");
        CHECK(shop.store.faults.calls == 0);
    }
    shop.store.faults.start(0);
    CHECK(shop.post(token, exchange).status() == status::ok);
}

TEST_CASE("a code with a challenge requires its verifier", "[oauth][token][pkce]") {
    oauth_shop shop;
    const auto exchange = shop.exchange_of(shop.make_code(challenge));
    check_failure(shop.post(token, exchange), status::bad_request, "invalid_grant");
    check_failure(shop.post(token, with(exchange, {{"code_verifier", std::string(43, 'a')}})), status::bad_request, "invalid_grant");
    check_failure(shop.post(token, with(exchange, {{"code_verifier", challenge}})), status::bad_request, "invalid_grant");
    CHECK(shop.post(token, with(exchange, {{"code_verifier", verifier}})).status() == status::ok);
}

TEST_CASE("a refresh token issues access tokens repeatedly", "[oauth][token][refresh]") {
    oauth_shop shop;
    const auto first = shop.post(token, shop.exchange_of(shop.make_code()));
    const auto refresh = shop.refresh_of(member(first, "refresh_token"));
    std::vector<std::string> tokens{member(first, "access_token")};
    for (int i = 0; i < 3; ++i) {
        const auto response = shop.post(token, refresh);
        CHECK(response.status() == status::ok);
        CHECK_FALSE(has_member(response, "refresh_token"));
        CHECK(member(response, "scope") == "sitesmaker:read user:balance");
        CHECK(member(response, "expires_in") == "3600");
        CHECK(member(response, "token_type") == "bearer");
        tokens.push_back(member(response, "access_token"));
    }
    for (const auto& each : tokens) CHECK(shop.accepts(each));

    const auto narrower = shop.post(token, with(refresh, {{"scope", "user:balance"}}));
    CHECK(narrower.status() == status::ok);
    CHECK(member(narrower, "scope") == "user:balance");
    // The refresh token keeps its scopes.
    CHECK(member(shop.post(token, refresh), "scope") == "sitesmaker:read user:balance");
    check_failure(shop.post(token, with(refresh, {{"scope", "user:balance sitesmaker"}})), status::bad_request, "invalid_scope");
    check_failure(shop.post(token, with(refresh, {{"scope", "itemplatform:read"}})), status::bad_request, "invalid_scope");
    check_failure(shop.post(token, with(refresh, {{"scope", "no\"scope"}})), status::bad_request, "invalid_scope");
    check_failure(shop.post(token, with(refresh, {{"scope", ", ,"}})), status::bad_request, "invalid_scope");
    check_failure(shop.post(token, with(refresh, {{"refresh_token", ""}})), status::bad_request, "invalid_request");
    check_failure(shop.post(token, with(refresh, {{"refresh_token", tokens[0]}})), status::bad_request, "invalid_grant");

    const auto other = shop.register_client("Other", std::nullopt);
    check_failure(shop.post(token, with(refresh, {{"client_id", other.client_id}, {"client_secret", other.client_secret}})),
                  status::bad_request, "invalid_grant");
}

TEST_CASE("a refresh token expires 30 days after its last use, at most after a year", "[oauth][token][refresh]") {
    oauth_shop shop;
    const auto refresh = shop.refresh_of(member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token"));
    constexpr auto month = std::chrono::days{30};
    const auto made_at = shop.now;
    for (int i = 0; i < 12; ++i) {
        shop.now += month - milliseconds{1};
        CHECK(shop.post(token, refresh).status() == status::ok);
    }
    shop.now = made_at + std::chrono::days{365} - milliseconds{1};
    CHECK(shop.post(token, refresh).status() == status::ok);
    shop.now += milliseconds{1};
    check_failure(shop.post(token, refresh), status::bad_request, "invalid_grant");

    const auto unused = shop.refresh_of(member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token"));
    shop.now += month;
    check_failure(shop.post(token, unused), status::bad_request, "invalid_grant");
}

TEST_CASE("a deleted or revoked application cannot refresh", "[oauth][token]") {
    oauth_shop shop;
    const auto first = shop.post(token, shop.exchange_of(shop.make_code()));
    REQUIRE(*shop.store.revoke(grant_revocation{ann, shop.app.id}));
    CHECK_FALSE(shop.accepts(member(first, "access_token")));
    check_failure(shop.post(token, shop.refresh_of(member(first, "refresh_token"))), status::bad_request, "invalid_grant");

    const auto again = shop.post(token, shop.exchange_of(shop.make_code()));
    REQUIRE(again.status() == status::ok);
    REQUIRE(*shop.store.delete_application(bob, shop.app.id));
    CHECK_FALSE(shop.accepts(member(again, "access_token")));
    const auto refresh = shop.refresh_of(member(again, "refresh_token"));
    check_failure(shop.post(token, refresh), status::bad_request, "invalid_grant");
    // No other request shows whether the token existed.
    check_failure(shop.post(token, with(refresh, {{"refresh_token", "x"}})), status::unauthorized, "invalid_client");
    check_failure(shop.post(token, with(refresh, {{"client_secret", "x"}})), status::unauthorized, "invalid_client");
    check_failure(shop.post(token, with(refresh, {{"grant_type", "authorization_code"}})), status::unauthorized,
                  "invalid_client");
    check_failure(shop.post("/user/oauth_revoke/", with(refresh, {{"token", member(again, "refresh_token")}})),
                  status::unauthorized, "invalid_client");
}

TEST_CASE("another application's secret is refused, also for a refresh", "[oauth][token]") {
    oauth_shop shop;
    const auto issued = shop.post(token, shop.exchange_of(shop.make_code()));
    const auto other = shop.register_client("Other", "https://other.example/cb");
    const auto refresh = with(shop.refresh_of(member(issued, "refresh_token")), {{"client_secret", other.client_secret}});
    check_failure(shop.post(token, refresh), status::unauthorized, "invalid_client");
}

TEST_CASE("refreshes for a deleted application are counted and limited", "[oauth][token][limits]") {
    oauth_shop shop;
    const auto issued = shop.post(token, shop.exchange_of(shop.make_code()));
    REQUIRE(*shop.store.delete_application(bob, shop.app.id));
    const auto refresh = shop.refresh_of(member(issued, "refresh_token"));
    for (int i = 0; i < 60; ++i) check_failure(shop.post(token, refresh), status::bad_request, "invalid_grant");
    CHECK(shop.post(token, refresh).status() == status::too_many_requests);
}

TEST_CASE("lifetimes are configurable", "[oauth][token]") {
    auto settings = test_oauth_settings();
    settings.oauth.access_token_lifetime = seconds{5};
    oauth_shop shop{std::move(settings)};
    const auto response = shop.post(token, shop.exchange_of(shop.make_code()));
    CHECK(member(response, "expires_in") == "5");
    shop.now += seconds{5};
    CHECK_FALSE(shop.accepts(member(response, "access_token")));
}

TEST_CASE("only failed authentication is counted, and correct secrets are never refused", "[oauth][token][limits]") {
    oauth_shop shop;
    const auto wrong = [&] { return shop.post(token, with(shop.exchange_of(shop.make_code()), {{"client_secret", "x"}})); };
    for (int left = 59; left >= 0; --left) {
        const auto response = wrong();
        check_failure(response, status::unauthorized, "invalid_client");
        CHECK(response.find("X-RateLimit-Remaining") == std::to_string(left));
        CHECK(response.find("X-RateLimit-Reset").empty() == (left != 0));
        CHECK(shop.post(token, shop.exchange_of(shop.make_code())).find("X-RateLimit-Remaining") == std::to_string(left));
    }
    const auto refused = wrong();
    check_failure(refused, status::too_many_requests, "invalid_client");
    CHECK(refused.find("Retry-After") == "3600");
    CHECK(refused.find("X-RateLimit-Remaining") == "0");
    CHECK(refused.find("X-RateLimit-Reset") == "2023-11-14T23:13:20Z");
    CHECK(member(refused, "message").starts_with("API rate limit exceeded"));
    CHECK(member(refused, "documentation_url") == "https://shop.example/docs/rate-limits/");

    const auto served = shop.post(token, shop.exchange_of(shop.make_code()));
    CHECK(served.status() == status::ok);
    CHECK(served.find("X-RateLimit-Remaining") == "0");
    CHECK(served.find("X-RateLimit-Reset") == "2023-11-14T23:13:20Z");
    CHECK(shop.post(token, with(shop.exchange_of(shop.make_code()), {{"code", ""}})).status() == status::bad_request);
    // Other addresses are not affected.
    CHECK(shop.handle(test_request{method::post, token}
                          .from(ip_address::v4(198, 51, 100, 1))
                          .body(to_form(with(shop.exchange_of("x"), {{"client_secret", "x"}})), "application/x-www-form-urlencoded"))
              .status() == status::unauthorized);
    shop.now += seconds{3600};
    CHECK(wrong().find("X-RateLimit-Remaining") == "59");
}

TEST_CASE("other methods are a 405", "[oauth][token]") {
    oauth_shop shop;
    for (const char* path : {"/user/oauth_token/", "/user/oauth_token", "/user/oauth_revoke/", "/user/oauth_revoke"}) {
        for (const auto each : {method::get, method::head, method::put, method::delete_, method::patch, method::other}) {
            const auto response = shop.handle(test_request{each, path});
            check_failure(response, each == method::other ? status::not_implemented : status::method_not_allowed, "invalid_request");
            CHECK(response.find("Allow") == "POST, OPTIONS");
        }
        const auto options = shop.handle(test_request{method::options, path});
        CHECK(options.status() == status::no_content);
        CHECK(options.find("Allow") == "POST, OPTIONS");
        CHECK(options.body().empty());
        CHECK(options.find("X-RateLimit-Remaining") == "60");
    }
}

TEST_CASE("an encoded body is refused with Accept-Encoding: identity", "[oauth][token]") {
    oauth_shop shop;
    for (const char* path : {"/user/oauth_token/", "/user/oauth_revoke/"}) {
        const auto response = shop.handle(test_request{method::post, path}
                                            .field("Content-Encoding", "gzip")
                                            .body("\x1f\x8b", "application/x-www-form-urlencoded"));
        check_failure(response, status::unsupported_media_type, "invalid_request");
        CHECK(response.find("Accept-Encoding") == "identity");
        CHECK(response.body().find("Content-Encoding") != std::string::npos);
        const auto identity = shop.handle(test_request{method::post, path}.field("Content-Encoding", "identity").body("", ""));
        check_failure(identity, status::bad_request, "invalid_request");
        CHECK(identity.body().find("The body is empty") != std::string::npos);

        const auto with_another_fault = shop.handle(test_request{method::post, path}
                                                        .field("Authorization", "Basic YTpi")
                                                        .field("Authorization", "Basic YTpi")
                                                        .field("Content-Encoding", "gzip")
                                                        .body("\x1f\x8b", "application/x-www-form-urlencoded"));
        check_failure(with_another_fault, status::bad_request, "invalid_request");
        CHECK(with_another_fault.find("Accept-Encoding").empty());
        CHECK(with_another_fault.body().find("Authorization") != std::string::npos);
    }
}

TEST_CASE("a failure before redemption leaves the code unchanged", "[oauth][token][failure]") {
    oauth_shop shop;
    const auto exchange = shop.exchange_of(shop.make_code());
    shop.random_works = false;
    check_failure(shop.post(token, exchange), status::internal_server_error, "server_error");
    shop.random_works = true;
    CHECK(shop.observer.causes == std::vector<std::string>{"the random source failed"});

    const bool down = GENERATE(true, false);
    const bool throws = !down && GENERATE(true, false);
    shop.store.faults.failure = down ? unavailable("db-7 refused") : internal_error("db-7 is odd");
    shop.store.faults.throws = throws;
    // The application is looked up, then the code is redeemed.
    for (int nth = 1; nth <= 2; ++nth) {
        CAPTURE(nth, down, throws);
        shop.store.faults.start(nth);
        const auto response = shop.post(token, exchange);
        check_failure(response, down ? status::service_unavailable : status::internal_server_error,
                      down ? "temporarily_unavailable" : "server_error");
        CHECK(response.find("Retry-After") == (down ? "2" : ""));
        CHECK(response.body().find("db-7") == std::string::npos);
        CHECK(response.find("X-RateLimit-Remaining") == "60");
        CHECK(shop.observer.causes.back().find("db-7") != std::string::npos);
    }
    // Sweeping follows: the tokens are already issued.
    shop.store.faults.start(3);
    const auto problems = shop.observer.causes.size();
    const auto response = shop.post(token, exchange);
    CHECK(response.status() == status::ok);
    CHECK(shop.store.faults.calls == 3);
    CHECK(shop.observer.causes.size() == problems + (throws ? 0 : 1));
}

TEST_CASE("a failing store is not a failed authentication", "[oauth][token][failure]") {
    oauth_shop shop;
    const auto refresh = shop.refresh_of(member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token"));
    for (int nth = 1; nth <= 2; ++nth) {
        shop.store.faults.start(nth);
        const auto response = shop.post(token, refresh);
        check_failure(response, status::service_unavailable, "temporarily_unavailable");
        CHECK(response.find("X-RateLimit-Remaining") == "60");
    }
    shop.store.faults.start(0);
    shop.random_works = false;
    check_failure(shop.post(token, refresh), status::internal_server_error, "server_error");
    shop.random_works = true;
    CHECK(shop.post(token, refresh).status() == status::ok);
}

TEST_CASE("twice as many rows are swept as are added", "[oauth][token]") {
    oauth_shop shop;
    const auto first = shop.post(token, shop.exchange_of(shop.make_code()));
    CHECK(shop.store.swept_rows_max == 4);
    shop.post(token, shop.refresh_of(member(first, "refresh_token")));
    CHECK(shop.store.swept_rows_max == 6);
    shop.post(token, shop.refresh_of("tgr_bad"));
    CHECK(shop.store.swept_rows_max == 6);
}

TEST_CASE("a full grant gets no more access tokens, and keeps all that are valid", "[oauth][token][limits]") {
    auto settings = test_oauth_settings();
    settings.oauth.refreshes = {100'000, seconds{60}};
    oauth_shop shop{std::move(settings)};
    const auto first = shop.post(token, shop.exchange_of(shop.make_code()));
    const auto refresh = shop.refresh_of(member(first, "refresh_token"));
    shop.now += seconds{600};
    for (std::size_t i = 1; i < limits::access_tokens_per_grant_max; ++i) CHECK(shop.post(token, refresh).status() == status::ok);
    const auto exchange = shop.exchange_of(shop.make_code());
    for (const auto& fields : {refresh, exchange}) {
        const auto refused = shop.post(token, fields);
        check_failure(refused, status::too_many_requests, "temporarily_unavailable");
        CHECK(refused.find("Retry-After") == "3000");
        CHECK(member(refused, "error_description").find("valid access tokens") != std::string::npos);
    }
    CHECK(shop.observer.causes.empty());
    CHECK(shop.accepts(member(first, "access_token")));
    shop.now += seconds{3000} - milliseconds{1};
    CHECK(shop.post(token, refresh).status() == status::too_many_requests);
    CHECK(shop.accepts(member(first, "access_token")));
    shop.now += milliseconds{1};
    CHECK(shop.post(token, refresh).status() == status::ok);
}

TEST_CASE("refreshes and owner tokens are limited per application", "[oauth][token][limits]") {
    auto settings = test_oauth_settings();
    settings.oauth.refreshes_of_client = {3, seconds{60}};
    oauth_shop shop{std::move(settings)};
    const application_fields changed{.name = "App", .website = "https://app.example/", .description = {},
                                     .redirect_urls = {"https://app.example/cb"}, .acts_for_owner = true};
    REQUIRE(*shop.store.change_application(bob, shop.app.id, changed));
    const auto refresh = shop.refresh_of(member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token"));
    const parameter_list for_owner{{"client_id", shop.app.client_id},
                                   {"client_secret", shop.app.client_secret},
                                   {"grant_type", "client_credentials"},
                                   {"scope", "user:balance"}};
    // A refresh token that does not exist is not counted.
    check_failure(shop.post(token, with(refresh, {{"refresh_token", std::string("tgr_") + std::string(51, '0')}})), status::bad_request,
                  "invalid_grant");
    for (const auto& fields : {refresh, for_owner, refresh}) CHECK(shop.post(token, fields).status() == status::ok);
    for (const auto& fields : {refresh, for_owner}) {
        const auto refused = shop.post(token, fields);
        check_failure(refused, status::too_many_requests, "temporarily_unavailable");
        CHECK(refused.find("Retry-After") == "60");
    }
    CHECK(shop.post(token, shop.exchange_of(shop.make_code())).status() == status::ok);
    shop.now += seconds{60};
    for (const auto& fields : {refresh, for_owner}) CHECK(shop.post(token, fields).status() == status::ok);
}

TEST_CASE("owner tokens are limited per owner and application", "[oauth][token][limits]") {
    auto settings = test_oauth_settings();
    settings.oauth.refreshes = {2, seconds{60}};
    oauth_shop shop{std::move(settings)};
    const application_fields changed{.name = "App", .website = "https://app.example/", .description = {},
                                     .redirect_urls = {"https://app.example/cb"}, .acts_for_owner = true};
    REQUIRE(*shop.store.change_application(bob, shop.app.id, changed));
    const auto status_of = [&] {
        return shop.post(token, {{"client_id", shop.app.client_id}, {"client_secret", shop.app.client_secret},
                                 {"grant_type", "client_credentials"}, {"scope", "user:balance"}}).status();
    };
    for (const status expected : {status::ok, status::ok, status::too_many_requests}) CHECK(status_of() == expected);
    CHECK(shop.post(token, shop.exchange_of(shop.make_code())).status() == status::ok);
}

TEST_CASE("one of several parallel exchanges of a code succeeds, and all parallel refreshes succeed", "[oauth][token][threads]") {
    oauth_shop shop;
    constexpr int threads = 8;
    const auto in_parallel = [&](const parameter_list& fields) {
        std::vector<http::response> responses(threads);
        std::vector<std::thread> all;
        for (int i = 0; i < threads; ++i)
            all.emplace_back([&, i] { responses[static_cast<std::size_t>(i)] = shop.post(token, fields); });
        for (auto& each : all) each.join();
        return responses;
    };
    for (int round = 0; round < 20; ++round) {
        int succeeded = 0;
        for (const auto& response : in_parallel(shop.exchange_of(shop.make_code()))) {
            succeeded += response.status() == status::ok ? 1 : 0;
            if (response.status() != status::ok) CHECK(member(response, "error") == "invalid_grant");
        }
        CHECK(succeeded == 1);
    }
    const auto first = shop.post(token, shop.exchange_of(shop.make_code()));
    for (const auto& response : in_parallel(shop.refresh_of(member(first, "refresh_token")))) {
        CHECK(response.status() == status::ok);
        CHECK(shop.accepts(member(response, "access_token")));
    }
}

TEST_CASE("refreshes are limited per grant", "[oauth][token][refresh][limits]") {
    auto settings = test_oauth_settings();
    settings.oauth.refreshes = {2, seconds{60}};
    const bool rotates = settings.oauth.rotates_all_refresh_tokens = GENERATE(false, true);
    oauth_shop shop{std::move(settings)};
    auto one = member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token");
    // Another application's requests with the token are not counted.
    const auto own = std::exchange(shop.app, shop.register_client("Thief", "https://thief.example/cb"));
    for (int i = 0; i < 3; ++i) check_failure(shop.post(token, shop.refresh_of(one)), status::bad_request, "invalid_grant");
    shop.app = own;
    for (int i = 0; i < 2; ++i) {
        const auto refreshed = shop.post(token, shop.refresh_of(one));
        CHECK(refreshed.status() == status::ok);
        if (rotates) one = member(refreshed, "refresh_token");
    }
    const auto refused = shop.post(token, shop.refresh_of(one));
    check_failure(refused, status::too_many_requests, "temporarily_unavailable");
    CHECK(refused.find("Retry-After") == "60");
    // Another authorization by the same user is the same grant.
    const auto second = member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token");
    CHECK(shop.post(token, shop.refresh_of(second)).status() == status::too_many_requests);
    // Another application has its own window.
    const auto app = std::exchange(shop.app, shop.register_client("Other", "https://app.example/cb"));
    const auto other = member(shop.post(token, shop.exchange_of(shop.make_code())), "refresh_token");
    CHECK(shop.post(token, shop.refresh_of(other)).status() == status::ok);
    shop.app = app;
    shop.now += seconds{60};
    CHECK(shop.post(token, shop.refresh_of(one)).status() == status::ok);
}
